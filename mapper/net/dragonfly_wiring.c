/* SPDX-License-Identifier: BSD-3-Clause */
/* Which routers the level-2 links of a dragonfly connect. Every wiring is a rule for the router and port at which group
 * g has its l-th link to group h. The other end follows from the same rule with g and h exchanged. A cable therefore
 * has one end in each group. A = routers of a group, G = groups, P = ports of a router. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/net/dragonfly_wiring.h"
#include "common/base/lines.h"

static const struct wiring {
	const char *name;
	enum dragonfly_wiring index;
	int deal; /* 1: link q is at router q mod A; 0: link q is at router q div P */
} wirings[] = {
	{"modulo", DRAGONFLY_MODULO, 1},
	{"consecutive", DRAGONFLY_ABSOLUTE, 0},
	{"circulant", DRAGONFLY_CIRCULANT, 0},
	{"round-robin", DRAGONFLY_ABSOLUTE, 1},
};

/* "modulo" keeps a number for the group itself: one port of each group stays idle. */
static uint32_t links_numbered(const struct dragonfly *d)
{
	return d->wiring == DRAGONFLY_MODULO ? d->groups : d->groups - 1;
}

static struct dragonfly_end end_find(const struct dragonfly *d, const struct wiring *w, uint32_t q)
{
	struct dragonfly_end e = d->at[w->deal ? q % d->local : q / d->ports];

	e.port = (uint16_t)(w->deal ? q / d->local : q % d->ports);
	return e;
}

static int tables_create(struct dragonfly *d, struct zerr *err)
{
	size_t gates = (size_t)d->groups * d->groups * d->bundle, ends = (size_t)d->routers * d->ports;

	d->gates = calloc(gates, sizeof(*d->gates));
	d->far = malloc((ends ? ends : 1) * sizeof(*d->far));
	if (!d->gates || !d->far)
		return zerr_set(err, -ENOMEM, "not enough memory for the links between %u groups", d->groups);
	memset(d->far, 0xff, ends * sizeof(*d->far));
	return 0;
}

static void gate_by_rule(struct dragonfly *d, const struct wiring *w, uint32_t g, uint32_t h, uint32_t member)
{
	uint32_t more = member * links_numbered(d);
	struct dragonfly_end e = end_find(d, w, more + dragonfly_index(d, g, h));
	struct dragonfly_end f = end_find(d, w, more + dragonfly_index(d, h, g));
	struct dragonfly_gate *gate = &d->gates[((size_t)g * d->groups + h) * d->bundle + member];

	*gate = (struct dragonfly_gate){e.local, e.port, f.local, (uint16_t)d->bundle};
	d->far[(g * d->local + e.local) * d->ports + e.port] = h * d->local + f.local;
}

static int wire_by_rule(struct dragonfly *d, const struct wiring *w, struct spec *spec, struct zerr *err)
{
	uint64_t links;
	int rc;

	d->wiring = w->index;
	links = (uint64_t)d->bundle * links_numbered(d);
	d->ports = d->groups > 1 ? (uint32_t)((links + d->local - 1) / d->local) : 0;
	if (d->ports > 4096)
		return zerr_set(err, -EINVAL, "%s: a router would need %u ports between groups", spec->where, d->ports);
	rc = tables_create(d, err);
	if (rc)
		return rc;
	for (uint32_t g = 0; g < d->groups; g++)
		for (uint32_t h = 0; h < d->groups; h++)
			for (uint32_t l = 0; l < d->bundle && g != h; l++)
				gate_by_rule(d, w, g, h, l);
	if (d->bundle > 1 || d->groups < 2)
		return 0;
	d->end = malloc(links_numbered(d) * sizeof(*d->end));
	if (!d->end)
		return zerr_set(err, -ENOMEM, "not enough memory");
	for (uint32_t q = 0; q < links_numbered(d); q++)
		d->end[q] = end_find(d, w, q);
	return 0;
}

/* --- from a file: "GROUP ROUTER GROUP ROUTER" a line, one cable each; ports are counted up as they come --- */

struct cable {
	uint32_t g, r, h, s;
};

struct cables {
	struct cable *list;
	size_t n, cap;
};

/* The state of reading a file. */
struct reading {
	const struct dragonfly *d;
	struct cables *l;
};

static int cable_read(void *arg, char *line, int number, struct zerr *err)
{
	const struct reading *r = arg;
	const struct dragonfly *d = r->d;
	struct cables *l = r->l;
	uint32_t v[4] = {0};
	int got = spec_numbers(line, v, 4);

	(void)number;
	if (!got)
		return 0;
	if (got < 0 || v[0] >= d->groups || v[2] >= d->groups || v[1] >= d->local || v[3] >= d->local || v[0] == v[2])
		return zerr_set(err, -EINVAL,
			"not \"GROUP ROUTER GROUP ROUTER\" with groups below %u, routers below %u", d->groups,
			d->local);
	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 1024;
		struct cable *more = realloc(l->list, cap * sizeof(*more));

		if (!more)
			return zerr_set(err, -ENOMEM, "not enough memory");
		l->list = more;
		l->cap = cap;
	}
	l->list[l->n++] = (struct cable){v[0], v[1], v[2], v[3]};
	return 0;
}

static int cables_read(const struct dragonfly *d, struct cables *l, const char *path, struct zerr *err)
{
	struct reading r = {d, l};

	return zlines_read_file(path, cable_read, &r, err);
}

static int bundles_count(struct dragonfly *d, const struct cables *l, uint16_t *bundle, const char *path,
	struct zerr *err)
{
	uint16_t *used = calloc(d->routers, sizeof(*used));

	if (!used)
		return zerr_set(err, -ENOMEM, "not enough memory");
	d->bundle = d->ports = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct cable *c = &l->list[i];
		uint16_t n = ++bundle[(size_t)c->g * d->groups + c->h], *a = &used[c->g * d->local + c->r],
			 *b = &used[c->h * d->local + c->s];

		bundle[(size_t)c->h * d->groups + c->g]++;
		++*a;
		++*b;
		d->bundle = n > d->bundle ? n : d->bundle;
		d->ports = *a > d->ports ? *a : d->ports;
		d->ports = *b > d->ports ? *b : d->ports;
		if (n > 4096 || d->ports > 4096)
			break;
	}
	free(used);
	if (d->bundle > 4096 || d->ports > 4096)
		return zerr_set(err, -EINVAL, "%s: more than 4096 cables at a router or between two groups", path);
	for (uint32_t g = 0; g < d->groups; g++)
		for (uint32_t h = 0; h < d->groups; h++)
			if (g != h && !bundle[(size_t)g * d->groups + h])
				return zerr_set(err, -EINVAL, "%s: no cable between groups %u and %u", path, g, h);
	return 0;
}

static void cable_end(struct dragonfly *d, uint32_t g, uint32_t r, uint32_t h, uint32_t s)
{
	struct dragonfly_gate *gate = &d->gates[((size_t)g * d->groups + h) * d->bundle];
	uint32_t *far = &d->far[(g * d->local + r) * d->ports], port = 0, member = gate->bundle;

	while (far[port] != UINT32_MAX)
		port++;
	far[port] = h * d->local + s;
	gate[member].out = (uint16_t)r;
	gate[member].port = (uint16_t)port;
	gate[member].in = (uint16_t)s;
	gate->bundle++;
}

static int wire_by_file(struct dragonfly *d, const char *path, struct zerr *err)
{
	uint16_t *bundle = calloc((size_t)d->groups * d->groups, sizeof(*bundle));
	struct cables l = {0};
	int rc = bundle ? cables_read(d, &l, path, err) : zerr_set(err, -ENOMEM, "not enough memory");

	d->wiring = DRAGONFLY_BY_FILE;
	if (!rc)
		rc = bundles_count(d, &l, bundle, path, err);
	if (!rc)
		rc = tables_create(d, err);
	for (size_t i = 0; i < l.n && !rc; i++) {
		cable_end(d, l.list[i].g, l.list[i].r, l.list[i].h, l.list[i].s);
		cable_end(d, l.list[i].h, l.list[i].s, l.list[i].g, l.list[i].r);
	}
	free(l.list);
	free(bundle);
	return rc;
}

int dragonfly_wiring_make(struct dragonfly *d, struct spec *spec, struct zerr *err)
{
	const char *name = spec_string(spec, "wiring"), *path;
	int rc = spec_u32(spec, "global", 1, 1, 1024, &d->bundle, err);

	if (!rc)
		rc = spec_file(spec, "wiring-file", &path, err);
	if (rc)
		return rc;
	/* the file says where every cable goes: the other key would silently have no effect */
	if (path && (name || spec_string(spec, "global")))
		return zerr_set(err, -EINVAL, "%s: %s beside wiring-file: the file has every link between groups",
			spec->where, name ? "wiring" : "global");
	if (path)
		return wire_by_file(d, path, err);
	for (size_t i = 0; i < sizeof(wirings) / sizeof(wirings[0]); i++)
		if (!strcmp(wirings[i].name, name ? name : "modulo"))
			return wire_by_rule(d, &wirings[i], spec, err);
	return zerr_set(err, -EINVAL, "%s: wiring: \"%s\" is none of modulo, consecutive, circulant, round-robin",
		spec->where, name);
}

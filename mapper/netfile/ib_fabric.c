/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a network of an InfiniBand fabric, see ib_fabric.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/netfile/ib_fabric.h"
#include "mapper/netfile/ib_names.h"

#define CABLES_MAX (1u << 24)

/* A cable that leads a host to a switch. */
struct rail {
	uint32_t host, device, port, switch_;
	const char *description; /* of the adapter */
};

/* The state of making a network. */
struct laying {
	const struct ib_fabric *f;
	const char *path;
	const struct ib_wishes *wishes;
	struct cabling *c;
	struct ib_cable *cable; /* [cables]: each once */
	size_t cables;
	uint32_t *router; /* [devices]: numbers of switches in the cabling */
	struct names hosts;
	struct rail *rail; /* [rails] */
	size_t rails;
};

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "not enough memory");
}

/* --- reading --- */

int ib_fabric_device(struct ib_fabric *f, const char *name, enum ib_kind kind, uint32_t *device, struct zerr *err)
{
	uint32_t n = f->names.n;
	int rc;

	if (!(n & (n - 1))) { /* the array grows whenever its length is a power of two */
		struct ib_device *more = realloc(f->device, 2 * ((size_t)n + 1) * sizeof(*more));

		if (!more)
			return no_memory(err);
		f->device = more;
	}
	rc = names_add(&f->names, name, device);
	if (rc == -EEXIST)
		return f->device[*device].kind == kind
			       ? 0
			       : zerr_set(err, -EINVAL, "%.64s is of another kind in a line above", name);
	if (rc)
		return rc == -E2BIG ? zerr_set(err, rc, "more than %u switches and adapters", NAMES_MAX)
				    : no_memory(err);
	f->device[n] = (struct ib_device){.kind = kind};
	return 0;
}

int ib_fabric_describe(struct ib_fabric *f, uint32_t device, const char *description, unsigned line, struct zerr *err)
{
	struct ib_device *d = &f->device[device];

	if (d->line)
		return 0;
	d->line = line;
	d->description = strdup(description);
	return d->description ? 0 : no_memory(err);
}

int ib_fabric_cable(struct ib_fabric *f, const struct ib_cable *cable, struct zerr *err)
{
	if (f->cables == CABLES_MAX)
		return zerr_set(err, -E2BIG, "more than %u cables", CABLES_MAX / 2);
	if (f->cables == f->room) {
		size_t room = f->room ? 2 * f->room : 256;
		struct ib_cable *more = realloc(f->cable, room * sizeof(*more));

		if (!more)
			return no_memory(err);
		f->cable = more;
		f->room = room;
	}
	f->cable[f->cables++] = *cable;
	return 0;
}

double ib_fabric_bandwidth(const char *width, const char *speed)
{
	/* data of one lane in Gb/s: the signalling rate less the code, 8b/10b up to QDR and 64b/66b from FDR10 on */
	static const struct {
		const char *name;
		double gbits;
	} lane[] = {{"SDR", 2}, {"DDR", 4}, {"QDR", 8}, {"FDR10", 10}, {"FDR", 14.0625 * 64 / 66}, {"EDR", 25},
		{"HDR", 50}, {"NDR", 100}, {"XDR", 200}};
	char *end;
	unsigned long lanes = strtoul(width, &end, 10);

	for (size_t i = 0; i < sizeof(lane) / sizeof(lane[0]); i++)
		if (!strcmp(lane[i].name, speed) && !strcmp(end, "x") && lanes >= 1 && lanes <= 12)
			return (double)lanes * lane[i].gbits * 1e9 / 8;
	return IB_UNKNOWN;
}

void ib_fabric_free(struct ib_fabric *f)
{
	for (uint32_t i = 0; i < f->names.n; i++)
		free(f->device[i].description);
	names_free(&f->names);
	free(f->device);
	free(f->cable);
	*f = (struct ib_fabric){0};
}

/* --- cables, each once --- */

static int end_compare(const struct ib_end *a, const struct ib_end *b)
{
	return a->device != b->device ? (a->device > b->device) - (a->device < b->device)
				      : (a->port > b->port) - (a->port < b->port);
}

/* The lesser end of a cable, or the other one. */
static const struct ib_end *end_of(const struct ib_cable *c, bool other)
{
	return &c->end[(end_compare(&c->end[0], &c->end[1]) > 0) != other];
}

/* By the lesser end, so that all cables at a port stand together, then by the other end, then by the line. */
static int cable_compare(const void *x, const void *y)
{
	const struct ib_cable *a = x, *b = y;
	int order = end_compare(end_of(a, false), end_of(b, false));

	order = order ? order : end_compare(end_of(a, true), end_of(b, true));
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

__attribute__((format(printf, 5, 6))) static int refuse(const struct laying *y, unsigned line, const struct ib_end *end,
	struct zerr *err, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return zerr_set(err, -EINVAL, "%s:%u: port %u of %.32s %s", y->path, line, end->port,
		y->f->names.name[end->device], text);
}

/* Checks two lines for one cable, or says what is missing. */
static int pair_check(const struct laying *y, const struct ib_cable *one, const struct ib_cable *two, struct zerr *err)
{
	const struct ib_cable *twice = two && !end_compare(&one->end[0], &two->end[0]) ? two : NULL;

	if (!end_compare(&one->end[0], &one->end[1]))
		return refuse(y, one->line, &one->end[0], err, "has a cable to itself");
	if (twice)
		return refuse(y, twice->line, &twice->end[0], err, "stands in line %u already", one->line);
	if (!two)
		return refuse(y, one->line, &one->end[0], err,
			"has a cable to port %u of %.32s, which does not list it: this file is not complete",
			one->end[1].port, y->f->names.name[one->end[1].device]);
	return 0;
}

/* Makes one cable of the two lines for each. */
static int cables_join(struct laying *y, struct zerr *err)
{
	const struct ib_cable *all = y->f->cable;
	int rc = 0;

	if (y->f->cables)
		qsort(y->f->cable, y->f->cables, sizeof(*all), cable_compare);
	for (size_t i = 0; i < y->f->cables && !rc; i += 2) {
		const struct ib_cable *one = &all[i], *two = i + 1 < y->f->cables ? &all[i + 1] : NULL;

		if (two && (end_compare(end_of(one, false), end_of(two, false)) ||
				   end_compare(end_of(one, true), end_of(two, true))))
			two = NULL;
		rc = pair_check(y, one, two, err);
		if (rc)
			break;
		y->cable[y->cables] = *one;
		if (two->bandwidth > 0 && (!(one->bandwidth > 0) || two->bandwidth < one->bandwidth))
			y->cable[y->cables].bandwidth = two->bandwidth;
		if (!(y->cable[y->cables].bandwidth > 0))
			y->cable[y->cables].bandwidth = y->wishes->bandwidth;
		y->cables++;
	}
	return rc;
}

struct port {
	struct ib_end end;
	unsigned line;
};

static int port_compare(const void *x, const void *y)
{
	const struct port *a = x, *b = y;
	int order = end_compare(&a->end, &b->end);

	return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* Refuses a port with two cables. */
static int ports_check(const struct laying *y, struct zerr *err)
{
	struct port *port = malloc((2 * y->cables + 1) * sizeof(*port));
	int rc = port ? 0 : no_memory(err);

	for (size_t i = 0; i < 2 * y->cables && !rc; i++)
		port[i] = (struct port){y->cable[i / 2].end[i % 2], y->cable[i / 2].line};
	if (!rc)
		qsort(port, 2 * y->cables, sizeof(*port), port_compare);
	for (size_t i = 1; i < 2 * y->cables && !rc; i++)
		if (!end_compare(&port[i].end, &port[i - 1].end))
			rc = refuse(y, port[i].line, &port[i].end, err, "has another cable in line %u",
				port[i - 1].line);
	free(port);
	return rc;
}

/* --- hosts --- */

/* Adds the rail of a cable between an adapter and a switch. */
static int rail_add(struct laying *y, const struct ib_cable *cable, struct zerr *err)
{
	const struct ib_device *device = y->f->device;
	bool turned = device[cable->end[0].device].kind == IB_SWITCH;
	const struct ib_end *own = &cable->end[turned], *other = &cable->end[!turned];
	const char *description = device[own->device].description;
	uint32_t host;
	char *name;
	int rc;

	if (device[own->device].kind != IB_ADAPTER || device[other->device].kind != IB_SWITCH ||
		ib_names_in_switch(description))
		return 0;
	name = ib_names_host(description, y->f->names.name[own->device]);
	if (!name)
		return no_memory(err);
	rc = names_add(&y->hosts, name, &host);
	free(name);
	if (rc && rc != -EEXIST)
		return rc == -E2BIG ? zerr_set(err, rc, "%s: more than %u hosts", y->path, NAMES_MAX) : no_memory(err);
	y->rail[y->rails++] = (struct rail){host, own->device, own->port, other->device, description};
	return 0;
}

/* By the host; then as its adapters are called, with mlx5_2 before mlx5_10; then by the port. */
static int rail_compare(const void *x, const void *y)
{
	const struct rail *a = x, *b = y;
	int order = (a->host > b->host) - (a->host < b->host);

	order = order ? order : strverscmp(a->description, b->description);
	order = order ? order : (a->device > b->device) - (a->device < b->device);
	return order ? order : (a->port > b->port) - (a->port < b->port);
}

/* By their lines, so that hosts are numbered in the order of the file. */
static int line_compare(const void *x, const void *y)
{
	const struct ib_cable *a = x, *b = y;

	return (a->line > b->line) - (a->line < b->line);
}

/* Finds the cables of all hosts, and marks the switches in use. */
static int rails_find(struct laying *y, bool *used, struct zerr *err)
{
	size_t next;
	int rc = 0;

	qsort(y->cable, y->cables, sizeof(*y->cable), line_compare);
	y->hosts.fold = true;
	for (size_t i = 0; i < y->cables && !rc; i++)
		rc = rail_add(y, &y->cable[i], err);
	if (rc)
		return rc;
	qsort(y->rail, y->rails, sizeof(*y->rail), rail_compare);
	for (size_t i = 0, n = 0; i < y->rails; i = next, n++) {
		size_t rail = y->wishes->rail;

		for (next = i + 1; next < y->rails && y->rail[next].host == y->rail[i].host;)
			next++;
		y->rail[n] = y->rail[i + (rail <= next - i ? rail : next - i) - 1];
		used[y->rail[n].switch_] = true;
	}
	y->rails = y->hosts.n; /* one of each host */
	return 0;
}

/* --- the network --- */

/* The switches in the order of their own lines. */
struct place {
	unsigned line;
	uint32_t device;
};

static int place_compare(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	return a->line != b->line ? (a->line > b->line) - (a->line < b->line)
				  : (a->device > b->device) - (a->device < b->device);
}

static int switches_add(struct laying *y, const bool *used, struct zerr *err)
{
	uint32_t n = y->f->names.n, count = 0;
	struct place *order = malloc((n + 1) * sizeof(*order));
	char **name = NULL;
	int rc = !order || ib_names_switches(y->f, used, &name) ? no_memory(err) : 0;

	for (uint32_t d = 0; d < n && !rc; d++)
		if (used[d])
			order[count++] = (struct place){y->f->device[d].line, d};
	if (!rc)
		qsort(order, count, sizeof(*order), place_compare);
	for (uint32_t i = 0; i < count && !rc; i++) {
		rc = cabling_add_router(y->c, name[order[i].device], 0, &y->router[order[i].device], err);
		if (rc)
			zerr_prefix(err, rc, "%s:%u", y->path, order[i].line);
	}
	for (uint32_t d = 0; d < n && name; d++)
		free(name[d]);
	free(name);
	free(order);
	return rc;
}

static int devices_check(const struct laying *y, struct zerr *err)
{
	for (size_t i = 0; i < y->f->cables; i++) {
		const struct ib_cable *c = &y->f->cable[i];

		if (!y->f->device[c->end[1].device].line)
			return refuse(y, c->line, &c->end[0], err,
				"has a cable to %.32s, which is not in this file itself: the file is not complete",
				y->f->names.name[c->end[1].device]);
	}
	return 0;
}

static int fabric_add(struct laying *y, const bool *used, struct zerr *err)
{
	const struct ib_device *device = y->f->device;
	int rc = switches_add(y, used, err);

	for (size_t i = 0; i < y->rails && !rc; i++)
		rc = cabling_add_node(y->c, y->hosts.name[y->rail[i].host], y->router[y->rail[i].switch_], err);
	for (size_t i = 0; i < y->cables && !rc; i++) {
		const struct ib_cable *c = &y->cable[i];
		uint32_t a = c->end[0].device, b = c->end[1].device;
		struct cabling_link link = {y->router[a], y->router[b], 1, c->bandwidth};

		if (device[a].kind == IB_SWITCH && device[b].kind == IB_SWITCH && a != b)
			rc = cabling_add_link(y->c, &link, err);
	}
	return rc;
}

int ib_fabric_lay(struct ib_fabric *f, const char *path, const struct ib_wishes *wishes, struct cabling *c,
	struct zerr *err)
{
	struct laying y = {.f = f, .path = path, .wishes = wishes, .c = c};
	bool *used = calloc(f->names.n + 1, sizeof(*used));
	int rc;

	y.cable = malloc((f->cables + 1) * sizeof(*y.cable));
	y.rail = malloc((f->cables + 1) * sizeof(*y.rail));
	y.router = malloc((f->names.n + 1) * sizeof(*y.router));
	rc = used && y.cable && y.rail && y.router ? devices_check(&y, err) : no_memory(err);
	if (!rc)
		rc = cables_join(&y, err);
	if (!rc)
		rc = ports_check(&y, err);
	if (!rc)
		rc = rails_find(&y, used, err);
	if (!rc && !y.rails)
		rc = zerr_set(err, -EINVAL, "%s: no host at a switch", path);
	for (size_t i = 0; i < y.cables && !rc; i++) {
		uint32_t a = y.cable[i].end[0].device, b = y.cable[i].end[1].device;

		if (f->device[a].kind == IB_SWITCH && f->device[b].kind == IB_SWITCH && a != b)
			used[a] = used[b] = true;
	}
	if (!rc)
		rc = fabric_add(&y, used, err);
	names_free(&y.hosts);
	free(used);
	free(y.cable);
	free(y.rail);
	free(y.router);
	return rc;
}

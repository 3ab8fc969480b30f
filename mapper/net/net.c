/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions that topologies share: creation by a table, bandwidths from a file, loads by enumeration of paths. */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/value.h"
#include "common/base/lines.h"
#include "mapper/net/net.h"
#include "mapper/base/par.h"
#include "mapper/traffic/traffic.h"

int net_init(struct net *net, const struct net_ops *ops, uint32_t links, struct zerr *err)
{
	net->ops = ops;
	net->links = links;
	net->link_class = calloc(links, sizeof(*net->link_class));
	net->capacity = malloc(links * sizeof(*net->capacity));
	if (!net->link_class || !net->capacity)
		return zerr_set(err, -ENOMEM, "not enough memory for %u links", links);
	for (uint32_t l = 0; l < links; l++)
		net->capacity[l] = FLT_MAX;
	for (int c = 0; c < NET_CLASSES; c++)
		net->cables[c] = 1;
	return 0;
}

void net_fini(struct net *net)
{
	free(net->link_class);
	free(net->capacity);
	free(net->where);
}

int net_create_list(struct spec_list *l, const struct net_ops *const *table, struct net **net, struct zerr *err)
{
	const struct net_ops *const *o = table;
	struct spec *spec = l->specs;
	const char *file;
	int rc;

	*net = NULL;
	if (!l->n)
		return zerr_set(err, -EINVAL, "%s: nothing is described", l->where);
	while (*o && strcmp((*o)->name, spec->words[0].key))
		o++;
	if (!*o)
		return zerr_set(err, -EINVAL, "%s: \"%s\" is no topology", spec->where, spec->words[0].key);
	if (l->n > 1 && !(*o)->joins)
		return zerr_set(err, -EINVAL, "%s: one network is enough (\"part\" statements join several)",
			l->specs[1].where);
	if (spec->words[0].value && !(*o)->takes_value)
		return zerr_set(err, -EINVAL, "%s: %s:%s: only a torus or a hyperx has numbers behind its name",
			spec->where, (*o)->name, spec->words[0].value);
	rc = spec_file(spec, "bandwidth-file", &file, err);
	if (!rc)
		rc = (*o)->create(l, table, net, err);
	if (!rc && file)
		rc = net_read_bandwidths(*net, file, err);
	if (!rc)
		rc = spec_finish(spec, err);
	if (rc) {
		net_destroy(*net);
		*net = NULL;
	}
	return rc;
}

void net_destroy(struct net *net)
{
	if (net)
		net->ops->destroy(net);
}

/* --- bandwidths from a file --- */

struct named {
	char *name;
	uint32_t link;
	int line; /* line with its bandwidth; 0: none yet */
};

static int named_compare(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* The state of reading a file. */
struct reading {
	struct net *net;
	struct named *names; /* [n], sorted */
	size_t n;
};

static int bandwidth_line(void *arg, char *line, int number, struct zerr *err)
{
	const struct reading *r = arg;
	char *save, *hash = strchr(line, '#'), *name, *value;
	struct named key = {0}, *found;
	uint64_t v;

	if (hash)
		*hash = '\0';
	name = strtok_r(line, " \t\r\n", &save);
	if (!name)
		return 0;
	value = strtok_r(NULL, " \t\r\n", &save);
	if (!value || zargs_parse_u64(value, &v) || !v || strtok_r(NULL, " \t\r\n", &save))
		return zerr_set(err, -EINVAL, "not \"NAME BANDWIDTH\" with a positive number");
	key.name = name;
	found = bsearch(&key, r->names, r->n, sizeof(*r->names), named_compare);
	if (!found)
		return zerr_set(err, -EINVAL, "there is no link \"%s\"", name);
	if (found->line)
		return zerr_set(err, -EINVAL, "link \"%s\" was already in line %d", name, found->line);
	found->line = number;
	r->net->capacity[found->link] = (float)v;
	return 0;
}

int net_read_bandwidths(struct net *net, const char *path, struct zerr *err)
{
	FILE *f = fopen(path, "r");
	struct reading r = {.net = net, .names = malloc(net->links * sizeof(*r.names))};
	char name[NET_LINK_NAME_SIZE];
	int rc;

	if (!f || !r.names) {
		rc = zerr_set(err, f ? -ENOMEM : -errno, "%s: %s", path, strerror(f ? ENOMEM : errno));
		goto out;
	}
	for (uint32_t l = 0; l < net->links; l++) {
		if (net->link_class[l] == NET_NONE)
			continue;
		net->ops->link_name(net, l, name, sizeof(name));
		r.names[r.n] = (struct named){.name = strdup(name), .link = l};
		if (!r.names[r.n++].name) {
			rc = zerr_set(err, -ENOMEM, "%s: not enough memory", path);
			goto out;
		}
	}
	qsort(r.names, r.n, sizeof(*r.names), named_compare);
	rc = zlines_read(f, path, bandwidth_line, &r, err);
out:
	if (f)
		fclose(f);
	for (size_t i = 0; i < r.n; i++)
		free(r.names[i].name);
	free(r.names);
	return rc;
}

/* --- loads by enumeration --- */

/* Loads are summed as integers, in units of 2^-16 bytes, so that the order of additions does not matter. The unit is
 * larger where 2^47 bytes (128 TiB) or more are under way, because one link may carry all of them. */
#define FRACTION_BITS 16

struct enumerate {
	const struct net *net;
	const struct traffic *t;
	bool single;   /* one path of each pair: that of deterministic routing */
	unsigned bits; /* the unit is 2^-bits bytes */
	uint64_t *sum; /* [links], shared, atomic */
	double *hops;  /* [nchunks], bytes x hops in these units */
};

static void item_enumerate(struct enumerate *e, uint32_t s, uint32_t d, uint64_t amount, unsigned __int128 *hops)
{
	const struct net *net = e->net;
	uint32_t n = e->single ? 1 : net->ops->direct_count(net, s, d), first = e->single ? net_single(net, s, d) : 0;
	uint32_t link[NET_SLOTS_MAX];

	/* The remainder of the division goes to the first paths, one unit each. */
	for (uint32_t k = 0; k < n; k++) {
		uint64_t share = amount / n + (k < amount % n);

		net->ops->direct(net, s, d, first + k, link);
		for (uint32_t h = 0; h < net->direct_slots; h++) {
			if (net->link_class[link[h]] == NET_NONE)
				continue;
			__atomic_fetch_add(&e->sum[link[h]], share, __ATOMIC_RELAXED);
			*hops += share;
		}
	}
}

static void enumerate_chunk(void *arg, size_t item, unsigned worker)
{
	struct enumerate *e = arg;
	const struct traffic_chunk *c = &e->t->chunks[item];
	unsigned __int128 hops = 0; /* all links together may carry more than one link */

	(void)worker;
	for (uint32_t i = 0; i < c->n; i++)
		for (uint64_t j = c->off[i]; j < c->off[i + 1]; j++)
			item_enumerate(e, c->first + i, c->items[j].dst, (c->items[j].units * e->t->unit) << e->bits,
				&hops);
	e->hops[item] = (double)hops;
}

static int load_enumerate(const struct net *net, const struct traffic *t, bool single, unsigned threads,
	struct net_load *load)
{
	struct enumerate e = {.net = net, .t = t, .single = single, .bits = FRACTION_BITS};

	while (e.bits && t->bytes >> (63 - e.bits))
		e.bits--;
	e.sum = calloc(net->links, sizeof(*e.sum));
	e.hops = calloc(t->nchunks ? t->nchunks : 1, sizeof(*e.hops));
	if (!e.sum || !e.hops) {
		free(e.sum);
		free(e.hops);
		return -ENOMEM;
	}
	par_run(threads, t->nchunks, enumerate_chunk, &e);
	for (uint32_t l = 0; l < net->links; l++)
		load->bytes[l] += (double)e.sum[l] / (1 << e.bits);
	for (size_t i = 0; i < t->nchunks; i++)
		load->byte_hops += e.hops[i] / (1 << e.bits);
	free(e.sum);
	free(e.hops);
	return 0;
}

int net_load_enumerated(const struct net *net, const struct traffic *t, unsigned threads, struct net_load *load)
{
	return load_enumerate(net, t, false, threads, load);
}

int net_load_single(const struct net *net, const struct traffic *t, unsigned threads, struct net_load *load)
{
	return load_enumerate(net, t, true, threads, load);
}

void net_sum_ends(const struct traffic *t, double *sent, double *received)
{
	for (size_t k = 0; k < t->nchunks; k++) {
		const struct traffic_chunk *c = &t->chunks[k];

		for (uint32_t i = 0; i < c->n; i++)
			for (uint64_t j = c->off[i]; j < c->off[i + 1]; j++) {
				sent[c->first + i] += (double)c->items[j].units * (double)t->unit;
				received[c->items[j].dst] += (double)c->items[j].units * (double)t->unit;
			}
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up links edge by edge, see map_links.h. */
#include <errno.h>
#include <stdlib.h>

#include "mapper/draw/map_links.h"
#include "mapper/map/map_rails.h"
#include "common/hosts/hostfile_find.h"

uint64_t map_links_sum(const struct map_link *l)
{
	uint64_t sum = 0;

	for (int k = 0; k < MAP_KINDS; k++)
		sum += l->bytes[k];
	return sum;
}

void map_links_add(struct map_link *to, const struct map_link *l)
{
	for (int k = 0; k < MAP_KINDS; k++)
		to->bytes[k] += l->bytes[k];
}

/* --- places --- */

/* Finds the place of each zipper line of the hostfile: that of its node, or that of an earlier line of this host, or a
 * new one. */
static void zippers_place(struct map_links *l, const struct map_site *s, uint32_t *place)
{
	const struct zhostfile *hosts = s->hosts;

	l->nplaces = s->nnodes;
	for (int z = 0; z < hosts->nzippers; z++) {
		int first = zhostfile_find_zipper(hosts, hosts->zippers[z].host);

		place[z] = first < z ? place[first] : map_site_find(s, hosts->zippers[z].host);
		if (place[z] == MAP_NONE)
			place[z] = l->nplaces++;
	}
}

static int places_make(struct map_links *l, const struct map_site *s, const uint32_t *place)
{
	l->node = calloc(l->nplaces, sizeof(*l->node));
	l->port = calloc(l->nplaces, sizeof(*l->port));
	l->ports = calloc(l->nplaces, sizeof(*l->ports));
	l->zipper = malloc(l->nplaces * sizeof(*l->zipper));
	if (!l->node || !l->port || !l->ports || !l->zipper)
		return -ENOMEM;
	for (uint32_t i = 0; i < l->nplaces; i++)
		l->zipper[i] = -1;
	for (int z = s->hosts->nzippers; z-- > 0;) {
		l->zipper[place[z]] = z;
		l->ports[place[z]] |= zhostfile_find_clusters(s->hosts, z);
	}
	/* ranks there also reach the hosts of the cluster above */
	for (uint32_t i = 0; i < s->nnodes; i++)
		l->ports[i] |= s->nodes[i].zipper ? s->nodes[i].fabrics : 0;
	return 0;
}

/* --- bytes --- */

/* fabrics between zippers are in no picture */
static void rails_add(struct map_links *l, const struct map_site *s, const struct map_prediction *p,
	const uint32_t *place)
{
	for (uint32_t r = 0; r < p->nrails; r++) {
		const struct map_rail *rail = &p->rails[r];

		if (rail->from < s->nclusters)
			l->port[place[rail->zipper]][rail->from].bytes[MAP_BRIDGED] += rail->load.bytes;
		if (rail->to < s->nclusters)
			l->port[place[rail->zipper]][rail->to].bytes[MAP_BRIDGED] += rail->load.bytes;
	}
}

/* Adds one end of a message: to the link of its node, or to the port of the network by which it leaves or comes. Bytes
 * that zippers on the node itself take or bring pass no port there, neither for the rank nor for the rails, which were
 * added already. Shares of few bytes do not come out even; the sum is never negative. */
static void end_add(struct map_links *l, const struct map_site *s, const struct map_prediction *p, uint32_t node,
	uint32_t fabric, uint32_t other, enum map_kind kind, uint64_t bytes)
{
	struct map_link *link = s->nodes[node].zipper ? &l->port[node][fabric] : &l->node[node];
	uint64_t near = 0;

	if (kind == MAP_BRIDGED && !s->all_zippers)
		near = 2 * map_rails_near(p, s, node, fabric, other, bytes, NULL);
	link->bytes[kind] += bytes;
	link->bytes[kind] -= near < link->bytes[kind] ? near : link->bytes[kind];
}

static void edges_add(struct map_links *l, const struct map_make *m, const struct map_made *made)
{
	const struct map_layout *layout = &made->layout;
	const struct map_prediction *p = &made->prediction;
	const struct zgraph *g = m->traffic;
	uint64_t clusters = map_job_clusters(layout);

	for (uint32_t u = 0; u < g->ranks; u++)
		for (uint64_t e = g->off[u]; e < g->off[u + 1]; e++) {
			uint32_t a = layout->node[u], b = layout->node[g->peer[e]], from, to;
			enum map_kind kind = map_kind_find(&m->site, layout, clusters, u, g->peer[e]);

			if (a == b && kind != MAP_BRIDGED)
				continue;
			map_kind_ends(&m->site, layout, clusters, kind, u, g->peer[e], &from, &to);
			end_add(l, &m->site, p, a, from, to, kind, g->bytes[e]);
			end_add(l, &m->site, p, b, to, from, kind, g->bytes[e]);
		}
}

static void most_find(struct map_links *l, uint32_t nclusters)
{
	for (uint32_t i = 0; i < l->nplaces; i++) {
		uint64_t sum = map_links_sum(&l->node[i]);

		l->most.bytes[0] = sum > l->most.bytes[0] ? sum : l->most.bytes[0];
		for (uint32_t c = 0; c < nclusters; c++) {
			sum = map_links_sum(&l->port[i][c]);
			l->most.bytes[0] = sum > l->most.bytes[0] ? sum : l->most.bytes[0];
		}
	}
}

int map_links_make(struct map_links *l, const struct map_make *m, enum map_candidate which)
{
	uint32_t *place = malloc(((size_t)m->hosts.nzippers + 1) * sizeof(*place));
	int rc = place ? 0 : -ENOMEM;

	*l = (struct map_links){0};
	if (!rc) {
		zippers_place(l, &m->site, place);
		rc = places_make(l, &m->site, place);
	}
	if (!rc) {
		rails_add(l, &m->site, &m->made[which].prediction, place);
		edges_add(l, m, &m->made[which]);
		most_find(l, m->site.nclusters);
	} else {
		map_links_free(l);
	}
	free(place);
	return rc;
}

void map_links_free(struct map_links *l)
{
	free(l->node);
	free(l->port);
	free(l->ports);
	free(l->zipper);
	*l = (struct map_links){0};
}

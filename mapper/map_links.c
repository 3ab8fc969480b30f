/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up links edge by edge. */
#include <errno.h>
#include <stdlib.h>

#include "map_links.h"

uint64_t map_link_sum(const struct map_link *l)
{
	uint64_t sum = 0;

	for (int k = 0; k < MAP_KINDS; k++)
		sum += l->bytes[k];
	return sum;
}

void map_link_add(struct map_link *to, const struct map_link *l)
{
	for (int k = 0; k < MAP_KINDS; k++)
		to->bytes[k] += l->bytes[k];
}

/* One end of a message: the link of its node, or the port that leads to the other end. cluster: whose job it is in. */
static void end_add(struct map_links *l, const struct map_site *s, uint32_t node, uint32_t cluster, uint32_t other,
	enum map_kind kind, uint64_t bytes)
{
	const struct map_node *n = &s->nodes[node], *o = &s->nodes[other];
	uint64_t common = n->fabrics & o->fabrics;
	uint32_t fabric;

	if (!n->zipper) {
		l->node[node].bytes[kind] += bytes;
		return;
	}
	if (kind == MAP_BRIDGED && !s->all_zippers) {
		fabric = cluster;
	} else if (kind == MAP_BRIDGED) { /* out at the port from where it is nearest; the rails are added for all of
				 them later */
		uint32_t best = n->cluster;

		for (uint32_t c = 0; c < s->nclusters; c++)
			if (n->fabrics >> c & 1 && map_site_far(s, UINT64_C(1) << c, o->fabrics) <
							   map_site_far(s, UINT64_C(1) << best, o->fabrics))
				best = c;
		fabric = best;
	} else {
		fabric = common >> o->cluster & 1 ? o->cluster : (uint32_t)__builtin_ctzll(common);
	}
	l->port[node][fabric].bytes[kind] += bytes;
}

/* --- places --- */

/* Which place each zipper line of the hostfile is of: its node's, or that of an earlier line of this host, or a new
 * one. */
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
		l->ports[place[z]] |= zhostfile_zipper_clusters(s->hosts, z);
	}
	/* ranks there reach the hosts of the cluster above, too */
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

static void edges_add(struct map_links *l, const struct map_make *m, const struct map_layout *layout)
{
	const struct zgraph *g = m->traffic;
	uint64_t clusters = map_job_clusters(layout);

	for (uint32_t u = 0; u < g->ranks; u++)
		for (uint64_t e = g->off[u]; e < g->off[u + 1]; e++) {
			uint32_t from = layout->node[u], to = layout->node[g->peer[e]];
			enum map_kind kind = map_kind_find(&m->site, layout, clusters, u, g->peer[e]);

			if (from == to)
				continue;
			end_add(l, &m->site, from, layout->cluster[u], to, kind, g->bytes[e]);
			end_add(l, &m->site, to, layout->cluster[g->peer[e]], from, kind, g->bytes[e]);
		}
}

static void most_find(struct map_links *l, uint32_t nclusters)
{
	for (uint32_t i = 0; i < l->nplaces; i++) {
		uint64_t sum = map_link_sum(&l->node[i]);

		l->most.bytes[0] = sum > l->most.bytes[0] ? sum : l->most.bytes[0];
		for (uint32_t c = 0; c < nclusters; c++) {
			sum = map_link_sum(&l->port[i][c]);
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
		edges_add(l, m, &m->made[which].layout);
		rails_add(l, &m->site, &m->made[which].prediction, place);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up links edge by edge. */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "map_links.h"

uint64_t map_link_sum(const struct map_link *l)
{
	uint64_t sum = 0;

	for (int k = 0; k < MAP_KINDS; k++)
		sum += l->bytes[k];
	return sum;
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

static void rails_add(struct map_links *l, const struct map_make *m, const struct map_prediction *p)
{
	const struct map_site *s = &m->site;

	for (uint32_t r = 0; r < p->nrails; r++)
		for (uint32_t i = 0; i < s->nnodes; i++) {
			const struct map_rail *rail = &p->rails[r];

			if (strcasecmp(m->hosts.zippers[rail->zipper].host, s->nodes[i].name) != 0)
				continue;
			/* fabrics between zippers are in no picture */
			if (rail->from < s->nclusters)
				l->port[i][rail->from].bytes[MAP_BRIDGED] += rail->load.bytes;
			if (rail->to < s->nclusters)
				l->port[i][rail->to].bytes[MAP_BRIDGED] += rail->load.bytes;
		}
}

int map_links_make(struct map_links *l, const struct map_make *m, enum map_candidate which)
{
	const struct map_layout *layout = &m->made[which].layout;
	const struct map_site *s = &m->site;
	const struct zgraph *g = m->traffic;
	uint64_t clusters = map_job_clusters(layout);

	*l = (struct map_links){0};
	l->node = calloc(s->nnodes, sizeof(*l->node));
	l->port = calloc(s->nnodes, sizeof(*l->port));
	if (!l->node || !l->port) {
		map_links_free(l);
		return -ENOMEM;
	}
	for (uint32_t u = 0; u < g->ranks; u++)
		for (uint64_t e = g->off[u]; e < g->off[u + 1]; e++) {
			uint32_t from = layout->node[u], to = layout->node[g->peer[e]];
			enum map_kind kind = map_kind_find(s, layout, clusters, u, g->peer[e]);

			if (from == to)
				continue;
			end_add(l, s, from, layout->cluster[u], to, kind, g->bytes[e]);
			end_add(l, s, to, layout->cluster[g->peer[e]], from, kind, g->bytes[e]);
		}
	rails_add(l, m, &m->made[which].prediction);
	for (uint32_t i = 0; i < s->nnodes; i++) {
		uint64_t sum = map_link_sum(&l->node[i]);

		l->most.bytes[0] = sum > l->most.bytes[0] ? sum : l->most.bytes[0];
		for (uint32_t c = 0; c < s->nclusters; c++) {
			sum = map_link_sum(&l->port[i][c]);
			l->most.bytes[0] = sum > l->most.bytes[0] ? sum : l->most.bytes[0];
		}
	}
	return 0;
}

void map_links_free(struct map_links *l)
{
	free(l->node);
	free(l->port);
	*l = (struct map_links){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Native, direct or bridged, see map_kind.h. */
#include "map_kind.h"

const char *const map_kind_names[MAP_KINDS] = {"within nodes", "native", "direct", "bridged"};

/* As zipperd introduces them to each other: does the one find the other one listening on a network of its own? */
static bool is_direct(const struct map_site *s, const struct map_layout *l, uint64_t clusters, uint32_t u, uint32_t v)
{
	const struct map_node *a = &s->nodes[l->node[u]], *b = &s->nodes[l->node[v]];
	bool u_listens = a->ports && (!b->ports || u < v);
	const struct map_node *to = u_listens ? a : b, *from = u_listens ? b : a;
	uint64_t reached = from->ports | UINT64_C(1) << l->cluster[u_listens ? v : u];

	return (to->ports & reached & clusters) != 0;
}

enum map_kind map_kind_find(const struct map_site *s, const struct map_layout *l, uint64_t clusters, uint32_t u,
	uint32_t v)
{
	bool direct;

	if (l->cluster[u] == l->cluster[v])
		return l->node[u] == l->node[v] ? MAP_INSIDE : MAP_NATIVE;
	if (s->all_zippers) /* a network that is planned: no rank of the job has to be in a cluster */
		direct = (s->nodes[l->node[u]].fabrics & s->nodes[l->node[v]].fabrics) != 0;
	else
		direct = is_direct(s, l, clusters, u, v);
	return direct ? MAP_DIRECT : MAP_BRIDGED;
}

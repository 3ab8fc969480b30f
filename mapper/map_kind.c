/* SPDX-License-Identifier: BSD-3-Clause */
/* Native, direct or bridged, see map_kind.h. */
#include "map_kind.h"

const char *const map_kind_names[MAP_KINDS] = {"within nodes", "native", "direct", "bridged"};

/* As zipperd introduces them to each other: the networks of its own on which the one finds the other one listening. */
static uint64_t direct_fabrics(const struct map_site *s, const struct map_layout *l, uint64_t clusters, uint32_t u,
	uint32_t v)
{
	const struct map_node *a = &s->nodes[l->node[u]], *b = &s->nodes[l->node[v]];
	bool u_listens = a->ports && (!b->ports || u < v);
	const struct map_node *to = u_listens ? a : b, *from = u_listens ? b : a;
	uint64_t reached = from->ports | UINT64_C(1) << l->cluster[u_listens ? v : u];

	return to->ports & reached & clusters;
}

/* In a network that is planned no rank of the job has to be in a cluster. */
static uint64_t common_fabrics(const struct map_site *s, const struct map_layout *l, uint64_t clusters, uint32_t u,
	uint32_t v)
{
	if (s->all_zippers)
		return s->nodes[l->node[u]].fabrics & s->nodes[l->node[v]].fabrics;
	return direct_fabrics(s, l, clusters, u, v);
}

enum map_kind map_kind_find(const struct map_site *s, const struct map_layout *l, uint64_t clusters, uint32_t u,
	uint32_t v)
{
	if (l->cluster[u] == l->cluster[v])
		return l->node[u] == l->node[v] ? MAP_INSIDE : MAP_NATIVE;
	return common_fabrics(s, l, clusters, u, v) ? MAP_DIRECT : MAP_BRIDGED;
}

/* Bridged between the clusters whose jobs they take part in; by all zippers between the networks where that takes
 * fewest. */
void map_kind_ends(const struct map_site *s, const struct map_layout *l, uint64_t clusters, enum map_kind kind,
	uint32_t u, uint32_t v, uint32_t *from, uint32_t *to)
{
	uint64_t a = s->nodes[l->node[u]].fabrics, b = s->nodes[l->node[v]].fabrics;
	unsigned least = UINT32_MAX;

	*from = l->cluster[u];
	*to = l->cluster[v];
	if (kind == MAP_DIRECT)
		*from = *to = (uint32_t)__builtin_ctzll(common_fabrics(s, l, clusters, u, v));
	if (kind != MAP_BRIDGED || !s->all_zippers)
		return;
	for (uint64_t i = a; i; i &= i - 1)
		for (uint64_t j = b; j; j &= j - 1) {
			uint32_t x = (uint32_t)__builtin_ctzll(i), y = (uint32_t)__builtin_ctzll(j);

			if (map_site_hops(s, x, y) < least) {
				*from = x;
				*to = y;
				least = map_site_hops(s, x, y);
			}
		}
}

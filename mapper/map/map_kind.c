/* SPDX-License-Identifier: BSD-3-Clause */
/* Native, direct or bridged messages, see map_kind.h. */
#include "mapper/map/map_kind.h"
#include "mapper/site/map_ways.h"
#include "common/hosts/hostfile_find.h"

const char *const map_kind_names[MAP_KINDS] = {"within nodes", "native", "direct", "bridged"};

/* At least one of the two ranks is on a zipper node. Is u the one that listens? */
static bool listens(const struct map_site *s, const struct map_layout *l, uint32_t u, uint32_t v)
{
	return s->nodes[l->node[u]].ports && (!s->nodes[l->node[v]].ports || u < v);
}

/* The networks for a direct connection, by zipperd's rule: those on which one rank finds the other one listening. */
static uint64_t direct_fabrics(const struct map_site *s, const struct map_layout *l, uint64_t clusters, uint32_t u,
	uint32_t v)
{
	bool u_listens = listens(s, l, u, v);
	uint32_t to = u_listens ? u : v, from = u_listens ? v : u;
	uint64_t reached = s->nodes[l->node[from]].ports | UINT64_C(1) << l->cluster[from];

	return s->nodes[l->node[to]].ports & reached & clusters;
}

/* In a network that is planned, direct messages may use fabrics without ranks of the job. */
static uint64_t common_fabrics(const struct map_site *s, const struct map_layout *l, uint64_t clusters, uint32_t u,
	uint32_t v)
{
	if (s->all_zippers)
		return s->nodes[l->node[u]].fabrics & s->nodes[l->node[v]].fabrics;
	return direct_fabrics(s, l, clusters, u, v);
}

/* The fabric that comes first in the zipper line of the listening rank: there the rank is found. */
static uint32_t direct_fabric(const struct map_site *s, const struct map_layout *l, uint64_t clusters, uint32_t u,
	uint32_t v)
{
	const uint64_t common = common_fabrics(s, l, clusters, u, v);
	const struct map_node *to = &s->nodes[l->node[listens(s, l, u, v) ? u : v]];
	int z = common & (common - 1) ? zhostfile_find_zipper(s->hosts, to->name) : -1;

	for (int p = 0; z >= 0 && p < s->hosts->zippers[z].nports; p++) {
		uint32_t f = map_ways_find_fabric(s, s->hosts->zippers[z].ports[p].fabric);

		if (f < s->nclusters && common >> f & 1)
			return f;
	}
	return (uint32_t)__builtin_ctzll(common);
}

enum map_kind map_kind_find(const struct map_site *s, const struct map_layout *l, uint64_t clusters, uint32_t u,
	uint32_t v)
{
	if (l->cluster[u] == l->cluster[v])
		return l->node[u] == l->node[v] ? MAP_INSIDE : MAP_NATIVE;
	return common_fabrics(s, l, clusters, u, v) ? MAP_DIRECT : MAP_BRIDGED;
}

/* A bridged message goes between the clusters whose jobs the two ranks take part in. Where all zippers forward, it goes
 * between the networks with the fewest zippers between them. */
void map_kind_ends(const struct map_site *s, const struct map_layout *l, uint64_t clusters, enum map_kind kind,
	uint32_t u, uint32_t v, uint32_t *from, uint32_t *to)
{
	uint64_t a = s->nodes[l->node[u]].fabrics, b = s->nodes[l->node[v]].fabrics;
	unsigned least = UINT32_MAX;

	*from = l->cluster[u];
	*to = l->cluster[v];
	if (kind == MAP_DIRECT)
		*from = *to = direct_fabric(s, l, clusters, u, v);
	if (kind != MAP_BRIDGED || !s->all_zippers)
		return;
	for (uint64_t i = a; i; i &= i - 1)
		for (uint64_t j = b; j; j &= j - 1) {
			uint32_t x = (uint32_t)__builtin_ctzll(i), y = (uint32_t)__builtin_ctzll(j);

			if (map_ways_hops(s, x, y) < least) {
				*from = x;
				*to = y;
				least = map_ways_hops(s, x, y);
			}
		}
}

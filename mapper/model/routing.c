/* SPDX-License-Identifier: BSD-3-Clause */
/* How routings draw paths. */
#include "mapper/base/rng.h"
#include "mapper/model/routing.h"

void routing_draw_direct(const struct net *net, uint32_t s, uint32_t d, uint64_t bits, uint32_t want,
	struct path_set *p)
{
	uint32_t n = net->ops->direct_count(net, s, d), k = 0, step = 1;

	if (n > want) {
		/* `want` different paths: they begin at a random one and have random gaps, which do not wrap over it */
		k = rng_below((uint32_t)bits, n);
		step = 1 + rng_below((uint32_t)(bits >> 32), (n - 1) / (want > 1 ? want - 1 : 1));
	}
	for (uint32_t i = 0; i < want && i < n; i++)
		net->ops->direct(net, s, d, (k + i * step) % n, path_set_add(p, net->direct_slots));
}

void routing_draw_indirect(const struct net *net, uint32_t s, uint32_t d, uint64_t bits, uint32_t want,
	struct path_set *p)
{
	while (p->n < want) {
		bits = rng_mix(bits + UINT64_C(0x9e3779b97f4a7c15));
		net->ops->indirect(net, s, d, bits, path_set_add(p, net->indirect_slots));
	}
}

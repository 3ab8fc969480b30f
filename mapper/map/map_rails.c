/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads the rails of a prediction, see map_rails.h. */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "mapper/map/map_rails.h"
#include "mapper/site/map_ways.h"

int map_rails_make(struct map_prediction *p, const struct map_site *s)
{
	const struct zhostfile *h = s->hosts;
	size_t n = 0, first = 0; /* first: index of the zipper's first port */

	for (int z = 0; z < h->nzippers; z++)
		n += (size_t)(h->zippers[z].nports * (h->zippers[z].nports - 1));
	p->rails = calloc(n + 1, sizeof(*p->rails));
	if (!p->rails)
		return -ENOMEM;
	for (int z = 0; z < h->nzippers; z++) {
		for (int a = 0; a < h->zippers[z].nports; a++)
			for (int b = 0; b < h->zippers[z].nports; b++) {
				uint32_t from = map_ways_find_fabric(s, h->zippers[z].ports[a].fabric),
					 to = map_ways_find_fabric(s, h->zippers[z].ports[b].fabric);

				if (a != b)
					p->rails[p->nrails++] = (struct map_rail){.zipper = z,
						.from = from,
						.to = to,
						.in = p->ports.zipper[first + (size_t)a],
						.out = p->ports.zipper[first + (size_t)b]};
			}
		first += (size_t)h->zippers[z].nports;
	}
	return 0;
}

/* Share i of a load in n equal shares. */
static struct map_sum load_share(struct map_sum load, uint64_t n, uint64_t i)
{
	return (struct map_sum){load.bytes / n + (i < load.bytes % n), load.messages / n + (i < load.messages % n)};
}

/* --- of a job --- */

static void rail_load(struct map_prediction *p, int zipper, uint32_t from, uint32_t to, struct map_sum load)
{
	for (uint32_t r = 0; r < p->nrails; r++)
		if (p->rails[r].zipper == zipper && p->rails[r].from == from && p->rails[r].to == to)
			map_sum_add(&p->rails[r].load, load.bytes, load.messages);
}

/* Loads the rail, and the zippers between it and the ranks of the two parts. */
static void way_load(struct map_prediction *p, const struct map_site *s, uint32_t rail, uint32_t from, uint32_t to,
	struct map_sum load)
{
	const struct zhostways *ways = &p->zippers.ways;
	const struct zhostway *out = zhostways_at(ways, (int)rail, p->zippers.part[from]);
	const struct zhostway *in = zhostways_at(ways, (int)rail, p->zippers.part[to]);

	for (int i = 0; i < out->n; i++)
		rail_load(p, out->hop[i].zipper, map_ways_find_fabric(s, out->hop[i].from),
			map_ways_find_fabric(s, out->hop[i].to), load);
	rail_load(p, ways->zipper[rail], map_ways_find_fabric(s, out->entry), map_ways_find_fabric(s, in->entry), load);
	for (int i = 0; i < in->n; i++)
		rail_load(p, in->hop[i].zipper, map_ways_find_fabric(s, in->hop[i].to),
			map_ways_find_fabric(s, in->hop[i].from), load);
}

/* Spreads a load evenly over the rails with the shortest ways, as libzip chooses them. */
static void job_load(struct map_prediction *p, const struct map_site *s, uint32_t from, uint32_t to,
	struct map_sum load)
{
	const struct map_zippers *z = &p->zippers;
	unsigned forwards = map_job_zippers_forwards(z, from, to);
	uint64_t n = 0, i = 0;

	for (uint32_t r = 0; r < z->n; r++)
		n += map_job_zippers_passed(z, r, from, to) == forwards;
	for (uint32_t r = 0; r < z->n; r++)
		if (map_job_zippers_passed(z, r, from, to) == forwards)
			way_load(p, s, r, from, to, load_share(load, n, i++));
}

/* The port by which a zipper is on a fabric. */
static uint32_t rail_port(const struct map_prediction *p, int zipper, uint32_t fabric)
{
	uint32_t r = 0;

	while (p->rails[r].zipper != zipper || p->rails[r].from != fabric)
		r++;
	return p->rails[r].in;
}

uint64_t map_rails_near(const struct map_prediction *p, const struct map_site *s, uint32_t node, uint32_t from,
	uint32_t to, uint64_t bytes, uint64_t *near)
{
	const struct map_zippers *z = &p->zippers;
	uint64_t n = 0, i = 0, sum = 0;
	unsigned forwards;

	if (!s->nodes[node].zipper) /* most nodes are not; this is called for each edge */
		return 0;
	forwards = map_job_zippers_forwards(z, from, to);
	for (uint32_t r = 0; r < z->n; r++)
		n += map_job_zippers_passed(z, r, from, to) == forwards;
	for (uint32_t r = 0; r < z->n; r++) {
		const struct zhostway *out = zhostways_at(&z->ways, (int)r, z->part[from]);
		int first = out->n ? out->hop[0].zipper : z->ways.zipper[r];
		uint64_t share;

		if (map_job_zippers_passed(z, r, from, to) != forwards)
			continue;
		share = load_share((struct map_sum){.bytes = bytes}, n, i++).bytes;
		if (strcasecmp(s->hosts->zippers[first].host, s->nodes[node].name) != 0)
			continue;
		sum += share;
		if (near)
			near[rail_port(p, first, from)] += share;
	}
	return sum;
}

/* --- where all zippers forward --- */

/* Loads one forward, evenly over the rails that make it. */
static void rails_load(struct map_prediction *p, uint32_t from, uint32_t to, struct map_sum load)
{
	uint64_t n = 0, i = 0;

	for (uint32_t r = 0; r < p->nrails; r++)
		n += p->rails[r].from == from && p->rails[r].to == to;
	for (uint32_t r = 0; r < p->nrails; r++) {
		struct map_sum share;

		if (p->rails[r].from != from || p->rails[r].to != to)
			continue;
		share = load_share(load, n, i++);
		map_sum_add(&p->rails[r].load, share.bytes, share.messages);
	}
}

static void fabrics_load(struct map_prediction *p, const struct map_site *s, uint32_t from, uint32_t to,
	struct map_sum load)
{
	while (from != to) {
		uint32_t next = 0;

		while (map_ways_hops(s, from, next) != 1 ||
			map_ways_hops(s, next, to) != map_ways_hops(s, from, to) - 1)
			next++;
		rails_load(p, from, next, load);
		from = next;
	}
}

void map_rails_load(struct map_prediction *p, const struct map_site *s, uint32_t from, uint32_t to, struct map_sum load)
{
	(s->all_zippers ? fabrics_load : job_load)(p, s, from, to, load);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples the packets of static indirect routing, see route_packets.h. */
#include <errno.h>
#include <stdlib.h>

#include "mapper/model/route_packets.h"

#include "mapper/model/model.h"
#include "mapper/base/par.h"
#include "mapper/base/rng.h"

struct sample {
	const struct routing_job *job;
	const struct traffic *t;
	uint64_t **sum; /* [threads][links], bytes */
	uint64_t *hops; /* [chunks], bytes x hops */
};

static void sample_chunk(void *arg, size_t item, unsigned worker)
{
	struct sample *s = arg;
	const struct net *net = s->job->net;
	const struct traffic_chunk *c = &s->t->chunks[item];
	uint64_t packet = s->job->opts->packet, key = rng_at(s->job->opts->seed, RNG_PACKET, s->job->number, 0);
	uint64_t *sum = s->sum[worker];
	uint32_t link[NET_SLOTS_MAX];

	for (uint32_t i = 0; i < c->n; i++) {
		for (uint64_t j = c->off[i]; j < c->off[i + 1]; j++) {
			uint32_t from = c->first + i, to = c->items[j].dst;
			uint64_t left = c->items[j].units * s->t->unit, bits = ((uint64_t)from << 32 | to) ^ key;

			for (bits = rng_mix(bits); left; bits = rng_mix(bits + UINT64_C(0x9e3779b97f4a7c15))) {
				uint64_t bytes = left < packet ? left : packet;

				net->ops->indirect(net, from, to, bits, link);
				for (uint32_t h = 0; h < net->indirect_slots; h++) {
					if (net->link_class[link[h]] == NET_NONE)
						continue;
					sum[link[h]] += bytes;
					s->hops[item] += bytes;
				}
				left -= bytes;
			}
		}
	}
}

static int sip_spread(const struct routing_job *job)
{
	const struct net *net = job->net;
	struct sample s = {.job = job, .t = job->flow->traffic};
	unsigned threads = job->opts->threads;
	int rc = -ENOMEM;

	s.sum = calloc(threads, sizeof(*s.sum));
	s.hops = calloc(s.t->nchunks ? s.t->nchunks : 1, sizeof(*s.hops));
	for (unsigned i = 0; s.sum && i < threads; i++) {
		s.sum[i] = calloc(net->links, sizeof(uint64_t));
		if (!s.sum[i])
			goto out;
	}
	if (!s.sum || !s.hops)
		goto out;
	par_run(threads, s.t->nchunks, sample_chunk, &s);
	for (unsigned i = 0; i < threads; i++)
		for (uint32_t l = 0; l < net->links; l++)
			job->load->bytes[l] += (double)s.sum[i][l];
	for (size_t i = 0; i < s.t->nchunks; i++)
		job->load->byte_hops += (double)s.hops[i];
	rc = 0;
out:
	for (unsigned i = 0; s.sum && i < threads; i++)
		free(s.sum[i]);
	free(s.sum);
	free(s.hops);
	return rc;
}

static void sip_draw(const struct net *net, const struct model_opts *opts, uint32_t s, uint32_t d, uint64_t bits,
	struct path_set *p)
{
	routing_draw_indirect(net, s, d, bits, opts->paths, p);
}

const struct routing route_packets_indirect = {
	.name = "SIP",
	.title = "Static Indirect (packets)",
	.help = "the same, sampled packet by packet",
	.fresh = true,
	.draw = sip_draw,
	.spread = sip_spread,
};

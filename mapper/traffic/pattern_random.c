/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws partners, see pattern_random.h. */
#include <errno.h>

#include "mapper/traffic/pattern_random.h"
#include "mapper/base/rng.h"

static uint32_t random_messages(const void *arg, uint32_t rank, struct traffic_message *out)
{
	const struct pattern *p = arg;
	uint32_t ranks = p->source.ranks, first = 0, last = ranks - 1, window, n, k = 0;
	uint64_t bits = rng_at(p->seed, RNG_PATTERN, rank, 0);

	if (p->range) {
		first = rank > p->range ? rank - p->range : 0;
		last = last - rank > p->range ? rank + p->range : last;
	}
	window = last - first; /* without the rank itself */
	n = p->least + rng_below((uint32_t)(bits >> 32), p->most - p->least + 1);
	if (n > window)
		n = window;
	/* Floyd's way to draw n different numbers below window: each number is drawn below a limit that grows by one.
	 * If the number was drawn already, the limit itself is taken. */
	for (uint32_t limit = window - n; limit < window; limit++) {
		uint32_t pick;

		bits = rng_mix(bits + UINT64_C(0x9e3779b97f4a7c15));
		pick = rng_below((uint32_t)(bits >> 32), limit + 1);
		for (uint32_t i = 0; i < k; i++)
			if (out[i].dst == pick) {
				pick = limit;
				break;
			}
		out[k++] = (struct traffic_message){pick, 1};
	}
	for (uint32_t i = 0; i < k; i++) {
		out[i].dst += first;
		out[i].dst += out[i].dst >= rank;
	}
	return n;
}

static int random_create(struct pattern *p, struct spec *spec, uint32_t ranks, struct zerr *err)
{
	int rc;

	(void)ranks;
	if ((rc = spec_u64(spec, "bytes", 512 << 10, 1, 1ull << 40, &p->bytes, err)) ||
		(rc = spec_u32(spec, "min", 6, 0, 65535, &p->least, err)) ||
		(rc = spec_u32(spec, "max", p->least > 20 ? p->least : 20, p->least, 65535, &p->most, err)))
		return rc;
	p->source.degree = p->most;
	p->source.messages = random_messages;
	return 0;
}

static int umesh_create(struct pattern *p, struct spec *spec, uint32_t ranks, struct zerr *err)
{
	int rc = spec_u32(spec, "range", 30, 1, UINT32_MAX / 4, &p->range, err);

	return rc ? rc : random_create(p, spec, ranks, err);
}

const struct pattern_ops pattern_random_umesh = {
	.name = "umesh",
	.title = "Unstructured Mesh",
	.help = "min:6 max:20 (partners) range:30 (ranks to either side) bytes:512K",
	.create = umesh_create,
};

const struct pattern_ops pattern_random_spread = {
	.name = "spread",
	.title = "Uniform Spread",
	.help = "min:6 max:20 (partners, anywhere) bytes:512K",
	.create = random_create,
};

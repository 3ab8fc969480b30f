/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums up the critical path of a replay, see replay_result.h. */
#include "mapper/replay/replay_result.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_cause(const void *a, const void *b)
{
	const struct replay_piece *p = a, *q = b;

	if (p->phase != q->phase)
		return p->phase < q->phase ? -1 : 1;
	if (p->cause != q->cause)
		return p->cause < q->cause ? -1 : 1;
	return (p->id > q->id) - (p->id < q->id);
}

static int by_seconds(const void *a, const void *b)
{
	const struct replay_piece *p = a, *q = b;

	if (p->phase != q->phase)
		return p->phase < q->phase ? -1 : 1;
	if (p->seconds > q->seconds || p->seconds < q->seconds)
		return p->seconds > q->seconds ? -1 : 1;
	return by_cause(a, b);
}

static int pieces_take(struct replay_result *r, const struct why *path)
{
	uint32_t n = 0, kept = 0;

	for (const struct why *w = path; w; w = w->before)
		n++;
	r->piece = malloc((n + (size_t)1) * sizeof(*r->piece));
	if (!r->piece)
		return -ENOMEM;
	n = 0;
	for (const struct why *w = path; w; w = w->before)
		r->piece[n++] = (struct replay_piece){w->phase, w->id, w->cause, w->seconds};
	qsort(r->piece, n, sizeof(*r->piece), by_cause);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && !by_cause(&r->piece[i], &r->piece[kept - 1]))
			r->piece[kept - 1].seconds += r->piece[i].seconds;
		else
			r->piece[kept++] = r->piece[i];
	}
	qsort(r->piece, kept, sizeof(*r->piece), by_seconds);
	r->pieces = kept;
	return 0;
}

int replay_result_make(struct replay_result *r, const struct why *path, const double *in_phase, uint32_t ranks,
	uint32_t phases)
{
	r->phases = phases;
	r->phase = calloc(phases, sizeof(*r->phase));
	if (!r->phase || pieces_take(r, path))
		return -ENOMEM;
	for (uint32_t i = 0; i < r->pieces; i++) {
		struct replay_phase *p = &r->phase[r->piece[i].phase];

		p->seconds += r->piece[i].seconds;
		p->part[r->piece[i].cause] += r->piece[i].seconds;
	}
	for (uint32_t i = 0; i < ranks; i++)
		for (uint32_t k = 0; k < phases; k++) {
			double seconds = in_phase[(size_t)i * phases + k];

			r->phase[k].mean += seconds / ranks;
			if (seconds > r->phase[k].longest) {
				r->phase[k].longest = seconds;
				r->phase[k].slowest = i;
			}
		}
	return 0;
}

void replay_result_free(struct replay_result *r)
{
	free(r->phase);
	free(r->piece);
	memset(r, 0, sizeof(*r));
}

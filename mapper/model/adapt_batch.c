/* SPDX-License-Identifier: BSD-3-Clause */
/* The arithmetic of the allocation, see adapt_batch.h. It is compiled several times, for different processors. All
 * versions compute the same numbers, because nothing is contracted or added in another order. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math", "fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif

#include "mapper/model/adapt_batch.h"

#define FORCE inline __attribute__((always_inline))

/* A choice at run time needs indirect functions, which sanitizers do not support. */
#if defined(__x86_64__) && defined(__GLIBC__) && __GNUC__ >= 12 && !defined(__clang__) &&                              \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define CLONES
#endif

/* A number for each path (i, j). */
struct paths {
	float v[2][2];
};

static FORCE float least(float a, float b)
{
	return a < b ? a : b;
}

static FORCE struct paths paths_least(const struct adapt_least *l, uint32_t k)
{
	float first[2] = {least(l->first[0][k], l->middle[k]), least(l->first[1][k], l->middle[k])};
	struct paths p;

	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++)
			p.v[i][j] = least(first[i], l->last[j][k]);
	return p;
}

/* The weights of the paths, see adapt.h. All are 0 if nothing is left on any path. */
static FORCE struct paths paths_weigh(const struct adapt_batch *l, uint32_t k, float cutoff, bool adaptive)
{
	struct paths p = paths_least(&l->left, k);
	float sum = 0;

	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++) {
			/* a multiplication instead of a choice, so that there is no branch */
			p.v[i][j] = (float)(p.v[i][j] > cutoff) * (adaptive ? p.v[i][j] : 1);
			sum += p.v[i][j];
		}
	sum = 1 / (sum + (float)(sum <= 0));
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++)
			p.v[i][j] *= sum;
	return p;
}

static FORCE void got_set(struct adapt_batch *l, uint32_t k, struct paths p)
{
	for (int i = 0; i < 2; i++) {
		l->got[i][k] = p.v[i][0] + p.v[i][1];
		l->got[2 + i][k] = p.v[0][i] + p.v[1][i];
	}
}

/* Rounds up to whole vectors; lanes beyond the last message fill up its vector. */
static FORCE uint32_t vectors(uint32_t n)
{
	return (n + ADAPT_VECTOR - 1) / ADAPT_VECTOR * ADAPT_VECTOR;
}

static FORCE void weigh_all(struct adapt_batch *l, uint32_t n, float cutoff, bool adaptive)
{
	for (uint32_t k = 0; k < n; k++)
		got_set(l, k, paths_weigh(l, k, cutoff, adaptive));
}

static FORCE void share_all(struct adapt_batch *l, uint32_t n, float cutoff, double unit, bool adaptive)
{
	for (uint32_t k = 0; k < n; k++) {
		struct paths p = paths_weigh(l, k, cutoff, adaptive), share = paths_least(&l->share, k);
		float bytes = (float)((double)l->units[k] * unit);

		for (int i = 0; i < 2; i++)
			for (int j = 0; j < 2; j++)
				p.v[i][j] *= bytes * share.v[i][j];
		got_set(l, k, p);
	}
}

CLONES void adapt_batch_request(struct adapt_batch *l, uint32_t n, const struct adapt_rule *r)
{
	double unit = r->unit, scale = r->scale;
	uint32_t all = vectors(n);

	if (r->adaptive)
		weigh_all(l, all, r->cutoff, true);
	else
		weigh_all(l, all, r->cutoff, false);
	for (int i = 0; i < 4; i++)
		for (uint32_t k = 0; k < all; k++)
			l->sum[i][k] = (uint64_t)(int64_t)((double)l->got[i][k] * ((double)l->units[k] * unit * scale));
}

CLONES void adapt_batch_allocate(struct adapt_batch *l, uint32_t n, const struct adapt_rule *r)
{
	double scale = r->scale;
	uint32_t all = vectors(n);

	if (r->adaptive)
		share_all(l, all, r->cutoff, r->unit, true);
	else
		share_all(l, all, r->cutoff, r->unit, false);
	for (int i = 0; i < 4; i++)
		for (uint32_t k = 0; k < all; k++)
			l->sum[i][k] = (uint64_t)(int64_t)((double)l->got[i][k] * scale);
}

CLONES uint32_t adapt_batch_keep(const struct adapt_batch *l, uint32_t n, struct adapt_task *t, uint64_t at,
	unsigned iteration)
{
	uint16_t *last = t->last + at, now = (uint16_t)iteration;
	uint32_t found = 0, all = vectors(n);

	for (int i = 0; i < 4; i++) {
		float *ways = t->forks.ways[i] + at;

		for (uint32_t k = 0; k < all; k++)
			ways[k] += l->got[i][k];
	}
	for (uint32_t k = 0; k < all; k++) {
		bool some = l->got[0][k] + l->got[1][k] > 0;

		last[k] = some ? now : last[k];
		found += some;
	}
	return found;
}

CLONES uint32_t adapt_batch_spread(struct adapt_batch *l, uint32_t n, const struct adapt_rule *r,
	const struct adapt_task *t, uint64_t at)
{
	const struct adapt_forks *f = &t->forks;
	double unit = r->unit, scale = r->scale;
	uint32_t starved = 0;

	for (uint32_t k = 0; k < n; k++) {
		float first = f->ways[0][at + k] + f->ways[1][at + k], last = f->ways[2][at + k] + f->ways[3][at + k];
		bool some = first > 0 && last > 0;

		l->got[0][k] = some ? f->ways[0][at + k] / first : 0.5f;
		l->got[1][k] = 1 - l->got[0][k];
		l->got[2][k] = some ? f->ways[2][at + k] / last : 0.5f;
		l->got[3][k] = 1 - l->got[2][k];
		starved += !some;
	}
	for (int i = 0; i < 4; i++)
		for (uint32_t k = 0; k < n; k++)
			l->sum[i][k] = (uint64_t)(int64_t)((double)l->got[i][k] * ((double)l->units[k] * unit * scale));
	return starved;
}

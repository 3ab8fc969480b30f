/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of adapt_forks.c, for a block of messages at once. Compiled several times for what processors can do;
 * all of them compute the same numbers, since nothing is contracted or added in another order.
 */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math", "fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif

#include "adapt_impl.h"

#define FORCE inline __attribute__((always_inline))

/* Choosing at run time needs indirect functions, which sanitizers do not like. */
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

/* The weights of the paths, see adapt.h; all 0 if no path has anything left. */
static FORCE struct paths paths_weigh(const struct adapt_least *left, uint32_t k, float cutoff, bool adaptive)
{
	struct paths p = paths_least(left, k);
	float sum = 0;

	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++) {
			/* multiplied rather than chosen, so that there is no branch */
			p.v[i][j] = (float)(p.v[i][j] > cutoff) * (adaptive ? p.v[i][j] : 1);
			sum += p.v[i][j];
		}
	sum = 1 / (sum + (float)(sum <= 0));
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++)
			p.v[i][j] *= sum;
	return p;
}

static FORCE void got_set(struct adapt_lanes *b, uint32_t k, struct paths p)
{
	for (int i = 0; i < 2; i++) {
		b->got[i][k] = p.v[i][0] + p.v[i][1];
		b->got[2 + i][k] = p.v[0][i] + p.v[1][i];
	}
}

static FORCE void weigh_all(struct adapt_lanes *b, float cutoff, bool adaptive)
{
	for (uint32_t k = 0; k < ADAPT_LANES; k++)
		got_set(b, k, paths_weigh(&b->left, k, cutoff, adaptive));
}

static FORCE void share_all(struct adapt_lanes *b, float cutoff, bool adaptive)
{
	for (uint32_t k = 0; k < ADAPT_LANES; k++) {
		struct paths p = paths_weigh(&b->left, k, cutoff, adaptive), share = paths_least(&b->share, k);
		float bytes = (float)b->bytes[k];

		for (int i = 0; i < 2; i++)
			for (int j = 0; j < 2; j++)
				p.v[i][j] *= bytes * share.v[i][j];
		got_set(b, k, p);
	}
}

CLONES void adapt_lanes_request(struct adapt_lanes *b, float cutoff, bool adaptive)
{
	if (adaptive)
		weigh_all(b, cutoff, true);
	else
		weigh_all(b, cutoff, false);
}

CLONES void adapt_lanes_allocate(struct adapt_lanes *b, float cutoff, bool adaptive)
{
	if (adaptive)
		share_all(b, cutoff, true);
	else
		share_all(b, cutoff, false);
}

CLONES void adapt_lanes_units(struct adapt_lanes *b, double scale)
{
	for (int i = 0; i < 4; i++)
		for (uint32_t k = 0; k < ADAPT_LANES; k++)
			b->sum[i][k] = (uint64_t)(int64_t)((double)b->got[i][k] * scale);
}

CLONES void adapt_lanes_bytes(struct adapt_lanes *b, double scale)
{
	for (int i = 0; i < 4; i++)
		for (uint32_t k = 0; k < ADAPT_LANES; k++)
			b->sum[i][k] = (uint64_t)(int64_t)((double)b->got[i][k] * (b->bytes[k] * scale));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The benchmarks between pairs of ranks, and their sizes and iterations; see p2p_plan.h. */
#include "zipbench/p2p/p2p_plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/args/value.h"

#define SMALL_BYTES 8192 /* up to this size there are more iterations */
#define SMALL_ITERATIONS 1000
#define LARGE_ITERATIONS 100

static const struct p2p_bench benches[] = {
	{.name = "lat",
		.help = "Time of a message, half a round trip, by the ways between two ranks",
		.nquantities = 1,
		.quantity = {"us"}},
	{.name = "bw",
		.help = "Bandwidth in one direction, by the ways between two ranks",
		.windows = true,
		.nquantities = 1,
		.quantity = {"MB/s"}},
	{.name = "bibw",
		.help = "Bandwidth in both directions together, by the ways between two ranks",
		.windows = true,
		.nquantities = 1,
		.quantity = {"MB/s"}},
	{.name = "mbw_mr",
		.help = "Bandwidth and message rate of several pairs of ranks together, by the ways between them",
		.pairs = 2,
		.windows = true,
		.nquantities = 2,
		.quantity = {"MB/s", "Messages/s"}},
	{.name = "overlap",
		.help = "The share of communication that computation hides, by the ways between two ranks",
		.nquantities = 4,
		.quantity = {"Overall(us)", "Compute(us)", "Pure Comm.(us)", "Overlap(%)"}},
};

const struct p2p_bench *p2p_bench_find(const char *name)
{
	for (size_t i = 0; i < sizeof(benches) / sizeof(*benches); i++)
		if (strcmp(benches[i].name, name) == 0)
			return &benches[i];
	return NULL;
}

static int add_size(struct p2p_plan *p, uint64_t bytes, struct zerr *err)
{
	if (p->nsizes == P2P_SIZES_MAX)
		return zerr_set(err, -EINVAL, "--sizes: more than %d sizes", P2P_SIZES_MAX);
	p->size[p->nsizes++] = bytes;
	return 0;
}

static int read_size(const char *word, uint64_t *bytes, struct zerr *err)
{
	if (zargs_parse_u64(word, bytes) < 0 || *bytes < 1 || *bytes > P2P_BYTES_MAX)
		return zerr_set(err, -EINVAL, "--sizes: \"%.64s\" is not a size from 1 to 1G", word);
	return 0;
}

static int read_sizes(struct p2p_plan *p, struct zerr *err)
{
	char list[1024], *save = NULL;
	uint64_t low, high;
	if (snprintf(list, sizeof(list), "%s", p->sizes) >= (int)sizeof(list))
		return zerr_set(err, -EINVAL, "--sizes: the list is too long");
	char *colon = strchr(list, ':');
	if (colon) {
		*colon = 0;
		if (read_size(list, &low, err) < 0 || read_size(colon + 1, &high, err) < 0)
			return -EINVAL;
		if (low > high)
			return zerr_set(err, -EINVAL, "--sizes: %.64s is larger than %.64s", list, colon + 1);
		for (; low <= high; low *= 2)
			if (add_size(p, low, err) < 0)
				return -EINVAL;
		return 0;
	}
	for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save))
		if (read_size(word, &low, err) < 0 || add_size(p, low, err) < 0)
			return -EINVAL;
	return p->nsizes ? 0 : zerr_set(err, -EINVAL, "--sizes: there is no size");
}

int p2p_plan_check(struct p2p_plan *p, const struct p2p_bench *b, struct zerr *err)
{
	p->nsizes = 0;
	if (p->pairs > 1 && b->pairs == 0)
		return zerr_set(err, -EINVAL, "--pairs: %s has one pair; mbw_mr has several", b->name);
	if (p->pairs == 0)
		p->pairs = b->pairs ? b->pairs : 1;
	return read_sizes(p, err);
}

unsigned p2p_plan_iterations(const struct p2p_plan *p, uint64_t bytes)
{
	return p->iterations ? p->iterations : bytes <= SMALL_BYTES ? SMALL_ITERATIONS : LARGE_ITERATIONS;
}

unsigned p2p_plan_warmup(const struct p2p_plan *p, uint64_t bytes)
{
	return p->warmup <= P2P_COUNT_MAX ? p->warmup : (p2p_plan_iterations(p, bytes) + 9) / 10;
}

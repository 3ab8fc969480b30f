/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IS, integer sort: each rank counts its keys by bucket, a reduction adds the counts, each rank gets buckets with about
 * as many keys as the others have, and sorts them by counting. The messages are one long MPI_Allreduce, an MPI_Alltoall
 * of counts, and an MPI_Alltoallv of all keys.
 *
 * Right numbers: the keys of each rank are in order, none is below the last one of the rank before, and number, sum and
 * sum of a hash of the keys are those of the keys before.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/kernels/kernel.h"

#define ITERATIONS 10
#define LOG2_BUCKETS 10
#define BUCKETS (1 << LOG2_BUCKETS)
#define STEP 40503 /* is added to all keys before each further sort */

static const struct {
	int log2_keys, log2_range;
} sizes[NCLASSES] = {{17, 16}, {20, 18}, {23, 20}, {25, 22}, {27, 24}};

struct sort {
	int n, total, bits; /* keys here, keys of all, bits of a key */
	int *keys, *grouped, *got, *sorted;
	int *scounts, *sdispls, *rcounts, *rdispls; /* by rank */
	int count[BUCKETS], all[BUCKETS];	    /* keys of this rank and of all ranks, by bucket */
	int owner[BUCKETS];			    /* the rank that sorts a bucket */
	int ngot, before;			    /* keys that this rank sorts; keys in front of them */
	int low, high;				    /* these keys are at least low, and below high */
};

/* Number, sum and sum of a hash. */
struct digest {
	uint64_t n, sum, hash;
};
#define DIGEST 3 /* numbers in it */

static struct digest digest_of(const int *key, int n)
{
	struct digest d = {.n = (uint64_t)n};
	for (int i = 0; i < n; i++) {
		d.sum += (uint64_t)key[i];
		d.hash += mix((uint64_t)key[i]);
	}
	return d;
}

static int bucket_of(const struct sort *s, int key)
{
	return key >> (s->bits - LOG2_BUCKETS);
}

/* Many keys near the middle, few at both ends: sums of four numbers of 32 bits. */
static void make_keys(struct sort *s, int first)
{
	for (int i = 0; i < s->n; i++) {
		const uint64_t a = mix(2 * (uint64_t)(first + i)), b = mix(2 * (uint64_t)(first + i) + 1);
		const uint64_t sum = (a & UINT32_MAX) + (a >> 32) + (b & UINT32_MAX) + (b >> 32);
		s->keys[i] = (int)(sum >> (34 - s->bits));
	}
}

static void count_keys(struct sort *s)
{
	memset(s->count, 0, sizeof(s->count));
	for (int i = 0; i < s->n; i++)
		s->count[bucket_of(s, s->keys[i])]++;
	MPI_Allreduce(s->count, s->all, BUCKETS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Gives buckets to ranks in order: a bucket goes to the rank in whose share its first key lies. */
static void divide_buckets(struct sort *s)
{
	const int width = 1 << (s->bits - LOG2_BUCKETS);
	int begin = 0;
	s->ngot = s->before = s->low = s->high = 0;
	memset(s->scounts, 0, (size_t)ranks * sizeof(int));
	for (int b = 0; b < BUCKETS; begin += s->all[b++]) {
		int r = (int)((long long)begin * ranks / s->total);
		s->owner[b] = r = r < 0 ? 0 : r < ranks ? r : ranks - 1;
		s->scounts[r] += s->count[b];
		if (r < me)
			s->before += s->all[b];
		if (r != me)
			continue;
		if (!s->high)
			s->low = b * width;
		s->high = (b + 1) * width;
		s->ngot += s->all[b];
	}
}

/* Puts the keys of each rank together and sends them there. */
static void exchange_keys(struct sort *s)
{
	int ngot = 0;
	MPI_Alltoall(s->scounts, 1, MPI_INT, s->rcounts, 1, MPI_INT, MPI_COMM_WORLD);
	for (int r = 0, to = 0; r < ranks; to += s->scounts[r++]) {
		s->sdispls[r] = to;
		s->rdispls[r] = ngot;
		ngot += s->rcounts[r];
	}
	s->ngot = ngot;
	int *place = memory((size_t)ranks * sizeof(int));
	memcpy(place, s->sdispls, (size_t)ranks * sizeof(int));
	for (int i = 0; i < s->n; i++)
		s->grouped[place[s->owner[bucket_of(s, s->keys[i])]]++] = s->keys[i];
	free(place);
	s->got = realloc(s->got, ((size_t)ngot + 1) * sizeof(int));
	s->sorted = realloc(s->sorted, ((size_t)ngot + 1) * sizeof(int));
	if (!s->got || !s->sorted)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Alltoallv(s->grouped, s->scounts, s->sdispls, MPI_INT, s->got, s->rcounts, s->rdispls, MPI_INT,
		MPI_COMM_WORLD);
}

/* Sorts by counting. A key that is not in the buckets of this rank is left out, and the digest shows that. */
static void sort_here(struct sort *s)
{
	int *count = memory((size_t)(s->high - s->low + 1) * sizeof(int)), n = 0;
	for (int i = 0; i < s->ngot; i++)
		if (s->got[i] >= s->low && s->got[i] < s->high)
			count[s->got[i] - s->low]++;
	for (int key = s->low; key < s->high; key++)
		for (int i = 0; i < count[key - s->low]; i++)
			s->sorted[n++] = key;
	s->ngot = n;
	free(count);
}

/* The last key of a rank, or of those before it, goes to the next rank. */
static void verify_order(const struct sort *s, struct outcome *out)
{
	int last = -1;
	if (me > 0)
		MPI_Recv(&last, 1, MPI_INT, me - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < s->ngot; i++) {
		if (s->sorted[i] < last)
			wrong(out, "key %d stands behind %d", s->sorted[i], last);
		last = s->sorted[i];
	}
	if (me < ranks - 1)
		MPI_Send(&last, 1, MPI_INT, me + 1, 0, MPI_COMM_WORLD);
}

/* Returns a hash of all keys in their order. */
static uint64_t verify(const struct sort *s, struct outcome *out)
{
	struct digest d[2] = {digest_of(s->keys, s->n), digest_of(s->sorted, s->ngot)}, all[2];
	uint64_t mine = 0, hash;
	verify_order(s, out);
	MPI_Allreduce(d, all, 2 * DIGEST, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	if (all[0].n != (uint64_t)s->total || memcmp(&all[0], &all[1], sizeof(all[0])) != 0)
		wrong(out, "the %llu sorted keys are not the %d keys of before", (unsigned long long)all[1].n,
			s->total);
	for (int i = 0; i < s->ngot; i++)
		mine += mix((uint64_t)s->sorted[i]) * (uint64_t)(s->before + i + 1);
	MPI_Allreduce(&mine, &hash, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
	return hash;
}

void is_run(int class, struct outcome *out)
{
	struct sort *s = memory(sizeof(*s));
	uint64_t hash = 0;
	s->bits = sizes[class].log2_range;
	s->total = 1 << sizes[class].log2_keys;
	s->n = share(s->total, ranks, me + 1) - share(s->total, ranks, me);
	s->keys = memory((size_t)s->n * sizeof(int));
	s->grouped = memory((size_t)s->n * sizeof(int));
	int *by_rank = memory(4 * (size_t)ranks * sizeof(int));
	s->scounts = by_rank;
	s->sdispls = by_rank + ranks;
	s->rcounts = by_rank + 2 * ranks;
	s->rdispls = by_rank + 3 * ranks;
	make_keys(s, share(s->total, ranks, me));
	for (int i = 0; i < ITERATIONS; i++) {
		clock_start(out);
		for (int k = 0; i > 0 && k < s->n; k++)
			s->keys[k] = (s->keys[k] + STEP) & ((1 << s->bits) - 1);
		count_keys(s);
		divide_buckets(s);
		exchange_keys(s);
		sort_here(s);
		clock_stop(out);
		hash = mix(hash) + verify(s, out);
	}
	snprintf(out->result, sizeof(out->result), "keys %d order %016llx", s->total, (unsigned long long)hash);
	free(by_rank);
	free(s->keys);
	free(s->grouped);
	free(s->got);
	free(s->sorted);
	free(s);
}

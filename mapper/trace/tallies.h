/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of pairs of numbers under pairs of keys, in a hash table; sorted by their keys in the end. One thread. */
#ifndef ZIP_MAPPER_TALLIES_H
#define ZIP_MAPPER_TALLIES_H

#include <stddef.h>
#include <stdint.h>

#define TALLIES_MAX ((size_t)1 << 27) /* 4 GiB */

struct tally {
	uint64_t key[2], sum[2];
};

/* Zeroed, it is empty. */
struct tallies {
	struct tally *at; /* [slots]; a slot is free where key[0] is UINT64_MAX. Once sorted: [n] */
	size_t slots, n;
};

/* Adds to the sums under these keys; the first key is below UINT64_MAX. 0, -EOVERFLOW (a sum of 2^64 or more), -ENOMEM,
 * -E2BIG. */
int tallies_add(struct tallies *, uint64_t a, uint64_t b, uint64_t x, uint64_t y);
/* Sorts all by their keys; nothing can be added any more. */
void tallies_sort(struct tallies *);
void tallies_free(struct tallies *);

#endif

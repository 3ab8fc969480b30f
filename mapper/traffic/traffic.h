/* SPDX-License-Identifier: BSD-3-Clause */
/* How much each point of a network (struct net) sends to each other point, summed over all messages. Points are
 * routers, or nodes where every node has its own link. Messages that stay at their point are only counted. Written
 * once, then read by any thread. */
#ifndef ZIP_MAPPER_TRAFFIC_H
#define ZIP_MAPPER_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct net;

/* The most bytes that may leave their points in one flow. The network model keeps sums of fractions of bytes in 64
 * bits, and whole bytes in double. */
#define TRAFFIC_BYTES_MAX (UINT64_C(1) << 52)

struct traffic_item {
	uint32_t dst;	/* point */
	uint32_t units; /* in traffic.unit bytes; a pair above 2^32 - 1 units has several items */
};

/* Source points in a chunk: few enough that threads share the work evenly, and enough that a chunk is worth handing
 * out. */
#define TRAFFIC_CHUNK_POINTS 96u

/* The number of messages that an item sums is kept in a byte. */
#define TRAFFIC_MESSAGES_MAX 255u

/* The items of points first..first+n-1. Those of point first+i are items[off[i]] to items[off[i + 1] - 1]. They ascend
 * by dst, except for the full items of pairs that have several. */
struct traffic_chunk {
	uint32_t first, n;
	uint64_t *off;
	struct traffic_item *items;
	uint8_t *messages; /* of each item; TRAFFIC_MESSAGES_MAX stands for that number or more */
};

struct traffic {
	uint64_t unit; /* bytes */
	size_t nchunks;
	struct traffic_chunk *chunks;
	uint64_t items;			      /* over all chunks */
	uint64_t messages, bytes;	      /* that leave their point; UINT64_MAX bytes stand for that or more */
	uint64_t local_messages, local_bytes; /* that stay at their point */
};

/* One message of a rank. */
struct traffic_message {
	uint32_t dst; /* rank */
	uint32_t units;
};

/* A source of messages. For each rank below `ranks`, messages() writes at most `degree` messages and returns their
 * number. Many threads call it at once. */
struct traffic_source {
	uint32_t ranks, degree;
	uint64_t unit; /* bytes */
	uint32_t (*messages)(const void *arg, uint32_t rank, struct traffic_message *out);
	const void *arg;
};

/* Sums the messages of a source. Rank r sits at point_of_block[r / block]. 0 or -ENOMEM. */
int traffic_build(struct traffic *, uint32_t points, const struct traffic_source *, const uint32_t *point_of_block,
	uint32_t block, unsigned threads, struct zerr *);
/* Sums a list of n messages, each with source point, destination point and bytes. 0, -EINVAL (no such point), -ENOMEM.
 */
int traffic_build_list(struct traffic *, uint32_t points, size_t n, const uint32_t *src, const uint32_t *dst,
	const uint64_t *bytes, struct zerr *);
void traffic_free(struct traffic *);

#endif

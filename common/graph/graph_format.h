/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the modules of this folder: the first bytes of a file, numbers of variable length, rows in memory. */
#ifndef ZIP_COMMON_GRAPH_GRAPH_FORMAT_H
#define ZIP_COMMON_GRAPH_GRAPH_FORMAT_H

#include <stddef.h>
#include <stdint.h>

/* A byte above 127, both line ends and the end of a text, so that a transfer that changes text is noticed at once. */
static const uint8_t zgraph_magic[8] = {0x89, 'Z', 'G', 'R', '\r', '\n', 0x1a, '\n'};

#define ZGRAPH_CRC_BYTES 4

/* Bits of the first number of a run, below the gap to the run before. */
#define ZGRAPH_RUN_SAME 1u /* same bytes and messages as the run before */
#define ZGRAPH_RUN_LONG 2u /* more than one peer */

#define ZGRAPH_VARINT_MAX 10u /* bytes of a 64-bit number */

/* Writes seven bits a byte, lowest first; the top bit says that more follow. Returns the number of bytes written. */
static inline size_t zgraph_varint_encode(uint8_t *out, uint64_t v)
{
	size_t n = 0;

	while (v >= 0x80) {
		out[n++] = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	out[n++] = (uint8_t)v;
	return n;
}

/* Returns the number of bytes read; 0: the bytes end too early, are more than needed, or exceed 64 bits. */
static inline size_t zgraph_varint_decode(const uint8_t *in, size_t len, uint64_t *v)
{
	uint64_t value = 0;

	for (size_t n = 0; n < len && n < ZGRAPH_VARINT_MAX; n++) {
		uint64_t bits = in[n] & 0x7fu;
		if (n == ZGRAPH_VARINT_MAX - 1 && bits > 1)
			return 0;
		value |= bits << 7 * n;
		if (!(in[n] & 0x80)) {
			*v = value;
			return n > 0 && in[n] == 0 ? 0 : n + 1;
		}
	}
	return 0;
}

/* One rank's edges while they are put together. */
struct zgraph_pair {
	uint32_t peer;
	uint64_t bytes, messages;
};

/* Sorts *n pairs by peer and adds up pairs of the same peer. Returns 0 or -EOVERFLOW. */
int zgraph_pairs_merge(struct zgraph_pair *, size_t *n);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of work requests (wr_id), which say what a completion is of: a tag in the low bits, a value above it, and the
 * number of a send in the upper 32 bits. VTAG_BUFFER is 0: there the whole number is the address of the buffer.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VTAG_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VTAG_H

#include <stdint.h>

enum vtag { VTAG_BUFFER, VTAG_SEND, VTAG_CREDIT, VTAG_RMA, VTAG_LOCAL, VTAG_BITS = 3 };

static inline uint64_t vtag_make(enum vtag tag, uint32_t number, uint32_t value)
{
	return (uint64_t)number << 32 | (uint64_t)value << VTAG_BITS | (uint64_t)tag;
}

static inline enum vtag vtag_of(uint64_t wr_id)
{
	return (enum vtag)(wr_id & ((1u << VTAG_BITS) - 1));
}

static inline uint32_t vtag_value(uint64_t wr_id)
{
	return (uint32_t)wr_id >> VTAG_BITS;
}

static inline uint32_t vtag_number(uint64_t wr_id)
{
	return (uint32_t)(wr_id >> 32);
}

#endif

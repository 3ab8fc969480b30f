/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two byte rings in memory that two processes share, one for each direction: constants, and what lies in the shared
 * memory. shm_map.h maps the memory; shm_producer.h and shm_consumer.h are the two ends of a ring.
 *
 * A ring has one producer and one consumer. Positions count bytes since the beginning and are multiples of
 * SHM_RING_ALIGN. The data are mapped twice in a row, so that everything in them is contiguous. Each side keeps its own
 * position to itself and only publishes it. Each side checks the position of the other side before use: a peer that
 * writes nonsense there gets -EPROTO, and can reach nothing but this memory.
 *
 * Sleeping: a side that wants to sleep sets its flag and looks once more at the position of the other side. A side that
 * moves its position looks at the other side's flag afterwards. All four accesses are sequentially consistent, so at
 * least one of the two sides sees the other. The flag is taken by exchange: each sleep costs at most one byte.
 */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_RING_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* A power of two, a multiple of every page size, more than the largest message. Only the used part becomes memory. */
#define SHM_RING_BYTES ((size_t)2 << 20)
#define SHM_RING_ALIGN ((size_t)64)
#define SHM_RING_APART 128 /* two cache lines: processors fetch them in pairs */

struct shm_ring_ctl {				       /* the shared positions and flags of one ring */
	alignas(SHM_RING_APART) _Atomic uint64_t tail; /* the producer writes */
	_Atomic uint32_t closed;
	alignas(SHM_RING_APART) _Atomic uint64_t head; /* the consumer writes */
	alignas(SHM_RING_APART) _Atomic uint32_t consumer_sleeps;
	alignas(SHM_RING_APART) _Atomic uint32_t producer_sleeps;
};

/* Locks inside a process would not work between two processes. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2, "atomics without locks are needed");

/* Where a position lies in the data. */
static inline uint64_t shm_ring_offset(uint64_t position)
{
	return position & (SHM_RING_BYTES - 1);
}

#endif

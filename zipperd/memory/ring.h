/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings of values with one producer and one consumer, through which threads of zipperd talk. No call waits. The rings
 * use C11 atomics (and not ck), so that ThreadSanitizer understands them.
 *
 * RING(name, type, slots) defines struct name, name_push for the producer, name_peek and name_drop for the consumer.
 * slots is a power of two. A zeroed struct is an empty ring.
 */
#ifndef ZIPPERD_RING_H
#define ZIPPERD_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CACHE_LINE 64 /* bytes, on x86-64 and most 64-bit ARM */

#define RING(name, type, slots)                                                                                        \
	struct name {                                                                                                  \
		alignas(CACHE_LINE) _Atomic uint32_t head; /* consumer's; next to read */                              \
		uint32_t tail_seen;                                                                                    \
		alignas(CACHE_LINE) _Atomic uint32_t tail; /* producer's; next to write */                             \
		uint32_t head_seen;                                                                                    \
		alignas(CACHE_LINE) type slot[slots];                                                                  \
	};                                                                                                             \
	_Static_assert(((slots) & ((slots)-1)) == 0, "a power of two");                                                \
	/* false: full */                                                                                              \
	static inline bool name##_push(struct name *r, const type *value)                                              \
	{                                                                                                              \
		uint32_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);                                  \
		if (tail - r->head_seen == (slots)) {                                                                  \
			r->head_seen = atomic_load_explicit(&r->head, memory_order_acquire);                           \
			if (tail - r->head_seen == (slots))                                                            \
				return false;                                                                          \
		}                                                                                                      \
		r->slot[tail & ((slots)-1)] = *value;                                                                  \
		atomic_store_explicit(&r->tail, tail + 1, memory_order_release);                                       \
		return true;                                                                                           \
	}                                                                                                              \
	/* The oldest value, to be dropped when done with; NULL: empty. */                                             \
	static inline type *name##_peek(struct name *r)                                                                \
	{                                                                                                              \
		uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);                                  \
		if (head == r->tail_seen) {                                                                            \
			r->tail_seen = atomic_load_explicit(&r->tail, memory_order_acquire);                           \
			if (head == r->tail_seen)                                                                      \
				return NULL;                                                                           \
		}                                                                                                      \
		return &r->slot[head & ((slots)-1)];                                                                   \
	}                                                                                                              \
	static inline void name##_drop(struct name *r)                                                                 \
	{                                                                                                              \
		uint32_t head = atomic_load_explicit(&r->head, memory_order_relaxed);                                  \
		atomic_store_explicit(&r->head, head + 1, memory_order_release);                                       \
	}                                                                                                              \
	struct name

#endif

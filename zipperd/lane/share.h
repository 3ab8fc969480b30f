/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory in which messages of one user wait, in all lanes of that user. A lane counts its own bytes, and tells the
 * shared counter in chunks: most messages do not touch it, and messages that need not wait never do. The user's lanes
 * are several workers', so the counter is atomic.
 */
#ifndef ZIPPERD_SHARE_H
#define ZIPPERD_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SHARE_CHUNK (64u << 10)

struct share {
	_Atomic uint64_t used; /* bytes */
	_Atomic uint64_t limit;
};

struct share_user {		/* a lane's part; its worker's */
	struct share *share;	/* NULL: no limit */
	uint64_t waiting, told; /* bytes; told is at least waiting */
};

/* May so many bytes more wait? */
static inline bool share_allows(const struct share_user *u, uint64_t bytes)
{
	return !u->share || atomic_load_explicit(&u->share->used, memory_order_relaxed) + bytes <=
				    atomic_load_explicit(&u->share->limit, memory_order_relaxed);
}

static inline void share_add(struct share_user *u, uint64_t bytes)
{
	u->waiting += bytes;
	if (!u->share || u->waiting <= u->told)
		return;
	uint64_t more = (u->waiting - u->told + SHARE_CHUNK - 1) / SHARE_CHUNK * SHARE_CHUNK;
	u->told += more;
	atomic_fetch_add_explicit(&u->share->used, more, memory_order_relaxed);
}

static inline void share_sub(struct share_user *u, uint64_t bytes)
{
	u->waiting -= bytes;
	uint64_t keep = u->waiting ? u->waiting + SHARE_CHUNK : 0;
	if (!u->share || u->told <= keep)
		return;
	uint64_t less = (u->told - keep) / SHARE_CHUNK * SHARE_CHUNK;
	u->told -= less;
	if (less)
		atomic_fetch_sub_explicit(&u->share->used, less, memory_order_relaxed);
}

#endif

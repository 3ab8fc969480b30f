/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of memory for one-sided transfers, see staging.h. */
#include "zipperd/memory/staging.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/base/log.h"

#define PAGE_BYTES ((uint64_t)4096)

void staging_init(struct staging *s, struct worker *owner, struct budget *budget, uint64_t bytes, uint32_t piece_bytes)
{
	memset(s, 0, sizeof(*s));
	s->owner = owner;
	s->budget = budget;
	s->wanted_bytes = bytes;
	s->piece_bytes = piece_bytes;
}

void staging_fini(struct staging *s)
{
	assert(s->nfree == s->npieces);
	registered_fini(&s->block);
	if (s->block.memory)
		atomic_fetch_sub_explicit(&s->budget->used, s->block.bytes, memory_order_relaxed);
	if (!s->held)
		free(s->block.memory);
	free(s->piece);
}

/* Allocates the wanted number of pieces, or half of it, or half of that, as the budget allows. Half of the budget is
 * left to messages in any case: staging memory never comes back, and a message without memory would wait without end.
 */
static int allocate(struct staging *s, struct zerr *err)
{
	uint64_t stride = (s->piece_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	for (uint64_t n = s->wanted_bytes / stride; n >= STAGING_PIECES_MIN && !s->block.memory; n /= 2) {
		uint64_t used = atomic_fetch_add_explicit(&s->budget->used, n * stride, memory_order_relaxed);
		if (used + n * stride <= s->budget->limit / 2) {
			s->block.memory = aligned_alloc(PAGE_BYTES, n * stride);
			s->piece = calloc(n, sizeof(*s->piece));
		}
		if (s->block.memory && s->piece) {
			s->npieces = (uint32_t)n;
			s->block.bytes = n * stride;
			break;
		}
		free(s->block.memory);
		free(s->piece);
		s->block.memory = NULL;
		s->piece = NULL;
		atomic_fetch_sub_explicit(&s->budget->used, n * stride, memory_order_relaxed);
	}
	if (!s->block.memory)
		return zerr_set(err, -ENOMEM, "no memory is left for one-sided transfers");
	for (uint32_t i = s->npieces; i-- > 0;) {
		s->piece[i].data = s->block.memory + i * stride;
		s->piece[i].home = s->owner;
		staging_put(s, &s->piece[i]);
	}
	return 0;
}

int staging_join(struct staging *s, struct zlink *z, enum zlink_half half, struct zregion **region, struct zerr *err)
{
	struct zrma_limits limits = {0};
	err->text[0] = '\0';
	if (z->ops->rma && s->wanted_bytes > 0)
		z->ops->rma->limits(z, &limits);
	if (limits.reads == 0 || limits.writes == 0)
		return -EOPNOTSUPP;
	if (s->piece_bytes == 0)
		s->piece_bytes = (uint32_t)z->ops->fragment_bytes;
	if (!s->block.memory && s->error == 0)
		s->error = allocate(s, err);
	if (s->error != 0)
		return s->error;
	return registered_join(&s->block, z, half, region, err);
}

void staging_leave(struct staging *s, const struct zlink *z, enum zlink_half half, const struct zregion *region)
{
	registered_leave(&s->block, region);
	registered_forget(&s->block, z, half);
}

struct piece *staging_get(struct staging *s)
{
	struct piece *p = s->free;
	if (p) {
		s->free = p->next;
		s->nfree--;
	}
	return p;
}

/* There is one piece less. */
static void keep_out(struct staging *s)
{
	s->npieces--;
	if (!s->held)
		zlog(ZLOG_WARN,
			"a device does not let go of memory of one-sided transfers: that memory is not used again");
	s->held = true;
}

void staging_put(struct staging *s, struct piece *p)
{
	if (__builtin_expect(atomic_load_explicit(&p->held, memory_order_relaxed), 0)) {
		keep_out(s);
		return;
	}
	p->carry.transfer = NULL;
	p->fanout = NULL;
	p->next = s->free;
	s->free = p;
	s->nfree++;
	s->returned++;
	s->stuck = false;
}

bool staging_is_overdue(struct staging *s, struct staging_wait *wait, const char *receiver)
{
	const int64_t now = zclock_ms();
	if (wait->since_ms == 0 || wait->returned != s->returned)
		*wait = (struct staging_wait){now, s->returned};
	if (now - wait->since_ms < STAGING_PATIENCE_MS)
		return false;
	if (!s->said)
		zlog(ZLOG_WARN, "%s: large messages travel as fragments while others have all the one-sided memory",
			receiver);
	s->stuck = s->said = true;
	return true;
}

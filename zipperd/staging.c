/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of one-sided transfers, see staging.h. */
#include "staging.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES ((uint64_t)4096)

void staging_init(struct staging *s, struct budget *budget, uint64_t bytes, uint32_t piece_bytes)
{
	memset(s, 0, sizeof(*s));
	s->budget = budget;
	s->wanted_bytes = bytes;
	s->piece_bytes = piece_bytes;
}

void staging_fini(struct staging *s)
{
	assert(s->nfree == s->npieces);
	for (uint32_t i = 0; i < s->ndomains; i++)
		if (s->domain[i].region)
			s->domain[i].unreg(s->domain[i].region);
	if (s->memory)
		atomic_fetch_sub_explicit(&s->budget->used, s->bytes, memory_order_relaxed);
	free(s->memory);
	free(s->piece);
}

/* As many pieces as wanted, or half of it, or half of that: as the budget allows. */
static int allocate(struct staging *s, struct zerr *err)
{
	uint64_t stride = (s->piece_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	for (uint64_t n = s->wanted_bytes / stride; n >= STAGING_PIECES_MIN && !s->memory; n /= 2) {
		uint64_t used = atomic_fetch_add_explicit(&s->budget->used, n * stride, memory_order_relaxed);
		if (used + n * stride <= s->budget->limit) {
			s->memory = aligned_alloc(PAGE_BYTES, n * stride);
			s->piece = calloc(n, sizeof(*s->piece));
		}
		if (s->memory && s->piece) {
			s->npieces = (uint32_t)n;
			s->bytes = n * stride;
			break;
		}
		free(s->memory);
		free(s->piece);
		s->memory = NULL;
		s->piece = NULL;
		atomic_fetch_sub_explicit(&s->budget->used, n * stride, memory_order_relaxed);
	}
	if (!s->memory)
		return zerr_set(err, -ENOMEM, "no memory for one-sided transfers is left of what may be used");
	for (uint32_t i = s->npieces; i-- > 0;) {
		s->piece[i].data = s->memory + i * stride;
		staging_put(s, &s->piece[i]);
	}
	return 0;
}

/* What a device that was lost keeps from going, or coming back. */
static void drop_lost(struct staging *s)
{
	for (uint32_t i = s->ndomains; i-- > 0;) {
		struct staging_domain *d = &s->domain[i];
		if (!d->region || d->halves > 0 || !d->is_lost(d->region))
			continue;
		d->unreg(d->region);
		*d = s->domain[--s->ndomains];
	}
}

static int add_domain(struct staging *s, uint32_t *at, struct zlink *z, enum zlink_half half, const void *domain,
	struct zerr *err)
{
	drop_lost(s);
	if (s->ndomains == STAGING_DOMAINS)
		return -EOPNOTSUPP;
	*at = s->ndomains;
	struct staging_domain *d = &s->domain[*at];
	*d = (struct staging_domain){.domain = domain, .unreg = z->ops->rma->unreg, .is_lost = z->ops->rma->is_lost};
	if (!s->memory) {
		if (s->piece_bytes == 0)
			s->piece_bytes = (uint32_t)z->ops->fragment_bytes;
		d->error = allocate(s, err);
	}
	if (d->error == 0)
		d->error = z->ops->rma->reg(z, half, s->memory, s->bytes, &d->region, err);
	s->ndomains++;
	return d->error;
}

int staging_admit(struct staging *s, struct zlink *z, enum zlink_half half, struct zregion **region, struct zerr *err)
{
	struct zrma_limits limits = {0};
	err->text[0] = '\0';
	if (z->ops->rma && s->wanted_bytes > 0)
		z->ops->rma->limits(z, &limits);
	if (limits.reads == 0 || limits.writes == 0)
		return -EOPNOTSUPP;
	const void *domain = z->ops->rma->domain(z, half);
	uint32_t i = 0;
	while (i < s->ndomains && s->domain[i].domain != domain)
		i++;
	int rc = i < s->ndomains ? s->domain[i].error : add_domain(s, &i, z, half, domain, err);
	if (rc == 0) {
		s->domain[i].halves++;
		*region = s->domain[i].region;
	}
	return rc;
}

void staging_leave(struct staging *s, const struct zregion *region)
{
	if (!region)
		return;
	for (uint32_t i = 0; i < s->ndomains; i++)
		if (s->domain[i].region == region)
			s->domain[i].halves--;
	drop_lost(s);
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

void staging_put(struct staging *s, struct piece *p)
{
	p->transfer = NULL;
	p->next = s->free;
	s->free = p;
	s->nfree++;
}

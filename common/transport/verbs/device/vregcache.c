/* SPDX-License-Identifier: BSD-3-Clause */
/* Kept registrations, see vregcache.h. */
#include "common/transport/verbs/device/vregcache.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/transport/verbs/device/vwatch.h"

struct vregcache {
	const struct vregcache_ops *ops;
	void *ctx;
	unsigned max_count, count;
	size_t max_bytes, bytes;
	uintptr_t page;
	struct vreg *head;
};

static void push(struct vregcache *c, struct vreg *r)
{
	r->next = c->head;
	r->link = &c->head;
	if (r->next)
		r->next->link = &r->next;
	c->head = r;
}

static void unlink_reg(struct vreg *r)
{
	*r->link = r->next;
	if (r->next)
		r->next->link = r->link;
	r->link = NULL;
}

/* Takes a registration out of the list; it is freed with its last user. */
static void retire(struct vregcache *c, struct vreg *r)
{
	if (r->link) {
		unlink_reg(r);
		vwatch_del(r->range);
		c->count--;
		c->bytes -= r->end - r->start;
	}
	if (r->users > 0)
		return;
	c->ops->unreg(c->ctx, r->handle);
	free(r);
}

int vregcache_create(struct vregcache **out, const struct vregcache_ops *ops, void *ctx, unsigned max_count,
	size_t max_bytes, struct zerr *err)
{
	int rc = vwatch_open(err);
	if (rc < 0)
		return rc;
	struct vregcache *c = calloc(1, sizeof(*c));
	if (!c) {
		vwatch_close();
		return zerr_set(err, -ENOMEM, "out of memory");
	}
	c->ops = ops;
	c->ctx = ctx;
	c->max_count = max_count < VWATCH_RANGES ? max_count : VWATCH_RANGES;
	c->max_bytes = max_bytes;
	c->page = (uintptr_t)sysconf(_SC_PAGESIZE);
	*out = c;
	return 0;
}

void vregcache_destroy(struct vregcache *c)
{
	vregcache_trim(c);
	assert(!c->head);
	vwatch_close();
	free(c);
}

unsigned vregcache_trim(struct vregcache *c)
{
	struct vreg *next;
	unsigned n = 0;
	for (struct vreg *r = c->head; r; r = next) {
		next = r->next;
		if (r->users == 0) {
			retire(c, r);
			n++;
		}
	}
	return n;
}

/* Gives up the least recently used registration. false: all are in use. */
static bool evict(struct vregcache *c)
{
	struct vreg *oldest = NULL;
	for (struct vreg *r = c->head; r; r = r->next)
		if (r->users == 0)
			oldest = r;
	if (!oldest)
		return false;
	retire(c, oldest);
	return true;
}

static struct vreg *find(struct vregcache *c, uintptr_t start, uintptr_t end)
{
	struct vreg *next;
	for (struct vreg *r = c->head; r; r = next) {
		next = r->next;
		if (start < r->start || end > r->end)
			continue;
		if (!vwatch_is_stale(r->range))
			return r;
		retire(c, r);
	}
	return NULL;
}

/* Removes registrations within the range of a new one; they are older, or they would have been found. Removes stale
 * ones of other ranges, too. */
static void sweep(struct vregcache *c, uintptr_t start, uintptr_t end)
{
	struct vreg *next;
	for (struct vreg *r = c->head; r; r = next) {
		next = r->next;
		bool inside = start <= r->start && r->end <= end && r->users == 0;
		if (inside || vwatch_is_known_stale(r->range))
			retire(c, r);
	}
}

/* Watches memory first, then registers it. -ENOMEM: there is no room for one of the two. */
static int enter(struct vregcache *c, struct vreg *r, void *base, size_t len)
{
	r->range = vwatch_add(base, len);
	if (r->range < 0)
		return r->range == -ENOSPC ? -ENOMEM : -EOPNOTSUPP;
	int rc = c->ops->reg(c->ctx, base, len, &r->handle);
	if (rc != 0)
		vwatch_del(r->range);
	return rc;
}

static int add(struct vregcache *c, uintptr_t start, uintptr_t end, struct vreg **out)
{
	void *base = (void *)start; // NOLINT(performance-no-int-to-ptr)
	size_t len = end - start;
	if (len > c->max_bytes || c->max_count == 0)
		return -EOPNOTSUPP;
	sweep(c, start, end);
	while ((c->count >= c->max_count || c->bytes + len > c->max_bytes) && evict(c))
		;
	if (c->count >= c->max_count || c->bytes + len > c->max_bytes)
		return -EOPNOTSUPP; /* all in use */
	struct vreg *r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	int rc = enter(c, r, base, len);
	if (rc == -ENOMEM && vregcache_trim(c) > 0)
		rc = enter(c, r, base, len);
	if (rc != 0) {
		free(r);
		return rc;
	}
	r->start = start;
	r->end = end;
	push(c, r);
	c->count++;
	c->bytes += len;
	*out = r;
	return 0;
}

int vregcache_get(struct vregcache *c, void *base, size_t len, struct vreg **out)
{
	uintptr_t start = (uintptr_t)base & ~(c->page - 1),
		  end = ((uintptr_t)base + len + c->page - 1) & ~(c->page - 1);
	struct vreg *r = find(c, start, end);
	if (r) {
		unlink_reg(r);
		push(c, r);
	} else {
		int rc = add(c, start, end, &r);
		if (rc != 0)
			return rc;
	}
	r->users++;
	*out = r;
	return 0;
}

void vregcache_put(struct vregcache *c, struct vreg *r)
{
	if (--r->users == 0 && !r->link)
		retire(c, r);
}

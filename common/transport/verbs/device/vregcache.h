/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registrations of the application's buffers that are kept after use, as registering costs more than sending most
 * messages. Looked up by range: a registration of more memory serves for a part of it. The least recently used ones go
 * first, when there are too many, they hold too many bytes, or the system will not lock more.
 *
 * One that the application, by whatever thread, has unmapped meanwhile is never given out again (watch.h). Memory that
 * cannot be watched is not kept: the caller registers it for one use. What is registered here is whole pages, so it
 * must not be open to anybody but this process's own device; remote access to a part is the caller's business (by
 * memory windows).
 *
 * Under one lock of the caller's (expose.c's). Registering is the caller's, too, so that there is nothing of verbs in
 * here.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_REGCACHE_H
#define ZIP_COMMON_TRANSPORT_VERBS_REGCACHE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct vreg {	      /* one registration; the caller reads */
	void *handle; /* what the caller's reg gave */
	/* the cache's */
	struct vreg *next, **link; /* most recently used first */
	uintptr_t start, end;
	unsigned users;
	int range;
};

struct vregcache_ops {
	/* len bytes at base, whole pages. 0 or a negative errno; -ENOMEM: as much as may be locked is. */
	int (*reg)(void *ctx, void *base, size_t len, void **handle);
	void (*unreg)(void *ctx, void *handle);
};

struct vregcache;

/* ctx is passed to the operations. max: number and bytes that may be kept; more only while they are in use.
 * -EOPNOTSUPP with text: memory cannot be watched on this system, nothing can be kept. */
int vregcache_create(struct vregcache **, const struct vregcache_ops *, void *ctx, unsigned max_count, size_t max_bytes,
	struct zerr *);
/* Nothing is in use. */
void vregcache_destroy(struct vregcache *);

/* A registration that covers len bytes at base, to be given back. -EOPNOTSUPP: this memory is not kept; -ENOMEM: there
 * would be room for it if other caches kept less; or what reg returned. */
int vregcache_get(struct vregcache *, void *base, size_t len, struct vreg **);
void vregcache_put(struct vregcache *, struct vreg *);
/* Gives up all that are not in use: somebody else needs locked memory. How many there were. */
unsigned vregcache_trim(struct vregcache *);

#endif

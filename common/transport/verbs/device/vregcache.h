/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registrations of the application's buffers that are kept after use, as registering costs more than sending most
 * messages. They are looked up by range: a registration of more memory serves for a part of it. The least recently used
 * ones go first, when there are too many, when they have too many bytes, or when the system will not lock more memory.
 *
 * A registration of memory that the application has unmapped meanwhile, in any thread, is never given out again
 * (vwatch.h). Memory that cannot be watched is not kept: the caller registers it for one use. Registrations have whole
 * pages, so they must only be open to this process's own device; remote access to a part is the caller's task (by
 * memory windows).
 *
 * One lock of the caller's protects everything (that of vexposer.c). The caller also registers, so that this module
 * knows nothing of verbs.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_REGCACHE_H
#define ZIP_COMMON_TRANSPORT_VERBS_REGCACHE_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct vreg {	      /* one registration; the caller reads `handle` */
	void *handle; /* the result of the caller's reg */
	/* the cache's */
	struct vreg *next, **link; /* most recently used first */
	uintptr_t start, end;
	unsigned users;
	int range;
};

struct vregcache_ops {
	/* Registers len bytes at base, whole pages. Returns 0 or a negative errno; -ENOMEM: as much as may be locked is
	 * locked. */
	int (*reg)(void *ctx, void *base, size_t len, void **handle);
	void (*unreg)(void *ctx, void *handle);
};

struct vregcache;

/* ctx is passed to the operations. max_count, max_bytes: what may be kept; more exist only while they are in use.
 * -EOPNOTSUPP with text: memory cannot be watched on this system, so nothing can be kept. */
int vregcache_create(struct vregcache **, const struct vregcache_ops *, void *ctx, unsigned max_count, size_t max_bytes,
	struct zerr *);
/* To be called when nothing is in use. */
void vregcache_destroy(struct vregcache *);

/* Gets a registration that covers len bytes at base, to be given back. Returns 0; -EOPNOTSUPP: this memory is not kept;
 * -ENOMEM: there would be room if other caches kept less; or an error of reg. */
int vregcache_get(struct vregcache *, void *base, size_t len, struct vreg **);
void vregcache_put(struct vregcache *, struct vreg *);
/* Gives up all registrations that are not in use, as others need locked memory. Returns their number. */
unsigned vregcache_trim(struct vregcache *);

#endif

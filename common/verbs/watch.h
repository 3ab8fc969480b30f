/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells when memory of this process leaves its place: was unmapped, mapped over, moved, or given back to the system. A
 * registration of it with a device would then still lead to the old pages.
 *
 * By userfaultfd(2), user mode only, which needs no privilege: the mappings concerned are registered for write
 * protection that is never switched on, so no page fault ever waits for us, and for the events UNMAP, REMAP and REMOVE.
 * The kernel holds munmap back until a thread of ours has read the event. That thread allocates nothing and takes no
 * lock; it marks ranges by atomics. A range counts as stale from before munmap returns: who looks while an event is
 * between being read and being marked waits for that (no other way around: the kernel lets munmap go with the read).
 *
 * Only private anonymous memory (heap, malloc, anonymous mmap) can be watched: shmdt gives no event. Whole mappings are
 * registered, not the range alone, because mremap does not work across the border of two mappings. A child after fork
 * has the memory without the registration, and no business here.
 *
 * Threads: one at a time, but for the one inside. Set-up, and when a buffer is used for the first time; only
 * vwatch_is_stale is for every message.
 */
#ifndef ZIP_VERBS_WATCH_H
#define ZIP_VERBS_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

#define VWATCH_RANGES 1024

/* Starts watching (counted: every open needs its close). -EOPNOTSUPP with text: not on this system. */
int vwatch_open(struct zerr *);
void vwatch_close(void);

/* Watches len bytes at base. The number of the range; -EOPNOTSUPP: not this kind of memory; -ENOSPC: too many. */
int vwatch_add(const void *base, size_t len);
void vwatch_del(int range);
/* Has anything in it left its place since it was added? Once stale, always stale. */
bool vwatch_is_stale(int range);

#endif

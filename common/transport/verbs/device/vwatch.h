/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells when memory of this process leaves its place: was unmapped, mapped over, moved, or given back to the system. A
 * registration of it with a device would then still lead to the old pages.
 *
 * By userfaultfd(2), user mode only, which needs no privilege: the mappings concerned are registered for write
 * protection that is never switched on, so no page fault ever waits for us, and for the events UNMAP, REMAP and REMOVE.
 * A thread of ours reads them. It allocates nothing and takes no lock; it marks ranges by atomics.
 *
 * What is guaranteed: vwatch_is_stale says so of every range of which a part had left its place before the call, also
 * while another thread is still inside munmap, mmap over it, mremap, brk or madvise. The event alone is too late for
 * that: the address is free, and another thread's mmap may get it, before the event is there to be read. But the kernel
 * counts the change from under the lock of the address space until its event was read, and tells whether there is any:
 * that is asked each time, a system call of about a microsecond. After "none" all events of what has happened were
 * read, and only whether the thread is just marking has to be waited for. Changes that do not end soon, and every
 * error, make a range stale.
 *
 * What is not, and is up to the application, as MPI has it: memory stays where it is from the call until the transfer
 * is over. Who gives it back (MADV_DONTNEED, MADV_FREE) while another thread sends it for the first time may have the
 * old pages registered, as that event comes before the pages go. Nor does the kernel tell of MADV_GUARD_INSTALL
 * (Linux 6.13), which takes the pages from where nobody shall have a buffer.
 *
 * Only private anonymous memory (heap, malloc, anonymous mmap) can be watched: shmdt gives no event. Huge pages and
 * pages that were never touched are no different. Whole mappings are registered, not the range alone, because mremap
 * does not work across the border of two mappings. A child after fork has the memory without the registration: all is
 * stale there.
 *
 * Threads: one at a time, but for the one inside. Set-up, and what is for every large message: vwatch_is_stale.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_WATCH_H
#define ZIP_COMMON_TRANSPORT_VERBS_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"

#define VWATCH_RANGES 1024

/* Starts watching (counted: every open needs its close). -EOPNOTSUPP with text: not on this system; before Linux 5.15
 * changes are not counted. */
int vwatch_open(struct zerr *);
void vwatch_close(void);

/* Watches len bytes at base. The number of the range; -EOPNOTSUPP: not this kind of memory; -ENOSPC: too many. */
int vwatch_add(const void *base, size_t len);
void vwatch_del(int range);
/* Has anything in it left its place since it was added? Once stale, always stale. In doubt, too, for this once. */
bool vwatch_is_stale(int range);
/* The same of what was told so far, without a system call: for tidying up, not for use. */
bool vwatch_is_known_stale(int range);

#endif

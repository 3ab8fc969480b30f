/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells when memory of this process leaves its place: when it is unmapped, mapped over, moved, or given back to the
 * system. A registration of the memory with a device would still lead to the old pages.
 *
 * It works by userfaultfd(2), in user mode only, which needs no privilege. The mappings are registered for write
 * protection, which is never switched on, so no page fault ever waits for us; and for the events UNMAP, REMAP and
 * REMOVE. A thread of ours reads the events. It allocates nothing and takes no lock; it marks ranges by atomics.
 *
 * Guarantee: vwatch_is_stale returns true for every range of which a part has left its place before the call, even
 * while another thread is still inside munmap, mmap over it, mremap, brk or madvise. The event alone comes too late for
 * that: the address is free, and another thread's mmap may get it, before the event can be read. But the kernel counts
 * the change from under the lock of the address space until its event was read, and tells whether there is any change.
 * That is asked each time, by a system call of about a microsecond. After the answer "none" all events of the past were
 * read, and the call only waits while the thread is marking ranges. Changes that do not end soon, and every error, make
 * a range stale.
 *
 * Not guaranteed, and up to the application, as in MPI: memory stays in its place from the call until the transfer is
 * over. If a thread gives memory back (MADV_DONTNEED, MADV_FREE) while another thread sends it for the first time, the
 * old pages may be registered, as that event comes before the pages go. Nor does the kernel tell of MADV_GUARD_INSTALL
 * (Linux 6.13), which removes pages from places where nobody shall have a buffer.
 *
 * Only private anonymous memory (heap, malloc, anonymous mmap) can be watched: shmdt gives no event. Huge pages and
 * pages that were never touched are no exception. Whole mappings are registered, not the range alone, because mremap
 * does not work across the border of two mappings. A child after fork has the memory without the registration: all is
 * stale there.
 *
 * Threads: one at a time, besides the thread inside. Set-up, with the exception of vwatch_is_stale, which is called for
 * every large message.
 */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_WATCH_H
#define ZIP_COMMON_TRANSPORT_VERBS_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "common/base/err.h"

#define VWATCH_RANGES 1024

/* Starts watching. Opens are counted; every open needs its close. -EOPNOTSUPP with text: not on this system; before
 * Linux 5.15 changes are not counted. */
int vwatch_open(struct zerr *);
void vwatch_close(void);

/* Watches len bytes at base. Returns the number of the range; -EOPNOTSUPP: not this kind of memory; -ENOSPC: too many
 * ranges. */
int vwatch_add(const void *base, size_t len);
void vwatch_del(int range);
/* Has any part of the range left its place since it was added? A stale range stays stale. In doubt the answer is true
 * for this once. */
bool vwatch_is_stale(int range);
/* The same by the events so far, without a system call: for tidying up, not for use. */
bool vwatch_is_known_stale(int range);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memcpy for large payloads that another core has just written or is about to read. Any thread.
 *
 * glibc 2.36 copies long pieces (above 2112 bytes where the processor advertises it) by one `rep movsb`. AMD's Zen 3
 * and Zen 4 advertise it, but it is slow on them where source and destination begin at different places of a cache
 * line; and malloc begins large blocks 16 bytes behind a page. Measured between two cores of an EPYC 9004, 128 KiB at a
 * time: 2.3 to 11 GB/s by one `rep movsb`, 15 to 18 GB/s in pieces that glibc copies with vector registers. So zcopy
 * cuts copies into such pieces on these processors. Eager messages of 4 to 32 KiB gain nothing from it.
 */
#ifndef ZIP_COMMON_BASE_COPY_H
#define ZIP_COMMON_BASE_COPY_H

#include <stddef.h>

/* The regions do not overlap. Returns to. */
void *zcopy(void *to, const void *from, size_t len);

#endif

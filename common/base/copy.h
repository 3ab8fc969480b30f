/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memcpy for large payloads, which another core has just written or is about to read. Any thread.
 *
 * Longer copies (above 2112 bytes where the processor says so) are one `rep movsb` in glibc 2.36. AMD's Zen 3 and 4
 * say so, but are slow at it where source and destination begin at different places of a cache line, and malloc begins
 * its large blocks 16 bytes behind a page. Between two cores of an EPYC 9004, 128 KiB at a time: 2.3 to 11 GB/s, and
 * 15 to 18 in pieces that glibc copies with vector registers. So there it gets such pieces. Eager messages of 4 to 32
 * KiB gain nothing from it.
 */
#ifndef ZIP_COMMON_BASE_COPY_H
#define ZIP_COMMON_BASE_COPY_H

#include <stddef.h>

/* The regions do not overlap. Returns to. */
void *zcopy(void *to, const void *from, size_t len);

#endif

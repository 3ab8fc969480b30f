/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers as people read them. Each function writes to buf, of UNITS_BYTES, and returns it. */
#ifndef ZIPSTAT_UNITS_H
#define ZIPSTAT_UNITS_H

#include <stdint.h>

#define UNITS_BYTES 32

/* 999, 12.3k, 4.56M: by powers of 1000. */
char *units_format_count(char buf[UNITS_BYTES], double);
/* 999, 12.3K, 4.56M: by powers of 1024. */
char *units_format_bytes(char buf[UNITS_BYTES], double);
/* 0:07, 12:34, 5:00:00, 3d 04:05 */
char *units_format_time(char buf[UNITS_BYTES], uint64_t ms);
/* The time in which that share of the messages were through, from buckets as ZCTL_LATENCIES: "<8us", ">4s"; "-": none
 * was timed. */
char *units_format_latency(char buf[UNITS_BYTES], const uint64_t *bucket, double share);

#endif

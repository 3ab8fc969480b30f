/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes and seconds as people read them, in the unit that fits: "12.3 MiB", "4.56 ms". */
#ifndef ZIP_MAPPER_AMOUNT_H
#define ZIP_MAPPER_AMOUNT_H

#include <stddef.h>
#include <stdint.h>

/* These return buf. */
const char *amount_bytes(char *buf, size_t size, uint64_t bytes);
const char *amount_seconds(char *buf, size_t size, double seconds);
/* part of all in percent; 0 where all is 0. */
double amount_percent(uint64_t part, uint64_t all);

#endif

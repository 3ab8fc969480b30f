/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that people type. Any thread. */
#ifndef ZIP_COMMON_ARGS_VALUE_H
#define ZIP_COMMON_ARGS_VALUE_H

#include <stdint.h>

/* Reads a whole number that is not negative. K, M and G behind it are powers of 1024. "1.5K" and "1e6" are whole
 * numbers, too. Returns 0, -EINVAL or -ERANGE; *out is set only with 0. */
int zargs_parse_u64(const char *text, uint64_t *out);
/* Reads a real number; not an infinite one. Returns 0, -EINVAL or -ERANGE; *out is set only with 0. */
int zargs_parse_real(const char *text, double *out);

#endif

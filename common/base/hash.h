/* SPDX-License-Identifier: BSD-3-Clause */
/* FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo), 32 and 64 bits wide, for tables and for comparing two descriptions. It does
 * not withstand an attacker. Any thread. */
#ifndef ZIP_COMMON_BASE_HASH_H
#define ZIP_COMMON_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define ZHASH32 UINT32_C(0x811c9dc5) /* the hash of no data */
#define ZHASH64 UINT64_C(0xcbf29ce484222325)

/* hash: the hash of the data before, or ZHASH32 (ZHASH64). */
static inline uint32_t zhash32(uint32_t hash, const void *data, size_t len)
{
	for (const uint8_t *p = data, *end = p + len; p < end; p++)
		hash = (hash ^ *p) * UINT32_C(0x01000193);
	return hash;
}

static inline uint64_t zhash64(uint64_t hash, const void *data, size_t len)
{
	for (const uint8_t *p = data, *end = p + len; p < end; p++)
		hash = (hash ^ *p) * UINT64_C(0x100000001b3);
	return hash;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in messages: little-endian, at any alignment. Any thread. */
#ifndef ZIP_COMMON_WIRE_LITTLE_H
#define ZIP_COMMON_WIRE_LITTLE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* memcpy with a constant size becomes one move; the buffer may have any alignment. */
static inline void put16(uint8_t *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

static inline uint16_t get16(const uint8_t *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

static inline uint32_t get32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t get64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

#endif

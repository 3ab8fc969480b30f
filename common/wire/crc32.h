/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32 of IEEE 802.3 (polynomial 0x04c11db7, reflected), as in gzip (RFC 1952, section 8). Any thread. */
#ifndef ZIP_COMMON_WIRE_CRC32_H
#define ZIP_COMMON_WIRE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Continues crc over len bytes. crc is 0 at the beginning. */
uint32_t zcrc32(uint32_t crc, const void *data, size_t len);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into zipperd by golden.t: its nonces are always the same, so that recorded proofs are right again. */
#include <stddef.h>
#include <string.h>

void randombytes_buf(void *buf, size_t size);

void randombytes_buf(void *buf, size_t size)
{
	memset(buf, 0x5a, size);
}

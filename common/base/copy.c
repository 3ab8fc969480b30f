/* SPDX-License-Identifier: BSD-3-Clause */
/* memcpy for payloads, see copy.h. */
#include "common/base/copy.h"

#include <stdint.h>
#include <string.h>

/* a multiple of the size of every vector register, so that all pieces are aligned as the first one is */
#define PIECE_BYTES 2048

/* Bytes of one piece. A variable, as a compiler turns a copy of a known size into `rep movsq`. */
static size_t most_bytes = SIZE_MAX;

#ifdef __x86_64__
__attribute__((constructor)) static void look_at_processor(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_is("amd"))
		most_bytes = PIECE_BYTES;
}
#endif

void *zcopy(void *to, const void *from, size_t len)
{
	const size_t most = most_bytes;
	uint8_t *t = to;
	const uint8_t *f = from;
	for (; len > most; len -= most, t += most, f += most)
		memcpy(t, f, most);
	memcpy(t, f, len);
	return to;
}

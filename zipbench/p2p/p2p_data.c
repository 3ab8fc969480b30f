/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills messages and checks them; see p2p_data.h. */
#include "zipbench/p2p/p2p_data.h"

/* The second term tells blocks of 256 bytes apart. */
static inline uint8_t byte_at(size_t i, uint32_t message)
{
	return (uint8_t)(i * 5 + (i >> 8) * 11 + message * 3 + 1);
}

void p2p_data_fill(uint8_t *at, size_t bytes, uint32_t message)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = byte_at(i, message);
}

size_t p2p_data_check(const uint8_t *at, size_t bytes, uint32_t message)
{
	size_t wrong = 0;
	for (size_t i = 0; i < bytes; i++)
		wrong += at[i] != byte_at(i, message);
	return wrong;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tokens and passes, which strangers may guess. */
#ifndef ZIPPERD_TOKEN_H
#define ZIPPERD_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/control/ctl.h"

/* Looks at every byte, whichever differ, so that the time tells nothing. */
static inline bool token_same(const uint8_t *a, const uint8_t *b)
{
	uint8_t diff = 0;
	for (int i = 0; i < ZCTL_TOKEN_BYTES; i++)
		diff |= a[i] ^ b[i];
	return diff == 0;
}

#endif

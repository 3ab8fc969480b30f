/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules that messages of ranks keep to. Worker's thread. */
#ifndef ZIPPERD_RULES_H
#define ZIPPERD_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

struct lane;
struct source;

/* Is it a message that its sender keeps until it is acknowledged? */
static inline bool rules_is_sequenced(uint8_t kind)
{
	return kind == ZWIRE_EAGER || kind == ZWIRE_RTS;
}

/* Checks a message's kind, flags and length, whoever the receiver is. NULL, or a constant text. */
const char *rules_check_kind(const struct lane *, const struct zwire_env *);
/* Checks a message of this source. NULL, or a constant text. */
const char *rules_check(const struct source *, const struct zwire_env *);
/* Notes the breach in the source. Returns -EPROTO. */
int rules_breach(struct source *, const char *what);

#endif

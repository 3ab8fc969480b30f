/* SPDX-License-Identifier: BSD-3-Clause */
/* "Did you mean ...?": finds the known name that is nearest to a mistyped one. Start-up only; any thread. */
#ifndef ZIP_COMMON_CONFIG_NEAREST_H
#define ZIP_COMMON_CONFIG_NEAREST_H

#include <stddef.h>

struct znearest {
	const char *word; /* as it was typed */
	const char *best; /* the nearest name so far; NULL: none is near enough to be meant */
	unsigned distance;
};

void znearest_init(struct znearest *, const char *word);
/* Looks at one candidate, which must stay valid. Upper and lower case are equal. */
void znearest_add(struct znearest *, const char *candidate);
/* Writes " (did you mean NAME?)", or nothing; always terminated. Returns buf. */
const char *znearest_format(const struct znearest *, char *buf, size_t cap);

#endif

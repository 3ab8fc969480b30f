/* SPDX-License-Identifier: BSD-3-Clause */
/* A kind of address: its operations, and what they share. addr.c lists all kinds. Set-up only; any thread. */
#ifndef ZIP_COMMON_TRANSPORT_BASE_ADDR_KIND_H
#define ZIP_COMMON_TRANSPORT_BASE_ADDR_KIND_H

#include "common/transport/base/addr.h"

struct zaddr_ops {
	struct zaddr_traits traits;
	/* Is this text to be read as an address of this kind? */
	bool (*claims)(const char *text);
	/* Fills an address that is all zeros. Returns 0 or -EINVAL with the reason. */
	int (*parse)(struct zaddr *, const char *text, struct zerr *);
	/* Each as the function of its name in addr.h. */
	int (*format)(const struct zaddr *, char *buf, size_t cap);
	bool (*begins)(const char *text);
	bool (*is_fixed)(const struct zaddr *, const char *text);
	bool (*same_adapter)(const struct zaddr *, const struct zaddr *); /* both of this kind */
	bool (*tcp)(const struct zaddr *, struct zaddr *tcp);
	void (*listen_anywhere)(struct zaddr *);
	void (*strip_place)(struct zaddr *);
};

/* Reads a decimal number without sign, at most max. Returns 0 or -EINVAL. */
int zaddr_kind_parse_port(uint16_t *out, const char *text, unsigned max);
/* Copies len bytes of text as a name, which has letters, digits and the extra characters only. Returns 0 or -EINVAL. */
int zaddr_kind_parse_name(char *out, size_t cap, const char *text, size_t len, const char *extra);
/* Is a port written behind `before`, which is a place in text, in HOST[:PORT] or [IPV6][:PORT]? */
bool zaddr_kind_has_port(const char *text, const char *before);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the kinds of addresses, see addr_kind.h. */
#include "common/transport/base/addr_kind.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

int zaddr_kind_parse_port(uint16_t *out, const char *text, unsigned max)
{
	unsigned v = 0;
	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (!isdigit((unsigned char)*text))
			return -EINVAL;
		v = v * 10 + (unsigned)(*text - '0');
		if (v > max)
			return -EINVAL;
	}
	*out = (uint16_t)v;
	return 0;
}

int zaddr_kind_parse_name(char *out, size_t cap, const char *text, size_t len, const char *extra)
{
	if (len == 0 || len >= cap)
		return -EINVAL;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && !strchr(extra, text[i]))
			return -EINVAL;
	memcpy(out, text, len);
	out[len] = 0;
	return 0;
}

bool zaddr_kind_has_port(const char *text, const char *before)
{
	const char *colon = strrchr(text, ':');
	return colon > before && !strchr(colon, ']');
}

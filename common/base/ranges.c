/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads lists of numbers and ranges, see ranges.h. */
#include "common/base/ranges.h"

#include <ctype.h>
#include <errno.h>

/* Reads a decimal number of at most max at *text, which moves behind the number. */
static bool scan_number(const char **text, uint32_t max, uint32_t *out)
{
	uint64_t v = 0;
	if (!isdigit((unsigned char)**text))
		return false;
	for (; isdigit((unsigned char)**text); (*text)++) {
		v = v * 10 + (uint64_t)(**text - '0');
		if (v > max)
			return false;
	}
	*out = (uint32_t)v;
	return true;
}

bool zranges_scan(const char **text, uint32_t max, uint32_t *first, uint32_t *last, bool *more)
{
	if (!scan_number(text, max, first))
		return false;
	*last = *first;
	if (**text == '-') {
		(*text)++;
		if (!scan_number(text, max, last) || *last < *first)
			return false;
	}
	*more = **text == ',';
	if (*more)
		(*text)++;
	return *more || **text == '\0';
}

int zranges_check_cpus(const char *text, struct zerr *err)
{
	uint32_t first, last;
	bool more = true;
	for (const char *p = text; more;)
		if (!zranges_scan(&p, ZRANGES_CPU_MAX, &first, &last, &more))
			return zerr_set(err, -EINVAL, "'%.64s' are no cores: numbers to %u and ranges, as 0-3,8", text,
				ZRANGES_CPU_MAX);
	return 0;
}

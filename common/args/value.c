/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads numbers from the command line; see value.h. */
#include "common/args/value.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define EXACT 9007199254740992.0 /* 2^53: a double holds all whole numbers up to here */

/* The shift of a unit; -1: there is no such unit. */
static int unit(const char *text)
{
	static const struct {
		char letter;
		int shift;
	} units[] = {{'K', 10}, {'k', 10}, {'M', 20}, {'G', 30}};
	if (!*text)
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].letter == *text && !text[1])
			return units[i].shift;
	return -1;
}

/* A number with a point or an exponent, which must be whole with its unit. */
static int parse_fraction(const char *text, uint64_t *out)
{
	char *end;
	errno = 0;
	double v = strtod(text, &end);
	int shift = unit(end);
	if (shift < 0)
		return -EINVAL;
	v = v * (double)(UINT64_C(1) << shift);
	if (errno || !(v <= EXACT))
		return -ERANGE;
	if ((double)(uint64_t)v != v)
		return -EINVAL;
	*out = (uint64_t)v;
	return 0;
}

int zargs_parse_u64(const char *text, uint64_t *out)
{
	char *end;
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (*end == '.' || *end == 'e' || *end == 'E')
		return parse_fraction(text, out);
	int shift = unit(end);
	if (shift < 0)
		return -EINVAL;
	if (errno || v > UINT64_MAX >> shift)
		return -ERANGE;
	*out = (uint64_t)v << shift;
	return 0;
}

int zargs_parse_real(const char *text, double *out)
{
	char *end;
	errno = 0;
	double v = strtod(text, &end);
	if (end == text || *end || isspace((unsigned char)*text))
		return -EINVAL;
	if (errno || !isfinite(v))
		return -ERANGE;
	*out = v;
	return 0;
}

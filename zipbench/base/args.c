/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines by table; see args.h. */
#include "zipbench/base/args.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARGS_MAX 32

static void help(const struct arg *a, size_t n, const char *usage)
{
	printf("usage: zipbench %s\n\n", usage);
	for (size_t i = 0; i < n; i++)
		printf("  --%-11s %-5s %s\n", a[i].name, a[i].value ? a[i].value : "", a[i].help);
}

int args_bytes(const char *text, double *bytes)
{
	static const char units[] = "KMG";
	char *end;
	errno = 0;
	double v = strtod(text, &end);
	if (errno || end == text || !(v >= 0) || !isfinite(v))
		return -EINVAL;
	const char *unit = *end ? strchr(units, *end) : NULL;
	if (*end && (!unit || end[1]))
		return -EINVAL;
	*bytes = unit ? ldexp(v, 10 * (int)(unit - units + 1)) : v;
	return *bytes == floor(*bytes) ? 0 : -EINVAL;
}

static int number(const struct arg *a, const char *text, double *v)
{
	char *end;
	if (a->kind == ARG_BYTES) {
		int rc = args_bytes(text, v);
		if (rc < 0)
			return rc;
	} else {
		errno = 0;
		*v = strtod(text, &end);
		if (errno || end == text || *end || (a->kind == ARG_NUMBER && *v != floor(*v)))
			return -EINVAL;
	}
	return *v >= a->min && *v <= a->max ? 0 : -ERANGE;
}

static int set(void *into, const struct arg *a, char *text)
{
	char *field = (char *)into + a->offset;
	double v = 0;
	int rc = a->kind <= ARG_REAL ? number(a, text, &v) : 0;
	if (rc < 0)
		return rc;
	switch (a->kind) {
	case ARG_NUMBER:
		*(unsigned *)field = (unsigned)v;
		break;
	case ARG_BYTES:
		*(uint64_t *)field = (uint64_t)v;
		break;
	case ARG_REAL:
		*(double *)field = v; /* cppcheck-suppress invalidPointerCast ; the table says that it is one */
		break;
	case ARG_TEXT:
		*(char **)field = text;
		break;
	case ARG_FLAG:
		*(bool *)field = true;
		break;
	case ARG_CALL:
		return a->call(into, text);
	}
	return 0;
}

static int usage_error(FILE *errors, const char *command, const char *what, const char *why)
{
	if (errors)
		fprintf(errors, "zipbench %s: %s: %s; try --help\n", command, what, why);
	return ARGS_EXIT_USAGE;
}

static int value_error(FILE *errors, const char *command, const struct arg *a, const char *text)
{
	static const char *const what[] =
		{[ARG_NUMBER] = "a whole number", [ARG_BYTES] = "bytes", [ARG_REAL] = "a number"};
	char why[160];
	if (a->kind > ARG_REAL)
		return usage_error(errors, command, text, a->help);
	snprintf(why, sizeof(why), "--%s takes %s from %.15g to %.15g", a->name, what[a->kind], a->min, a->max);
	return usage_error(errors, command, text, why);
}

int args_parse(void *into, const struct arg *a, size_t n, const char *usage, int argc, char **argv, FILE *errors)
{
	struct option longs[ARGS_MAX + 2] = {{NULL, 0, NULL, 0}};
	int index, c;
	for (size_t i = 0; i < n && i < ARGS_MAX; i++)
		longs[i] = (struct option){a[i].name, a[i].kind == ARG_FLAG ? no_argument : required_argument, NULL,
			256 + (int)i};
	longs[n < ARGS_MAX ? n : ARGS_MAX] = (struct option){"help", no_argument, NULL, 'h'};
	opterr = 0;
	optind = 0; /* from the start, also in a second call */
	while ((c = getopt_long(argc, argv, ":h", longs, &index)) != -1) {
		if (c == 'h') {
			help(a, n, usage);
			return 1;
		}
		if (c < 256)
			return usage_error(errors, argv[0], argv[optind - 1],
				c == ':' ? "needs a value" : "is no option");
		if (set(into, &a[c - 256], optarg) < 0)
			return value_error(errors, argv[0], &a[c - 256], optarg);
	}
	if (optind < argc)
		return usage_error(errors, argv[0], argv[optind], "unexpected argument");
	return 0;
}

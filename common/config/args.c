/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the tables of getopt_long from ours, and stores values by type. */
#include "common/config/args.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/nearest.h"

#define FIRST 256 /* the code that getopt_long returns for row 0; codes of letters are lower */

struct tables {
	struct option longs[ZARGS_ROWS_MAX + 2];
	char letters[2 * ZARGS_ROWS_MAX + 4];
	size_t rows;
};

static bool has_value(const struct zargs_row *row)
{
	return row->type != ZARGS_FLAG;
}

static void tables_make(struct tables *t, const struct zargs_row *rows)
{
	char *letter = t->letters;

	*letter++ = ':'; /* getopt_long tells a missing value apart */
	for (; rows[t->rows].name; t->rows++) {
		const struct zargs_row *row = &rows[t->rows];

		assert(t->rows < ZARGS_ROWS_MAX);
		t->longs[t->rows] = (struct option){row->name, has_value(row) ? required_argument : no_argument, NULL,
			FIRST + (int)t->rows};
		if (!row->letter)
			continue;
		*letter++ = row->letter;
		if (has_value(row))
			*letter++ = ':';
	}
	t->longs[t->rows] = (struct option){"help", no_argument, NULL, 'h'};
	*letter = 'h';
}

int zargs_parse_u64(const char *text, uint64_t *out)
{
	unsigned long long v;
	unsigned shift = 0;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno)
		return -ERANGE;
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M')
		shift = 20;
	else if (*end == 'G')
		shift = 30;
	if (shift)
		end++;
	if (*end)
		return -EINVAL;
	if (v > UINT64_MAX >> shift)
		return -ERANGE;
	*out = (uint64_t)v << shift;
	return 0;
}

static int number_store(const struct zargs_row *row, void *field, const char *text, struct zerr *err)
{
	uint64_t v;

	if (zargs_parse_u64(text, &v) || v < row->min || v > row->max)
		return zerr_set(err, -EINVAL, "--%s: \"%.64s\" is not a number from %llu to %llu", row->name, text,
			(unsigned long long)row->min, (unsigned long long)row->max);
	switch (row->type) {
	case ZARGS_INT:
		*(int *)field = (int)v;
		break;
	case ZARGS_UNSIGNED:
		*(unsigned *)field = (unsigned)v;
		break;
	case ZARGS_I64:
		*(int64_t *)field = (int64_t)v;
		break;
	default:
		*(uint64_t *)field = v;
	}
	return 0;
}

static int store(const struct zargs_row *row, void *options, char *value, struct zerr *err)
{
	void *field = (char *)options + row->offset;

	switch (row->type) {
	case ZARGS_FLAG:
		*(bool *)field = true;
		return 0;
	case ZARGS_TEXT:
		*(const char **)field = value;
		return 0;
	case ZARGS_CALL:
		return row->take(field, value, err);
	default:
		return number_store(row, field, value, err);
	}
}

/* The option that getopt_long does not know: a letter that it names, or the word before the next one. With --help=x,
 * which it knows, it names h. */
static int refuse(const struct zargs_row *rows, const char *word, struct zerr *err)
{
	struct znearest near;
	char hint[96], name[64];

	if (optopt > 0 && optopt < FIRST && optopt != 'h')
		return zerr_set(err, -EINVAL, "-%c is no option", optopt);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	znearest_init(&near, name);
	for (; rows->name; rows++) {
		if (!strcmp(rows->name, name))
			return zerr_set(err, -EINVAL, "--%s takes no value", name);
		znearest_add(&near, rows->name);
	}
	return zerr_set(err, -EINVAL, "%.64s is no option%s", word, znearest_format(&near, hint, sizeof(hint)));
}

static const struct zargs_row *row_of(const struct zargs_row *rows, int opt)
{
	if (opt >= FIRST)
		return &rows[opt - FIRST];
	while (rows->letter != opt)
		rows++;
	return rows;
}

int zargs_parse(const struct zargs_row *rows, void *options, int argc, char **argv, int *operands, struct zerr *err)
{
	struct tables t = {.rows = 0};
	int opt, rc = 0;

	tables_make(&t, rows);
	opterr = 0;
	optind = 0; /* from the beginning, whatever was read before */
	while (!rc && (opt = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1) {
		if (opt == 'h')
			return 1;
		if (opt == ':')
			return zerr_set(err, -EINVAL, "%.64s needs a value", argv[optind - 1]);
		if (opt == '?')
			return refuse(rows, argv[optind - 1], err);
		rc = store(row_of(rows, opt), options, optarg, err);
	}
	if (operands)
		*operands = optind;
	else if (!rc && optind < argc)
		return zerr_set(err, -EINVAL, "\"%.64s\" is no option", argv[optind]);
	return rc;
}

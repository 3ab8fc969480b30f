/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the tables of getopt_long from ours, and stores values by type. */
#include "common/args/args.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/help.h"
#include "common/args/value.h"
#include "common/config/nearest.h"

#define FIRST 256 /* the code that getopt_long returns for row 0; codes of letters are lower */
#define HELP (FIRST + ZARGS_ROWS_MAX)
#define SHOW_VERSION (HELP + 1)

struct tables {
	struct option longs[ZARGS_ROWS_MAX + 3];
	char letters[2 * ZARGS_ROWS_MAX + 5];
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
	t->longs[t->rows] = (struct option){"help", no_argument, NULL, HELP};
	t->longs[t->rows + 1] = (struct option){"version", no_argument, NULL, SHOW_VERSION};
	memcpy(letter, "hV", sizeof("hV"));
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

static int real_store(const struct zargs_row *row, double *field, const char *text, struct zerr *err)
{
	double v;

	if (zargs_parse_real(text, &v) || v < row->low || v > row->high)
		return zerr_set(err, -EINVAL, "--%s: \"%.64s\" is not a number from %.15g to %.15g", row->name, text,
			row->low, row->high);
	*field = v;
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
	case ZARGS_REAL:
		return real_store(row, field, value, err);
	case ZARGS_CALL:
		return row->take(field, value, err);
	default:
		return number_store(row, field, value, err);
	}
}

/* Options that begin so, where getopt_long cannot tell which one is meant. */
static bool is_ambiguous(const struct option *longs, const char *name)
{
	int n = 0;

	for (; longs->name; longs++)
		n += !strncmp(longs->name, name, strlen(name));
	return *name && n > 1;
}

/* The option that getopt_long does not know: a letter that it names, or the word before the next one. */
static int refuse(const struct zargs *a, const struct tables *t, const char *word, struct zerr *err)
{
	struct znearest near;
	char name[64];

	if (optopt > 0 && optopt < FIRST)
		return zerr_set(err, -EINVAL, "there is no option -%c; try %s --help", optopt, a->program);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	znearest_init(&near, name);
	for (const struct option *o = t->longs; o->name; o++) {
		if (!strcmp(o->name, name))
			return zerr_set(err, -EINVAL, "--%s takes no value", name);
		znearest_add(&near, o->name);
	}
	if (is_ambiguous(t->longs, name))
		return zerr_set(err, -EINVAL, "--%s begins several options; try %s --help", name, a->program);
	if (near.best)
		return zerr_set(err, -EINVAL, "there is no option --%s; did you mean --%s?", name, near.best);
	return zerr_set(err, -EINVAL, "there is no option --%s; try %s --help", name, a->program);
}

static const struct zargs_row *row_of(const struct zargs_row *rows, int opt)
{
	if (opt >= FIRST)
		return &rows[opt - FIRST];
	while (rows->letter != opt)
		rows++;
	return rows;
}

/* The texts that need nothing else of the command line. */
static int answer(const struct zargs *a, int opt, struct zerr *err)
{
	if (opt == HELP)
		zargs_help_print(a);
	else
		zargs_help_version(a->program);
	int rc = zargs_help_finish(err);
	return rc < 0 ? rc : 1;
}

static int check_operands(const struct zargs *a, int argc, char **argv, int *first, struct zerr *err)
{
	int n = argc - optind;

	if (first)
		*first = optind;
	if (n < a->least)
		return zerr_set(err, -EINVAL, "missing argument: %s; try %s --help", a->operands, a->program);
	if (n > a->most)
		return zerr_set(err, -EINVAL, "unexpected argument \"%.64s\"; try %s --help", argv[optind + a->most],
			a->program);
	return 0;
}

int zargs_parse(const struct zargs *a, void *options, int argc, char **argv, int *first, struct zerr *err)
{
	struct tables t = {.rows = 0};
	int opt, rc = 0;

	tables_make(&t, a->rows);
	opterr = 0;
	optind = 0; /* from the beginning, whatever was read before */
	while (!rc && (opt = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1) {
		if (opt == 'h' || opt == HELP)
			return answer(a, HELP, err);
		if (opt == 'V' || opt == SHOW_VERSION)
			return answer(a, SHOW_VERSION, err);
		if (opt == ':')
			return zerr_set(err, -EINVAL, "%.64s needs a value; try %s --help", argv[optind - 1],
				a->program);
		if (opt == '?')
			return refuse(a, &t, argv[optind - 1], err);
		rc = store(row_of(a->rows, opt), options, optarg, err);
	}
	return rc ? rc : check_operands(a, argc, argv, first, err);
}

int zargs_refuse(const struct zargs *a, const struct zerr *err)
{
	zerr_print("%s: %s\n", a->program, err->text);
	return ferror(stdout) ? EXIT_FAILURE : ZARGS_EXIT_USAGE;
}

bool zargs_read(const struct zargs *a, void *options, int argc, char **argv, int *first, int *status)
{
	struct zerr err = {""};
	int rc = zargs_parse(a, options, argc, argv, first, &err);

	*status = EXIT_SUCCESS;
	if (rc < 0)
		*status = zargs_refuse(a, &err);
	return rc == 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines by table: one row for each option, with name, type, range and where its value goes. Start-up only; as
 * getopt_long, which it uses, for one thread. */
#ifndef ZIP_COMMON_CONFIG_ARGS_H
#define ZIP_COMMON_CONFIG_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

#define ZARGS_ROWS_MAX 48

enum zargs_type {
	ZARGS_FLAG,	/* bool, no value: becomes true */
	ZARGS_TEXT,	/* const char *, into argv */
	ZARGS_INT,	/* int, range min..max; the numbers may end in K, M or G: powers of 1024 */
	ZARGS_UNSIGNED, /* unsigned */
	ZARGS_I64,	/* int64_t */
	ZARGS_U64,	/* uint64_t */
	ZARGS_CALL	/* value goes to take(), as often as it is given */
};

struct zargs_row {
	const char *name; /* without dashes; NULL behind the last row */
	char letter;	  /* of the short form, 0: none */
	enum zargs_type type;
	size_t offset; /* of the field in the options' struct */
	uint64_t min, max;
	int (*take)(void *field, char *value, struct zerr *); /* of CALL: 0, or a negative errno with the reason */
};

/* Reads argv[1] on. --help and -h are always there. operands: the index in argv where what is no option begins, after
 * it has been moved to the end; NULL: there may be none. 0; 1: help is asked for; -EINVAL with the reason. */
int zargs_parse(const struct zargs_row *rows, void *options, int argc, char **argv, int *operands, struct zerr *);
/* A number, as "64K". 0, -EINVAL, -ERANGE; *out is set only with 0. */
int zargs_parse_u64(const char *text, uint64_t *out);

#endif

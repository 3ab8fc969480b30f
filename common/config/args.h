/* SPDX-License-Identifier: BSD-3-Clause */
/* Command lines by table. Each option has one row with its name, type, range and the field for its value. Start-up
 * only; one thread, as getopt_long is used. */
#ifndef ZIP_COMMON_CONFIG_ARGS_H
#define ZIP_COMMON_CONFIG_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

#define ZARGS_ROWS_MAX 48

enum zargs_type {
	ZARGS_FLAG,	/* bool, no value: becomes true */
	ZARGS_TEXT,	/* const char *, a pointer into argv */
	ZARGS_INT,	/* int, range min..max; the numbers may end in K, M or G: powers of 1024 */
	ZARGS_UNSIGNED, /* unsigned */
	ZARGS_I64,	/* int64_t */
	ZARGS_U64,	/* uint64_t */
	ZARGS_CALL	/* the value goes to take(), each time the option is given */
};

struct zargs_row {
	const char *name; /* without dashes; the last row is followed by one with NULL */
	char letter;	  /* short form; 0: none */
	enum zargs_type type;
	size_t offset; /* of the field in the options' struct */
	uint64_t min, max;
	int (*take)(void *field, char *value,
		struct zerr *); /* of CALL: returns 0, or a negative errno with the reason */
};

/* Reads argv[1] and the following. --help and -h always exist. operands: becomes the index in argv of the first
 * operand, as operands are moved to the end; NULL: operands are not allowed. Returns 0; 1: help is asked for; -EINVAL
 * with the reason. */
int zargs_parse(const struct zargs_row *rows, void *options, int argc, char **argv, int *operands, struct zerr *);
/* Reads a number, as "64K". Returns 0, -EINVAL or -ERANGE; *out is set only with 0. */
int zargs_parse_u64(const char *text, uint64_t *out);

#endif

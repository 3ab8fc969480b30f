/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines by table. Each option has one row with its name, type, range, the field for its value, and its text in
 * --help. A struct zargs is the command line of a program, or of one of its commands (commands.h). All programs but
 * zmpirun, whose options are those of mpirun, read theirs here, and so refuse a wrong one in the same words. Start-up
 * only; one thread, as getopt_long is used. Needs libc alone.
 */
#ifndef ZIP_COMMON_ARGS_ARGS_H
#define ZIP_COMMON_ARGS_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

#define ZARGS_ROWS_MAX 48
#define ZARGS_EXIT_USAGE 2 /* exit status of a wrong command line */
#define ZARGS_MANY INT32_MAX

enum zargs_type {
	ZARGS_FLAG,	/* bool, no value: becomes true */
	ZARGS_TEXT,	/* const char *, a pointer into argv */
	ZARGS_INT,	/* int, range min..max; numbers as zargs_parse_u64 (value.h) takes them */
	ZARGS_UNSIGNED, /* unsigned */
	ZARGS_I64,	/* int64_t */
	ZARGS_U64,	/* uint64_t */
	ZARGS_REAL,	/* double, range low..high */
	ZARGS_CALL,	/* the value goes to take(), each time the option is given */
};

struct zargs_row {
	const char *name; /* without dashes; the last row is followed by one with NULL */
	char letter;	  /* short form; 0: none */
	enum zargs_type type;
	size_t offset; /* of the field in the options' struct */
	uint64_t min, max;
	double low, high;
	int (*take)(void *field, char *value,
		struct zerr *); /* of CALL: returns 0, or a negative errno with the reason */
	const char *value;	/* its name in --help, as FILE; NULL with FLAG */
	const char *help;	/* may have several lines */
	void (*list)(void);	/* prints more lines of --help to stdout, behind this row; NULL: none */
};

struct zargs {
	const char *program;  /* as "zipmap show": begins the line of each error */
	const char *usage;    /* first lines of --help, what follows "usage: ", with all newlines */
	const char *operands; /* their names, as "GRAPH FILE"; NULL: there are none */
	int least, most;      /* number of operands */
	const struct zargs_row *rows;
};

/*
 * Reads argv[1] and the following into the fields of `options`. --help (-h) and --version (-V) always exist;
 * zargs_parse prints their text to stdout. first: becomes the index in argv of the first operand, as operands are moved
 * to the end; may be NULL where there are none. Returns 0; 1 when --help or --version was answered; -EINVAL, or the
 * error of take(), with the reason.
 */
int zargs_parse(const struct zargs *, void *options, int argc, char **argv, int *first, struct zerr *);
/* zargs_parse with the end of the program in view. True: go on. False: end with *status; an error is on stderr. */
bool zargs_read(const struct zargs *, void *options, int argc, char **argv, int *first, int *status);
/* Says on stderr why this command line is wrong. Returns ZARGS_EXIT_USAGE; EXIT_FAILURE if the help could not be
 * written. */
int zargs_refuse(const struct zargs *, const struct zerr *);

#endif

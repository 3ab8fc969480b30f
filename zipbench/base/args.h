/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines by table: options of a subcommand, their ranges, and its --help. zipbench-coll, an MPI program, uses
 * this module too: so it needs libc alone, unlike common/config/args.h, which also has no real numbers and no help.
 */
#ifndef ZIPBENCH_BASE_ARGS_H
#define ZIPBENCH_BASE_ARGS_H

#include <stddef.h>
#include <stdio.h>

#define ARGS_EXIT_USAGE 2

enum arg_kind {
	ARG_NUMBER, /* unsigned */
	ARG_BYTES,  /* uint64_t; K, M and G are powers of 1024 */
	ARG_REAL,   /* double */
	ARG_TEXT,   /* const char *, into argv */
	ARG_FLAG,   /* bool; takes no value */
	ARG_CALL,   /* parsed by call */
};

struct arg {
	const char *name, *value; /* value: the name of the option's value in --help */
	enum arg_kind kind;
	double min, max;			   /* of numbers; both included */
	size_t offset;				   /* of the field in `into` */
	int (*call)(void *into, const char *text); /* 0 or a negative errno */
	const char *help;
};

/* Fills `into`. argv[0] is the subcommand; usage follows "usage: zipbench ". 0; 1: --help was answered; ARGS_EXIT_USAGE
 * after one line to `errors` (NULL: no line). */
int args_parse(void *into, const struct arg *, size_t n, const char *usage, int argc, char **argv, FILE *errors);
/* Parses a number of bytes, as 64K. 0 or a negative errno. */
int args_bytes(const char *text, double *bytes);

#endif

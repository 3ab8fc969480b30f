/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration by table. Each option has one row with its name, type, default, range and help. From the table the
 * program reads files and the environment, checks and prints values, and makes the option list of its manual page.
 * Start-up only; one thread.
 *
 * File syntax: `name = value` on each line. A '#' at the beginning of a line or behind white space starts a comment.
 * Double quotes may stand around a whole value. Only names of CALL rows may repeat.
 */
#ifndef ZIP_COMMON_CONFIG_CONF_H
#define ZIP_COMMON_CONFIG_CONF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"

enum zconf_type {
	ZCONF_INT,     /* int64_t, range min..max */
	ZCONF_BYTES,   /* int64_t; suffixes K, M, G (powers of 1024) */
	ZCONF_TIME_MS, /* int64_t milliseconds; suffixes ms, s, m, h; a plain number is seconds */
	ZCONF_ENUM,    /* int64_t index into choices */
	ZCONF_STRING,  /* char *, owned by the table's memory (zconf_free) */
	ZCONF_CALL,    /* the value goes to parse(); may repeat */
};

struct zconf_row {
	const char *name;
	enum zconf_type type;
	const char *preset;	    /* default, in file syntax; NULL: unset (STRING, CALL only) */
	int64_t min, max;	    /* INT, BYTES, TIME_MS; both 0: no limits */
	const char *const *choices; /* ENUM, NULL-terminated */
	size_t offset;		    /* of the field in the configuration struct */
	/* CALL: takes the value. With another type it looks at a value that is stored and in range; if it refuses, the
	 * old value comes back. Or NULL */
	int (*parse)(void *conf, const char *value, struct zerr *);
	const char *help; /* one or two sentences, also in the manual page */
};

/* Sets every field to its default, and calls parse() of the CALL rows that have one. The last row is followed by one
 * with a NULL name. Returns 0 or a negative errno. */
int zconf_defaults(const struct zconf_row *rows, void *conf, struct zerr *);
/* Reads a file. An unknown name, a bad value, or a name that is given twice is an error that begins "path:line: ". */
int zconf_read(const struct zconf_row *rows, void *conf, const char *path, struct zerr *);
/* Takes one assignment from elsewhere (an option, the environment). `where` stands in front of errors. */
int zconf_set(const struct zconf_row *rows, void *conf, const char *name, const char *value, const char *where,
	struct zerr *);
/* To be passed as `known`: names without a row belong to other readers. */
extern const char *const zconf_others[];
/* For parse(): the place of the value, as "path:line", or the `where` of zconf_set; "": none. One thread. */
#define ZCONF_PLACE_BYTES 256
const char *zconf_place(void);
/* Reads the environment: PREFIX_NAME (upper case, '_' for '-' and '.') for every row. prefix comes without its '_'. An
 * unknown PREFIX_* name is an error, with the nearest known name, unless it is listed in known (whole names,
 * NULL-terminated; may be NULL). */
int zconf_environ(const struct zconf_row *rows, void *conf, const char *prefix, const char *const *known,
	struct zerr *);
void zconf_free(const struct zconf_row *rows, void *conf);

#endif

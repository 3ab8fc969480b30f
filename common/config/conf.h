/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configuration by table: one row per option with name, type, default, range and help. The table parses files and the
 * environment, checks, prints, and makes the option list of the manual page. Start-up only; one thread.
 *
 * File syntax: `name = value` per line; '#' at the beginning of a line or behind white space starts a comment; double
 * quotes may stand around a whole value; only names of CALL rows may repeat.
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
	ZCONF_TIME_MS, /* int64_t milliseconds; suffixes ms, s, m, h; plain number is seconds */
	ZCONF_ENUM,    /* int64_t index into choices */
	ZCONF_STRING,  /* char *, owned by the table's memory (zconf_free) */
	ZCONF_CALL,    /* value goes to parse(), may repeat */
};

struct zconf_row {
	const char *name;
	enum zconf_type type;
	const char *preset;	    /* default, in file syntax; NULL: unset (STRING, CALL only) */
	int64_t min, max;	    /* INT, BYTES, TIME_MS; both 0: no limits */
	const char *const *choices; /* ENUM, NULL-terminated */
	size_t offset;		    /* of the field in the configuration struct */
	/* CALL; with another type it looks at a value that is stored and in range, which goes back if it refuses; or
	 * NULL */
	int (*parse)(void *conf, const char *value, struct zerr *);
	const char *help; /* one or two sentences, also in the manual page */
};

/* Sets every field to its default; CALL rows with a preset are called with it. rows end with a NULL name. Returns 0 or
 * a negative errno. */
int zconf_defaults(const struct zconf_row *rows, void *conf, struct zerr *);
/* Reads a file; an unknown name, bad value, or name given twice is an error that begins "path:line: ". */
int zconf_read(const struct zconf_row *rows, void *conf, const char *path, struct zerr *);
/* One assignment from elsewhere (option, environment); where is put in front of errors. */
int zconf_set(const struct zconf_row *rows, void *conf, const char *name, const char *value, const char *where,
	struct zerr *);
/* As known: names of no row are for somebody else. */
extern const char *const zconf_others[];
/* For parse(): where the value stands, as "path:line", or what zconf_set was told; "": nowhere. One thread. */
#define ZCONF_PLACE_BYTES 256
const char *zconf_place(void);
/* Environment: PREFIX_NAME (upper case, '_' for '-' and '.') for every row that is set; prefix without its '_'. Unknown
 * PREFIX_* names are errors, with the nearest known name, unless listed in known (whole names, NULL-terminated; may be
 * NULL). */
int zconf_environ(const struct zconf_row *rows, void *conf, const char *prefix, const char *const *known,
	struct zerr *);
void zconf_free(const struct zconf_row *rows, void *conf);

#endif

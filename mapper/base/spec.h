/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptions in words, for networks, jobs and patterns: "NAME[:VALUE] KEY:VALUE ..." where words are separated by
 * blanks or commas and ':' may be written '='. Statements end at ';' or at the end of a line; '#' starts a comment.
 * Every key must be asked for by somebody, or spec_finish() calls it unknown. Start-up only; one thread.
 */
#ifndef ZIP_MAPPER_SPEC_H
#define ZIP_MAPPER_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct spec_word {
	char *key;
	char *value; /* NULL if none was written */
	bool used;
};

struct spec {
	struct spec_word *words; /* at least one: the name */
	size_t nwords;
	char *where; /* "network", or "path:line": put in front of errors */
};

struct spec_list {
	struct spec *specs;
	size_t n;
	char *where; /* of all of it: "network", or the path */
};

/* where names the text in errors; with lines, ":LINE" is added. 0, -EINVAL, -ENOMEM. An empty text gives n = 0. */
int spec_parse(struct spec_list *, const char *text, const char *where, bool lines, struct zerr *);
/* The same from a file. */
int spec_read(struct spec_list *, const char *path, struct zerr *);
void spec_free(struct spec_list *);

/* Value of a key, or NULL. Marks it as used. */
const char *spec_string(struct spec *, const char *key);
/* The file that a key names, NULL without the key. 0, or -EINVAL where the key has no value. */
int spec_file(struct spec *, const char *key, const char **path, struct zerr *);
/* Integer with suffix K, M or G (powers of 1024) in min..max; preset if the key is not there. */
int spec_u64(struct spec *, const char *key, uint64_t preset, uint64_t min, uint64_t max, uint64_t *out, struct zerr *);
int spec_u32(struct spec *, const char *key, uint32_t preset, uint32_t min, uint32_t max, uint32_t *out, struct zerr *);
/* Index of the value in a NULL-terminated list; preset if the key is not there. */
int spec_choice(struct spec *, const char *key, const char *const *choices, int preset, int *out, struct zerr *);
/* Integers joined by 'x': 2..4 of them as "80x48x48". *n is 0 if there is no value. */
int spec_dims(struct spec *, const char *text, uint32_t *dims, unsigned max, unsigned *n, struct zerr *);
/* A line of n numbers below 2^32 with blanks between, and nothing else but a comment (#), which is cut off. 1; 0: there
 * is nothing in it; -EINVAL. */
int spec_numbers(char *line, uint32_t *out, unsigned n);
/* -EINVAL if a word was never asked for. */
int spec_finish(struct spec *, struct zerr *);

#endif

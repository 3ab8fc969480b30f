/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions in words, for networks, jobs and patterns: "NAME[:VALUE] KEY:VALUE ...". Words are separated by blanks
 * or commas; '=' may stand for ':'. A statement ends at ';' or at the end of a line. '#' starts a comment.
 * spec_finish() reports each key that no function has asked for. Start-up only; one thread. */
#ifndef ZIP_MAPPER_SPEC_H
#define ZIP_MAPPER_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

struct spec_word {
	char *key;
	char *value; /* NULL: none was written */
	bool used;
};

struct spec {
	struct spec_word *words; /* at least one: the name */
	size_t nwords;
	char *where; /* "network", or "path:line"; stands in front of errors */
};

struct spec_list {
	struct spec *specs;
	size_t n;
	char *where; /* the whole description: "network", or the path */
};

/* Parses a text. `where` names the text in errors; with lines, ":LINE" is added to it. An empty text gives n = 0. 0,
 * -EINVAL, -ENOMEM. */
int spec_parse(struct spec_list *, const char *text, const char *where, bool lines, struct zerr *);
/* Parses a file. */
int spec_read(struct spec_list *, const char *path, struct zerr *);
void spec_free(struct spec_list *);
/* Puts the words of a text in the place of word `at`. A key that stands behind word `at` replaces the same key of the
 * text. 0, -EINVAL, -ENOMEM. */
int spec_expand(struct spec *, size_t at, const char *text, struct zerr *);

/* The value of a key, or NULL. Marks the key as used. */
const char *spec_string(struct spec *, const char *key);
/* The file that a key names; NULL without the key. 0, or -EINVAL if the key has no value. */
int spec_file(struct spec *, const char *key, const char **path, struct zerr *);
/* An integer in min..max, with a suffix K, M or G (powers of 1024) if wanted. Without the key: preset. */
int spec_u64(struct spec *, const char *key, uint64_t preset, uint64_t min, uint64_t max, uint64_t *out, struct zerr *);
int spec_u32(struct spec *, const char *key, uint32_t preset, uint32_t min, uint32_t max, uint32_t *out, struct zerr *);
/* The index of the value in a NULL-terminated list. Without the key: preset. */
int spec_choice(struct spec *, const char *key, const char *const *choices, int preset, int *out, struct zerr *);
/* Parses at most max integers joined by 'x', as "80x48x48". *n is 0 if there is no value. 0 or -EINVAL. */
int spec_dims(struct spec *, const char *text, uint32_t *dims, unsigned max, unsigned *n, struct zerr *);
/* Parses a line of n numbers below 2^32 with blanks between them. A comment (#) is cut off. Returns 1; 0 if the line is
 * empty; -EINVAL if it has anything else. */
int spec_numbers(char *line, uint32_t *out, unsigned n);
/* 0, or -EINVAL if no function has asked for some word. */
int spec_finish(struct spec *, struct zerr *);

#endif

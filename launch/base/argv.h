/* SPDX-License-Identifier: BSD-3-Clause */
/* A growing list of words, as execve() wants them for arguments and environment. Owns its words. */
#ifndef ZIP_LAUNCH_ARGV_H
#define ZIP_LAUNCH_ARGV_H

#include <stdbool.h>
#include <stddef.h>

struct zargv {
	char **words; /* NULL-terminated once a word was added */
	size_t count;
	bool failed; /* memory was short at some time: the list must not be used */
};

void zargv_add(struct zargv *, const char *word);
void zargv_addf(struct zargv *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void zargv_add_all(struct zargv *, char *const *words, size_t count);
void zargv_free(struct zargv *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A growing list of words. */
#include "launch/base/argv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes over word. A NULL word stands for an allocation that failed. */
static void push(struct zargv *argv, char *word)
{
	char **more = word ? realloc(argv->words, (argv->count + 2) * sizeof(*more)) : NULL;
	if (!more) {
		free(word);
		argv->failed = true;
		return;
	}
	argv->words = more;
	more[argv->count++] = word;
	more[argv->count] = NULL;
}

void zargv_add(struct zargv *argv, const char *word)
{
	push(argv, strdup(word));
}

void zargv_addf(struct zargv *argv, const char *fmt, ...)
{
	char *word = NULL;
	va_list ap;
	va_start(ap, fmt);
	if (vasprintf(&word, fmt, ap) < 0)
		word = NULL;
	va_end(ap);
	push(argv, word);
}

void zargv_add_all(struct zargv *argv, char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		zargv_add(argv, words[i]);
}

void zargv_free(struct zargv *argv)
{
	for (size_t i = 0; i < argv->count; i++)
		free(argv->words[i]);
	free(argv->words);
	memset(argv, 0, sizeof(*argv));
}

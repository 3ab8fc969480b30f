/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the file of -configfile, see configfile.h. */
#include "launch/plan/configfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const char *path;
	int line;
	bool goes_on; /* the last line ended with a backslash */
	struct zargv *words;
	struct zerr *err;
};

/* Takes one word from p, without its quotes, which it writes over the text. Returns what follows; NULL: a quote is
 * open.
 */
static char *take_word(char *p, char **word)
{
	char *out = *word = p, quote = '\0';
	for (; *p && (quote || !strchr(" \t", *p)); p++) {
		if (quote ? *p == quote : *p == '"' || *p == '\'')
			quote = quote ? '\0' : *p;
		else if (*p == '\\' && quote != '\'' && p[1])
			*out++ = *++p;
		else
			*out++ = *p;
	}
	if (quote)
		return NULL;
	char *next = *p ? p + 1 : p;
	*out = '\0';
	return next;
}

static int take_line(struct reader *r, char *text)
{
	char *word;
	text[strcspn(text, "\r\n")] = '\0';
	size_t len = strlen(text);
	bool more = len > 0 && text[len - 1] == '\\';
	if (more)
		text[len - 1] = '\0';
	text += strspn(text, " \t");
	if (!r->goes_on && (*text == '#' || (*text == '\0' && !more)))
		return 0;
	if (!r->goes_on && r->words->count > 0)
		zargv_add(r->words, ":");
	while (*text) {
		text = take_word(text, &word);
		if (!text)
			return zerr_set(r->err, -EINVAL, "%s:%d: a quote is not closed", r->path, r->line);
		zargv_add(r->words, word);
		text += strspn(text, " \t");
	}
	r->goes_on = more;
	return 0;
}

int zconfigfile_read(struct zargv *words, const char *path, struct zerr *err)
{
	struct reader r = {.path = path, .words = words, .err = err};
	char *text = NULL;
	size_t cap = 0;
	int rc = 0;
	FILE *in = fopen(path, "re");
	if (!in)
		return zerr_set(err, -errno, "-configfile %s: %s", path, strerror(errno));
	for (r.line = 1; rc == 0 && getline(&text, &cap, in) >= 0; r.line++)
		rc = take_line(&r, text);
	if (rc == 0 && ferror(in))
		rc = zerr_set(err, -EIO, "-configfile %s: %s", path, strerror(EIO));
	if (rc == 0 && words->count == 0)
		rc = zerr_set(err, -EINVAL, "-configfile %s: no program in it", path);
	free(text);
	fclose(in);
	return rc == 0 && words->failed ? zerr_set(err, -ENOMEM, "out of memory") : rc;
}

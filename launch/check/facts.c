/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the lines of a probe, see facts.h. */
#include "launch/check/facts.h"

#include <stddef.h>
#include <string.h>

#include "launch/probe/say.h"

void zfacts_read(struct zfacts *f, char *output)
{
	char *rest = NULL;
	f->n = 0;
	for (char *line = strtok_r(output, "\n", &rest); line && f->n < ZFACTS_MAX;
		line = strtok_r(NULL, "\n", &rest)) {
		char *key = strstr(line, ZSAY_MARK); /* mpiexec's unfinished line may stand before it */
		if (!key)
			continue;
		key += strlen(ZSAY_MARK);
		char *text = key + strcspn(key, " ");
		if (*text)
			*text++ = '\0';
		f->fact[f->n].key = key;
		f->fact[f->n++].text = text;
	}
}

int zfacts_count(const struct zfacts *f, const char *key)
{
	int n = 0;
	for (int i = 0; i < f->n; i++)
		n += strcmp(f->fact[i].key, key) == 0;
	return n;
}

const char *zfacts_find(const struct zfacts *f, const char *key)
{
	for (int i = 0; i < f->n; i++)
		if (strcmp(f->fact[i].key, key) == 0)
			return f->fact[i].text;
	return NULL;
}

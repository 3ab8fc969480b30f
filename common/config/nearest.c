/* SPDX-License-Identifier: BSD-3-Clause */
/* The known name that is nearest to a mistyped one, by edit distance, where exchanging two neighbouring letters is one
 * edit. */
#include "common/config/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 64 /* longer words are not compared: a letter or two is not their mistake */

static int equal(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;
	return m < c ? m : c;
}

/* Optimal string alignment distance; both at most WORD_MAX long. Three rows are enough. */
static unsigned distance(const char *a, size_t alen, const char *b, size_t blen)
{
	unsigned rows[3][WORD_MAX + 1];
	for (size_t j = 0; j <= blen; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= alen; i++) {
		unsigned *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= blen; j++) {
			unsigned differ = !equal(a[i - 1], b[j - 1]);
			now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + differ);
			if (i > 1 && j > 1 && differ && equal(a[i - 1], b[j - 2]) && equal(a[i - 2], b[j - 1]) &&
				before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
	}
	return rows[alen % 3][blen];
}

void znearest_init(struct znearest *n, const char *word)
{
	size_t len = strlen(word);
	n->word = word;
	n->best = NULL;
	/* One more than the distance that still counts as a typing error: a third of the letters, at least one. */
	n->distance = 1 + (unsigned)(len < 6 ? 1 : len / 3);
}

void znearest_add(struct znearest *n, const char *candidate)
{
	size_t wlen = strlen(n->word), clen = strlen(candidate);
	if (wlen == 0 || wlen > WORD_MAX || clen > WORD_MAX)
		return;
	unsigned d = distance(n->word, wlen, candidate, clen);
	if (d < n->distance) {
		n->distance = d;
		n->best = candidate;
	}
}

const char *znearest_format(const struct znearest *n, char *buf, size_t cap)
{
	if (n->best)
		snprintf(buf, cap, " (did you mean %s?)", n->best);
	else if (cap > 0)
		buf[0] = '\0';
	return buf;
}

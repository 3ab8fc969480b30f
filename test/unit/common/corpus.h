/* SPDX-License-Identifier: BSD-3-Clause */
/* Replays a folder of inputs through a parser, each unchanged and with seeded random damage. For unit tests. */
#ifndef ZIP_TEST_CORPUS_H
#define ZIP_TEST_CORPUS_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CORPUS_BYTES_MAX 65536
#define CORPUS_ROUNDS 100 /* damaged copies of each file */

static uint64_t corpus_state = 0x9e3779b97f4a7c15u;

/* xorshift64: the same numbers in every run. */
static unsigned corpus_random(unsigned below)
{
	corpus_state ^= corpus_state << 13;
	corpus_state ^= corpus_state >> 7;
	corpus_state ^= corpus_state << 17;
	return (unsigned)(corpus_state >> 33) % below;
}

/* Changes, drops or doubles a few bytes in place; returns the new length. */
static size_t corpus_damage(char *text, size_t len)
{
	static const char interesting[] = "#=:,\n\t \"\0[]%9-ZIP";
	for (unsigned n = 1 + corpus_random(4); n > 0 && len > 0; n--) {
		size_t at = corpus_random((unsigned)len);
		switch (corpus_random(4)) {
		case 0:
			text[at] = (char)corpus_random(256);
			break;
		case 1:
			text[at] = interesting[corpus_random(sizeof(interesting) - 1)];
			break;
		case 2:
			memmove(text + at, text + at + 1, len - at - 1);
			len--;
			break;
		default:
			if (len < CORPUS_BYTES_MAX) {
				memmove(text + at + 1, text + at, len - at);
				len++;
			}
		}
	}
	return len;
}

/* Calls feed for every file of test/corpus/NAME, and for damaged copies. Returns the number of files. */
static int corpus_replay(const char *name, void (*feed)(const char *text, size_t len))
{
	static char original[CORPUS_BYTES_MAX + 1], text[CORPUS_BYTES_MAX + 1];
	char path[4096];
	const char *top = getenv("ZIP_TOP_SRCDIR");
	int files = 0;
	snprintf(path, sizeof(path), "%s/test/corpus/%s", top ? top : "..", name);
	DIR *dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/test/corpus/%s/%.200s", top ? top : "..", name, e->d_name);
		FILE *in = fopen(path, "r");
		if (!in)
			continue;
		size_t len = fread(original, 1, CORPUS_BYTES_MAX - 8, in);
		fclose(in);
		files++;
		feed(original, len);
		for (int i = 0; i < CORPUS_ROUNDS; i++) {
			memcpy(text, original, len);
			feed(text, corpus_damage(text, len));
		}
	}
	if (dir)
		closedir(dir);
	return files;
}

#endif

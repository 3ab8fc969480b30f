/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads descriptions in words, see spec.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/value.h"
#include "common/base/lines.h"
#include "mapper/base/spec.h"

#define SPEC_BLANKS " \t\r,"

static int word_add(struct spec *s, char *text)
{
	struct spec_word *words = realloc(s->words, (s->nwords + 1) * sizeof(*words));
	struct spec_word *w;
	char *sep;

	if (!words)
		return -ENOMEM;
	s->words = words;
	w = &words[s->nwords];
	*w = (struct spec_word){.key = strdup(text)};
	if (!w->key)
		return -ENOMEM;
	s->nwords++;
	sep = strpbrk(w->key, ":=");
	if (sep) {
		*sep = '\0';
		w->value = sep + 1; /* points into the key's memory */
	}
	return 0;
}

static int statement_add(struct spec_list *l, char *text, const char *where, unsigned line)
{
	struct spec *specs, *s;
	char *save, *word = strtok_r(text, SPEC_BLANKS, &save);
	int rc;

	if (!word)
		return 0;
	specs = realloc(l->specs, (l->n + 1) * sizeof(*specs));
	if (!specs)
		return -ENOMEM;
	l->specs = specs;
	s = &specs[l->n++];
	memset(s, 0, sizeof(*s));
	if (line ? asprintf(&s->where, "%s:%u", where, line) < 0 : !(s->where = strdup(where))) {
		s->where = NULL;
		return -ENOMEM;
	}
	for (; word; word = strtok_r(NULL, SPEC_BLANKS, &save)) {
		rc = word_add(s, word);
		if (rc)
			return rc;
	}
	s->words[0].used = true;
	return 0;
}

int spec_parse(struct spec_list *l, const char *text, const char *where, bool lines, struct zerr *err)
{
	char *copy = strdup(text), *at = copy;
	unsigned line = 1;
	int rc;

	memset(l, 0, sizeof(*l));
	l->where = strdup(where);
	rc = copy && l->where ? 0 : -ENOMEM;
	while (!rc && at) {
		char *end = strchr(at, '\n'), *hash, *statement, *save;

		if (end)
			*end = '\0';
		hash = strchr(at, '#');
		if (hash)
			*hash = '\0';
		for (statement = strtok_r(at, ";", &save); statement && !rc; statement = strtok_r(NULL, ";", &save))
			rc = statement_add(l, statement, where, lines ? line : 0);
		at = end ? end + 1 : NULL;
		line++;
	}
	free(copy);
	if (rc) {
		spec_free(l);
		zerr_set(err, rc, "%s: %s", where, strerror(-rc));
	}
	return rc;
}

int spec_read(struct spec_list *l, const char *path, struct zerr *err)
{
	size_t len = 0, cap = 4096, got;
	char *text = malloc(cap + 1), *more;
	FILE *f = fopen(path, "r");
	int rc;

	memset(l, 0, sizeof(*l));
	if (!f || !text) {
		rc = zerr_set(err, f ? -ENOMEM : -errno, "%s: %s", path, strerror(f ? ENOMEM : errno));
		goto out;
	}
	while ((got = fread(text + len, 1, cap - len, f)) > 0) {
		len += got;
		if (len < cap)
			continue;
		cap *= 2;
		more = realloc(text, cap + 1);
		if (!more) {
			rc = zerr_set(err, -ENOMEM, "%s: file too long", path);
			goto out;
		}
		text = more;
	}
	text[len] = '\0';
	if (ferror(f))
		rc = zerr_set(err, -EIO, "%s: cannot be read", path);
	else if (memchr(text, '\0', len))
		rc = zerr_set(err, -EINVAL, "%s: not a text file", path);
	else
		rc = spec_parse(l, zlines_skip_mark(text), path, true, err);
out:
	if (f)
		fclose(f);
	free(text);
	return rc;
}

void spec_free(struct spec_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		for (size_t j = 0; j < l->specs[i].nwords; j++)
			free(l->specs[i].words[j].key);
		free(l->specs[i].words);
		free(l->specs[i].where);
	}
	free(l->specs);
	free(l->where);
	memset(l, 0, sizeof(*l));
}

static bool key_behind(const struct spec *s, size_t at, const char *key)
{
	for (size_t i = at + 1; i < s->nwords; i++)
		if (!strcmp(s->words[i].key, key))
			return true;
	return false;
}

int spec_expand(struct spec *s, size_t at, const char *text, struct zerr *err)
{
	struct spec_list l;
	struct spec_word *words;
	size_t n = at;
	int rc = spec_parse(&l, text, s->where, false, err);

	if (rc)
		return rc;
	words = l.n ? malloc((s->nwords + l.specs->nwords) * sizeof(*words)) : NULL;
	if (!words) {
		spec_free(&l);
		return zerr_set(err, -ENOMEM, "not enough memory");
	}
	for (size_t i = 0; i < at; i++)
		words[i] = s->words[i];
	for (size_t i = 0; i < l.specs->nwords; i++) {
		struct spec_word *w = &l.specs->words[i];

		if (i && key_behind(s, at, w->key))
			continue;
		words[n++] = *w;
		w->key = NULL; /* the memory is the statement's now */
	}
	for (size_t i = at + 1; i < s->nwords; i++)
		words[n++] = s->words[i];
	free(s->words[at].key);
	free(s->words);
	s->words = words;
	s->nwords = n;
	spec_free(&l);
	return 0;
}

static struct spec_word *word_find(struct spec *s, const char *key)
{
	struct spec_word *found = NULL;

	for (size_t i = 1; i < s->nwords; i++) {
		if (strcmp(s->words[i].key, key))
			continue;
		if (found)
			return found; /* the second word stays unused, and is reported */
		found = &s->words[i];
		found->used = true;
	}
	return found;
}

const char *spec_string(struct spec *s, const char *key)
{
	struct spec_word *w = word_find(s, key);

	return w ? w->value ? w->value : "" : NULL;
}

int spec_file(struct spec *s, const char *key, const char **path, struct zerr *err)
{
	*path = spec_string(s, key);
	return *path && !**path ? zerr_set(err, -EINVAL, "%s: %s: which file?", s->where, key) : 0;
}

int spec_u64(struct spec *s, const char *key, uint64_t preset, uint64_t min, uint64_t max, uint64_t *out,
	struct zerr *err)
{
	const char *text = spec_string(s, key);

	*out = preset;
	if (!text)
		return 0;
	if (zargs_parse_u64(text, out) || *out < min || *out > max)
		return zerr_set(err, -EINVAL, "%s: %s: \"%s\" is not a number from %llu to %llu", s->where, key, text,
			(unsigned long long)min, (unsigned long long)max);
	return 0;
}

int spec_u32(struct spec *s, const char *key, uint32_t preset, uint32_t min, uint32_t max, uint32_t *out,
	struct zerr *err)
{
	uint64_t v;
	int rc = spec_u64(s, key, preset, min, max, &v, err);

	*out = rc ? preset : (uint32_t)v;
	return rc;
}

int spec_choice(struct spec *s, const char *key, const char *const *choices, int preset, int *out, struct zerr *err)
{
	const char *text = spec_string(s, key);
	char list[128] = "";
	size_t len = 0;

	*out = preset;
	if (!text)
		return 0;
	for (int i = 0; choices[i]; i++) {
		if (!strcmp(text, choices[i])) {
			*out = i;
			return 0;
		}
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "", choices[i]);
		if (len >= sizeof(list))
			len = sizeof(list) - 1;
	}
	return zerr_set(err, -EINVAL, "%s: %s: \"%s\" is none of %s", s->where, key, text, list);
}

int spec_dims(struct spec *s, const char *text, uint32_t *dims, unsigned max, unsigned *n, struct zerr *err)
{
	const char *at = text;

	*n = 0;
	if (text && !*text)
		return zerr_set(err, -EINVAL, "%s: no number behind the ':'", s->where);
	while (at && *at) {
		char *end;
		unsigned long v = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : 0;

		if (!v || v > UINT32_MAX || *n == max || (*end && (*end != 'x' || !end[1])))
			return zerr_set(err, -EINVAL, "%s: \"%s\" is not %u or fewer numbers joined by 'x'", s->where,
				text, max);
		dims[(*n)++] = (uint32_t)v;
		at = *end ? end + 1 : NULL;
	}
	return 0;
}

int spec_numbers(char *line, uint32_t *out, unsigned n)
{
	static const char blanks[] = " \t\r\n";
	char *at = line;

	line[strcspn(line, "#")] = '\0';
	for (unsigned i = 0; i < n; i++) {
		unsigned long v;

		at += strspn(at, blanks);
		if (!*at && !i)
			return 0;
		if (!isdigit((unsigned char)*at))
			return -EINVAL;
		v = strtoul(at, &at, 10);
		if (v > UINT32_MAX || (*at && !strchr(blanks, *at)))
			return -EINVAL;
		out[i] = (uint32_t)v;
	}
	return at[strspn(at, blanks)] ? -EINVAL : 1;
}

int spec_finish(struct spec *s, struct zerr *err)
{
	for (size_t i = 0; i < s->nwords; i++)
		if (!s->words[i].used)
			return zerr_set(err, -EINVAL, "%s: \"%s\" is unknown here, or there twice", s->where,
				s->words[i].key);
	return 0;
}

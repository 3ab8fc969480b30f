/* SPDX-License-Identifier: BSD-3-Clause */
/* Words of the zipper hostfile, see word.h. */
#include "common/hosts/word.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOST_CHARS_MAX 253 /* RFC 1035, written without the last dot */

char *zword_first(char *text, char **rest)
{
	return strtok_r(text, ZWORD_BLANKS, rest);
}

char *zword_next(char **rest)
{
	return strtok_r(NULL, ZWORD_BLANKS, rest);
}

int zword_parse_count(int *count, const char *what, const char *text, struct zerr *err)
{
	char *end;
	errno = 0;
	long value = strtol(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || value < 1 || value > (long)ZWORD_COUNT_MAX)
		return zerr_set(err, -EINVAL, "%s: '%.32s' is not a number from 1 to %u", what, text, ZWORD_COUNT_MAX);
	*count = (int)value;
	return 0;
}

int zword_check_name(const char *what, const char *name, struct zerr *err)
{
	size_t len = strlen(name);
	if (len == 0 || len > ZCTL_NAME_MAX)
		return zerr_set(err, -EINVAL, "%s must have 1 to %d characters", what, ZCTL_NAME_MAX);
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && (p == name || !strchr("_.-", *p)))
			return zerr_set(err, -EINVAL, "%s '%.64s': only letters, digits, and _.- behind the first",
				what, name);
	return 0;
}

int zword_check_host(const char *host, struct zerr *err)
{
	size_t len = strlen(host);
	if (len == 0 || len > HOST_CHARS_MAX)
		return zerr_set(err, -EINVAL, "a host name must have 1 to %d characters", HOST_CHARS_MAX);
	for (const char *p = host; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_.-@", *p))
			return zerr_set(err, -EINVAL, "'%.64s' is not a host name", host);
	return 0;
}

int zword_split_option(char *word, char **value, struct zerr *err)
{
	*value = strchr(word, '=');
	if (!*value || *value == word || (*value)[1] == '\0')
		return zerr_set(err, -EINVAL, "'%.64s' is not of the form NAME=VALUE", word);
	*(*value)++ = '\0';
	return 0;
}

void *zword_grow(void *field, int *count, size_t size)
{
	void *array;
	memcpy(&array, field, sizeof(array));
	char *more = array;
	if (!(*count & (*count - 1))) { /* room for as many again, whenever there are 0, 1, 2, 4, 8 and so on */
		more = realloc(array, (*count ? 2 * (size_t)*count : 1) * size);
		if (!more)
			return NULL;
		memcpy(field, &more, sizeof(more));
	}
	return memset(more + (size_t)(*count)++ * size, 0, size);
}

int zword_no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "out of memory");
}

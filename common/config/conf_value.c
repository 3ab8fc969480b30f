/* SPDX-License-Identifier: BSD-3-Clause */
/* One configuration value: from text to its field, checked, and back to text. */
#include "common/config/conf_value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct suffix {
	const char *text;
	int64_t factor;
};

/* Largest first: formatting takes the first one that divides the number. */
static const struct suffix bytes_suffixes[] = {{"G", INT64_C(1) << 30}, {"M", INT64_C(1) << 20},
	{"K", INT64_C(1) << 10}, {"", 1}, {NULL, 0}};
/* A plain number is seconds. */
static const struct suffix time_suffixes[] = {{"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}, {"", 1000},
	{NULL, 0}};
static const struct suffix no_suffixes[] = {{"", 1}, {NULL, 0}};

static int64_t *number_field(const struct zconf_row *row, void *conf)
{
	return (int64_t *)(void *)((char *)conf + row->offset);
}

static char **string_field(const struct zconf_row *row, void *conf)
{
	return (char **)(void *)((char *)conf + row->offset);
}

static const struct suffix *suffixes_of(const struct zconf_row *row)
{
	if (row->type == ZCONF_BYTES)
		return bytes_suffixes;
	return row->type == ZCONF_TIME_MS ? time_suffixes : no_suffixes;
}

static int find_word(const char *const *words, const char *text)
{
	for (int i = 0; words[i]; i++)
		if (strcasecmp(words[i], text) == 0)
			return i;
	return -ENOENT;
}

/* Reads decimal digits and one suffix. Where the type has no suffixes, 0x and hexadecimal digits may stand instead.
 * Returns 0, -EINVAL or -ERANGE. */
static int parse_scaled(int64_t *value, const char *text, const struct suffix *s)
{
	const char *digits = *text == '-' ? text + 1 : text;
	const int base =
		s == no_suffixes && strncasecmp(text, "0x", 2) == 0 && isxdigit((unsigned char)text[2]) ? 16 : 10;
	if (*digits < '0' || *digits > '9')
		return -EINVAL;
	char *end;
	errno = 0;
	long long v = strtoll(text, &end, base);
	bool over = errno == ERANGE;
	while (s->text && strcasecmp(s->text, end) != 0)
		s++;
	if (!s->text)
		return -EINVAL;
	if (over || __builtin_mul_overflow(v, s->factor, value))
		return -ERANGE;
	return 0;
}

const char *zconf_value_format_number(const struct zconf_row *row, int64_t value, char *buf, size_t cap)
{
	const struct suffix *s = suffixes_of(row);
	while (s->factor > 1 && (value == 0 || value % s->factor != 0))
		s++;
	snprintf(buf, cap, "%" PRId64 "%s", value / s->factor, s->text);
	return buf;
}

const char *zconf_value_domain(const struct zconf_row *row, char *buf, size_t cap)
{
	char low[32], high[32];
	const char *what = row->type == ZCONF_BYTES	? "a number of bytes (suffixes K, M, G)"
			   : row->type == ZCONF_TIME_MS ? "a time (suffixes ms, s, m, h; seconds without)"
							: "a whole number";
	size_t len = 0;
	switch (row->type) {
	case ZCONF_INT:
	case ZCONF_BYTES:
	case ZCONF_TIME_MS:
		if (row->min == 0 && row->max == 0)
			snprintf(buf, cap, "%s", what);
		else
			snprintf(buf, cap, "%s from %s to %s", what,
				zconf_value_format_number(row, row->min, low, sizeof(low)),
				zconf_value_format_number(row, row->max, high, sizeof(high)));
		break;
	case ZCONF_ENUM:
		buf[0] = '\0';
		for (int i = 0; row->choices[i] && len < cap; i++)
			len += (size_t)snprintf(buf + len, cap - len, "%s%s",
				i == 0		      ? ""
				: row->choices[i + 1] ? ", "
						      : " or ",
				row->choices[i]);
		break;
	default:
		snprintf(buf, cap, "a text");
	}
	return buf;
}

static int refuse(const struct zconf_row *row, int code, const char *text, struct zerr *err)
{
	char domain[160];
	return zerr_set(err, code, "%s: '%.64s' is not %s", row->name, text,
		zconf_value_domain(row, domain, sizeof(domain)));
}

/* Calls the row's own check of the value that is stored now. */
static int look(const struct zconf_row *row, void *conf, const char *text, struct zerr *err)
{
	int rc = row->parse ? row->parse(conf, text, err) : 0;
	return rc < 0 ? zerr_prefix(err, rc, "%s", row->name) : 0;
}

static int set_number(const struct zconf_row *row, void *conf, const char *text, struct zerr *err)
{
	int64_t value;
	int rc = parse_scaled(&value, text, suffixes_of(row));
	if (rc == 0 && (row->min != 0 || row->max != 0) && (value < row->min || value > row->max))
		rc = -ERANGE;
	if (rc < 0)
		return refuse(row, rc, text, err);
	int64_t *field = number_field(row, conf), old = *field;
	*field = value;
	rc = look(row, conf, text, err);
	if (rc < 0)
		*field = old;
	return rc;
}

static int set_string(const struct zconf_row *row, void *conf, const char *text, struct zerr *err)
{
	char *copy = strdup(text);
	if (!copy)
		return zerr_set(err, -ENOMEM, "%s: out of memory", row->name);
	char **field = string_field(row, conf), *old = *field;
	*field = copy;
	int rc = look(row, conf, text, err);
	if (rc < 0)
		*field = old;
	free(rc < 0 ? copy : old);
	return rc;
}

int zconf_value_set(const struct zconf_row *row, void *conf, const char *text, struct zerr *err)
{
	int index;
	switch (row->type) {
	case ZCONF_INT:
	case ZCONF_BYTES:
	case ZCONF_TIME_MS:
		return set_number(row, conf, text, err);
	case ZCONF_ENUM:
		index = find_word(row->choices, text);
		if (index < 0)
			return refuse(row, -EINVAL, text, err);
		*number_field(row, conf) = index;
		return 0;
	case ZCONF_STRING:
		return set_string(row, conf, text, err);
	case ZCONF_CALL:
		return look(row, conf, text, err);
	}
	return zerr_set(err, -EINVAL, "%s: row of unknown type", row->name);
}

const char *zconf_value_format(const struct zconf_row *row, const void *conf, char *buf, size_t cap)
{
	const char *field = (const char *)conf + row->offset;
	const char *text;
	switch (row->type) {
	case ZCONF_ENUM:
		snprintf(buf, cap, "%s", row->choices[*(const int64_t *)(const void *)field]);
		break;
	case ZCONF_STRING:
		text = *(char *const *)(const void *)field;
		snprintf(buf, cap, "%s", text ? text : "");
		break;
	case ZCONF_CALL:
		buf[0] = '\0';
		break;
	default:
		zconf_value_format_number(row, *(const int64_t *)(const void *)field, buf, cap);
	}
	return buf;
}

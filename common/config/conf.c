/* SPDX-License-Identifier: BSD-3-Clause */
/* Configuration by table: defaults, files, single assignments and the environment. */
#include "common/config/conf.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base/lines.h"
#include "common/config/conf_value.h"
#include "common/config/nearest.h"

extern char **environ;

static char place[ZCONF_PLACE_BYTES];

const char *zconf_place(void)
{
	return place;
}

static const struct zconf_row *find_row(const struct zconf_row *rows, const char *name)
{
	for (; rows->name; rows++)
		if (strcmp(rows->name, name) == 0)
			return rows;
	return NULL;
}

static int refuse_name(const struct zconf_row *rows, const char *name, struct zerr *err)
{
	struct znearest near;
	char hint[96];
	znearest_init(&near, name);
	for (; rows->name; rows++)
		znearest_add(&near, rows->name);
	return zerr_set(err, -ENOENT, "unknown option '%.64s'%s", name, znearest_format(&near, hint, sizeof(hint)));
}

int zconf_defaults(const struct zconf_row *rows, void *conf, struct zerr *err)
{
	for (const struct zconf_row *row = rows; row->name; row++)
		if (row->type == ZCONF_STRING)
			*(char **)(void *)((char *)conf + row->offset) = NULL;
	for (const struct zconf_row *row = rows; row->name; row++) {
		if (!row->preset)
			continue;
		int rc = zconf_value_set(row, conf, row->preset, err);
		if (rc < 0)
			return zerr_prefix(err, rc, "default");
	}
	return 0;
}

int zconf_set(const struct zconf_row *rows, void *conf, const char *name, const char *value, const char *where,
	struct zerr *err)
{
	const struct zconf_row *row = find_row(rows, name);
	snprintf(place, sizeof(place), "%s", where ? where : "");
	int rc = row ? zconf_value_set(row, conf, value, err) : refuse_name(rows, name, err);
	place[0] = '\0';
	return rc < 0 && where ? zerr_prefix(err, rc, "%s", where) : rc;
}

/* Cuts white space off both ends, in place. */
static char *trim(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	char *end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

/* Cuts a comment off. It begins with a '#' at the beginning or behind white space, outside double quotes. */
static void cut_comment(char *line)
{
	bool quoted = false;
	for (char *p = line; *p; p++) {
		if (*p == '"')
			quoted = !quoted;
		if (*p == '#' && !quoted && (p == line || isspace((unsigned char)p[-1]))) {
			*p = '\0';
			return;
		}
	}
}

/* Removes double quotes. A value either has both, around all of it, or none. */
static int unquote(char **value, struct zerr *err)
{
	char *text = *value, *quote = strchr(text, '"');
	if (!quote)
		return 0;
	size_t len = strlen(text);
	if (quote != text || len < 2 || strchr(text + 1, '"') != text + len - 1)
		return zerr_set(err, -EINVAL, "double quotes must stand around the whole value");
	text[len - 1] = '\0';
	*value = text + 1;
	return 0;
}

struct reading {
	const char *path;
	const struct zconf_row *rows;
	void *conf;
	int *seen; /* by row: the line on which the name stands first, or 0 */
};

/* One line of a file. */
static int read_line(void *arg, char *line, int number, struct zerr *err)
{
	const struct reading *r = arg;
	cut_comment(line);
	char *name = trim(line);
	if (*name == '\0')
		return 0;
	char *equals = strchr(name, '=');
	if (!equals)
		return zerr_set(err, -EINVAL, "'%.64s' is not of the form 'name = value'", name);
	*equals = '\0';
	char *value = trim(equals + 1);
	name = trim(name);
	if (*name == '\0')
		return zerr_set(err, -EINVAL, "no name before '='");
	const struct zconf_row *row = find_row(r->rows, name);
	if (!row)
		return refuse_name(r->rows, name, err);
	int *seen = &r->seen[row - r->rows];
	if (row->type != ZCONF_CALL && *seen)
		return zerr_set(err, -EEXIST, "%s is given twice (first in line %d)", name, *seen);
	*seen = number;
	int rc = unquote(&value, err);
	snprintf(place, sizeof(place), "%.*s:%d", ZCONF_PLACE_BYTES - 16, r->path, number);
	if (rc == 0)
		rc = zconf_value_set(row, r->conf, value, err);
	place[0] = '\0';
	return rc;
}

int zconf_read(const struct zconf_row *rows, void *conf, const char *path, struct zerr *err)
{
	size_t nrows = 0;
	while (rows[nrows].name)
		nrows++;
	struct reading reading = {.path = path,
		.rows = rows,
		.conf = conf,
		.seen = calloc(nrows + 1, sizeof(*reading.seen))};
	if (!reading.seen)
		return zerr_set(err, -ENOMEM, "%s: out of memory", path);
	int rc = zlines_read_file(path, read_line, &reading, err);
	free(reading.seen);
	return rc;
}

/* Does NAME (of length len) in PREFIX_NAME mean this row? Letters compare without case, '-' and '.' as '_'. */
static bool is_row_of(const struct zconf_row *row, const char *name, size_t len)
{
	if (strlen(row->name) != len)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = row->name[i];
		c = c == '-' || c == '.' ? '_' : (char)toupper((unsigned char)c);
		if (c != name[i])
			return false;
	}
	return true;
}

static bool is_known(const char *const *known, const char *name, size_t len)
{
	for (; known && *known; known++)
		if (strlen(*known) == len && strncmp(*known, name, len) == 0)
			return true;
	return false;
}

static int refuse_variable(const struct zconf_row *rows, const char *prefix, const char *const *known, const char *name,
	struct zerr *err)
{
	/* Each candidate is kept in a block of its own of static size, as the nearest one must outlive the loop. */
	char candidate[2][96], hint[128];
	int spare = 0;
	struct znearest near;
	znearest_init(&near, name);
	for (; known && *known; known++)
		znearest_add(&near, *known);
	for (; rows->name; rows++) {
		char *p = candidate[spare];
		snprintf(p, sizeof(candidate[0]), "%s_%s", prefix, rows->name);
		for (; *p; p++)
			*p = *p == '-' || *p == '.' ? '_' : (char)toupper((unsigned char)*p);
		znearest_add(&near, candidate[spare]);
		if (near.best == candidate[spare])
			spare = !spare;
	}
	return zerr_set(err, -ENOENT, "environment: unknown variable %.64s%s", name,
		znearest_format(&near, hint, sizeof(hint)));
}

const char *const zconf_others[] = {NULL};

int zconf_environ(const struct zconf_row *rows, void *conf, const char *prefix, const char *const *known,
	struct zerr *err)
{
	size_t plen = strlen(prefix);
	for (char **e = environ; e && *e; e++) {
		const char *equals = strchr(*e, '=');
		if (!equals || strncmp(*e, prefix, plen) != 0 || (*e)[plen] != '_')
			continue;
		size_t len = (size_t)(equals - *e);
		const struct zconf_row *row = rows;
		while (row->name && !is_row_of(row, *e + plen + 1, len - plen - 1))
			row++;
		char name[128];
		snprintf(name, sizeof(name), "%.*s", (int)(len < sizeof(name) ? len : sizeof(name) - 1), *e);
		int rc = 0;
		if (row->name) {
			rc = zconf_value_set(row, conf, equals + 1, err);
			if (rc < 0)
				zerr_prefix(err, rc, "environment variable %s", name);
		} else if (known != zconf_others && !is_known(known, *e, len)) {
			rc = refuse_variable(rows, prefix, known, name, err);
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

void zconf_free(const struct zconf_row *rows, void *conf)
{
	for (; rows->name; rows++) {
		if (rows->type != ZCONF_STRING)
			continue;
		char **field = (char **)(void *)((char *)conf + rows->offset);
		free(*field);
		*field = NULL;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the configuration again, see reload.h. */
#include "zipperd/main/reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"

static char *at_start; /* the settings as text; NULL: no memory, and nobody is told what has changed */

/* The caller's. */
static char *format(const struct settings *c)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	if (!out)
		return NULL;
	settings_print(c, out);
	fclose(out);
	return text;
}

void reload_init(struct daemon *d)
{
	at_start = format(&d->settings);
}

void reload_fini(void)
{
	free(at_start);
	at_start = NULL;
}

static bool is_read_again(const char *line)
{
	return strncmp(line, "log_level = ", 12) == 0;
}

/* Both come from the same table, behind which listen and then next have as many lines as they need: the first line in
 * which the two differ is the option that has changed, and the lines are of different ones where one of listen is in
 * the one text alone. An option that is not set has '#' in front. */
static void warn_of_rest(const struct settings *fresh)
{
	char *now = format(fresh);
	const char *a = at_start, *b = now;
	while (a && b && *a && *b) {
		size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");
		if ((la != lb || strncmp(a, b, la) != 0) && !(is_read_again(a) && is_read_again(b)))
			break;
		a += la + (a[la] == '\n');
		b += lb + (b[lb] == '\n');
	}
	if (a && b && (*a || *b)) {
		const char *name = !*b || strncmp(a, "listen = ", 9) == 0 ? a : b;
		name += *name == '#';
		zlog(ZLOG_WARN, "%.*s has changed in the configuration: that is for the next start",
			(int)strcspn(name, " \n"), name);
	}
	free(now);
}

void reload(struct daemon *d)
{
	struct settings fresh;
	struct keys *keys = NULL;
	struct zerr err = {.text = ""};
	int rc = settings_load(&fresh, &d->source, &err);
	if (rc == 0)
		rc = keys_load(&keys, d->settings.key_file, &err);
	if (rc != 0) {
		zlog(ZLOG_ERROR, "reload failed, all stays as it was: %s", err.text);
	} else {
		keys_free(d->keys);
		d->keys = keys;
		zlog_init("zipperd", (enum zlog_level)fresh.log_level);
		zlog(ZLOG_INFO, "keys and log level were read again");
		warn_of_rest(&fresh);
	}
	settings_fini(&fresh);
}

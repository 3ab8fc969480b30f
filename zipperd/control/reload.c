/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the configuration again, see reload.h. */
#include "zipperd/control/reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/conn/quota.h"

/* The settings as text, which is the caller's. NULL: no memory. */
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
	d->settings_text = format(&d->settings);
}

void reload_fini(struct daemon *d)
{
	free(d->settings_text);
	d->settings_text = NULL;
}

static bool is_read_again(const char *line)
{
	line += *line == '#';
	return strncmp(line, "log_level = ", 12) == 0 || strncmp(line, "administrators = ", 17) == 0 ||
	       strncmp(line, "user_weights = ", 15) == 0;
}

/* Warns of a changed option that is not read again. Both texts come from the same table. Behind it come the lines of
 * listen and then those of next, as many as there are. So the first line in which the texts differ names the option
 * that has changed. The lines name different options where a line of listen is in one text alone. An option that is not
 * set has '#' in front. */
static void warn_of_rest(const char *at_start, const struct settings *fresh)
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
		zlog(ZLOG_WARN, "%.*s has changed in the configuration: it takes effect at the next start",
			(int)strcspn(name, " \n"), name);
	}
	free(now);
}

static void exchange(char **a, char **b)
{
	char *before = *a;
	*a = *b;
	*b = before;
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
		zlog(ZLOG_ERROR, "reload failed, everything stays as it was: %s", err.text);
	} else {
		keys_free(d->keys);
		d->keys = keys;
		zlog_init("zipperd", (enum zlog_level)fresh.log_level);
		exchange(&d->settings.administrators, &fresh.administrators);
		exchange(&d->settings.user_weights, &fresh.user_weights);
		quota_configure(d->quotas, &d->settings, d->for_job || (keys_count(keys) == 1 && !d->settings.munge));
		zlog(ZLOG_INFO, "administrators, users' weights, keys and log level were read again");
		warn_of_rest(d->settings_text, &fresh);
	}
	settings_fini(&fresh);
}

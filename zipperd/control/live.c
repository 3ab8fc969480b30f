/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that may change, see live.h. */
#include "zipperd/control/live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/conn/quota.h"

/* Numbers that are looked at when they are needed. Others are in the hands of workers or jobs. */
static const char *const names[] = {"ended_time", "hello_timeout", "join_timeout", "log_level", "max_jobs",
	"max_join_timeout", "max_ranks", "meet_timeout", "user_circuits", "user_connections", "user_jobs",
	"user_memory"};
#define NNAMES (sizeof(names) / sizeof(names[0]))

static bool is_live(const char *name)
{
	for (size_t i = 0; i < NNAMES; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static int refuse(const char *name, struct zerr *err)
{
	char list[ZCTL_TEXT_MAX];
	size_t n = 0;
	for (const struct zconf_row *row = settings_rows; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return zerr_set(err, -EINVAL,
				"%s cannot change while zipperd runs: it is read from zipperd.conf at the next start",
				name);
	for (size_t i = 0; i < NNAMES && n < sizeof(list); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "", names[i]);
	return zerr_set(err, -EINVAL, "no option %s may change, but %s", name, list);
}

int live_set(struct daemon *d, const char *name, const char *value, struct zerr *err)
{
	struct settings fresh = d->settings; /* only numbers of it change */
	if (!is_live(name))
		return refuse(name, err);
	int rc = zconf_set(settings_rows, &fresh, name, value, "set", err);
	if (rc == 0)
		rc = settings_check(&fresh, "set", err);
	if (rc != 0)
		return rc;
	d->settings = fresh;
	quota_configure(d->quotas, &d->settings, d->for_job || (keys_count(d->keys) == 1 && !d->settings.munge));
	zlog_init("zipperd", (enum zlog_level)d->settings.log_level);
	return 0;
}

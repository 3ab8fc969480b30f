/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of administrators, see admin.h. */
#include "zipperd/control/admin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/control/drain.h"
#include "zipperd/control/live.h"
#include "zipperd/job/job.h"
#include "zipperd/job/job_end.h"

static void done(struct conn *conn, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void done(struct conn *conn, const char *fmt, ...)
{
	struct zctl_msg msg = {.type = ZCTL_CONTROLLED};
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(msg.u.controlled.text, sizeof(msg.u.controlled.text), fmt, ap);
	va_end(ap);
	zlog(ZLOG_WARN, "user %s: %s", conn->hello.user, msg.u.controlled.text);
	conn_send(conn, &msg);
}

static void drain(struct conn *conn, bool drains)
{
	struct daemon *d = conn->daemon;
	const int left = drain_left(d);
	if (drains)
		drain_begin(d);
	else
		drain_end(d);
	if (!drains)
		done(conn, "new jobs are taken again");
	else if (left > 0)
		done(conn, "draining: no new jobs, and %d job%s to finish", left, left == 1 ? " is" : "s are");
	else
		done(conn, "drained: no new jobs, and no job is left");
}

/* A job of the user's own needs no administrator. */
static void end(struct conn *conn, const struct zctl_control *c)
{
	const char *user = c->user[0] ? c->user : conn->hello.user;
	const bool own = strcmp(user, conn->hello.user) == 0;
	if (!own && !conn_administers(conn)) {
		conn_refuse(conn, EACCES, "only an administrator may end jobs of another user (administrators)");
		return;
	}
	struct job *j = job_find(conn->daemon, user, c->name);
	if (!j || j->state == JOB_OVER) {
		conn_refuse(conn, ENOENT, "there is no job %s of user %s here", c->name, user);
		return;
	}
	/* The answer comes first: the end may free the job. */
	done(conn, "job %.*s ends", ZCTL_TEXT_MAX - 16, j->key);
	if (own)
		job_end_for(j, 1, "its user has ended the job (zipstat end)");
	else
		job_end_for(j, 1, "administrator %s has ended the job (zipstat end)", conn->hello.user);
}

static void set(struct conn *conn, const struct zctl_control *c)
{
	struct zerr err = {.text = ""};
	int rc = live_set(conn->daemon, c->name, c->value, &err);
	if (rc != 0)
		conn_refuse(conn, -rc, "%s", err.text);
	else
		done(conn, "%s is %s until zipperd starts again", c->name, c->value);
}

void admin_control(struct conn *conn, const struct zctl_control *c)
{
	if (c->what != ZCTL_CONTROL_END && !conn_administers(conn)) {
		conn_refuse(conn, EACCES,
			"user %s is no administrator of this zipperd (administrators in zipperd.conf)",
			conn->hello.user);
		return;
	}
	switch (c->what) {
	case ZCTL_CONTROL_DRAIN:
	case ZCTL_CONTROL_RESUME:
		drain(conn, c->what == ZCTL_CONTROL_DRAIN);
		break;
	case ZCTL_CONTROL_END:
		end(conn, c);
		break;
	case ZCTL_CONTROL_SET:
		set(conn, c);
		break;
	default: /* ctl_check.c refuses others */
		break;
	}
}

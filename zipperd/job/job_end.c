/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of jobs, see job_end.h. */
#include "zipperd/job/job_end.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/base/log.h"
#include "zipperd/conn/channel.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/conn/crew.h"
#include "zipperd/conn/quota.h"
#include "zipperd/job/job_return.h"
#include "zipperd/job/job_stats.h"

/* The time in which late ranks of a failed job learn why. Of one that comes back they may compute for longer. */
#define REMEMBER_MS 3000

static void say_dead(const struct job *j, struct conn *conn, uint32_t code, const char *text)
{
	struct zctl_msg msg = {.type = ZCTL_DEAD};
	msg.u.dead.code = code;
	msg.u.dead.part = j->ender;
	snprintf(msg.u.dead.text, sizeof(msg.u.dead.text), "%s", text);
	conn_send(conn, &msg);
	conn_dismiss(conn, JOB_END_LAST_WORDS_MS);
}

void job_end_tell(const struct job *j, struct conn *conn, uint32_t code, const char *text)
{
	if (job_return_is(j))
		say_dead(j, conn, code, text);
	else
		conn_refuse(conn, ECANCELED, "%s", text);
}

static void end_rank(struct rank *r, bool running, uint32_t code, const char *text)
{
	struct list *node, *after;
	if (r->conn && running)
		say_dead(r->job, r->conn, code, text);
	else if (r->conn)
		job_end_tell(r->job, r->conn, code, text);
	if (running)
		list_for_each(node, after, &r->channels)
			channel_drop(list_entry(node, struct channel, of_rank));
}

/* The lanes come back when their workers have dealt with everything in them. */
static void drop_lanes(struct job *j)
{
	for (uint32_t i = 0; i < j->tracks * j->nparts * j->nparts; i++)
		if (j->lane[i])
			crew_send(j->daemon, j->lane[i]->worker,
				&(struct command){.kind = CMD_DROP_LANE, .lane = j->lane[i]});
}

static void for_all_ranks(struct job *j, bool running, uint32_t code, const char *text)
{
	if (running) {
		for (uint32_t v = 0; v < j->total; v++)
			end_rank(j->by_vrank[v], true, code, text);
		return;
	}
	for (uint32_t v = 0; j->world && v < j->total; v++)
		end_rank(&j->world[v], false, code, text);
	for (uint32_t i = 0; i < j->nparts; i++)
		for (uint32_t v = 0; j->part[i].rank && v < j->part[i].size; v++)
			end_rank(&j->part[i].rank[v], false, code, text);
}

/* Other jobs of the user may begin, and have its memory. */
static void give_back(struct job *j)
{
	struct zerr none;
	j->window_bytes = 0;
	quota_promise(j->user, &j->promise, 0, j->daemon->now_ms, &none);
}

void job_end(struct job *j, uint32_t code, const char *text)
{
	bool running = j->state == JOB_RUNNING;
	if (j->state == JOB_OVER)
		return;
	zlog(ZLOG_WARN, "job %s: %s", j->key, text);
	snprintf(j->text, sizeof(j->text), "%s", text);
	const bool knows = j->launcher && zctl_protocol(&j->launcher->hello) >= ZCTL_PROTOCOL_RETURNS;
	job_tell_launcher(j, knows && j->ender == ZCTL_PART_ZIPPER ? ZCTL_EV_LOST : ZCTL_EV_DEAD, code, j->text);
	j->state = JOB_OVER;
	j->over_ms = j->daemon->now_ms;
	for_all_ranks(j, running, code, j->text);
	drop_lanes(j);
	j->suspect = NULL;
	j->deadline_ms = j->vain_ms = 0;
	give_back(j);
	if (running)
		job_stats_log(j);
	/* Ranks that are still on their way to JOIN are to hear the reason. A job that ran has none of them. */
	if (running || j->had_launcher || j->daemon->stopping || j->ender == ZCTL_PART_ZIPPER)
		job_unname(j);
	else
		j->deadline_ms =
			j->daemon->now_ms + (job_return_is(j) ? j->daemon->settings.return_timeout_ms : REMEMBER_MS);
	job_free_if_unused(j);
}

void job_end_for(struct job *j, uint32_t code, const char *fmt, ...)
{
	char text[ZCTL_TEXT_MAX + 1];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	job_end(j, code, text);
}

void job_end_here(struct job *j, const char *text)
{
	if (j->state == JOB_RUNNING || job_return_is(j))
		j->ender = ZCTL_PART_ZIPPER;
	job_end(j, 1, text);
}

void job_end_well(struct job *j)
{
	j->state = JOB_OVER;
	j->over_ms = j->daemon->now_ms;
	job_stats_log(j);
	for (uint32_t v = 0; v < j->total; v++) {
		struct list *node, *after;
		list_for_each(node, after, &j->by_vrank[v]->channels)
			channel_drop(list_entry(node, struct channel, of_rank));
	}
	drop_lanes(j);
	j->suspect = NULL;
	give_back(j);
	job_unname(j);
	job_free_if_unused(j);
}

void job_end_all(struct daemon *d, const char *text)
{
	struct list *node, *after;
	list_for_each(node, after, &d->all_jobs) {
		struct job *j = list_entry(node, struct job, link);
		if (j->state == JOB_OVER) {
			job_forget(j);
		} else {
			job_end_here(j, text);
		}
	}
}

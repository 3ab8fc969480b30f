/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that end without MPI_Finalize, see job_ends.h. */
#include "zipperd/job/job_ends.h"

#include <stdio.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/job/job_end.h"
#include "zipperd/job/job_return.h"

/* A rank says WAITS after seconds (libzip/progress/ended.c). A message that is under way then may still wake it. */
#define VAIN_MS 1500

static void tell_all(const struct job *j, enum zctl_state_what what, uint32_t vrank)
{
	struct zctl_msg msg = {.type = ZCTL_STATE};
	msg.u.state.what = (uint8_t)what;
	msg.u.state.vrank = vrank;
	for (uint32_t v = 0; v < j->total; v++)
		if (j->by_vrank[v]->conn && !j->by_vrank[v]->done)
			conn_send(j->by_vrank[v]->conn, &msg);
}

static const struct rank *find(const struct job *j, enum zctl_state_what what)
{
	uint32_t v = 0;
	while (j->by_vrank[v]->done || j->by_vrank[v]->state != what)
		v++;
	return j->by_vrank[v];
}

/* The first one: from now on all ranks say what they do. */
static void note_first(struct job *j, const struct rank *r)
{
	char who[160], text[ZCTL_TEXT_MAX + 1];
	snprintf(text, sizeof(text), "%s ended without MPI_Finalize", rank_describe(r, who, sizeof(who)));
	zlog(ZLOG_WARN, "job %s: %s", j->key, text);
	j->unfinished = true;
	job_tell_launcher(j, ZCTL_EV_RANK_ENDED, r->vrank, text);
	tell_all(j, ZCTL_STATE_ENDED, r->vrank);
}

/* Looks at what the ranks do, after a change. */
static void judge(struct job *j)
{
	const uint32_t ended = j->doing[ZCTL_STATE_ENDED], final = j->doing[ZCTL_STATE_FINALIZES],
		       waiting = j->doing[ZCTL_STATE_WAITS], here = j->total - j->ndone;
	j->vain_ms = 0;
	if (ended == 0 || j->released)
		return;
	if (ended + final == here) {
		j->released = true;
		tell_all(j, ZCTL_STATE_OVER, ZWIRE_NOBODY);
	} else if (ended + final + waiting == here) {
		j->vain_ms = j->daemon->now_ms + VAIN_MS;
	}
}

/* Has it come back to a zipper, before others? */
static bool waits_for_others(const struct rank *r)
{
	return r->job->state == JOB_FORMING && job_return_is(r->job) &&
	       zctl_protocol(&r->conn->hello) >= ZCTL_PROTOCOL_WAITS;
}

bool job_ends_take(struct rank *r, const struct zctl_state *s)
{
	struct job *j = r->job;
	char who[160];
	if (waits_for_others(r) && s->what == ZCTL_STATE_FINALIZES) {
		job_count_state(r, s->what);
		job_return_wait(j);
		return true;
	}
	if (j->state != JOB_RUNNING || r->done || r->state == ZCTL_STATE_ENDED || s->what == ZCTL_STATE_OVER)
		return false;
	if (s->what == ZCTL_STATE_ENDED && s->code != 0) {
		j->ender = r->part;
		job_end_for(j, s->code, "%s ended with status %u without MPI_Finalize",
			rank_describe(r, who, sizeof(who)), s->code);
		return true;
	}
	job_count_state(r, s->what);
	if (s->what == ZCTL_STATE_ENDED && !j->unfinished)
		note_first(j, r);
	judge(j);
	return true;
}

void job_ends_check(struct job *j, int64_t now_ms)
{
	char one[ZCTL_TEXT_MAX / 2], other[ZCTL_TEXT_MAX / 2];
	if (j->vain_ms == 0 || j->vain_ms > now_ms || j->state != JOB_RUNNING)
		return;
	const struct rank *ended = find(j, ZCTL_STATE_ENDED), *waits = find(j, ZCTL_STATE_WAITS);
	rank_describe(ended, one, sizeof(one));
	rank_describe(waits, other, sizeof(other));
	j->ender = ended->part;
	job_end_for(j, 1, "%s ended without MPI_Finalize while %s waits", one, other);
}

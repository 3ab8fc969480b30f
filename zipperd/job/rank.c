/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks and their ends, see rank.h. */
#include "zipperd/job/rank.h"

#include <stdio.h>

#include "zipperd/conn/channel.h"
#include "zipperd/conn/conn.h"
#include "zipperd/conn/crew.h"
#include "zipperd/job/job_end.h"
#include "zipperd/job/job_return.h"

#define SUSPECT_MS 1000 /* the time for a BYE that explains a lost channel */

const char *rank_describe(const struct rank *r, char *buf, size_t cap)
{
	const struct job *j = r->job;
	const char *part = r->part < j->nparts ? j->part[r->part].name : "?";
	if (j->state == JOB_FORMING)
		snprintf(buf, cap, "rank %u of part %s on %s", r->lrank, part, r->host ? r->host : "?");
	else
		snprintf(buf, cap, "rank %u (%s rank %u on %s)", r->vrank, part, r->lrank, r->host ? r->host : "?");
	return buf;
}

struct channel *rank_channel(const struct rank *r, uint32_t track, uint32_t to, uint32_t endpoint)
{
	for (const struct list *node = r->channels.next; node != &r->channels; node = node->next) {
		struct channel *c = list_entry(node, struct channel, of_rank);
		if (c->to == to && c->track == track && c->endpoint == endpoint && !c->dropping)
			return c;
	}
	return NULL;
}

void rank_bye(struct rank *r)
{
	struct job *j = r->job;
	char who[160];
	if (j->state == JOB_FORMING) {
		char text[ZCTL_TEXT_MAX + 1];
		r->joined = false;
		snprintf(text, sizeof(text), "%s left before %s", rank_describe(r, who, sizeof(who)),
			job_return_is(j) ? "all ranks were back" : "the job had begun");
		job_end_here(j, text);
		return;
	}
	if (j->state != JOB_RUNNING || r->done)
		return;
	r->done = true;
	job_count_state(r, 0);
	for (uint32_t i = 0; i < j->tracks * j->nparts; i++) {
		struct lane *l = *job_lane(j, i / j->nparts, i % j->nparts, r->part);
		for (uint32_t e = 0; l && e < j->endpoints; e++)
			crew_send(j->daemon, l->worker,
				&(struct command){.kind = CMD_DEST_BYE, .lane = l, .dest = job_dest_of(r, e)});
	}
	job_tell_launcher(j, ZCTL_EV_RANK_DONE, ++j->ndone, "");
	if (j->suspect == r)
		j->suspect = NULL;
	if (j->ndone == j->total)
		job_end_well(j);
}

void rank_lost(struct rank *r, const char *how)
{
	struct job *j = r->job;
	char who[160];
	if (j->state == JOB_OVER || r->done)
		return;
	if (j->released) { /* its mpiexec kills the ranks that are left when one has ended without MPI_Finalize */
		rank_bye(r);
		return;
	}
	j->ender = r->part;
	job_end_for(j, 1, "%s died (%s)", rank_describe(r, who, sizeof(who)), how);
}

void rank_suspect(struct rank *r, const char *how)
{
	struct job *j = r->job;
	if (j->state != JOB_RUNNING || r->done || j->suspect || j->released)
		return;
	j->suspect = r;
	j->suspect_ms = j->daemon->now_ms + SUSPECT_MS;
	snprintf(j->suspect_how, sizeof(j->suspect_how), "%s", how);
}

void rank_abort(struct rank *r, const struct zctl_dead *why)
{
	struct job *j = r->job;
	char who[160];
	rank_describe(r, who, sizeof(who));
	if (j->state != JOB_OVER)
		j->ender = r->part;
	/* It needs no DEAD. */
	conn_dismiss(r->conn, JOB_END_LAST_WORDS_MS);
	job_end_for(j, why->code, "%s aborted with code %d%s%.100s", who, (int)why->code, why->text[0] ? ": " : "",
		why->text);
}

void rank_quit(struct rank *r, const struct zctl_dead *why)
{
	if (r->job->state == JOB_FORMING) {
		rank_bye(r);
		return;
	}
	struct job *j = r->job;
	char who[160];
	char text[ZCTL_TEXT_MAX + 1];
	snprintf(text, sizeof(text), "%s has lost this zipper: %.100s", rank_describe(r, who, sizeof(who)), why->text);
	conn_dismiss(r->conn, JOB_END_LAST_WORDS_MS);
	job_end_here(j, text);
}

void rank_breach(struct rank *r, const char *what)
{
	char who[160], text[ZCTL_TEXT_MAX + 1];
	snprintf(text, sizeof(text), "%s broke the protocol: %s", rank_describe(r, who, sizeof(who)), what);
	job_end(r->job, 1, text); /* drops the channel, too */
}

void rank_unconnected(struct rank *r, const struct zerr *err)
{
	char who[160], text[ZCTL_TEXT_MAX + 1];
	snprintf(text, sizeof(text), "no data connection for %s: %.200s", rank_describe(r, who, sizeof(who)),
		err->text);
	job_end(r->job, 1, text);
}

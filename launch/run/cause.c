/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares what the zippers say of the end of a job, see cause.h. */
#include "launch/run/cause.h"

#include <stdio.h>
#include <string.h>

/* zipperd's words, in zipperd/job/rank.c and job_ends.c */
static bool is_about_rank(const struct zjob_rail *rail)
{
	return rail->dead && strncmp(rail->text, "rank ", 5) == 0;
}

bool zcause_is_exit(const struct zjob_rail *rail)
{
	return is_about_rank(rail) &&
	       (strstr(rail->text, " ended with status ") || strstr(rail->text, " ended without MPI_Finalize "));
}

bool zcause_is_death(const struct zjob_rail *rail)
{
	return zcause_is_exit(rail) ||
	       (is_about_rank(rail) && (strstr(rail->text, " died (") || strstr(rail->text, " aborted with code ")));
}

/* Before the world is made. When a zipperd is gone, ranks die of it and the other zippers tell of these deaths. */
static bool is_earlier_cause(const struct zjob_rail *a, const struct zjob_rail *b)
{
	return a->lost != b->lost ? a->lost : a->order < b->order;
}

/* The last zipper is gone. The user knows of those that went long before. The others went for one common reason: if
 * ranks died, their death is that reason. */
static bool is_later_cause(const struct zjob_rail *a, const struct zjob_rail *b)
{
	bool tells = zcause_is_death(a);
	return tells != zcause_is_death(b) ? tells : a->order < b->order;
}

/* The same where ranks reach zippers through other zippers: when one on the way is gone, those behind it do tell of
 * dead ranks. */
static bool is_later_cause_over_hops(const struct zjob_rail *a, const struct zjob_rail *b)
{
	return a->lost != b->lost ? a->lost : is_later_cause(a, b);
}

static bool is_better_cause(const struct zjob *job, const struct zjob_rail *a, const struct zjob_rail *b)
{
	if (!job->world)
		return is_earlier_cause(a, b);
	return job->hops ? is_later_cause_over_hops(a, b) : is_later_cause(a, b);
}

static int find_cause(const struct zjob *job)
{
	int found = -1;
	for (int i = 0; i < job->n; i++) {
		const struct zjob_rail *rail = &job->rails[i], *best = found < 0 ? NULL : &job->rails[found];
		if (!zjob_is_down(rail) || rail->told)
			continue;
		if (!best || is_better_cause(job, rail, best))
			found = i;
	}
	return found;
}

static void end_by(struct zjob *job, int number)
{
	const struct zjob_rail *rail = &job->rails[number];
	/* A sentence that all zippers say needs no zipper's name. */
	bool named = job->n > 1 && !(job->world && zcause_is_death(rail));
	job->rail = number;
	job->dead = rail->dead;
	job->lost = rail->lost;
	job->dead_code = rail->dead_code;
	snprintf(job->text, sizeof(job->text), "%s%s%s%s%s", named ? "zipper " : "", named ? rail->name : "",
		named ? ": " : "", rail->text, named && job->world ? "; no zipper is left" : "");
}

/* The user knows of all losses, and the job has waited in vain. */
static int find_last(const struct zjob *job)
{
	int last = 0;
	for (int i = 1; i < job->n; i++)
		if (job->rails[i].order > job->rails[last].order)
			last = i;
	return last;
}

void zcause_decide(struct zjob *job)
{
	const int number = find_cause(job), last = number >= 0 ? number : find_last(job);
	const struct zjob_rail *rail = &job->rails[last];
	end_by(job, last);
	if (!rail->lost || !zjob_may_return(job, rail))
		return;
	const size_t len = strlen(job->text);
	snprintf(job->text + len, sizeof(job->text) - len, "; it has not come back within %lld s",
		(long long)job->reconnect_ms / 1000);
}

bool zcause_believe_death(struct zjob *job)
{
	int number = find_cause(job);
	if (number < 0 || !zcause_is_death(&job->rails[number]))
		return false;
	end_by(job, number);
	return true;
}

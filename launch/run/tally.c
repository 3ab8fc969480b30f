/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes together what the zippers of a job say. */
#include "launch/run/tally.h"

#include <stdio.h>
#include <string.h>

int ztally_left(const struct zjob *job)
{
	int left = 0;
	for (int i = 0; i < job->n; i++)
		left += !zjob_is_down(&job->rails[i]);
	return left;
}

bool ztally_tells_death(const struct zjob_rail *rail)
{
	/* zipperd's words: job_rank_lost and job_rank_abort there. */
	return rail->dead && strncmp(rail->text, "rank ", 5) == 0 &&
	       (strstr(rail->text, " died (") || strstr(rail->text, " aborted with code "));
}

/* Ranks report to one after the other. Those that are gone do not hear of them any more. */
static void count_ranks(struct zjob *job)
{
	bool world = true, any = false;
	for (int i = 0; i < job->n; i++) {
		const struct zjob_rail *rail = &job->rails[i];
		if (world)
			job->joined = rail->joined;
		world &= rail->world;
		if (zjob_is_down(rail))
			continue;
		job->done = any && job->done < rail->done ? job->done : rail->done;
		any = true;
	}
	job->world = world;
}

/* Before the world is made. Ranks die of a zipperd that is gone, and the other zippers tell of that. */
static bool is_earlier_cause(const struct zjob_rail *a, const struct zjob_rail *b)
{
	return a->lost != b->lost ? a->lost : a->order < b->order;
}

/* The last one has gone. The user was told of those that had gone long before, and the others have gone of one thing:
 * when ranks died then that is it. */
static bool is_later_cause(const struct zjob_rail *a, const struct zjob_rail *b)
{
	bool tells = ztally_tells_death(a);
	return tells != ztally_tells_death(b) ? tells : a->order < b->order;
}

/* The same where ranks come to zippers by others: those do tell of ranks who have died, when one on the way is gone. */
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
	/* What all of them say needs no name. */
	bool named = job->n > 1 && !(job->world && ztally_tells_death(rail));
	job->rail = number;
	job->dead = rail->dead;
	job->lost = rail->lost;
	job->dead_code = rail->dead_code;
	snprintf(job->text, sizeof(job->text), "%s%s%s%s%s", named ? "zipper " : "", named ? rail->name : "",
		named ? ": " : "", rail->text, named && job->world ? "; no zipper is left" : "");
}

void ztally_make(struct zjob *job)
{
	int left = ztally_left(job);
	count_ranks(job);
	if (job->n > 0 && left < (job->world ? 1 : job->n))
		end_by(job, find_cause(job));
}

bool ztally_believe_death(struct zjob *job)
{
	int number = find_cause(job);
	if (number < 0 || !ztally_tells_death(&job->rails[number]))
		return false;
	end_by(job, number);
	return true;
}

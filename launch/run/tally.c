/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums up what the zippers of a job say, see tally.h. */
#include "launch/run/tally.h"

#include "launch/run/cause.h"
#include "launch/start/again.h"

/* Ranks report to one zipper after the other. A zipper that is gone does not hear of later ranks. */
static void count_ranks(struct zjob *job)
{
	bool world = true, any = false;
	for (int i = 0; i < job->n; i++) {
		const struct zjob_rail *rail = &job->rails[i];
		if (world)
			job->joined = rail->joined;
		world &= rail->world;
		if (rail->ended[0] && !job->ended)
			job->ended = rail->ended;
		if (zjob_is_down(rail))
			continue;
		job->done = any && job->done < rail->done ? job->done : rail->done;
		any = true;
	}
	job->world = world;
}

void ztally_make(struct zjob *job)
{
	int left = zjob_left(job);
	count_ranks(job);
	if (job->n > 0 && left < (job->world ? 1 : job->n) && !zjob_waits(job))
		zcause_decide(job);
}

void ztally_poll(struct zjob *job)
{
	zjob_poll(job);
	ztally_make(job);
}

void ztally_lose(struct zjob *job, int rail, const char *why)
{
	if (zjob_lose(job, rail, why))
		ztally_make(job);
}

void ztally_again(struct zjob *job, int64_t now)
{
	if (zagain_turn(job, now))
		ztally_make(job);
}

void ztally_ask(struct zjob *job, int64_t limit_ms)
{
	zjob_ask(job, limit_ms);
	ztally_make(job);
}

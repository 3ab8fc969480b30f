/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers the job at zippers that come back, see again.h. */
#include "launch/start/again.h"

#include <string.h>

#define FIRST_MS 300	 /* from the loss to the first try */
#define MOST_MS 5000	 /* between two tries, which come ever later, where the job has another zipper */
#define STRANDED_MS 1000 /* where it waits for this one */
#define CONNECT_MS 1000	 /* for each answer: the output of the ranks waits meanwhile */

/* Nothing is said to a zipperd that is gone, or that has ended the job. */
static void drop(struct zsession **session)
{
	if (!*session)
		return;
	struct zlink *link = zsession_release(*session);
	link->ops->close(link);
	*session = NULL;
}

static void try_later(const struct zjob *job, struct zjob_rail *rail, int64_t now)
{
	const int64_t most = zjob_left(job) == 0 ? STRANDED_MS : MOST_MS;
	rail->pause_ms = rail->pause_ms == 0 ? FIRST_MS : 2 * rail->pause_ms < most ? 2 * rail->pause_ms : most;
	rail->try_ms = now + rail->pause_ms;
}

static void try_now(struct zjob *job, struct zjob_rail *rail, int64_t now)
{
	struct zsession_params params = job->params;
	struct zerr err;
	params.timeout_ms = CONNECT_MS;
	drop(&rail->session);
	if (zjob_register(job, &rail->again, &params, rail->route, rail->entries, true, &err) == 0)
		rail->again_ms = now;
	explicit_bzero(&params, sizeof(params));
}

/* Takes what the zipperd says into heard. 1: all ranks are there; negative: it is lost again, or the job is over. */
static int hear(struct zjob_rail *rail, struct zjob_rail *heard)
{
	struct zctl_msg msg;
	struct zerr err;
	int rc = 0;
	while (!heard->world && !zjob_is_down(heard) && (rc = zsession_poll(rail->again, &msg, &err)) > 0) {
		if (msg.type == ZCTL_EVENT)
			zjob_take_event(heard, &msg.u.event);
		else if (msg.type == ZCTL_DEAD || msg.type == ZCTL_ERROR)
			heard->lost = true;
		zctl_free(&msg);
	}
	if (rc < 0 || zjob_is_down(heard))
		return -1;
	return heard->world;
}

/* A zipper that is lost while the ranks come back is away anew, and has all of the time again. One that ends the
 * attempt by its own word has been away all the time, but for the time of the attempt. The ranks count in the same way
 * (libzip/world/rejoin_attempt.c). */
static void lose_again(const struct zjob *job, struct zjob_rail *rail, bool by_word, int64_t now)
{
	drop(&rail->again);
	try_later(job, rail, now);
	rail->gone_ms = by_word ? rail->gone_ms + (now - rail->again_ms) : now;
}

/* The ranks that have come back hear the same: one of them has died, or does not come. */
static void end_by_word(struct zjob *job, struct zjob_rail *rail, const struct zjob_rail *heard, int64_t now)
{
	rail->dead = true;
	rail->lost = rail->said = rail->told = false;
	rail->dead_code = heard->dead_code;
	memcpy(rail->text, heard->text, sizeof(rail->text));
	rail->order = ++job->ndown;
	rail->down_ms = now;
}

/* The ranks that had joined are all here, and none of them has left. */
static void come_back(struct zjob_rail *rail)
{
	rail->session = rail->again;
	rail->again = NULL;
	rail->back = rail->told;
	rail->dead = rail->lost = rail->said = rail->told = false;
	rail->done = 0;
	rail->order = 0;
	rail->try_ms = rail->pause_ms = 0;
	rail->text[0] = '\0';
}

bool zagain_turn(struct zjob *job, int64_t now)
{
	bool any = false;
	for (int i = 0; i < job->n; i++) {
		struct zjob_rail *rail = &job->rails[i];
		if (!zjob_may_return(job, rail))
			continue;
		if (rail->try_ms == 0)
			try_later(job, rail, now);
		if (!rail->again && now >= rail->try_ms) {
			try_now(job, rail, now);
			if (!rail->again)
				try_later(job, rail, now);
		}
		struct zjob_rail heard = {.dead = false};
		const int rc = rail->again ? hear(rail, &heard) : 0;
		/* Older zipperds tell so of attempts, too. */
		const bool final = rail->again && zsession_protocol(rail->again) >= ZCTL_PROTOCOL_WAITS;
		if (rc > 0)
			come_back(rail);
		else if (rc < 0)
			lose_again(job, rail, zjob_is_down(&heard), now);
		const bool over = rc < 0 && heard.dead && final && zjob_left(job) == 0;
		if (over)
			end_by_word(job, rail, &heard, now);
		any |= rc > 0 || over;
	}
	return any;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schedule engine. One list has the schedules that may run: the first of every communicator's queue, and the
 * detached ones. zengine_progress takes each of them, round by round, as far as it goes. The shim's lock is given up
 * inside callbacks of the application; meanwhile `running` keeps other threads off the schedule.
 */
#include "libzip/schedule/engine.h"

#include "libzip/progress/progress.h"
#include "libzip/schedule/sched_state.h"
#include "libzip/schedule/step_run.h"
#include "libzip/shim/shim.h"
#include "libzip/world/error.h"

static struct zsched *active_head, *active_tail;
static unsigned active_changes; /* counts changes of that list */

/* Open native collectives are looked at only by the round that closes them, as they wait for nobody outside our part.
 */
static void note_open(struct zsched *s, int i)
{
	struct zstep *t = &s->steps[i];
	if (!t->open || t->done || t->kind == STEP_NATIVE)
		return;
	*(s->open_tail ? &s->steps[s->open_tail - 1].open_next : &s->open_head) = i + 1;
	s->open_tail = i + 1;
}

/* Starts the next round. False: there is none. */
static bool start_round(struct zsched *s)
{
	if (s->end == s->nsteps)
		return false;
	int round = s->steps[s->end].round, i = s->end;
	s->begin = s->end;
	while (s->end < s->nsteps && s->steps[s->end].round == round)
		s->end++;
	/* Steps that a call adds belong to a later round. */
	if (s->end == s->nsteps && s->round == round)
		s->round++;
	for (; i < s->end; i++) {
		zstep_run_begin(s, i);
		note_open(s, i);
	}
	return true;
}

/* Watched steps have nobody else who looks at them. And an open message that brings an error must be seen in any case:
 * the same error may keep the rounds up to its zstep_close from ever ending. */
static void look_at_open(struct zsched *s)
{
	int last = 0;
	for (int at = s->open_head; at;) {
		struct zstep *t = &s->steps[at - 1];
		if (!zstep_run_is_done(s, t))
			last = at;
		else
			*(last ? &s->steps[last - 1].open_next : &s->open_head) = t->open_next;
		at = t->open_next;
	}
	s->open_tail = last;
}

/* Where errors end the job, a failed step ends it now. Other members may wait for data that would follow from this step
 * and never come. */
static void end_if_fatal(struct zsched *s)
{
	if (__builtin_expect(s->error != MPI_SUCCESS, 0) && s->req.comm)
		zerror_raise_if_fatal(s->req.comm, s->error, s->function, zsched_error_text(s));
}

static bool round_done(struct zsched *s)
{
	bool all = true;
	look_at_open(s);
	for (int i = s->begin; i < s->end; i++)
		all &= s->steps[i].open || zstep_run_is_done(s, &s->steps[i]);
	end_if_fatal(s);
	return all;
}

static void active_add(struct zsched *s)
{
	s->active_next = NULL;
	s->active_prev = active_tail;
	*(active_tail ? &active_tail->active_next : &active_head) = s;
	active_tail = s;
	active_changes++;
}

static void active_del(struct zsched *s)
{
	*(s->active_prev ? &s->active_prev->active_next : &active_head) = s->active_next;
	*(s->active_next ? &s->active_next->active_prev : &active_tail) = s->active_prev;
	active_changes++;
}

static void finish(struct zsched *s)
{
	struct zcomm *c = s->comm;
	active_del(s);
	if (s->on_done) {
		int class = s->error;
		s->on_done(s->on_done_arg, &class);
		if (class != s->error)
			zsched_fail(s, class, NULL);
	}
	if (!s->detached) {
		c->coll_head = s->queue_next;
		if (!c->coll_head)
			c->coll_tail = NULL;
		else
			active_add(c->coll_head);
	}
	if (s->error != MPI_SUCCESS)
		s->req.status.MPI_ERROR = zsched_result(s, &s->req.raised);
	zreq_complete(&s->req);
}

/* Takes the schedule as far as it goes. Returns whether a round ended. */
static bool advance(struct zsched *s)
{
	bool moved = false;
	s->running = true;
	while (round_done(s)) {
		moved = true;
		if (!start_round(s)) {
			s->running = false;
			finish(s);
			return true;
		}
	}
	s->running = false;
	return moved;
}

bool zengine_progress(void)
{
	static unsigned pass;
	bool moved = false;
	if (!active_head)
		return false;
	unsigned mine = ++pass;
	for (struct zsched *s = active_head; s;) {
		if (s->pass == mine || s->running) {
			s = s->active_next;
			continue;
		}
		unsigned changes = active_changes;
		struct zsched *next = s->active_next;
		s->pass = mine;
		moved |= advance(s);
		s = changes == active_changes ? next : active_head;
	}
	return moved;
}

void zengine_start(struct zsched *s)
{
	struct zcomm *c = s->comm;
	zprogress_set_collectives(zengine_progress);
	s->req.active = true;
	if (!s->detached) {
		/* The tag is taken here and not at creation, so that a call with wrong arguments takes none. */
		s->tag = (int)(c->coll_seq++ & INT32_MAX);
		if (c->coll_tail) {
			c->coll_tail->queue_next = s;
			c->coll_tail = s;
			return;
		}
		c->coll_head = c->coll_tail = s;
	}
	active_add(s);
	advance(s);
}

static __thread const struct zcomm *within __attribute__((tls_model("initial-exec")));

const struct zcomm *zengine_within(const struct zcomm *c)
{
	const struct zcomm *outer = within;
	within = c;
	return outer;
}

int zengine_run(struct zsched *s)
{
	int rc;
	if (within && within == s->req.comm && !s->detached) {
		rc = zerror_raise(s->req.comm, MPI_ERR_OTHER, s->function,
			"called in a callback that copies the attributes of this communicator, for whose end it would "
			"wait");
		zsched_destroy(s);
		return rc;
	}
	zengine_start(s);
	if (!s->req.done)
		zprogress_wait_request(&s->req);
	bool raised;
	rc = zsched_result(s, &raised);
	if (rc != MPI_SUCCESS && !raised)
		rc = s->own != MPI_SUCCESS ? zerror_raise_own(s->req.comm->handle, rc)
					   : zerror_raise(s->req.comm, rc, s->function, "%s", zsched_error_text(s));
	zsched_destroy(s);
	return rc;
}

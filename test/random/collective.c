/* SPDX-License-Identifier: BSD-3-Clause */
/* Random collectives: blocking, nonblocking and persistent ones. */
#include <stdio.h>

#include "coll.h"
#include "topics.h"
#include "trace.h"

static void nothing(void *context, MPI_Status *status)
{
	(void)context;
	(void)status;
}

static void done(void *context, MPI_Status *status)
{
	(void)status;
	coll_trace(context);
	coll_end(context);
}

static void start(struct coll *c, struct draw *d)
{
	if (c->form == COLL_BLOCKING) /* in place of a persistent one */
		TRY(coll_call(c));
	else if (draw_chance(d, 50))
		TRY(MPI_Start(&c->request));
	else
		TRY(MPI_Startall(1, &c->request));
}

static void run_persistent(struct coll *c, uint64_t seed)
{
	struct draw d = draw_from(seed, 21);
	c->request = MPI_REQUEST_NULL;
	if (c->form == COLL_PERSISTENT && TRY(coll_call(c)))
		return;
	for (int i = 0; i < c->shape.rounds; i++) {
		struct waiting w = {0};
		if (i)
			coll_refill(c, i);
		start(c, &d);
		waiting_add(&w, c->request, nothing, NULL);
		waiting_complete(&w, draw_next(&d) ^ (uint64_t)model.me);
		coll_trace(c);
	}
	if (c->request != MPI_REQUEST_NULL)
		TRY(MPI_Request_free(&c->request));
	coll_end(c);
}

void collective_run(const struct model_comm *comm, uint64_t seed, struct waiting *pending)
{
	struct draw d = draw_from(seed, 20 + (uint64_t)model.me);
	struct coll *c = coll_new(comm, seed);
	struct waiting w = {0};
	if (c->shape.form == COLL_PERSISTENT) {
		run_persistent(c, seed);
		return;
	}
	c->request = MPI_REQUEST_NULL;
	if (trace_try(coll_call(c), coll_name(c->shape.kind)))
		return;
	if (draw_chance(&d, 50))
		coll_free_handles(c);
	waiting_add(pending ? pending : &w, c->request, done, c);
	waiting_complete(&w, seed ^ (uint64_t)model.me);
}

static bool draw_op(struct op *op, struct draw *d)
{
	static const char *const forms[] = {"", "i", ""};
	struct coll_shape s;
	char name[80];
	op->comm = model_pick(d, NULL);
	s = coll_shape(&model.comm[op->comm], op->seed);
	op->pending = s.form == COLL_NONBLOCKING && draw_chance(d, 50);
	snprintf(op->text, sizeof op->text, "%s%s%s%s on %s%s%s%s%s", forms[s.form], coll_name(s.kind),
		s.form == COLL_PERSISTENT ? "_init" : "", s.large ? "_c" : "", model_name(op->comm, name),
		s.in_place ? ", in place" : "", s.kind >= COLL_REDUCE && s.kind <= COLL_EXSCAN ? ", " : "",
		s.kind >= COLL_REDUCE && s.kind <= COLL_EXSCAN ? coll_number_name(s.number) : "",
		op->pending ? ", left pending" : "");
	return true;
}

static void run_op(struct op *op)
{
	collective_run(&model.comm[op->comm], op->seed, op->pending ? &op->waiting : NULL);
}

const struct topic topic_collective = {.name = "collective", .weight = 40, .draw = draw_op, .run = run_op};

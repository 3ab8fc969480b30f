/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges between pairs of ranks: the functions that send and receive in one call, receives that are cancelled, and
 * messages to nobody. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topics.h"
#include "trace.h"
#include "types.h"

enum kind { SENDRECV, REPLACE, ISENDRECV, IREPLACE, CANCEL, NOBODY, KINDS };
static const char *const kinds[] = {"sendrecv", "sendrecv_replace", "isendrecv", "isendrecv_replace",
	"cancelled receive", "messages to nobody"};

struct exchange {
	struct buffer out, in;
	MPI_Datatype out_type, in_type;
	int out_count, in_count, to, from, tag_to, tag_from;
	bool large;
};

static int prime(int i)
{
	return i * 7 + 1;
}

/* Everybody sends to the rank at some distance; at the ends of a line there is nobody. */
static void partners(struct exchange *e, const struct model_comm *c, struct draw *d)
{
	int me = model_rank(c), n = model_peers(c)->n, shift = draw_below(d, n), ring = draw_chance(d, 60);
	if (c->inter) {
		e->to = e->from = me < n ? me : MPI_PROC_NULL;
		return;
	}
	e->to = me + shift < n || ring ? (me + shift) % n : MPI_PROC_NULL;
	e->from = me - shift >= 0 || ring ? (me - shift + n) % n : MPI_PROC_NULL;
}

static struct exchange *exchange_new(const struct model_comm *c, const struct op *op)
{
	struct draw d = draw_from(op->seed, 1), own = draw_from(op->seed, 50 + model.me);
	struct exchange *e = calloc(1, sizeof *e);
	struct unit unit = types_unit(&d, draw_chance(&d, 80) ? 100 : 20000);
	int n = draw_below(&d, 5), base = draw_below(&d, 3), vary = draw_chance(&d, 50);
	types_unit_limit(&unit, n);
	partners(e, c, &d);
	e->large = draw_chance(&d, 40);
	e->tag_to = base + (vary && e->to >= 0 ? prime(c->inter ? 0 : e->to) : 0);
	e->tag_from = base + (vary ? prime(c->inter ? 0 : model_rank(c)) : 0);
	e->out_type = types_pieces(&own, &unit, n, &e->out_count);
	e->in_type = types_pieces(&own, &unit, n, &e->in_count);
	e->out = buffer_for(e->out_type, e->out_count, draw_next(&own));
	e->in = buffer_for(e->in_type, e->in_count, draw_next(&own));
	if (draw_chance(&own, 20) && e->from >= 0)
		e->tag_from = MPI_ANY_TAG;
	return e;
}

static void done(void *context, MPI_Status *status)
{
	struct exchange *e = context;
	int count;
	TRY(MPI_Get_count(status, e->in_type, &count));
	if (e->from != MPI_PROC_NULL) { /* MPICH 4.0.2 says anything of a nonblocking receive from nobody */
		trace_number(status->MPI_SOURCE, "from");
		trace_number(status->MPI_TAG, "tag");
	}
	trace_number(count, "count");
	buffer_trace(&e->out, "sent");
	buffer_trace(&e->in, "came");
	types_free(&e->in_type);
	types_free(&e->out_type);
	buffer_free(&e->in);
	buffer_free(&e->out);
	free(e);
}

static void replace(struct exchange *e, MPI_Comm comm, MPI_Status *s)
{
	if (e->large)
		TRY(MPI_Sendrecv_replace_c(e->in.at, e->in_count, e->in_type, e->to, e->tag_to, e->from, e->tag_from,
			comm, s));
	else
		TRY(MPI_Sendrecv_replace(e->in.at, e->in_count, e->in_type, e->to, e->tag_to, e->from, e->tag_from,
			comm, s));
}

static void both(struct exchange *e, MPI_Comm comm, MPI_Status *s)
{
	if (e->large)
		TRY(MPI_Sendrecv_c(e->out.at, e->out_count, e->out_type, e->to, e->tag_to, e->in.at, e->in_count,
			e->in_type, e->from, e->tag_from, comm, s));
	else
		TRY(MPI_Sendrecv(e->out.at, e->out_count, e->out_type, e->to, e->tag_to, e->in.at, e->in_count,
			e->in_type, e->from, e->tag_from, comm, s));
}

static void begin(struct exchange *e, MPI_Comm comm, bool in_place, MPI_Request *r)
{
	if (in_place && e->large)
		TRY(MPI_Isendrecv_replace_c(e->in.at, e->in_count, e->in_type, e->to, e->tag_to, e->from, e->tag_from,
			comm, r));
	else if (in_place)
		TRY(MPI_Isendrecv_replace(e->in.at, e->in_count, e->in_type, e->to, e->tag_to, e->from, e->tag_from,
			comm, r));
	else if (e->large)
		TRY(MPI_Isendrecv_c(e->out.at, e->out_count, e->out_type, e->to, e->tag_to, e->in.at, e->in_count,
			e->in_type, e->from, e->tag_from, comm, r));
	else
		TRY(MPI_Isendrecv(e->out.at, e->out_count, e->out_type, e->to, e->tag_to, e->in.at, e->in_count,
			e->in_type, e->from, e->tag_from, comm, r));
}

static void nothing(void *context, MPI_Status *status)
{
	(void)context;
	(void)status;
}

static void gone(void *context, MPI_Status *status)
{
	(void)status;
	buffer_free(context);
	free(context);
}

/* In place of these functions of MPICH 4.0.2, which free derived types too often, write behind buffers, and pack some
 * types short. */
static void begin_both(struct exchange *e, MPI_Comm comm, bool in_place, struct waiting *w)
{
	MPI_Request r;
	if (in_place) {
		struct buffer *copy = malloc(sizeof *copy);
		*copy = buffer_for(e->in_type, e->in_count, 0);
		memcpy(copy->base, e->in.base, copy->len);
		TRY(MPI_Isend(copy->at, e->in_count, e->in_type, e->to, e->tag_to, comm, &r));
		waiting_add(w, r, gone, copy);
	} else {
		TRY(MPI_Isend(e->out.at, e->out_count, e->out_type, e->to, e->tag_to, comm, &r));
		waiting_add(w, r, nothing, NULL);
	}
	TRY(MPI_Irecv(e->in.at, e->in_count, e->in_type, e->from, e->tag_from, comm, &r));
	waiting_add(w, r, done, e);
}

/* Nobody sends with this tag, so the receive can only be cancelled. */
static void cancel(const struct model_comm *c, const struct op *op)
{
	struct draw d = draw_from(op->seed, 60 + model.me);
	char buf[8] = "cancel";
	int flag = 0, source = draw_below(&d, model_peers(c)->n + 1);
	MPI_Request r;
	MPI_Status s;
	TRY(MPI_Irecv(buf, 8, MPI_BYTE, source ? source - 1 : MPI_ANY_SOURCE, 900, c->handle, &r));
	if (draw_chance(&d, 50)) {
		TRY(MPI_Test(&r, &flag, &s));
		trace_number(flag, "complete");
	}
	TRY(MPI_Cancel(&r));
	TRY(MPI_Wait(&r, &s));
	TRY(MPI_Test_cancelled(&s, &flag));
	trace_number(flag, "cancelled");
	trace_bytes(buf, 8, "untouched");
}

static void nobody(const struct model_comm *c, const struct op *op)
{
	struct draw d = draw_from(op->seed, 60);
	char buf[8] = "nobody";
	int count = -1, flag = -1;
	MPI_Status s = {.MPI_SOURCE = -77, .MPI_TAG = -77};
	MPI_Message message;
	MPI_Request r;
	TRY(MPI_Ssend(buf, 8, MPI_BYTE, MPI_PROC_NULL, 5, c->handle));
	switch (draw_below(&d, 4)) {
	case 0:
		TRY(MPI_Recv(buf, 8, MPI_BYTE, MPI_PROC_NULL, 5, c->handle, &s));
		break;
	case 1:
		TRY(MPI_Irecv(buf, 8, MPI_BYTE, MPI_PROC_NULL, 5, c->handle, &r));
		TRY(MPI_Wait(&r, &s));
		s.MPI_SOURCE = s.MPI_TAG = 0; /* as in done() */
		break;
	case 2:
		TRY(MPI_Iprobe(MPI_PROC_NULL, 5, c->handle, &flag, &s));
		break;
	default:
		TRY(MPI_Mprobe(MPI_PROC_NULL, 5, c->handle, &message, &s));
		trace_number(message == MPI_MESSAGE_NO_PROC, "no process");
		TRY(MPI_Mrecv(buf, 8, MPI_BYTE, &message, &s));
	}
	TRY(MPI_Get_count(&s, MPI_BYTE, &count));
	trace_number(s.MPI_SOURCE, "from");
	trace_number(s.MPI_TAG, "tag");
	trace_number(count, "count");
	trace_number(flag, "flag");
}

static bool draw_op(struct op *op, struct draw *d)
{
	char name[80];
	op->comm = model_pick(d, NULL);
	op->kind = draw_below(d, KINDS);
	op->pending = (op->kind == ISENDRECV || op->kind == IREPLACE) && draw_chance(d, 50);
	snprintf(op->text, sizeof op->text, "%s on %s%s", kinds[op->kind], model_name(op->comm, name),
		op->pending ? ", left pending" : "");
	return true;
}

static void run_op(struct op *op)
{
	const struct model_comm *c = &model.comm[op->comm];
	struct waiting w = {0};
	struct exchange *e;
	MPI_Status s = {0};
	MPI_Request r;
	if (op->kind == CANCEL || op->kind == NOBODY) {
		(op->kind == CANCEL ? cancel : nobody)(c, op);
		return;
	}
	e = exchange_new(c, op);
	if (op->kind == SENDRECV || (op->kind == REPLACE && !model_is_native(c))) {
		(op->kind == SENDRECV ? both : replace)(e, c->handle, &s);
		done(e, &s);
		return;
	}
	if (model_is_native(c)) {
		begin_both(e, c->handle, op->kind == IREPLACE || op->kind == REPLACE, op->pending ? &op->waiting : &w);
	} else {
		begin(e, c->handle, op->kind == IREPLACE, &r);
		waiting_add(op->pending ? &op->waiting : &w, r, done, e);
	}
	waiting_complete(&w, op->seed ^ (uint64_t)model.me);
}

const struct topic topic_exchange = {.name = "exchange", .weight = 12, .draw = draw_op, .run = run_op};

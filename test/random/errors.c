/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad arguments that MPI finds before it sends anything, and messages that are too long: the classes of their errors.
 */
#include <stdio.h>

#include "topics.h"
#include "trace.h"

#define KINDS 16
#define TRUNCATED (KINDS - 1)

static int bad_call(int kind, MPI_Comm comm, int peers, struct draw *d)
{
	int buf[4] = {0}, size, flag, beyond = peers + draw_below(d, 3);
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Status s;
	MPI_Datatype type;
	switch (kind) {
	case 0:
		return MPI_Send(buf, 1, MPI_INT, beyond, 1, comm);
	case 1:
		return MPI_Isend(buf, -1, MPI_INT, 0, 1, comm, &r);
	case 2:
		return MPI_Recv(buf, 1, MPI_INT, beyond, 1, comm, &s);
	case 3:
		return MPI_Irecv(buf, 1, MPI_DATATYPE_NULL, 0, 1, comm, &r);
	case 4:
		return MPI_Send(buf, 1, MPI_INT, 0, -5, comm);
	case 5:
		return MPI_Probe(-7, 1, comm, &s);
	case 6:
		return MPI_Iprobe(beyond, 1, comm, &flag, &s);
	case 7:
		return MPI_Send_init(buf, 1, MPI_INT, beyond, 1, comm, &r);
	case 8:
		return MPI_Recv_init(buf, -2, MPI_INT, 0, 1, comm, &r);
	case 9:
		return MPI_Ssend_c(NULL, 4, MPI_INT, 0, 1, comm);
	case 10:
		return MPI_Sendrecv(buf, 1, MPI_INT, 0, -2, buf + 2, 1, MPI_INT, 0, 1, comm, &s);
	case 11:
		TRY(MPI_Type_contiguous(2, MPI_INT, &type));
		kind = MPI_Send(buf, 1, type, 0, 1, comm);
		TRY(MPI_Type_free(&type));
		return kind;
	case 12:
		return MPI_Comm_size(MPI_COMM_NULL, &size);
	case 13:
		return MPI_Comm_get_attr(comm, MPI_KEYVAL_INVALID, buf, &flag);
	default:
		return MPI_Send(buf, 1, MPI_INT, 0, 1, MPI_COMM_NULL);
	}
}

/* Everybody gets a message from the rank before it, and has too little room. */
static void truncated(const struct model_comm *c, int tag)
{
	int n = c->side[0].n, me = model_rank(c), out[8] = {0}, in[2] = {0}, class;
	MPI_Request r;
	MPI_Status s;
	TRY(MPI_Isend(out, 8, MPI_INT, (me + 1) % n, tag, c->handle, &r));
	class = trace_class(MPI_Recv(in, 2, MPI_INT, (me + n - 1) % n, tag, c->handle, &s), "truncated");
	if (class != MPI_ERR_TRUNCATE)
		trace_problem("error class %d of a truncated message", class);
	TRY(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static bool draw_op(struct op *op, struct draw *d)
{
	char name[80];
	op->kind = draw_below(d, KINDS);
	op->comm = model_pick(d, op->kind == TRUNCATED ? model_is_intra : NULL);
	snprintf(op->text, sizeof op->text, "error %d on %s", op->kind, model_name(op->comm, name));
	return true;
}

static void run_op(struct op *op)
{
	struct draw d = draw_from(op->seed, 1);
	const struct model_comm *c = &model.comm[op->comm];
	if (op->kind == TRUNCATED) {
		truncated(c, 950);
		return;
	}
	if (trace_class(bad_call(op->kind, c->handle, model_peers(c)->n, &d), "class") == MPI_SUCCESS)
		trace_problem("no error");
}

const struct topic topic_errors = {.name = "errors", .weight = 4, .draw = draw_op, .run = run_op};

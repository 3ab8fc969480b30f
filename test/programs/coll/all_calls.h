/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls a trial of all_forms.h in its form, alone or several at a time, and checks the result. */
#ifndef ZIP_TEST_ALL_CALLS_H
#define ZIP_TEST_ALL_CALLS_H

#include "all_sums.h"

/* ARGS(v): the arguments before the communicator, where v is what has the counts and displacements. */
#define CALL(Name, Iname, ARGS)                                                                                        \
	switch (t->form * 2 + t->large) {                                                                              \
	case 0:                                                                                                        \
		MPI_##Name(ARGS(i), p->comm);                                                                          \
		break;                                                                                                 \
	case 1:                                                                                                        \
		MPI_##Name##_c(ARGS(c), p->comm);                                                                      \
		break;                                                                                                 \
	case 2:                                                                                                        \
		MPI_##Iname(ARGS(i), p->comm, q);                                                                      \
		break;                                                                                                 \
	case 3:                                                                                                        \
		MPI_##Iname##_c(ARGS(c), p->comm, q);                                                                  \
		break;                                                                                                 \
	case 4:                                                                                                        \
		MPI_##Name##_init(ARGS(i), p->comm, MPI_INFO_NULL, q);                                                 \
		break;                                                                                                 \
	default:                                                                                                       \
		MPI_##Name##_init_c(ARGS(c), p->comm, MPI_INFO_NULL, q);                                               \
	}                                                                                                              \
	break
#define ROOTED(v) BLOCKS(v), t->root_arg
#define BLOCKS(v) out, t->n, st, in, t->n, rt
#define GATHER_V(v) out, t->v.sc[0], st, in, t->v.rc, t->v.rd, rt, t->root_arg
#define SCATTER_V(v) out, t->v.sc, t->v.sd, st, in, t->v.rc[0], rt, t->root_arg
#define ALLGATHER_V(v) out, p->nout ? t->v.sc[0] : 0, st, in, t->v.rc, t->v.rd, rt
#define ALLTOALL_V(v) out, t->v.sc, t->v.sd, st, in, t->v.rc, t->v.rd, rt
#define ALLTOALL_W(v) out, t->v.sc, t->v.sd, t->st, in, t->v.rc, t->v.rd, t->rt
#define NEIGHBOR_W(v) out, t->v.sc, t->v.sb, t->st, in, t->v.rc, t->v.rb, t->rt
#define BCASTED(v) t->got, t->n, is_root(t, p) ? st : rt, t->root_arg
#define SUM(v) out, in, t->n *per_element(t), sum_type(t), op_of(t)
#define SUM_ROOTED(v) SUM(v), t->root_arg
#define SUM_BLOCK(v) out, in, slot(t, p, 0) * per_element(t), sum_type(t), op_of(t)
#define SUM_V(v) out, in, t->v.rc, sum_type(t), op_of(t)

/* Starts it, or makes the persistent request. */
static inline void call(struct trial *t, const struct place *p)
{
	MPI_Datatype st = layouts[t->sl].type, rt = layouts[t->rl].type;
	/* In place: the receive buffer of a scatter's root, of a gather's or reduction's the send buffer. */
	int own = t->in_place, own_in = own && (t->kind == SCATTER || t->kind == SCATTERV);
	const void *out = own && !own_in ? MPI_IN_PLACE : t->sent;
	void *in = own_in ? MPI_IN_PLACE : t->got;
	MPI_Request *q = &t->request;
	switch (t->kind) {
	case BARRIER:
		if (t->form == BLOCKING)
			MPI_Barrier(p->comm);
		else if (t->form == NONBLOCKING)
			MPI_Ibarrier(p->comm, q);
		else
			MPI_Barrier_init(p->comm, MPI_INFO_NULL, q);
		break;
	case BCAST:
		CALL(Bcast, Ibcast, BCASTED);
	case GATHER:
		CALL(Gather, Igather, ROOTED);
	case GATHERV:
		CALL(Gatherv, Igatherv, GATHER_V);
	case SCATTER:
		CALL(Scatter, Iscatter, ROOTED);
	case SCATTERV:
		CALL(Scatterv, Iscatterv, SCATTER_V);
	case ALLGATHER:
		CALL(Allgather, Iallgather, BLOCKS);
	case ALLGATHERV:
		CALL(Allgatherv, Iallgatherv, ALLGATHER_V);
	case ALLTOALL:
		CALL(Alltoall, Ialltoall, BLOCKS);
	case ALLTOALLV:
		CALL(Alltoallv, Ialltoallv, ALLTOALL_V);
	case ALLTOALLW:
		CALL(Alltoallw, Ialltoallw, ALLTOALL_W);
	case REDUCE:
		CALL(Reduce, Ireduce, SUM_ROOTED);
	case ALLREDUCE:
		CALL(Allreduce, Iallreduce, SUM);
	case REDUCE_SCATTER_BLOCK:
		CALL(Reduce_scatter_block, Ireduce_scatter_block, SUM_BLOCK);
	case REDUCE_SCATTER:
		CALL(Reduce_scatter, Ireduce_scatter, SUM_V);
	case SCAN:
		CALL(Scan, Iscan, SUM);
	case EXSCAN:
		CALL(Exscan, Iexscan, SUM);
	case NEIGHBOR_ALLGATHER:
		CALL(Neighbor_allgather, Ineighbor_allgather, BLOCKS);
	case NEIGHBOR_ALLGATHERV:
		CALL(Neighbor_allgatherv, Ineighbor_allgatherv, ALLGATHER_V);
	case NEIGHBOR_ALLTOALL:
		CALL(Neighbor_alltoall, Ineighbor_alltoall, BLOCKS);
	case NEIGHBOR_ALLTOALLV:
		CALL(Neighbor_alltoallv, Ineighbor_alltoallv, ALLTOALL_V);
	default:
		CALL(Neighbor_alltoallw, Ineighbor_alltoallw, NEIGHBOR_W);
	}
}

static inline int may_be_in_place(const struct trial *t, const struct place *p)
{
	if (p->inter || t->kind == BARRIER || t->kind == BCAST || t->kind >= NEIGHBOR_ALLGATHER)
		return 0;
	if (t->kind == REDUCE || (t->kind >= GATHER && t->kind <= SCATTERV))
		return is_root(t, p);
	return 1;
}

/* All that is random: the same draws in all ranks. side: my group of an intercommunicator; sizes: of both, or one. */
static inline void draw(struct trial *t, enum kind kind, const struct place *p, int side, const int *sizes,
	uint32_t *state)
{
	static const int counts[] = {0, 1, 2, 5, 17, 100, 1000, 2500};
	memset(t, 0, sizeof *t);
	t->kind = kind;
	t->request = MPI_REQUEST_NULL;
	t->n = counts[next_random(state) % 8];
	if (t->n == 2500 && plain_kind(t->kind) >= ALLGATHER)
		t->n = 600;
	t->root_side = p->inter ? (int)(next_random(state) % 2) : 0;
	t->root = (int)(next_random(state) % (uint32_t)sizes[t->root_side]);
	t->in_place = (int)(next_random(state) % 2);
	t->sl = (int)(next_random(state) % LAYOUTS);
	t->rl = (int)(next_random(state) % LAYOUTS);
	t->op = (int)(next_random(state) % OPS);
	t->salt = (int)(next_random(state) % 1000);
	t->root_arg = !p->inter		     ? t->root
		      : side != t->root_side ? t->root
		      : p->me == t->root     ? MPI_ROOT
					     : MPI_PROC_NULL;
}

/* Buffers for it. */
static inline void prepare(struct trial *t, const struct place *p)
{
	t->in_place = t->in_place && may_be_in_place(t, p);
	if (t->in_place && plain_kind(t->kind) == ALLTOALLW)
		t->sl = t->rl;
	is_reduction(t->kind) ? lay_out_sums(t, p) : lay_out(t, p);
	t->nsent = (size_t)t->stotal * 5 + FAR;
	t->ngot = (size_t)t->rtotal * 5 + FAR;
	t->sent = malloc(t->nsent * sizeof(int));
	t->got = malloc(t->ngot * sizeof(int));
	t->want = malloc(t->ngot * sizeof(int));
}
static inline void fill_trial(struct trial *t, const struct place *p)
{
	t->salt += 12; /* the counts stay */
	for (size_t i = 0; i < t->nsent; i++)
		t->sent[i] = -2;
	for (size_t i = 0; i < t->ngot; i++)
		t->got[i] = t->want[i] = -1;
	if (is_reduction(t->kind))
		fill_sums(t, p);
	else if (t->kind != BARRIER)
		fill_moves(t, p);
}
static inline void check_trial(const struct trial *t, const char *where)
{
	size_t i = 0, n = t->ngot;
	while (i < n && t->got[i] == t->want[i])
		i++;
	CHECK(i == n, "%s: %s, %s%s, n %d, root %d, layouts %d %d, op %d%s: int %zu is %d, not %d", where,
		kind_names[t->kind], form_names[t->form], t->large ? ", large" : "", t->n, t->root_arg, t->sl, t->rl,
		t->op, t->in_place ? ", in place" : "", i, t->got[i < n ? i : 0], t->want[i < n ? i : 0]);
}
static inline void drop(struct trial *t)
{
	free(t->sent);
	free(t->got);
	free(t->want);
	if (t->request != MPI_REQUEST_NULL)
		MPI_Request_free(&t->request);
}

/* Spoils the arrays that persistent collectives were made with, for MPI is done with them; or mends them again. */
static inline void spoil_arrays(struct trial *t, int n, struct trial *kept)
{
	for (int k = 0; k < n; k++) {
		kept[k] = t[k];
		memset(&t[k].i, 0x7f, sizeof t[k].i);
		memset(&t[k].c, 0x7f, sizeof t[k].c);
		for (int j = 0; j < MOST; j++)
			t[k].st[j] = t[k].rt[j] = MPI_DATATYPE_NULL;
	}
}
static inline void mend_arrays(struct trial *t, int n, const struct trial *kept)
{
	for (int k = 0; k < n; k++) {
		MPI_Request q = t[k].request;
		t[k] = kept[k];
		t[k].request = q;
	}
}

/* n of them at a time, in the same form; persistent ones started so often, from the last to the first. */
static inline void try_trials(struct trial *t, int n, int starts, const struct place *p, const char *where)
{
	enum form form = t[0].form;
	struct trial kept[8];
	for (int k = 0; k < n; k++)
		prepare(&t[k], p);
	for (int k = 0; k < n && form == PERSISTENT; k++)
		call(&t[k], p);
	for (int start = 0; start < (form == PERSISTENT ? starts : 1); start++) {
		MPI_Request q[8];
		for (int k = 0; k < n; k++) {
			fill_trial(&t[k], p);
			if (form != PERSISTENT)
				call(&t[k], p);
		}
		if (form == PERSISTENT)
			spoil_arrays(t, n, kept);
		for (int k = n - 1; k >= 0 && form == PERSISTENT; k--)
			MPI_Start(&t[k].request);
		for (int k = 0; k < n; k++)
			q[k] = t[k].request;
		MPI_Waitall(n, q, MPI_STATUSES_IGNORE);
		if (form == PERSISTENT)
			mend_arrays(t, n, kept);
		for (int k = 0; k < n; k++) {
			t[k].request = q[k];
			forget_rest(&t[k]);
			check_trial(&t[k], where);
		}
	}
	for (int k = 0; k < n; k++)
		drop(&t[k]);
}

#endif

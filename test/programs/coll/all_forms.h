/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One call of a collective, in any form, with everything about it drawn from a seed that all ranks share: counts, root,
 * datatypes, in place or not. A copy of the receive buffer gets its expected contents, with gaps and with places that
 * receive nothing, by the definition of the collective. Reductions: all_sums.h; how they are called: all_calls.h.
 */
#ifndef ZIP_TEST_ALL_FORMS_H
#define ZIP_TEST_ALL_FORMS_H

#include "../check.h"
#include "kinds.h"

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
static const char *const form_names[FORMS] = {"blocking", "nonblocking", "persistent"};

/* An element is always a pair of ints: where they are, and how many ints apart elements are. The last: all first ones,
 * then all second ones. */
#define FAR 60000
#define LAYOUTS 4
struct layout {
	MPI_Datatype type;
	int extent, at[2];
};
static struct layout layouts[LAYOUTS] = {{0, 2, {0, 1}}, {0, 5, {1, 3}}, {0, 3, {2, 0}}, {0, 1, {0, FAR}}};

/* Where things are tried: whom I send to and receive from, and who they are for the values. Intercommunicators: the
 * remote group; otherwise all members, or neighbours. */
#define MOST 16
struct place {
	MPI_Comm comm;
	int inter;
	int me, np; /* in my group */
	int nout, nin, out[MOST], in[MOST];
	int id, ids[MOST]; /* mine, and of my own group's members */
	int uneven;	   /* neighbours: some rank sends to more or less of them than it receives from */
};

#define VECTORS(Count, Displ)                                                                                          \
	Count sc[MOST], rc[MOST];                                                                                      \
	Displ sd[MOST], rd[MOST]; /* alltoallw: in bytes */
struct trial {
	enum kind kind;
	enum form form;
	int large; /* MPI_Count */
	int n, root_side, root, in_place, sl, rl, op, salt;
	int *sent, *got, *want;
	size_t nsent, ngot; /* ints */
	struct {
		VECTORS(int, int)
		MPI_Aint sb[MOST], rb[MOST]; /* neighbor_alltoallw */
	} i;
	struct {
		VECTORS(MPI_Count, MPI_Aint)
		MPI_Aint sb[MOST], rb[MOST];
	} c;
	int stotal, rtotal; /* elements, with room between them */
	int result;	    /* of a reduction: elements */
	MPI_Datatype st[MOST], rt[MOST];
	int root_arg;
	MPI_Request request;
};

static inline void make_layouts(void)
{
	for (int l = 0; l < LAYOUTS; l++) {
		MPI_Datatype t;
		MPI_Aint bytes = (MPI_Aint)sizeof(int);
		MPI_Aint displs[2] = {layouts[l].at[0] * bytes, layouts[l].at[1] * bytes};
		MPI_Type_create_hindexed_block(2, 1, displs, MPI_INT, &t);
		MPI_Type_create_resized(t, 0, layouts[l].extent * bytes, &layouts[l].type);
		MPI_Type_commit(&layouts[l].type);
		MPI_Type_free(&t);
	}
}
static inline void free_layouts(void)
{
	for (int l = 0; l < LAYOUTS; l++)
		MPI_Type_free(&layouts[l].type);
}

static inline int value(const struct trial *t, int from, int to, int i)
{
	return (from * 1000003 + to * 10007 + i * 31 + t->salt * 7 + (int)t->kind) & 0x3fffffff;
}
/* count elements from element `at` of a buffer on: what `from` has for `to` (-1: for everybody). */
static inline void put(const struct trial *t, int *buf, int l, int at, int count, int from, int to)
{
	for (int i = 0; i < count; i++)
		for (int k = 0; k < 2; k++)
			buf[(at + i) * layouts[l].extent + layouts[l].at[k]] = value(t, from, to, 2 * i + k);
}

static inline enum kind plain_kind(enum kind k)
{
	return k >= NEIGHBOR_ALLTOALL	 ? k - NEIGHBOR_ALLTOALL + ALLTOALL
	       : k >= NEIGHBOR_ALLGATHER ? k - NEIGHBOR_ALLGATHER + ALLGATHER
					 : k;
}
static inline int is_vector(enum kind k)
{
	k = plain_kind(k);
	return k == GATHERV || k == SCATTERV || k == ALLGATHERV || k == ALLTOALLV || k == ALLTOALLW;
}
static inline int is_reduction(enum kind k)
{
	return k >= REDUCE && k <= EXSCAN;
}
/* Elements from one to another. */
static inline int elements(const struct trial *t, int from, int to)
{
	enum kind k = plain_kind(t->kind);
	if (!is_vector(k))
		return t->n;
	int x = k == GATHERV || k == ALLGATHERV ? from : k == SCATTERV ? to : from + to;
	return (x + t->salt) % 4 == 0 ? 0 : t->n + x % 3;
}
/* The datatypes of alltoallw; what comes in place is as what goes. */
static inline int layout_of(const struct trial *t, int l, int a, int b)
{
	return plain_kind(t->kind) == ALLTOALLW ? (l + a + b) % LAYOUTS : l;
}

/* Root of the trial: am I it, and is it in the group that I exchange with? */
static inline int is_root(const struct trial *t, const struct place *p)
{
	return p->inter ? t->root_arg == MPI_ROOT : p->me == t->root;
}
static inline int has_root(const struct trial *t, const struct place *p)
{
	return !p->inter || t->root_arg >= 0;
}
/* Do I send to out[r], or receive from in[r]? */
static inline int sends(const struct trial *t, const struct place *p, int r)
{
	switch (t->kind) {
	case BCAST:
	case SCATTER:
	case SCATTERV:
		return is_root(t, p);
	case GATHER:
	case GATHERV:
		return has_root(t, p) && r == t->root;
	default:
		return 1;
	}
}
static inline int receives(const struct trial *t, const struct place *p, int r)
{
	switch (t->kind) {
	case BCAST:
	case SCATTER:
	case SCATTERV:
		return has_root(t, p) && r == t->root;
	case GATHER:
	case GATHERV:
		return is_root(t, p);
	default:
		return 1;
	}
}
/* The same for everybody: it lies in one place. */
static inline int sends_one(enum kind k)
{
	k = plain_kind(k);
	return k == BCAST || k == GATHER || k == GATHERV || k == ALLGATHER || k == ALLGATHERV;
}
static inline int gets_one(enum kind k)
{
	return k == BCAST || k == SCATTER || k == SCATTERV;
}

/* Counts and displacements, for both sides: vectors lie in reverse order with room between them. */
static inline void lay_out(struct trial *t, const struct place *p)
{
	int vector = is_vector(t->kind), bytes = (int)sizeof(int), at = vector, n;
	for (int r = p->nout - 1; r >= 0; r--) {
		int l = layout_of(t, t->sl, p->id, p->out[r]);
		n = elements(t, p->id, p->out[r]);
		t->i.sc[r] = n;
		t->st[r] = layouts[l].type;
		t->i.sd[r] = sends_one(t->kind) ? 0 : vector ? at : r * t->n;
		at += n + vector;
	}
	t->stotal = at + t->n + 3;
	at = vector;
	for (int r = p->nin - 1; r >= 0; r--) {
		int l = layout_of(t, t->rl, p->id, p->in[r]);
		n = elements(t, p->in[r], p->id);
		t->i.rc[r] = n;
		t->rt[r] = layouts[l].type;
		t->i.rd[r] = gets_one(t->kind) ? 0 : vector ? at : r * t->n;
		at += n + vector;
	}
	t->rtotal = at + t->n + 3;
	for (int r = 0; r < MOST; r++) {
		if (plain_kind(t->kind) == ALLTOALLW) { /* no layout needs more room than 5 ints */
			t->i.sd[r] *= 5 * bytes;
			t->i.rd[r] *= 5 * bytes;
		}
		t->c.sc[r] = t->i.sc[r];
		t->c.rc[r] = t->i.rc[r];
		t->c.sd[r] = t->c.sb[r] = t->i.sb[r] = t->i.sd[r];
		t->c.rd[r] = t->c.rb[r] = t->i.rb[r] = t->i.rd[r];
	}
}

/* Where the block for or from peer r is, in ints. */
static inline int *block(const struct trial *t, int *buf, int l, int displ)
{
	return buf + (plain_kind(t->kind) == ALLTOALLW ? displ / (int)sizeof(int) : displ * layouts[l].extent);
}

/* What I have before, and want after it. */
static inline void fill_moves(struct trial *t, const struct place *p)
{
	int one = sends_one(t->kind), own = t->in_place;
	for (int r = 0; r < p->nout; r++) {
		int l = layout_of(t, t->sl, p->id, p->out[r]), to = one ? -1 : p->out[r];
		int *buf = t->kind == BCAST ? t->got : t->sent;
		if (!sends(t, p, r))
			continue;
		put(t, block(t, buf, l, t->i.sd[r]), l, 0, t->i.sc[r], p->id, to);
		if (t->kind == BCAST)
			put(t, t->want, l, 0, t->i.sc[r], p->id, to);
	}
	for (int r = 0; r < p->nin && own; r++) { /* what is sent lies where something comes, or stays */
		int l = layout_of(t, t->rl, p->id, p->in[r]), mine = p->in[r] == p->id;
		enum kind k = plain_kind(t->kind);
		if ((k == ALLTOALL || k == ALLTOALLV || k == ALLTOALLW || mine) && !gets_one(k) && receives(t, p, r))
			put(t, block(t, t->got, l, t->i.rd[r]), l, 0, t->i.rc[r], p->id, one ? -1 : p->in[r]);
	}
	for (int r = 0; r < p->nin; r++) {
		int l = layout_of(t, t->rl, p->id, p->in[r]);
		if (receives(t, p, r) && !(own && gets_one(t->kind)) && !(t->kind == BCAST && is_root(t, p)))
			put(t, block(t, t->want, l, t->i.rd[r]), l, 0, t->i.rc[r], p->in[r], one ? -1 : p->id);
	}
}

#endif

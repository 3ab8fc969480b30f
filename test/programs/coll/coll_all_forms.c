/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every collective in every form: blocking, nonblocking and persistent, each with int and with large counts, several of
 * them at a time, with counts, roots, datatypes and operations drawn from a seed (the argument).
 * twin: timeout=120 external32=yes
 */
#include "all_calls.h"
#include "coll_comms.h"

static int native; /* one job, without libzipper.so */

/* Calls that MPICH 4.0.2 gets wrong are not tried natively, nor on a communicator that may be inside one cluster. */
static int is_wrong(const struct trial *t, const struct place *p)
{
	/* in place MPI_Ialltoallw and MPI_Alltoallw_init take all datatypes for the same */
	if (t->kind == ALLTOALLW && t->in_place && t->form != BLOCKING)
		return 1;
	/* MPI_Gather_init copies what is in the buffers when the request is made, not when it is started */
	if (t->kind == GATHER && t->form == PERSISTENT)
		return 1;
	/* long vectors in place at another root than 0: MPI_Reduce reads from MPI_IN_PLACE */
	if (t->kind == REDUCE && t->in_place && t->form == BLOCKING && t->root != 0)
		return 1;
	/* with gaps in the datatype the reduce_scatters write to anything */
	if ((t->kind == REDUCE_SCATTER_BLOCK || t->kind == REDUCE_SCATTER) && t->op >= ADD && t->sl > 0)
		return 1;
	/* anything where a rank has not as many neighbours that it sends to as that it receives from */
	return t->kind == NEIGHBOR_ALLTOALLW && p->uneven;
}
/* kind, and two others beside it if it is not blocking. */
static void try_kind(enum kind kind, enum form form, int large, enum kind low, enum kind high, const struct place *p,
	int plain, const char *where, uint32_t *state)
{
	struct trial t[3];
	int n = 0, many = form == BLOCKING ? 1 : 3;
	for (int k = 0; k < many; k++) {
		enum kind which = k == 0 ? kind : low + (enum kind)(next_random(state) % (high - low));
		draw(&t[n], which, p, 0, &p->np, state);
		t[n].form = form;
		t[n].large = large;
		n += !plain || !is_wrong(&t[n], p);
	}
	/* A second start of a persistent one works with memory that MPICH 4.0.2 has freed after the first. */
	try_trials(t, n, plain ? 1 : 2, p, where);
}

static void try_all(enum kind low, enum kind high, const struct place *p, int plain, const char *where, uint32_t *state)
{
	for (enum kind kind = low; kind < high; kind++)
		for (int form = 0; form < FORMS; form++)
			for (int large = 0; large < 2; large++)
				try_kind(kind, form, large, low, high, p, plain, where, state);
	printf("rank %d: %s: done\n", rank, where);
}

static void describe(struct place *p, MPI_Comm c)
{
	MPI_Group w, g;
	int ranks[MOST];
	memset(p, 0, sizeof *p);
	p->comm = c;
	MPI_Comm_rank(c, &p->me);
	MPI_Comm_size(c, &p->np);
	MPI_Comm_group(c, &g);
	MPI_Comm_group(WORLD, &w);
	for (int r = 0; r < p->np; r++)
		ranks[r] = r;
	MPI_Group_translate_ranks(g, p->np, ranks, w, p->ids);
	MPI_Group_free(&g);
	MPI_Group_free(&w);
	p->id = p->ids[p->me];
	p->nin = p->nout = p->np;
	memcpy(p->in, p->ids, sizeof p->in);
	memcpy(p->out, p->ids, sizeof p->out);
}

/* A graph in which some have more that they send to than that they receive from, or none; even: a ring. */
static void try_neighbors(int even, uint32_t *state)
{
	struct place p;
	MPI_Comm graph;
	describe(&p, WORLD);
	p.nin = p.nout = 0;
	p.uneven = !even;
	for (int a = 0; a < size; a++)
		for (int b = 0; b < size; b++) {
			uint32_t x = next_random(state) % 3;
			if (even ? b != (a + 1) % size && a != (b + 1) % size : x == 0)
				continue;
			if (a == rank)
				p.out[p.nout++] = b;
			if (b == rank)
				p.in[p.nin++] = a;
		}
	MPI_Dist_graph_create_adjacent(WORLD, p.nin, p.in, MPI_UNWEIGHTED, p.nout, p.out, MPI_UNWEIGHTED, MPI_INFO_NULL,
		0, &graph);
	p.comm = graph;
	try_all(NEIGHBOR_ALLGATHER, KINDS, &p, native, even ? "ring" : "graph", state);
	MPI_Comm_free(&graph);
}

int main(int argc, char **argv)
{
	native = !getenv("ZIPPER_PARTS"); /* MPI_Init takes the variable away */
	begin(&argc, &argv);
	uint32_t state = argc > 1 ? (uint32_t)atoi(argv[1]) : 1;
	make_layouts();
	make_comms();
	make_ops();
	for (int i = 0; i < COMMS; i++) {
		struct place p;
		uint32_t mine = state * 100 + (uint32_t)i;
		if (!use_comm(i))
			continue;
		describe(&p, comm);
		try_all(BARRIER, NEIGHBOR_ALLGATHER, &p, native || i >= 4, comm_names[i], &mine);
	}
	for (int i = 0; i < 4; i++)
		try_neighbors(i == 0, &state);
	free_ops();
	free_comms();
	free_layouts();
	return end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every wrong argument of every collective, in all forms, by the error classes of the six forms. First all ranks give
 * the wrong argument, each as a root; nothing may have been sent then. Then one rank gives it, while the others wait in
 * the right call: it gets the error, and joins them with the right arguments. twin: timeout=60
 */
#include "args_calls.h"

static MPI_Datatype open_type; /* not committed */

/* What is spoilt. *_S: on the side that sends, *_R: on the other one. */
enum wrong {
	COMM_NULL,
	ROOT_NEGATIVE,
	ROOT_LARGE,
	COUNT_S,
	COUNT_R,
	TYPE_S,
	TYPE_R,
	OPEN_S,
	OPEN_R,
	EMPTY_TYPE_S, /* of no elements */
	EMPTY_TYPE_R,
	NOWHERE_S,
	NOWHERE_R,
	IN_PLACE_S,
	IN_PLACE_R,
	ALIAS,
	OP_NULL,
	OP_REALS,
	OP_PAIR,
	OP_OWN_TYPE,
	OP_BYTES,
	REQUEST,
	WRONGS
};
static const char *const wrong_names[WRONGS] = {"no communicator", "negative root", "root too large",
	"negative count sent", "negative count received", "no type sent", "no type received", "uncommitted type sent",
	"uncommitted type received", "nothing of no type sent", "nothing of no type received", "from nowhere",
	"to nowhere", "sent in place", "received in place", "the same buffer", "no operation", "bits of reals",
	"pairs of no pairs", "sum of structs", "sum of bytes", "no request"};

/* Does it apply to this collective? */
static int applies(enum kind k, enum wrong w, int inter)
{
	switch (w) {
	case ROOT_NEGATIVE:
	case ROOT_LARGE:
		return has_root(k);
	case COUNT_R: /* MPICH 4.0 does not look at the counts of reductions */
		return !has_op(k) || k == REDUCE_SCATTER;
	case COUNT_S: /* reductions and broadcasts have one count and one type: that of the side that receives */
	case TYPE_S:
	case OPEN_S:
	case EMPTY_TYPE_S:
		return k != BCAST && !has_op(k);
	case TYPE_R: /* MPICH 5.0.2 asserts that the datatype of a reduction is one */
		return !has_op(k) || mpich_version() < 500;
	case EMPTY_TYPE_R:
		return k != BCAST && (!has_op(k) || mpich_version() < 500);
	case NOWHERE_S:
		return k != BCAST;
	case IN_PLACE_S:
		return inter && (has_op(k) || (has_root(k) && k != BCAST));
	case IN_PLACE_R:
		return k != BCAST && !is_neighbor(k) && (inter || (k != SCATTER && k != SCATTERV));
	case ALIAS:
		return k != BCAST && !inter && !is_neighbor(k);
	case OP_NULL:
	case OP_REALS:
	case OP_PAIR:
	case OP_OWN_TYPE:
	case OP_BYTES:
		return has_op(k);
	default:
		return 1;
	}
}

static void set_count(struct args *a, enum kind k, int sent, int count)
{
	int at = (sent ? sends_vector(k) : receives_vector(k)) ? a->n - 1 : 0;
	if (sent)
		a->i.sc[at] = count, a->c.sc[at] = count;
	else
		a->i.rc[at] = count, a->c.rc[at] = count;
}

static void set_type(struct args *a, enum wrong sent, enum wrong w, MPI_Datatype t)
{
	if (w == sent)
		a->st = a->sts[a->n - 1] = t;
	else
		a->rt = a->rts[a->n - 1] = t;
}

static void no_elements(struct args *a, enum wrong w)
{
	for (int j = 0; j < a->n; j++)
		a->i.sc[j] = a->c.sc[j] = a->i.rc[j] = a->c.rc[j] = 0;
	set_type(a, EMPTY_TYPE_S, w, MPI_DATATYPE_NULL);
}

/* My block in the other buffer where that has one for each rank. */
static void alias(struct args *a, enum kind k, int me)
{
	if (k == GATHER || k == GATHERV || k == ALLGATHER || k == ALLGATHERV)
		a->out = (int *)a->in + me;
	else if (k == SCATTER || k == SCATTERV)
		a->in = (int *)(void *)(uintptr_t)a->out + me;
	else
		a->out = a->in;
	a->same_counts = 1;
}

static void spoil(struct args *a, enum kind k, enum wrong w, int me)
{
	switch (w) {
	case COMM_NULL:
		a->comm = MPI_COMM_NULL;
		break;
	case ROOT_NEGATIVE:
		a->root = -7;
		break;
	case ROOT_LARGE:
		a->root = MOST;
		break;
	case COUNT_S:
	case COUNT_R:
		set_count(a, k, w == COUNT_S, -1);
		break;
	case TYPE_S:
	case TYPE_R:
		set_type(a, TYPE_S, w, MPI_DATATYPE_NULL);
		break;
	case OPEN_S:
	case OPEN_R:
		set_type(a, OPEN_S, w, open_type);
		break;
	case EMPTY_TYPE_S:
	case EMPTY_TYPE_R:
		no_elements(a, w);
		break;
	case NOWHERE_S:
		a->out = NULL;
		break;
	case NOWHERE_R:
		a->in = NULL;
		break;
	case IN_PLACE_S:
		a->out = MPI_IN_PLACE;
		break;
	case IN_PLACE_R:
		a->in = MPI_IN_PLACE;
		break;
	case ALIAS:
		alias(a, k, me);
		break;
	case OP_NULL:
		a->op = MPI_OP_NULL;
		break;
	case OP_REALS:
		a->op = MPI_BAND;
		a->rt = MPI_DOUBLE;
		break;
	case OP_PAIR:
		a->op = MPI_MAXLOC;
		break;
	case OP_OWN_TYPE:
		a->rt = open_type;
		break;
	case OP_BYTES:
		a->rt = MPI_BYTE;
		break;
	default:
		a->request = NULL;
	}
}

static void finish(int form, MPI_Request *q)
{
	if (form >= 4)
		MPI_Start(q);
	if (form >= 2)
		MPI_Wait(q, MPI_STATUS_IGNORE);
	if (form >= 4)
		MPI_Request_free(q);
}

struct place {
	const char *name;
	MPI_Comm comm;
	int me, n, inter;
};

static int as_root(const struct place *p, enum kind k, enum wrong w)
{
	int side_of_root = k == SCATTER || k == SCATTERV ? COUNT_S : COUNT_R;
	int side = w == COUNT_S || w == TYPE_S || w == OPEN_S || w == EMPTY_TYPE_S || w == NOWHERE_S || w == IN_PLACE_S
			   ? COUNT_S
			   : COUNT_R;
	if (!p->inter)
		return p->me;
	return side == side_of_root ? MPI_ROOT : 0;
}

/* All ranks are wrong. */
static void all_wrong(const struct place *p, enum kind k, enum wrong w)
{
	char line[200];
	int used = snprintf(line, sizeof line, "%s %s, %s:", p->name, kind_names[k], wrong_names[w]);
	for (int form = w == REQUEST ? 2 : 0; form < FORMS; form++) {
		MPI_Request q = MPI_REQUEST_NULL;
		struct args a;
		right(&a, k, p->comm, p->n, as_root(p, k, w));
		a.request = &q;
		spoil(&a, k, w, p->me);
		int rc = call(k, form, &a);
		used += snprintf(line + used, sizeof line - (size_t)used, " %d", class_of(rc));
		if (rc == MPI_SUCCESS)
			finish(form, &q);
		CHECK(q == MPI_REQUEST_NULL, "%s, and a request", line);
	}
	printf("rank %d: %s\n", rank, line);
}

/* One rank is wrong. */
static void one_wrong(const struct place *p, enum kind k, enum wrong w, int form, int who)
{
	MPI_Request q = MPI_REQUEST_NULL;
	struct args a;
	right(&a, k, p->comm, p->n, who);
	a.request = &q;
	if (p->me == who) {
		spoil(&a, k, w, p->me);
		int class = class_of(call(k, form, &a));
		printf("rank %d alone, %s %s, %s: form %d class %d\n", rank, p->name, kind_names[k], wrong_names[w],
			form, class);
		if (class == MPI_SUCCESS)
			return;
		right(&a, k, p->comm, p->n, who);
		a.request = &q;
	}
	int rc = call(k, form, &a);
	CHECK(rc == MPI_SUCCESS, "%s %s after %s", p->name, kind_names[k], wrong_names[w]);
	finish(form, &q);
}

static void try_place(const struct place *p)
{
	for (int k = p->name[0] == 'n' ? NEIGHBOR_ALLGATHER : BCAST;
		k < (p->name[0] == 'n' ? KINDS : NEIGHBOR_ALLGATHER); k++)
		for (int w = 0; w < WRONGS; w++) {
			if (!applies((enum kind)k, (enum wrong)w, p->inter) || (p->inter && (k == SCAN || k == EXSCAN)))
				continue;
			all_wrong(p, (enum kind)k, (enum wrong)w);
			if (!p->inter && w != REQUEST && w != EMPTY_TYPE_S && w != EMPTY_TYPE_R)
				one_wrong(p, (enum kind)k, (enum wrong)w, (k + w) % FORMS, w % p->n);
		}
}

static MPI_Comm make_ring(void)
{
	MPI_Comm ring;
	int from[2] = {(rank + 1) % size, (rank + size - 1) % size};
	MPI_Dist_graph_create_adjacent(WORLD, 2, from, MPI_UNWEIGHTED, 2, from, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
		&ring);
	return ring;
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Comm half, pair, inter, ring = make_ring(), self = MPI_COMM_SELF;
	MPI_Comm_split(WORLD, rank % 2, rank, &half);
	MPI_Comm_split(WORLD, rank / 2, rank, &pair);
	MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 0, &inter);
	MPI_Comm all[] = {WORLD, ring, inter, pair, self};
	for (int i = 0; i < 5; i++)
		MPI_Comm_set_errhandler(all[i], MPI_ERRORS_RETURN);
	MPI_Type_contiguous(1, MPI_INT, &open_type);
	struct place places[] = {{"world", WORLD, rank, size, 0}, {"neighbours", ring, rank, 2, 0},
		{"between", inter, rank / 2, size / 2, 1}, {"pair", pair, rank % 2, 2, 0}, {"self", self, 0, 1, 0}};
	for (int i = 0; i < 5; i++)
		if (argc < 2 || strchr(argv[1], places[i].name[0]))
			try_place(&places[i]);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
	MPI_Type_free(&open_type);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&pair);
	MPI_Comm_free(&half);
	MPI_Comm_free(&ring);
	return end();
}

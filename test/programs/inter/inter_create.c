/* SPDX-License-Identifier: BSD-3-Clause */
/* Intercommunicators: making them, their properties, their copies, pieces and unions. twin: timeout=120 */
#include "inter_comms.h"

static void describe(const char *what, MPI_Comm c)
{
	int flag, n, m, r;
	MPI_Group w, g;
	char line[200];
	int used = 0;
	MPI_Comm_test_inter(c, &flag);
	MPI_Comm_size(c, &n);
	MPI_Comm_rank(c, &r);
	MPI_Comm_group(WORLD, &w);
	for (int remote = 0; remote <= flag; remote++) {
		if (remote)
			MPI_Comm_remote_group(c, &g);
		else
			MPI_Comm_group(c, &g);
		MPI_Group_size(g, &m);
		used += sprintf(line + used, remote ? " |" : "");
		for (int i = 0; i < m; i++) {
			int v;
			MPI_Group_translate_ranks(g, 1, &i, w, &v);
			used += sprintf(line + used, " %d", v);
		}
		MPI_Group_free(&g);
	}
	MPI_Group_free(&w);
	printf("rank %d: %s: inter %d, %d of %d:%s\n", rank, what, flag, r, n, line);
}

static const char *word(int result)
{
	return result == MPI_IDENT	 ? "ident"
	       : result == MPI_CONGRUENT ? "congruent"
	       : result == MPI_SIMILAR	 ? "similar"
					 : "unequal";
}

static int copies, deletions;
static int copy_attr(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
	(void)c, (void)key, (void)extra;
	copies++;
	*(void **)out = in;
	*flag = 1;
	return MPI_SUCCESS;
}
static int delete_attr(MPI_Comm c, int key, void *value, void *extra)
{
	(void)c, (void)key, (void)value, (void)extra;
	deletions++;
	return MPI_SUCCESS;
}

/* Does it carry messages? To the rank of the other group that is mine modulo its size, and from all whose it is. */
static void exchange(MPI_Comm c, const char *what)
{
	int n, m, r, sum = 0, in, wanted = 0, out;
	MPI_Request q;
	MPI_Comm_size(c, &n);
	MPI_Comm_remote_size(c, &m);
	MPI_Comm_rank(c, &r);
	out = r + 1;
	MPI_Isend(&out, 1, MPI_INT, r % m, 9, c, &q);
	for (int i = r; r < n && i < m; i += n) {
		MPI_Recv(&in, 1, MPI_INT, i, 9, c, MPI_STATUS_IGNORE);
		sum += in;
		wanted += i + 1;
	}
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	CHECK(sum == wanted, "%s carries %d, not %d", what, sum, wanted);
}

static void try_copies(const char *name)
{
	MPI_Comm d, e;
	MPI_Request q;
	MPI_Info info;
	int key, value = 7, *got, flag, result, length;
	char text[100];
	copies = deletions = 0;
	MPI_Comm_create_keyval(copy_attr, delete_attr, &key, NULL);
	MPI_Comm_set_attr(inter, key, &value);
	MPI_Comm_set_name(inter, name);
	MPI_Comm_dup(inter, &d);
	describe("dup", d);
	MPI_Comm_get_attr(d, key, &got, &flag);
	CHECK(flag && got == &value, "%s: attribute of the copy", name);
	MPI_Comm_get_name(inter, text, &length);
	CHECK(strcmp(text, name) == 0, "name is %s", text);
	MPI_Comm_compare(inter, d, &result);
	printf("rank %d: %s: a copy is %s\n", rank, name, word(result));
	MPI_Comm_compare(inter, inter, &result);
	CHECK_INT(result, MPI_IDENT);
	MPI_Comm_idup(d, &e, &q);
	exchange(inter, "the original, while it is being copied");
	MPI_Wait(&q, MPI_STATUS_IGNORE);
	exchange(e, "a copy of a copy");
	MPI_Comm_free(&d);
	exchange(e, "a copy whose original is gone");
	MPI_Comm_free(&e);
	MPI_Info_create(&info);
	MPI_Comm_dup_with_info(inter, info, &d);
	MPI_Info_free(&info);
	exchange(d, "a copy with info");
	MPI_Comm_free(&d);
	CHECK_INT(copies, 3);
	CHECK_INT(deletions, 3);
	MPI_Comm_delete_attr(inter, key);
	MPI_Comm_free_keyval(&key);
}

static void try_parts(const char *name)
{
	MPI_Comm d;
	MPI_Group g, some;
	int result, last = np - 1, first[2];
	MPI_Comm_split(inter, 0, -me, &d);
	describe("in reverse", d);
	exchange(d, "reversed");
	MPI_Comm_compare(inter, d, &result);
	printf("rank %d: %s: reversed it is %s\n", rank, name, word(result));
	MPI_Comm_free(&d);
	MPI_Comm_split(inter, me % 2, 0, &d);
	if (d == MPI_COMM_NULL) {
		printf("rank %d: %s: no partner of this color\n", rank, name);
	} else {
		describe("same parity of ranks", d);
		exchange(d, "a part");
		MPI_Comm_free(&d);
	}
	MPI_Comm_split(inter, me == 0 ? 1 : MPI_UNDEFINED, 0, &d);
	CHECK_INT(d != MPI_COMM_NULL, me == 0);
	if (me == 0) {
		exchange(d, "the two first");
		MPI_Comm_free(&d);
	}
	MPI_Comm_group(inter, &g);
	first[0] = last, first[1] = 0;
	MPI_Group_incl(g, last == 0 ? 1 : 2, first, &some);
	MPI_Comm_create(inter, some, &d);
	CHECK_INT(d != MPI_COMM_NULL, me == 0 || me == last);
	if (d != MPI_COMM_NULL) {
		describe("last and first", d);
		exchange(d, "created");
		MPI_Comm_free(&d);
	}
	MPI_Group_free(&some);
	MPI_Comm_create(inter, side ? g : MPI_GROUP_EMPTY, &d);
	CHECK_INT(d, MPI_COMM_NULL);
	MPI_Group_free(&g);
}

static void try_merges(const char *name)
{
	for (int high = 0; high < 4; high++) {
		MPI_Comm m, d;
		char what[80];
		int sum, r, n;
		MPI_Intercomm_merge(inter, high >> side & 1, &m);
		MPI_Comm_rank(m, &r);
		MPI_Comm_size(m, &n);
		MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, m);
		CHECK_INT(sum, n * (n - 1) / 2);
		CHECK_INT(n, np + nremote);
		sprintf(what, "%s merged with high %d and %d", name, high & 1, high >> 1);
		if (high == 1 || high == 2) /* else the order is the library's choice */
			describe(what, m);
		/* and back: an intercommunicator whose peer communicator is the union */
		if (high == 1) {
			MPI_Comm_split(m, r % 2, 0, &d);
			MPI_Comm back;
			MPI_Intercomm_create(d, 0, m, 1 - r % 2, 5, &back);
			describe("and split by parity", back);
			exchange(back, "made of a union");
			MPI_Comm_free(&back);
			MPI_Comm_free(&d);
		}
		MPI_Comm_free(&m);
	}
}

/* The peer communicator is an intercommunicator itself, and the leaders are the last ones. */
static void try_peer(void)
{
	MPI_Comm d;
	MPI_Intercomm_create(inter_locals[0], np - 1, inter, nremote - 1, 8, &d);
	describe("with an intercommunicator between the leaders", d);
	exchange(d, "made over an intercommunicator");
	MPI_Comm_free(&d);
}

static int handled;
static void handler(MPI_Comm *c, int *code, ...)
{
	int n, class;
	MPI_Comm_size(*c, &n);
	MPI_Error_class(*code, &class);
	handled += n == np && class == MPI_ERR_RANK;
}

/* Error handlers come from the local communicator and go to copies. */
static void try_handlers(void)
{
	MPI_Errhandler h;
	MPI_Comm c, d;
	int x = 0;
	MPI_Comm_create_errhandler(handler, &h);
	MPI_Comm_dup(inter_locals[0], &c);
	MPI_Comm_set_errhandler(c, h);
	MPI_Errhandler_free(&h);
	MPI_Intercomm_create(c, 0, WORLD, remote_world[0], 1, &d);
	MPI_Comm_free(&c);
	/* MPICH 5 returns MPI_SUCCESS after a handler that returns */
	CHECK(MPI_Send(&x, 1, MPI_INT, nremote, 0, d) != MPI_SUCCESS || mpich_version() >= 500, "a rank too large");
	CHECK_INT(handled, 1);
	MPI_Comm_dup(d, &c);
	MPI_Comm_free(&d);
	CHECK(MPI_Send(&x, 1, MPI_INT, nremote, 0, c) != MPI_SUCCESS || mpich_version() >= 500, "a rank too large");
	CHECK_INT(handled, 2);
	MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	make_inters();
	for (int i = 0; i < INTERS; i++) {
		if (!use_inter(i))
			continue;
		describe(inter_names[i], inter);
		exchange(inter, inter_names[i]);
		try_copies(inter_names[i]);
		try_parts(inter_names[i]);
		try_merges(inter_names[i]);
	}
	if (use_inter(0)) {
		try_peer();
		try_handlers();
	}
	int result;
	for (int i = 1; i < INTERS; i++) {
		if (inters[0] == MPI_COMM_NULL || inters[i] == MPI_COMM_NULL)
			continue;
		MPI_Comm_compare(inters[0], inters[i], &result);
		printf("rank %d: parity and %s: %s\n", rank, inter_names[i], word(result));
	}
	MPI_Comm_compare(inters[0], WORLD, &result);
	CHECK_INT(result, MPI_UNEQUAL);
	free_inters();
	return end();
}

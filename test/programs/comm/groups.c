/* SPDX-License-Identifier: BSD-3-Clause */
/* Algebra of groups. */
#include "../check.h"

static void show(const char *name, MPI_Group g, MPI_Group world)
{
	int n, r, mine[64], theirs[64];
	char text[400] = "";
	MPI_Group_size(g, &n);
	MPI_Group_rank(g, &r);
	for (int i = 0; i < n; i++)
		mine[i] = i;
	MPI_Group_translate_ranks(g, n, mine, world, theirs);
	for (int i = 0; i < n; i++)
		sprintf(text + strlen(text), " %d", theirs[i]);
	printf("rank %d: %s: %d of %d:%s\n", rank, name, r == MPI_UNDEFINED ? -1 : r, n, text);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	MPI_Group world, a, b, c, self, e;
	int result, n;
	MPI_Comm_group(WORLD, &world);
	MPI_Comm_group(MPI_COMM_SELF, &self);
	show("world", world, world);
	show("self", self, world);

	int some[] = {size - 1, 0}, ends[] = {0, size - 1};
	MPI_Group_incl(world, 2, some, &a);
	show("incl", a, world);
	MPI_Group_incl(world, 2, ends, &b);
	MPI_Group_compare(a, b, &result);
	CHECK_INT(result, size == 1 ? MPI_IDENT : MPI_SIMILAR);
	MPI_Group_compare(a, a, &result);
	CHECK_INT(result, MPI_IDENT);
	MPI_Group_compare(a, world, &result);
	CHECK_INT(result, size == 2 ? MPI_SIMILAR : MPI_UNEQUAL);
	MPI_Group_free(&b);

	MPI_Group_excl(world, 1, some, &b);
	show("excl", b, world);
	MPI_Group_union(a, b, &c), show("union", c, world), MPI_Group_free(&c);
	MPI_Group_union(b, a, &c), show("union the other way", c, world), MPI_Group_free(&c);
	MPI_Group_intersection(a, b, &c), show("intersection", c, world), MPI_Group_free(&c);
	MPI_Group_difference(world, a, &c), show("difference", c, world), MPI_Group_free(&c);
	MPI_Group_difference(a, a, &c);
	CHECK(c == MPI_GROUP_EMPTY, "empty difference is MPI_GROUP_EMPTY");
	MPI_Group_size(c, &n);
	CHECK_INT(n, 0);

	int ranges[2][3] = {{0, size - 1, 2}, {size - 1, size - 1, 1}};
	MPI_Group_range_incl(world, size % 2 ? 1 : 2, ranges, &c), show("range_incl", c, world), MPI_Group_free(&c);
	MPI_Group_range_excl(world, 1, ranges, &c), show("range_excl", c, world);
	if (c != MPI_GROUP_EMPTY)
		MPI_Group_free(&c);
	int back[1][3] = {{size - 1, 0, -1}};
	MPI_Group_range_incl(world, 1, back, &c), show("backwards", c, world);

	int in[3] = {0, size - 1, MPI_PROC_NULL}, out[3];
	MPI_Group_translate_ranks(world, 3, in, c, out);
	CHECK_INT(out[0], size - 1);
	CHECK_INT(out[1], 0);
	CHECK_INT(out[2], MPI_PROC_NULL);
	MPI_Group_translate_ranks(world, 1, in, b, out);
	printf("rank %d: translated %d\n", rank, out[0] == MPI_UNDEFINED ? -1 : out[0]);
	MPI_Group_free(&c);

	MPI_Group_incl(world, 0, NULL, &e);
	MPI_Group_compare(e, MPI_GROUP_EMPTY, &result);
	CHECK_INT(result, MPI_IDENT);
	MPI_Group_union(MPI_GROUP_EMPTY, a, &c);
	MPI_Group_compare(a, c, &result);
	CHECK_INT(result, MPI_IDENT);
	MPI_Group_free(&c);
	MPI_Group_union(self, a, &c), show("self and others", c, world), MPI_Group_free(&c);

	/* a group of a communicator, and one made from it after the communicator is gone */
	MPI_Comm odd;
	MPI_Comm_split(WORLD, rank % 2, 0, &odd);
	MPI_Comm_group(odd, &c);
	MPI_Comm_free(&odd);
	show("odd or even", c, world);
	MPI_Group_free(&c);
	MPI_Group_free(&a), MPI_Group_free(&b), MPI_Group_free(&self), MPI_Group_free(&world);
	CHECK(world == MPI_GROUP_NULL, "null after free");

	/* errors */
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_group(WORLD, &world);
	int class, high[1] = {size};
	MPI_Error_class(MPI_Group_incl(world, 1, high, &a), &class);
	CHECK_INT(class, MPI_ERR_RANK);
	MPI_Error_class(MPI_Group_size(MPI_GROUP_NULL, &n), &class);
	CHECK_INT(class, MPI_ERR_GROUP);
	MPI_Group_free(&world);
	return end();
}

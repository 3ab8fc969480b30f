/* SPDX-License-Identifier: BSD-3-Clause */
/* The algebra of groups on arrays of vranks (MPI-4.0 section 7.3.2). No MPI calls. See group.h. */
#include "libzip/world/group.h"

#include <stdint.h>
#include <stdlib.h>

/* A map of vranks up to limit: position[vrank] is the place in a + 1; 0: not a member. */
static int *map_members(const int *a, int na, int *limit)
{
	int max = -1;

	for (int i = 0; i < na; i++)
		if (a[i] > max)
			max = a[i];
	int *position = calloc((size_t)max + 2, sizeof(*position));
	if (!position)
		return NULL;
	for (int i = 0; i < na; i++)
		position[a[i]] = i + 1;
	*limit = max;
	return position;
}

static int is_member(const int *position, int limit, int vrank)
{
	return vrank <= limit && position[vrank] > 0;
}

/* Appends the elements of list that are (wanted = 1) or are not (wanted = 0) members of the mapped set. */
static int append(const int *list, int n, const int *position, int limit, int wanted, int *out, int nout)
{
	for (int i = 0; i < n; i++)
		if (is_member(position, limit, list[i]) == wanted)
			out[nout++] = list[i];
	return nout;
}

int zgroupset_union(const int *a, int na, const int *b, int nb, int *out)
{
	int limit, n = 0;
	int *in_a = map_members(a, na, &limit);

	if (!in_a)
		return -1;
	for (; n < na; n++)
		out[n] = a[n];
	n = append(b, nb, in_a, limit, 0, out, n);
	free(in_a);
	return n;
}

int zgroupset_intersection(const int *a, int na, const int *b, int nb, int *out)
{
	int limit;
	int *in_b = map_members(b, nb, &limit);

	if (!in_b)
		return -1;
	int n = append(a, na, in_b, limit, 1, out, 0);
	free(in_b);
	return n;
}

int zgroupset_difference(const int *a, int na, const int *b, int nb, int *out)
{
	int limit;
	int *in_b = map_members(b, nb, &limit);

	if (!in_b)
		return -1;
	int n = append(a, na, in_b, limit, 0, out, 0);
	free(in_b);
	return n;
}

int zgroupset_compare(const int *a, int na, const int *b, int nb)
{
	int limit, identical = 1, common = 0;

	if (na != nb)
		return MPI_UNEQUAL;
	int *in_b = map_members(b, nb, &limit);
	if (!in_b)
		return -1;
	for (int i = 0; i < na; i++) {
		identical &= a[i] == b[i];
		common += is_member(in_b, limit, a[i]);
	}
	free(in_b);
	return identical ? MPI_IDENT : common == na ? MPI_SIMILAR : MPI_UNEQUAL;
}

struct selection {
	int size, count;
	int *order;
	char *named; /* [size] */
	int class;   /* of the error */
	const char *reason;
};

static int refuse(struct selection *s, int class, const char *reason)
{
	s->class = class;
	s->reason = reason;
	return -1;
}

static int select_rank(struct selection *s, int64_t rank)
{
	if (rank < 0 || rank >= s->size)
		return refuse(s, MPI_ERR_RANK, "a rank is outside the group");
	if (s->named[rank]++)
		return refuse(s, MPI_ERR_RANK, "a rank is named twice");
	s->order[s->count++] = (int)rank;
	return 0;
}

static int select_range(struct selection *s, const int range[3])
{
	int64_t first = range[0], last = range[1], stride = range[2];

	if (stride == 0)
		return refuse(s, MPI_ERR_ARG, "a range has a stride of zero");
	for (int64_t rank = first; stride > 0 ? rank <= last : rank >= last; rank += stride)
		if (select_rank(s, rank) != 0)
			return refuse(s, MPI_ERR_ARG, s->reason); /* native MPI's class */
	return 0;
}

int zgroupset_select(int size, int n, const int *ranks, int (*ranges)[3], int *order, int *count, const char **reason)
{
	struct selection s = {.size = size, .order = order, .class = MPI_SUCCESS};
	int rc = 0;

	s.named = calloc((size_t)size + 1, 1);
	if (!s.named)
		rc = refuse(&s, MPI_ERR_NO_MEM, "out of memory");
	else if (n < 0)
		rc = refuse(&s, MPI_ERR_ARG, "the number of ranks is negative");
	for (int i = 0; i < n && rc == 0; i++)
		rc = ranges ? select_range(&s, ranges[i]) : select_rank(&s, ranks[i]);
	free(s.named);
	*count = s.count;
	*reason = s.reason;
	return s.class;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The reductions among all_forms.h: predefined operations on ints, and one that does not commute on pairs of them. */
#ifndef ZIP_TEST_ALL_SUMS_H
#define ZIP_TEST_ALL_SUMS_H

#include "all_forms.h"

static inline void compose_pair(const int *x, int *y, const int *at)
{
	unsigned xa = (unsigned)x[at[0]], xb = (unsigned)x[at[1]], ya = (unsigned)y[at[0]], yb = (unsigned)y[at[1]];
	y[at[0]] = (int)(ya * xa), y[at[1]] = (int)(ya * xb + yb);
}
/* Index of the layout, by the handle of the call. */
static inline const struct layout *layout_from(MPI_Datatype type)
{
	for (const struct layout *l = layouts; l < layouts + LAYOUTS; l++)
		if (l->type == type)
			return l;
	printf("rank %d: an operation is called with another datatype\n", rank);
	MPI_Abort(WORLD, 3);
	return NULL;
}
/* Maps x -> a x + b, one after the other. */
static inline void compose(void *a, void *b, int *count, MPI_Datatype *type)
{
	const struct layout *l = layout_from(*type);
	for (int i = 0; i < *count; i++)
		compose_pair((int *)a + i * l->extent, (int *)b + i * l->extent, l->at);
}
static inline void add(void *a, void *b, int *count, MPI_Datatype *type)
{
	const struct layout *l = layout_from(*type);
	for (int i = 0; i < 2 * *count; i++) {
		int at = i / 2 * l->extent + l->at[i % 2];
		((int *)b)[at] = (int)((unsigned)((int *)a)[at] + (unsigned)((int *)b)[at]);
	}
}
static MPI_Op composition, addition;
enum { SUM, XOR, MAX, ADD, COMPOSE, OPS };
static inline MPI_Op op_of(const struct trial *t)
{
	return (const MPI_Op[OPS]){MPI_SUM, MPI_BXOR, MPI_MAX, addition, composition}[t->op];
}
static inline void make_ops(void)
{
	MPI_Op_create(compose, 0, &composition);
	MPI_Op_create(add, 1, &addition);
}
static inline void free_ops(void)
{
	MPI_Op_free(&composition);
	MPI_Op_free(&addition);
}

/* How many elements count n is: predefined operations know ints alone. */
static inline int per_element(const struct trial *t)
{
	return t->op >= ADD ? 1 : 2;
}
static inline MPI_Datatype sum_type(const struct trial *t)
{
	return t->op >= ADD ? layouts[t->sl].type : MPI_INT;
}

/* Between groups both have as many elements. */
static inline int slot(const struct trial *t, const struct place *p, int r)
{
	int block = t->n * (p->inter ? p->nin : 1), left = block * p->np;
	if (t->kind == REDUCE_SCATTER_BLOCK)
		return block;
	for (int i = 0;; i++) { /* also none, and the rest for the last one */
		int some = i % 2 ? 0 : block + (t->salt + i) % 3;
		int n = i == p->np - 1 || some > left ? left : some;
		if (i == r)
			return n;
		left -= n;
	}
}
static inline int is_scattered(const struct trial *t)
{
	return t->kind == REDUCE_SCATTER_BLOCK || t->kind == REDUCE_SCATTER;
}

static inline void lay_out_sums(struct trial *t, const struct place *p)
{
	int total = 0;
	t->sl = t->rl = t->op >= ADD ? t->sl : 0;
	for (int r = 0; r < p->np && is_scattered(t); r++) {
		int n = slot(t, p, r);
		t->i.rc[r] = n * per_element(t);
		t->c.rc[r] = t->i.rc[r];
		total += n;
	}
	t->stotal = t->rtotal = (is_scattered(t) ? total : t->n) + 1;
}

static inline void own_vector(const struct trial *t, int *buf, int l, int id, int count)
{
	put(t, buf, l, 0, count, id, -1);
}

/* Elements first.. of what the ids from low to high - 1 have, combined in their order. */
static inline void combine(const struct trial *t, int *to, const int *ids, int low, int high, int first, int count)
{
	int total = first + count, *sum = malloc((size_t)(2 * total + 2) * sizeof *sum);
	int *next = malloc((size_t)(2 * total + 2) * sizeof *next);
	const struct layout *l = &layouts[t->sl];
	for (int r = low; r < high; r++) {
		own_vector(t, next, 0, ids[r], total);
		for (int i = 0; i < 2 * total && r > low && t->op != COMPOSE; i++) {
			unsigned a = (unsigned)sum[i], b = (unsigned)next[i];
			next[i] = (int)(t->op == XOR ? a ^ b : t->op == MAX ? (sum[i] > next[i] ? a : b) : a + b);
		}
		for (int i = 0; i < total && r > low && t->op == COMPOSE; i++)
			compose_pair(sum + 2 * i, next + 2 * i, layouts[0].at);
		memcpy(sum, next, 2 * (size_t)total * sizeof *sum);
	}
	for (int i = 0; i < 2 * count && high > low; i++)
		to[i / 2 * l->extent + l->at[i % 2]] = sum[2 * first + i];
	free(sum);
	free(next);
}

/* In place: what lies behind the result of a scattered reduction is anything afterwards. */
static inline void forget_rest(struct trial *t)
{
	const struct layout *l = &layouts[t->sl];
	for (int i = 2 * t->result; i < 2 * t->stotal && t->in_place && is_scattered(t); i++)
		t->got[i / 2 * l->extent + l->at[i % 2]] = t->want[i / 2 * l->extent + l->at[i % 2]];
}

static inline void fill_sums(struct trial *t, const struct place *p)
{
	int total = is_scattered(t) ? 0 : t->n, first = 0, count = t->n, low = 0, high = p->nin;
	for (int r = 0; r < p->np && is_scattered(t); r++) {
		first += r < p->me ? slot(t, p, r) : 0;
		total += slot(t, p, r);
	}
	if (is_scattered(t))
		count = slot(t, p, p->me);
	t->result = count;
	if (t->kind == SCAN || t->kind == EXSCAN)
		high = p->me + (t->kind == SCAN);
	own_vector(t, t->in_place ? t->got : t->sent, t->sl, p->id, total);
	if (t->in_place) /* beyond the result it stays, or is anything */
		memcpy(t->want, t->got, t->ngot * sizeof(int));
	if (t->kind == REDUCE && !is_root(t, p))
		return;
	combine(t, t->want, p->in, low, high, first, count);
}

#endif

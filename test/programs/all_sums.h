/* SPDX-License-Identifier: BSD-3-Clause */
/* The reductions among all_forms.h: predefined operations on ints, and one that does not commute on pairs of them. */
#ifndef ZIP_TEST_ALL_SUMS_H
#define ZIP_TEST_ALL_SUMS_H

#include "all_forms.h"

/* Maps x -> a x + b, one after the other. */
static inline void compose(void *a, void *b, int *count, MPI_Datatype *type)
{
	unsigned *x = a, *y = b;
	(void)type;
	for (int i = 0; i < *count; i++) {
		unsigned p = y[2 * i] * x[2 * i], q = y[2 * i] * x[2 * i + 1] + y[2 * i + 1];
		y[2 * i] = p, y[2 * i + 1] = q;
	}
}
static MPI_Op composition;
#define OPS 4
static inline MPI_Op op_of(const struct trial *t)
{
	return (const MPI_Op[OPS]){MPI_SUM, MPI_BXOR, MPI_MAX, composition}[t->op];
}

/* How many elements count n is: predefined operations know ints alone. */
static inline int per_element(const struct trial *t)
{
	return t->op == OPS - 1 ? 1 : 2;
}
static inline MPI_Datatype sum_type(const struct trial *t)
{
	return t->op == OPS - 1 ? layouts[0].type : MPI_INT;
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
	t->sl = t->rl = 0;
	for (int r = 0; r < p->np && is_scattered(t); r++) {
		int n = slot(t, p, r);
		t->i.rc[r] = n * per_element(t);
		t->c.rc[r] = t->i.rc[r];
		total += n;
	}
	t->stotal = t->rtotal = (is_scattered(t) ? total : t->n) + 1;
}

static inline void own_vector(const struct trial *t, int *buf, int id, int count)
{
	put(t, buf, 0, 0, count, id, -1);
}

/* Elements first.. of what the ids from low to high - 1 have, combined in their order. */
static inline void combine(const struct trial *t, int *to, const int *ids, int low, int high, int first, int count)
{
	int total = first + count, *sum = malloc((size_t)(2 * total + 2) * sizeof *sum);
	int *next = malloc((size_t)(2 * total + 2) * sizeof *next), one = total;
	for (int r = low; r < high; r++) {
		own_vector(t, next, ids[r], total);
		for (int i = 0; i < 2 * total && r > low && t->op < OPS - 1; i++) {
			unsigned a = (unsigned)sum[i], b = (unsigned)next[i];
			next[i] = (int)(t->op == 0 ? a + b : t->op == 1 ? a ^ b : sum[i] > next[i] ? a : b);
		}
		if (r > low && t->op == OPS - 1)
			compose(sum, next, &one, NULL);
		memcpy(sum, next, 2 * (size_t)total * sizeof *sum);
	}
	if (high > low)
		memcpy(to, sum + 2 * first, 2 * (size_t)count * sizeof *sum);
	free(sum);
	free(next);
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
	own_vector(t, t->in_place ? t->got : t->sent, p->id, total);
	if (t->in_place) /* beyond the result it stays, or is anything */
		memcpy(t->want, t->got, t->ngot * sizeof(int));
	if (t->kind == REDUCE && !is_root(t, p))
		return;
	combine(t, t->want, p->in, low, high, first, count);
}

#endif

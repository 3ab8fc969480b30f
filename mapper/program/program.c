/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists of operations of a program, see program.h. */
#include "mapper/program/program.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "not enough memory for the operations of the program");
}

int program_create(struct program *p, const char *where, uint32_t ranks, struct zerr *err)
{
	*p = (struct program){.ranks = ranks};
	if (!ranks || ranks > PROGRAM_RANKS_MAX)
		return zerr_set(err, -EINVAL, "%u ranks are not 1 to %u", ranks, PROGRAM_RANKS_MAX);
	p->where = strdup(where);
	p->rank = calloc(ranks, sizeof(*p->rank));
	return p->where && p->rank && !names_add(&p->phases, "1", NULL) ? 0 : memory(err);
}

void program_free(struct program *p)
{
	for (uint32_t i = 0; p->rank && i < p->ranks; i++) {
		free(p->rank[i].op);
		free(p->rank[i].open);
		free(p->rank[i].unused);
	}
	free(p->rank);
	free(p->where);
	names_free(&p->phases);
	*p = (struct program){0};
}

/* Makes room for one more entry of a list, which grows whenever its length is a power of two. */
static void *room(void *list, uint32_t n, size_t size)
{
	return n & (n - 1) ? list : realloc(list, (n ? 2 * (size_t)n : 1) * size);
}

static int append(struct program *p, uint32_t rank, const struct program_op *op, struct zerr *err)
{
	struct program_rank *r = &p->rank[rank];
	struct program_op *list;

	if (r->n == PROGRAM_OPS_MAX)
		return zerr_set(err, -E2BIG, "rank %u has more than %u operations", rank, PROGRAM_OPS_MAX);
	list = room(r->op, r->n, sizeof(*list));
	if (!list)
		return memory(err);
	r->op = list;
	list[r->n++] = *op;
	return 0;
}

int program_compute(struct program *p, uint32_t rank, double seconds, uint32_t line, struct zerr *err)
{
	struct program_op op = {.kind = PROGRAM_COMPUTE, .seconds = seconds, .line = line};
	struct program_rank *r = &p->rank[rank];

	if (!(seconds >= 0) || isinf(seconds))
		return zerr_set(err, -EINVAL, "a rank cannot compute for %g s", seconds);
	if (r->n && r->op[r->n - 1].kind == PROGRAM_COMPUTE) {
		r->op[r->n - 1].seconds += seconds;
		return 0;
	}
	return append(p, rank, &op, err);
}

int program_phase(struct program *p, uint32_t rank, const char *name, uint32_t line, struct zerr *err)
{
	struct program_op op = {.kind = PROGRAM_PHASE, .line = line};
	int rc = names_add(&p->phases, name, &op.peer);

	return rc && rc != -EEXIST ? memory(err) : append(p, rank, &op, err);
}

int program_begin(struct program *p, uint32_t rank, struct program_op *op, struct zerr *err)
{
	struct program_rank *r = &p->rank[rank];

	if (op->peer >= p->ranks && !(op->kind == PROGRAM_RECV && op->peer == PROGRAM_NONE))
		return zerr_set(err, -EINVAL, "there is no rank %u, but 0 to %u", op->peer, p->ranks - 1);
	op->slot = r->nunused ? r->unused[--r->nunused] : r->slots++;
	return append(p, rank, op, err);
}

int program_wait(struct program *p, uint32_t rank, uint32_t slot, uint32_t line, struct zerr *err)
{
	struct program_op op = {.kind = PROGRAM_WAIT, .slot = slot, .line = line};
	struct program_rank *r = &p->rank[rank];
	uint32_t *list = room(r->unused, r->nunused, sizeof(*list));

	if (!list)
		return memory(err);
	r->unused = list;
	list[r->nunused++] = slot;
	return append(p, rank, &op, err);
}

int program_do(struct program *p, uint32_t rank, struct program_op *op, struct zerr *err)
{
	int rc = program_begin(p, rank, op, err);

	return rc ? rc : program_wait(p, rank, op->slot, op->line, err);
}

static uint32_t request_find(const struct program_rank *r, uint64_t number)
{
	uint32_t i = 0;

	while (i < r->nopen && r->open[i].number != number)
		i++;
	return i;
}

int program_begin_numbered(struct program *p, uint32_t rank, struct program_op *op, uint64_t number, struct zerr *err)
{
	struct program_rank *r = &p->rank[rank];
	struct program_request *list;
	int rc;

	if (request_find(r, number) < r->nopen)
		return zerr_set(err, -EEXIST, "request %llu of rank %u has not been waited for",
			(unsigned long long)number, rank);
	list = room(r->open, r->nopen, sizeof(*list));
	if (!list)
		return memory(err);
	r->open = list;
	rc = program_begin(p, rank, op, err);
	if (!rc)
		list[r->nopen++] = (struct program_request){number, op->slot, r->n - 1};
	return rc;
}

int program_wait_numbered(struct program *p, uint32_t rank, uint64_t number, uint32_t line, struct zerr *err)
{
	struct program_rank *r = &p->rank[rank];
	uint32_t i = request_find(r, number), slot;

	if (i == r->nopen)
		return zerr_set(err, -ENOENT, "rank %u has no request %llu", rank, (unsigned long long)number);
	slot = r->open[i].slot;
	r->open[i] = r->open[--r->nopen];
	return program_wait(p, rank, slot, line, err);
}

int program_tell(struct program *p, uint32_t rank, uint64_t number, uint32_t peer, uint64_t key, struct zerr *err)
{
	struct program_rank *r = &p->rank[rank];
	uint32_t i = request_find(r, number);
	struct program_op *op = i < r->nopen ? &r->op[r->open[i].at] : NULL;

	if (!op || op->kind != PROGRAM_RECV)
		return zerr_set(err, -ENOENT, "rank %u has no receive with request %llu", rank,
			(unsigned long long)number);
	op->peer = peer;
	op->key = key;
	return 0;
}

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

	if (p->ops == PROGRAM_OPS_MAX)
		return zerr_set(err, -E2BIG, "the program has more than %u operations; take fewer ranks or fewer steps",
			PROGRAM_OPS_MAX);
	list = room(r->op, r->n, sizeof(*list));
	if (!list)
		return memory(err);
	r->op = list;
	list[r->n++] = *op;
	p->ops++;
	return 0;
}

int program_compute(struct program *p, uint32_t rank, double seconds, uint32_t line, struct zerr *err)
{
	struct program_op op = {.kind = PROGRAM_COMPUTE, .seconds = seconds, .line = line};
	struct program_rank *r = &p->rank[rank];

	if (!(seconds >= 0) || isinf(seconds))
		return zerr_set(err, -EINVAL, "a rank cannot compute for %g s", seconds);
	if (r->seconds + seconds > PROGRAM_SECONDS_MAX)
		return zerr_set(err, -ERANGE, "rank %u computes for more than %g s in all; give shorter times", rank,
			PROGRAM_SECONDS_MAX);
	r->seconds += seconds;
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
	if (op->kind != PROGRAM_RECV && op->bytes > PROGRAM_BYTES_MAX)
		return zerr_set(err, -ERANGE, "a message has more than %llu bytes; give fewer bytes",
			(unsigned long long)PROGRAM_BYTES_MAX);
	if (op->kind != PROGRAM_RECV && __builtin_add_overflow(p->bytes, op->bytes, &p->bytes))
		return zerr_set(err, -ERANGE, "the messages of the program have more than %llu bytes; give fewer bytes",
			(unsigned long long)UINT64_MAX);
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

/* --- requests by number --- */

/* The place where a number belongs in a table, if that were free. */
static uint32_t request_home(const struct program_rank *r, uint64_t number)
{
	return (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (r->opens - 1);
}

/* The request with a number, or the free place for it; the table is not empty. */
static struct program_request *request_place(const struct program_rank *r, uint64_t number)
{
	uint32_t at = request_home(r, number);

	while (r->open[at].slot != PROGRAM_NONE && r->open[at].number != number)
		at = (at + 1) & (r->opens - 1);
	return &r->open[at];
}

/* NULL: there is none. */
static struct program_request *request_find(const struct program_rank *r, uint64_t number)
{
	struct program_request *found = r->nopen ? request_place(r, number) : NULL;

	return found && found->slot != PROGRAM_NONE ? found : NULL;
}

/* Makes room for one more request. */
static int requests_grow(struct program_rank *r, struct zerr *err)
{
	struct program_request *old = r->open, *more;
	uint32_t n = r->opens, opens = n ? 2 * n : 4;

	if (r->nopen < n / 2)
		return 0;
	more = malloc(opens * sizeof(*more));
	if (!more)
		return memory(err);
	for (uint32_t i = 0; i < opens; i++)
		more[i].slot = PROGRAM_NONE;
	r->open = more;
	r->opens = opens;
	for (uint32_t i = 0; i < n; i++)
		if (old[i].slot != PROGRAM_NONE)
			*request_place(r, old[i].number) = old[i];
	free(old);
	return 0;
}

/* Takes a request out. Those behind it that it kept from their home move up. */
static void request_drop(struct program_rank *r, struct program_request *gone)
{
	uint32_t mask = r->opens - 1, hole = (uint32_t)(gone - r->open);

	for (uint32_t at = (hole + 1) & mask; r->open[at].slot != PROGRAM_NONE; at = (at + 1) & mask) {
		uint32_t home = request_home(r, r->open[at].number);

		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		r->open[hole] = r->open[at];
		hole = at;
	}
	r->open[hole].slot = PROGRAM_NONE;
	r->nopen--;
}

int program_begin_numbered(struct program *p, uint32_t rank, struct program_op *op, uint64_t number, struct zerr *err)
{
	struct program_rank *r = &p->rank[rank];
	int rc;

	if (request_find(r, number))
		return zerr_set(err, -EEXIST, "request %llu of rank %u has not been waited for",
			(unsigned long long)number, rank);
	rc = requests_grow(r, err);
	if (!rc)
		rc = program_begin(p, rank, op, err);
	if (rc)
		return rc;
	*request_place(r, number) = (struct program_request){number, op->slot, r->n - 1};
	r->nopen++;
	return 0;
}

int program_wait_numbered(struct program *p, uint32_t rank, uint64_t number, uint32_t line, struct zerr *err)
{
	struct program_rank *r = &p->rank[rank];
	struct program_request *found = request_find(r, number);
	uint32_t slot;

	if (!found)
		return zerr_set(err, -ENOENT, "rank %u has no request %llu", rank, (unsigned long long)number);
	slot = found->slot;
	request_drop(r, found);
	return program_wait(p, rank, slot, line, err);
}

void program_cancel(struct program *p, uint32_t rank, uint64_t number)
{
	struct program_rank *r = &p->rank[rank];
	struct program_request *found = request_find(r, number);

	if (!found)
		return;
	r->op[found->at] = (struct program_op){.kind = PROGRAM_COMPUTE};
	request_drop(r, found);
}

int program_tell(struct program *p, uint32_t rank, uint64_t number, uint32_t peer, uint64_t key, struct zerr *err)
{
	struct program_rank *r = &p->rank[rank];
	const struct program_request *found = request_find(r, number);
	struct program_op *op = found ? &r->op[found->at] : NULL;

	if (!op || op->kind != PROGRAM_RECV)
		return zerr_set(err, -ENOENT, "rank %u has no receive with request %llu", rank,
			(unsigned long long)number);
	op->peer = peer;
	op->key = key;
	return 0;
}

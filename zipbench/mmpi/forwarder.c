/* SPDX-License-Identifier: BSD-3-Clause */
/* See forwarder.h; sections 3.2 to 3.7 of the thesis. The forwarder takes requests one after the other, with blocking
 * calls, and stores each message as a whole before it sends it on. */
#include "zipbench/mmpi/forwarder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "zipbench/mmpi/fatal.h"

struct request {
	struct request *next;
	int field[REQUEST_FIELDS];
	int from; /* virtual rank */
	int id;
};

static const struct mmpi *mm;
static struct request *pending, **tail = &pending; /* oldest first */
static int next_id = ID_FIRST;

static void *memory(size_t bytes)
{
	void *p = malloc(bytes ? bytes : 1);
	if (!p)
		fatal("the forwarder has no memory for a message of %zu bytes", bytes);
	return p;
}

static void answer(int vrank, int id)
{
	MPI_Send(&id, 1, MPI_INT, vrank + 1, TAG_ID, mm->wire);
}

static void take(void *data, int bytes, int vrank, int id)
{
	MPI_Recv(data, bytes, MPI_BYTE, vrank + 1, id, mm->wire, MPI_STATUS_IGNORE);
}

/* Sends to both groups by native broadcasts, one group after the other. */
static void spread(void *data, int count, MPI_Datatype type)
{
	for (int g = 0; g < 2; g++)
		MPI_Bcast(data, count, type, FORWARDER, mm->group[g]);
}

/* --- matching --- */
static bool is_match(const struct request *a, const struct request *b)
{
	const int ka = a->field[FIELD_KIND], kb = b->field[FIELD_KIND];
	if (ka == REQUEST_SEND || ka == REQUEST_RECV)
		return ka + kb == REQUEST_SEND + REQUEST_RECV && a->field[FIELD_VRANK] == b->from &&
		       b->field[FIELD_VRANK] == a->from && a->field[FIELD_TAG] == b->field[FIELD_TAG];
	/* a rank that is not the root of one reduction may already ask for the next one, with itself as the root */
	return ka == kb && a->field[FIELD_VRANK] == b->field[FIELD_VRANK] &&
	       (a->from < mm->nlow) != (b->from < mm->nlow);
}

static struct request *take_match(const struct request *r)
{
	for (struct request **p = &pending; *p; p = &(*p)->next)
		if (is_match(*p, r)) {
			struct request *found = *p;
			*p = found->next;
			if (!*p)
				tail = p;
			return found;
		}
	return NULL;
}

static struct request *add(const struct request *r)
{
	struct request *kept = memory(sizeof(*kept));
	*kept = *r;
	kept->next = NULL;
	kept->id = next_id;
	next_id = next_id < ID_LAST ? next_id + 1 : ID_FIRST;
	*tail = kept;
	tail = &kept->next;
	return kept;
}

/* --- transfers, when both sides have asked --- */
static void forward_message(const struct request *a, const struct request *b)
{
	const struct request *send = a->field[FIELD_KIND] == REQUEST_SEND ? a : b, *recv = send == a ? b : a;
	const int bytes = send->field[FIELD_BYTES];
	void *data = memory((size_t)bytes);
	answer(b->from, a->id);
	take(data, bytes, send->from, a->id);
	MPI_Send(data, bytes, MPI_BYTE, recv->from + 1, a->id, mm->wire);
	free(data);
}

/* Receives block, one after the other, and the result has memory of its own, as in the thesis. */
static void reduce(const struct request *a, const struct request *b)
{
	const struct request *low = a->from < mm->nlow ? a : b, *high = low == a ? b : a;
	const int *f = a->field;
	const MPI_Datatype type = MPI_Type_f2c(f[FIELD_TYPE]);
	const int bytes = f[FIELD_BYTES];
	if (memcmp(f, b->field, sizeof(b->field)) != 0)
		fatal("ranks %d and %d have asked for different reductions", a->from, b->from);
	char *x = memory((size_t)bytes), *y = memory((size_t)bytes), *result = memory((size_t)bytes);
	answer(b->from, a->id);
	take(x, bytes, low->from, a->id);
	take(y, bytes, high->from, a->id);
	memcpy(result, y, (size_t)bytes);
	MPI_Reduce_local(x, result, f[FIELD_COUNT], type, MPI_Op_f2c(f[FIELD_OP]));
	if (f[FIELD_KIND] == REQUEST_REDUCE)
		MPI_Send(result, f[FIELD_COUNT], type, f[FIELD_VRANK] + 1, a->id, mm->wire);
	else
		spread(result, f[FIELD_COUNT], type);
	free(x);
	free(y);
	free(result);
}

/* Only the root asks: nothing to match. */
static void broadcast(const struct request *r)
{
	const int bytes = r->field[FIELD_BYTES], id = next_id;
	void *data = memory((size_t)bytes);
	next_id = next_id < ID_LAST ? next_id + 1 : ID_FIRST;
	answer(r->from, id);
	take(data, bytes, r->from, id);
	spread(data, r->field[FIELD_COUNT], MPI_Type_f2c(r->field[FIELD_TYPE]));
	free(data);
}

static void serve(const struct request *r)
{
	const int kind = r->field[FIELD_KIND];
	if (kind == REQUEST_BCAST) {
		broadcast(r);
		return;
	}
	struct request *first = take_match(r);
	if (!first) {
		struct request *kept = add(r);
		if (kind != REQUEST_BARRIER) /* the answer to a barrier waits for the other group */
			answer(r->from, kept->id);
		return;
	}
	if (kind == REQUEST_BARRIER) {
		answer(first->from, first->id);
		answer(r->from, first->id);
	} else if (kind == REQUEST_SEND || kind == REQUEST_RECV) {
		forward_message(first, r);
	} else {
		reduce(first, r);
	}
	free(first);
}

void forwarder_run(const struct mmpi *m)
{
	mm = m;
	for (int left = m->size; left > 0;) {
		struct request r = {.next = NULL};
		MPI_Status status;
		MPI_Recv(r.field, REQUEST_FIELDS, MPI_INT, MPI_ANY_SOURCE, TAG_REQUEST, m->wire, &status);
		r.from = status.MPI_SOURCE - 1;
		if (r.field[FIELD_KIND] == REQUEST_END)
			left--;
		else
			serve(&r);
	}
	if (pending)
		fatal("rank %d waits for a transfer that nobody else asks for", pending->from);
}

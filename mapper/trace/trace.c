/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of a trace, and the graph that they make. See trace.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/graph/graph_model.h"
#include "common/graph/graph_writer.h"
#include "mapper/trace/trace.h"

#define LOW(key) ((uint32_t)((key)&UINT32_MAX))
#define HIGH(key) ((uint32_t)((key) >> 32))

static uint64_t pack(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* Says what the result of tallies_add means. */
static int told(int rc, struct zerr *err)
{
	if (rc == -ENOMEM)
		return zerr_set(err, rc, "not enough memory");
	if (rc == -E2BIG)
		return zerr_set(err, rc, "more than %zu pairs of ranks", TALLIES_MAX);
	return rc ? zerr_set(err, rc, "a sum of bytes, messages or times is 2^64 or more") : 0;
}

/* --- adding --- */

int trace_add_message(struct trace *t, uint32_t rank, enum zgraph_class class, uint32_t peer, uint64_t bytes,
	uint64_t messages, struct zerr *err)
{
	if (rank >= t->ranks || peer >= t->ranks)
		return zerr_set(err, -EINVAL, "a message from rank %u to %u of %u", rank, peer, t->ranks);
	return told(tallies_add(&t->messages, rank, pack((uint32_t) class, peer), bytes, messages), err);
}

int trace_add_time(struct trace *t, uint32_t rank, enum zgraph_span span, uint64_t calls, uint64_t ns, struct zerr *err)
{
	return told(tallies_add(&t->times, rank, (uint64_t)span, calls, ns), err);
}

bool trace_has_root(enum zgraph_kind kind)
{
	return kind == ZGRAPH_BCAST || kind == ZGRAPH_REDUCE || kind == ZGRAPH_GATHER || kind == ZGRAPH_GATHERV ||
	       kind == ZGRAPH_SCATTER || kind == ZGRAPH_SCATTERV;
}

/* One of n equal blocks; in place the own one is missing. */
static uint64_t block_of(uint64_t bytes, uint64_t n)
{
	return bytes % n == 0 || n == 1 || bytes % (n - 1) ? bytes / n : bytes / (n - 1);
}

/* Rank r of n in a scan sends n - r blocks and receives r + 1, or one less of each in place and in an exscan. In the
 * middle of an odd n the two cannot be told apart. */
static uint64_t scan_unit(const struct trace_call *c, uint64_t rank, uint64_t n)
{
	uint64_t unit = (c->sent + c->received) / (n + 1);

	if (c->kind == ZGRAPH_SCAN && c->sent == (n - rank) * unit && c->received == (rank + 1) * unit)
		return unit;
	return n > 1 ? (c->sent + c->received) / (n - 1) : 0;
}

uint64_t trace_unit(const struct trace_call *c, uint64_t place, uint64_t n, uint64_t *handed)
{
	bool is_root = place == c->root;
	uint64_t unit;

	switch (c->kind) {
	case ZGRAPH_BCAST:
		unit = c->received ? c->received : c->sent / n;
		*handed = is_root ? unit : 0;
		return unit;
	case ZGRAPH_SCATTER:
		unit = c->received ? c->received : block_of(c->sent, n);
		*handed = is_root ? n * unit : 0;
		return unit;
	case ZGRAPH_REDUCE:
	case ZGRAPH_GATHER:
	case ZGRAPH_GATHERV:
		*handed = c->sent ? c->sent : block_of(c->received, n);
		return *handed;
	case ZGRAPH_ALLREDUCE:
	case ZGRAPH_ALLGATHER:
		*handed = block_of(c->sent, n);
		return *handed;
	case ZGRAPH_ALLTOALL:
	case ZGRAPH_REDUCE_SCATTER_BLOCK:
		unit = block_of(c->sent, n);
		*handed = n * unit;
		return unit;
	case ZGRAPH_ALLGATHERV: /* all blocks but one, of which only the sum is known */
		*handed = c->sent / n;
		return c->received - c->received / n;
	case ZGRAPH_SCAN:
	case ZGRAPH_EXSCAN:
		*handed = scan_unit(c, place, n);
		return *handed;
	default:
		*handed = c->sent;
		return block_of(c->sent, n);
	}
}

uint32_t trace_place(const struct trace_comm *comm, uint32_t rank)
{
	uint32_t at = 0;

	if (rank < comm->n && comm->member[rank] == rank) /* as in the world */
		return rank;
	while (at < comm->n && comm->member[at] != rank)
		at++;
	return at;
}

int trace_add_call(struct trace *t, const struct trace_call *c, struct zerr *err)
{
	const struct trace_comm *comm = &t->comm[c->comm];
	uint32_t rank = trace_place(comm, c->rank), size = comm->n;
	uint64_t handed = 0, unit = 0;
	int rc;

	if (rank == comm->n)
		return zerr_set(err, -EINVAL, "a collective of rank %u on a communicator without it", c->rank);
	if (comm->first) /* counted by the size of the own group, but not decomposed */
		size = rank < comm->first ? comm->first : comm->n - comm->first;
	else if (trace_has_root(c->kind) && c->root >= size)
		return zerr_set(err, -EINVAL, "a collective with root %u on a communicator of %u", c->root, size);
	else
		unit = trace_unit(c, rank, size, &handed);
	rc = told(tallies_add(&t->calls, c->rank, pack((uint32_t)c->kind, size), 1, handed), err);
	if (rc || comm->first)
		return rc;
	if (c->kind == ZGRAPH_SCATTERV) /* the root knows only the sum of what it sends */
		return rank == c->root || !c->received
			       ? 0
			       : trace_add_message(t, comm->member[c->root], ZGRAPH_COLL, c->rank, c->received, 1, err);
	return told(tallies_add(&t->sums, pack(c->rank, c->comm),
			    pack((uint32_t)c->kind, trace_has_root(c->kind) ? c->root : 0), unit,
			    unit || c->kind == ZGRAPH_BARRIER),
		err);
}

/* --- collectives --- */

struct expansion {
	struct trace *t;
	const struct trace_comm *comm;
	uint32_t rank; /* of the world */
	uint64_t units, calls;
	int rc;
	struct zerr *err;
};

static void message_emit(void *arg, int peer, uint64_t blocks, uint64_t messages)
{
	struct expansion *e = arg;
	uint64_t bytes;

	if (!e->rc && (__builtin_mul_overflow(blocks, e->units, &bytes) ||
			      __builtin_mul_overflow(messages, e->calls, &messages)))
		e->rc = told(-EOVERFLOW, e->err);
	else if (!e->rc)
		e->rc = trace_add_message(e->t, e->rank, ZGRAPH_COLL, e->comm->member[peer], bytes, messages, e->err);
}

/* The kind by whose algorithm the messages go: where only the sum over all peers is known, each gets the same. */
static enum zgraph_kind model_of(enum zgraph_kind kind)
{
	return kind == ZGRAPH_ALLTOALLV || kind == ZGRAPH_ALLTOALLW || kind == ZGRAPH_REDUCE_SCATTER ? ZGRAPH_ALLTOALL
												     : kind;
}

int trace_finish(struct trace *t, struct zerr *err)
{
	struct expansion e = {.t = t, .err = err};

	tallies_sort(&t->sums);
	for (size_t i = 0; i < t->sums.n && !e.rc; i++) {
		const struct tally *s = &t->sums.at[i];

		if (!s->sum[1])
			continue;
		e.comm = &t->comm[LOW(s->key[0])];
		e.rank = HIGH(s->key[0]);
		e.units = s->sum[0];
		e.calls = s->sum[1];
		zgraph_model(model_of((enum zgraph_kind)HIGH(s->key[1])), (int)trace_place(e.comm, e.rank),
			(int)e.comm->n, (int)LOW(s->key[1]), message_emit, &e);
	}
	tallies_sort(&t->messages);
	tallies_sort(&t->calls);
	tallies_sort(&t->times);
	return e.rc;
}

/* --- the graph --- */

static bool takes(const struct zgraph_select *select, uint32_t class)
{
	return !select->classes || select->classes >> class & 1;
}

/* The arrays of a row, as long as the longest one, and where the next row begins in each table. */
struct rows {
	struct zgraph_run *runs;
	struct zgraph_call *calls;
	struct zgraph_time *times;
	size_t message, call, time;
};

/* The entries of the longest row of a table. */
static size_t longest_row(const struct tallies *t)
{
	size_t longest = 0;

	for (size_t i = 0, n = 0; i < t->n; i++) {
		n = i && t->at[i].key[0] == t->at[i - 1].key[0] ? n + 1 : 1;
		longest = n > longest ? n : longest;
	}
	return longest;
}

static void row_make(const struct trace *t, struct rows *r, uint32_t rank, const struct zgraph_select *select,
	struct zgraph_row *row)
{
	*row = (struct zgraph_row){.runs = r->runs, .calls = r->calls, .times = r->times, .timed = t->times.n > 0};
	for (; r->message < t->messages.n && t->messages.at[r->message].key[0] == rank; r->message++) {
		const struct tally *m = &t->messages.at[r->message];

		if (takes(select, HIGH(m->key[1])))
			r->runs[row->nruns++] = (struct zgraph_run){1, (enum zgraph_class)HIGH(m->key[1]),
				LOW(m->key[1]), 1, m->sum[0], m->sum[1]};
	}
	for (; r->call < t->calls.n && t->calls.at[r->call].key[0] == rank; r->call++) {
		const struct tally *c = &t->calls.at[r->call];

		r->calls[row->ncalls++] = (struct zgraph_call){1, (enum zgraph_kind)HIGH(c->key[1]), LOW(c->key[1]),
			c->sum[0], c->sum[1]};
	}
	for (; r->time < t->times.n && t->times.at[r->time].key[0] == rank; r->time++) {
		const struct tally *s = &t->times.at[r->time];

		r->times[row->ntimes++] = (struct zgraph_time){1, (enum zgraph_span)s->key[1], s->sum[0], s->sum[1]};
	}
}

static int rows_write(const struct trace *t, struct zgraph_writer *w, const struct zgraph_select *select,
	struct zerr *err)
{
	struct rows r = {.runs = malloc((longest_row(&t->messages) + 1) * sizeof(*r.runs)),
		.calls = malloc((longest_row(&t->calls) + 1) * sizeof(*r.calls)),
		.times = malloc((longest_row(&t->times) + 1) * sizeof(*r.times))};
	int rc = r.runs && r.calls && r.times ? 0 : -ENOMEM;

	for (uint32_t rank = 0; rank < t->ranks && !rc; rank++) {
		struct zgraph_row row;
		uint8_t *bytes;
		size_t len;

		row_make(t, &r, rank, select, &row);
		rc = zgraph_writer_encode(&row, &bytes, &len);
		if (rc)
			break;
		rc = zgraph_writer_row(w, bytes, len, err);
		free(bytes);
	}
	free(r.runs);
	free(r.calls);
	free(r.times);
	return rc == -ENOMEM ? told(rc, err) : rc;
}

int trace_save(const struct trace *t, const char *path, const struct zgraph_select *select, struct zerr *err)
{
	struct zgraph_writer *w;
	int rc = zgraph_writer_open(&w, path, t->ranks, ZGRAPH_MODEL, "", t->times.n > 0, err);

	if (rc)
		return rc;
	rc = rows_write(t, w, select, err);
	if (!rc)
		return zgraph_writer_close(w, err);
	zgraph_writer_abandon(w);
	return rc;
}

int trace_build(const struct trace *t, const struct zgraph_select *select, struct zgraph **out, struct zerr *err)
{
	struct zgraph_edge *edges = malloc((t->messages.n + 1) * sizeof(*edges));
	size_t n = 0;
	int rc;

	*out = NULL;
	if (!edges)
		return told(-ENOMEM, err);
	for (size_t i = 0; i < t->messages.n; i++) {
		const struct tally *m = &t->messages.at[i];
		uint32_t rank = (uint32_t)m->key[0], peer = LOW(m->key[1]);
		bool back = HIGH(m->key[1]) == ZGRAPH_GET;

		if (takes(select, HIGH(m->key[1])))
			edges[n++] = (struct zgraph_edge){back ? peer : rank, back ? rank : peer, m->sum[0], m->sum[1]};
	}
	rc = zgraph_build(out, t->ranks, edges, n, select->keep_self, err);
	free(edges);
	return rc;
}

void trace_free(struct trace *t)
{
	for (uint32_t i = 0; i < t->comms; i++)
		free(t->comm[i].member);
	free(t->comm);
	tallies_free(&t->messages);
	tallies_free(&t->sums);
	tallies_free(&t->calls);
	tallies_free(&t->times);
	*t = (struct trace){0};
}

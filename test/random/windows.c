/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A window on a communicator: some epochs of all kinds, in which every rank moves data to or from every other one.
 *
 * Each target has a cell for each origin, which only that one writes, and some sums, to which all add. In one epoch
 * cells are either written or read, so that what is read is determined.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topics.h"
#include "trace.h"
#include "types.h"

#define CELL 256 /* bytes */
#define SUMS 8	 /* numbers of 8 bytes, behind the cells */
enum epoch { FENCE, PSCW, LOCK, LOCK_ALL, EPOCHS };
enum work { WRITE, READ, ADD, FETCH, WORKS };
static const char *const epochs[] = {"fence", "pscw", "lock", "lock_all"};

struct window {
	const struct model_comm *comm;
	int n, me, unit;
	MPI_Win win;
	char *memory;
	size_t bytes;
	bool allocated;
};
/* What an origin has on the way until the epoch ends. */
struct cargo {
	int n;
	struct buffer buffer[MOST_RANKS];
	MPI_Datatype type[MOST_RANKS];
	long sums[MOST_RANKS][SUMS], fetched[MOST_RANKS][SUMS];
};

static int epoch_count(const struct op *op)
{
	struct draw d = draw_from(op->seed, 1);
	return draw_between(&d, 1, 4);
}

static struct draw epoch_draw(const struct op *op, int index, enum epoch *epoch, enum work *work)
{
	struct draw d = draw_from(op->seed, 10 + index);
	*epoch = draw_below(&d, EPOCHS);
	*work = draw_below(&d, WORKS);
	return d;
}

static void make(struct window *w, const struct op *op)
{
	struct draw d = draw_from(op->seed, 2);
	MPI_Comm comm = w->comm->handle;
	w->unit = draw_chance(&d, 50) ? 8 : 1;
	w->bytes = (size_t)w->n * CELL + SUMS * 8;
	w->allocated = draw_chance(&d, 40);
	if (w->allocated) {
		TRY(MPI_Win_allocate(w->bytes, w->unit, MPI_INFO_NULL, comm, &w->memory, &w->win));
	} else {
		w->memory = malloc(w->bytes);
		TRY(MPI_Win_create(w->memory, w->bytes, w->unit, MPI_INFO_NULL, comm, &w->win));
	}
	TRY(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->me, 0, w->win));
	memset(w->memory, 1 + w->me, w->bytes);
	TRY(MPI_Win_unlock(w->me, w->win));
	TRY(MPI_Barrier(comm));
}

static MPI_Aint at(const struct window *w, size_t bytes)
{
	return (MPI_Aint)(bytes / w->unit);
}

/* --- the work of one origin at one target */
static void move_cell(struct window *w, struct cargo *c, int target, enum work work, uint64_t seed, bool passive)
{
	struct draw d = draw_from(seed, 50 + target), own = draw_from(seed, 70 + target + 100 * w->me);
	struct unit unit = types_unit(&d, 40);
	int n = draw_between(&d, 1, 3), count, cell = work == WRITE ? w->me : draw_below(&own, w->n);
	MPI_Aint displ = at(w, (size_t)cell * CELL);
	MPI_Datatype type = types_pieces(&own, &unit, n, &count);
	int bytes = types_unit_size(&unit) * n, how = draw_below(&own, passive ? 4 : 2);
	struct buffer *b = &c->buffer[target];
	MPI_Request r = MPI_REQUEST_NULL;
	bool plain = types_is_plain(&unit); /* then the target knows its elements; otherwise they are bytes */
	MPI_Datatype there = plain ? unit.basic[0] : MPI_BYTE;
	int there_count = plain ? unit.count[0] * n : bytes;
	if (!plain) {
		types_free(&type);
		type = MPI_BYTE;
		count = bytes;
	}
	*b = buffer_for(type, count, draw_next(&own));
	c->type[target] = type;
	if (work == WRITE && how == 0)
		TRY(MPI_Put(b->at, count, type, target, displ, there_count, there, w->win));
	else if (work == WRITE && how == 1)
		TRY(MPI_Accumulate(b->at, count, type, target, displ, there_count, there, MPI_REPLACE, w->win));
	else if (work == WRITE)
		TRY(MPI_Rput(b->at, count, type, target, displ, there_count, there, w->win, &r));
	else if (how < 2)
		TRY(MPI_Get(b->at, count, type, target, displ, there_count, there, w->win));
	else
		TRY(MPI_Rget(b->at, count, type, target, displ, there_count, there, w->win, &r));
	if (r != MPI_REQUEST_NULL)
		TRY(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

static void add(struct window *w, struct cargo *c, int target, enum work work, uint64_t seed)
{
	struct draw d = draw_from(seed, 90 + target + 100 * w->me);
	MPI_Aint displ = at(w, (size_t)w->n * CELL);
	for (int i = 0; i < SUMS; i++)
		c->sums[target][i] = draw_between(&d, 1, 1000);
	if (work == ADD) {
		TRY(MPI_Accumulate(c->sums[target], SUMS / 2, MPI_LONG, target, displ, SUMS / 2, MPI_LONG, MPI_SUM,
			w->win));
		TRY(MPI_Accumulate(c->sums[target] + SUMS / 2, SUMS / 2, MPI_LONG, target, displ + at(w, SUMS / 2 * 8),
			SUMS / 2, MPI_LONG, MPI_BXOR, w->win));
		return;
	}
	/* what each one fetches depends on the order, but the sum at the end does not */
	TRY(MPI_Fetch_and_op(c->sums[target], c->fetched[target], MPI_LONG, target, displ, MPI_SUM, w->win));
	TRY(MPI_Get_accumulate(c->sums[target] + 1, 2, MPI_LONG, c->fetched[target] + 1, 2, MPI_LONG, target,
		displ + at(w, 8), 2, MPI_LONG, MPI_SUM, w->win));
}

static void work_at(struct window *w, struct cargo *c, int target, enum work work, uint64_t seed, bool passive)
{
	if (work == WRITE || work == READ)
		move_cell(w, c, target, work, seed, passive);
	else
		add(w, c, target, work, seed);
}

static void unload(struct window *w, struct cargo *c, enum work work)
{
	for (int t = 0; t < w->n && work <= READ; t++) {
		buffer_trace(&c->buffer[t], work == READ ? "got" : "put");
		buffer_free(&c->buffer[t]);
		types_free(&c->type[t]);
	}
	memset(c, 0, sizeof *c);
}

/* --- epochs */
static void fenced(struct window *w, struct cargo *c, enum work work, uint64_t seed)
{
	TRY(MPI_Win_fence(0, w->win));
	for (int t = 0; t < w->n; t++)
		work_at(w, c, t, work, seed, false);
	TRY(MPI_Win_fence(seed & 1 ? MPI_MODE_NOSUCCEED : 0, w->win));
}

static void pscw(struct window *w, struct cargo *c, enum work work, uint64_t seed)
{
	MPI_Group all;
	int flag = 0;
	TRY(MPI_Win_get_group(w->win, &all));
	TRY(MPI_Win_post(all, 0, w->win));
	TRY(MPI_Win_start(all, 0, w->win));
	for (int t = w->n - 1; t >= 0; t--)
		work_at(w, c, t, work, seed, false);
	TRY(MPI_Win_complete(w->win));
	if (seed & 1)
		TRY(MPI_Win_wait(w->win));
	else
		while (!flag)
			TRY(MPI_Win_test(w->win, &flag));
	TRY(MPI_Group_free(&all));
}

static void locked(struct window *w, struct cargo *c, enum work work, uint64_t seed)
{
	struct draw d = draw_from(seed, 30 + w->me);
	for (int i = 0; i < w->n; i++) {
		int t = (i + w->me) % w->n;
		TRY(MPI_Win_lock(draw_chance(&d, 50) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, t, 0, w->win));
		work_at(w, c, t, work, seed, true);
		if (draw_chance(&d, 30))
			TRY(MPI_Win_flush(t, w->win));
		TRY(MPI_Win_unlock(t, w->win));
	}
}

static void locked_all(struct window *w, struct cargo *c, enum work work, uint64_t seed)
{
	struct draw d = draw_from(seed, 30 + w->me);
	TRY(MPI_Win_lock_all(0, w->win));
	for (int t = 0; t < w->n; t++) {
		work_at(w, c, t, work, seed, true);
		if (draw_chance(&d, 20))
			TRY(MPI_Win_flush(t, w->win));
		else if (draw_chance(&d, 20))
			TRY(MPI_Win_flush_local(t, w->win));
	}
	if (draw_chance(&d, 50))
		TRY(MPI_Win_flush_all(w->win));
	TRY(MPI_Win_unlock_all(w->win));
}

static void look_at(struct window *w)
{
	TRY(MPI_Barrier(w->comm->handle));
	TRY(MPI_Win_lock(MPI_LOCK_SHARED, w->me, 0, w->win));
	trace_bytes(w->memory, w->bytes, "memory");
	TRY(MPI_Win_unlock(w->me, w->win));
	TRY(MPI_Barrier(w->comm->handle));
}

static void run_op(struct op *op)
{
	static void (*const run[])(struct window *, struct cargo *, enum work, uint64_t) = {fenced, pscw, locked,
		locked_all};
	struct window w = {.comm = &model.comm[op->comm]};
	struct cargo *c = calloc(1, sizeof *c);
	w.n = w.comm->side[0].n;
	w.me = model_rank(w.comm);
	make(&w, op);
	for (int i = 0; i < epoch_count(op); i++) {
		enum epoch epoch;
		enum work work;
		struct draw d = epoch_draw(op, i, &epoch, &work);
		run[epoch](&w, c, work, draw_next(&d));
		unload(&w, c, work);
		look_at(&w);
	}
	TRY(MPI_Win_free(&w.win));
	if (!w.allocated)
		free(w.memory);
	free(c);
}

static bool draw_op(struct op *op, struct draw *d)
{
	static const char *const works[] = {"write", "read", "add", "fetch"};
	char name[80];
	int n;
	op->comm = model_pick(d, model_is_intra);
	n = snprintf(op->text, sizeof op->text, "window on %s:", model_name(op->comm, name));
	for (int i = 0; i < epoch_count(op); i++) {
		enum epoch epoch;
		enum work work;
		epoch_draw(op, i, &epoch, &work);
		n += snprintf(op->text + n, sizeof op->text - n, " %s %s", epochs[epoch], works[work]);
	}
	return true;
}

const struct topic topic_windows = {.name = "windows", .weight = 6, .draw = draw_op, .run = run_op};

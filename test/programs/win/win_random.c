/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random operations on a window, between fences, in locks, or between post and wait, compared with the expected values:
 * each rank knows the operations of all ranks from one seed. No value that is written in a round is read in it; only
 * sums overlap. usage: win_random [SEED] twin: one_sided=yes external32=yes endpoints=2
 */
#include "../check.h"

#define SLOTS 96
#define ROUNDS 24
#define OPERATIONS 32 /* of all ranks, in a round */
#define RANKS_MAX 32
#define LONGEST 24

enum how { FENCE, LOCK, LOCK_ALL, PSCW, HOWS };
enum what { PUT, GET, SUM, FETCH_SUM, REPLACE, FETCH, WHATS };
enum shape { ROW, STRIDE, BACKWARDS, SHAPES };
enum state { UNTOUCHED, READ, WRITTEN, SUMMED };

struct operation {
	enum what what;
	enum shape shape;
	int origin, target, start, n, step; /* slots start + i * step */
	int64_t first;			    /* value i is first + i */
	int by_request;
};

static int64_t model[RANKS_MAX][SLOTS], before[RANKS_MAX][SLOTS], *memory;
static enum state state[RANKS_MAX][SLOTS];
static struct operation operation[OPERATIONS];
static int64_t in[OPERATIONS][LONGEST], out[OPERATIONS][LONGEST];
static MPI_Request request[OPERATIONS];
static uint32_t seed = 20240229;
static MPI_Win win;

static int pick(int below)
{
	return (int)(next_random(&seed) >> 8) % below;
}

/* --- what is to be done, the same in all ranks --- */

static enum state wanted(enum what what)
{
	return what == GET || what == FETCH ? READ : what == SUM || what == FETCH_SUM ? SUMMED : WRITTEN;
}

static int slot(const struct operation *o, int i)
{
	return o->start + i * o->step;
}

static int possible(const struct operation *o)
{
	enum state s = wanted(o->what);

	for (int i = 0; i < o->n; i++) {
		enum state was = state[o->target][slot(o, i)];
		if (was != UNTOUCHED && (was != s || s == WRITTEN))
			return 0;
	}
	return 1;
}

static void apply(const struct operation *o)
{
	for (int i = 0; i < o->n; i++) {
		int64_t *m = &model[o->target][slot(o, i)];
		state[o->target][slot(o, i)] = wanted(o->what);
		if (wanted(o->what) == WRITTEN)
			*m = o->first + i;
		if (wanted(o->what) == SUMMED)
			*m += o->first + i;
	}
}

static void invent(struct operation *o)
{
	do {
		o->what = (enum what)pick(WHATS);
		o->shape = (enum shape)pick(SHAPES);
		o->origin = pick(size);
		o->target = pick(size);
		o->n = 1 + pick(pick(3) ? 6 : LONGEST);
		o->step = o->shape == ROW ? 1 : o->shape == STRIDE ? 2 + pick(2) : -1;
		o->start =
			o->shape == BACKWARDS ? o->n - 1 + pick(SLOTS - o->n + 1) : pick(SLOTS - (o->n - 1) * o->step);
		o->first = (int64_t)pick(1 << 20) << pick(30);
		o->by_request = pick(3) == 0;
	} while (!possible(o));
	apply(o);
}

/* --- doing it --- */

static MPI_Datatype type_of(const struct operation *o)
{
	int disps[LONGEST];
	MPI_Datatype t;

	for (int i = 0; i < o->n; i++)
		disps[i] = i * o->step;
	if (o->shape == ROW)
		MPI_Type_contiguous(o->n, MPI_INT64_T, &t);
	else if (o->shape == STRIDE)
		MPI_Type_vector(o->n, 1, o->step, MPI_INT64_T, &t);
	else
		MPI_Type_create_indexed_block(o->n, 1, disps, MPI_INT64_T, &t);
	MPI_Type_commit(&t);
	return t;
}

static void plainly(const struct operation *o, int64_t *give, int64_t *take, MPI_Datatype t)
{
	switch (o->what) {
	case PUT:
		MPI_Put(give, o->n, MPI_INT64_T, o->target, o->start, 1, t, win);
		break;
	case GET:
		MPI_Get(take, o->n, MPI_INT64_T, o->target, o->start, 1, t, win);
		break;
	case SUM:
		MPI_Accumulate(give, o->n, MPI_INT64_T, o->target, o->start, 1, t, MPI_SUM, win);
		break;
	case REPLACE:
		MPI_Accumulate(give, o->n, MPI_INT64_T, o->target, o->start, 1, t, MPI_REPLACE, win);
		break;
	default:
		MPI_Get_accumulate(give, o->n, MPI_INT64_T, take, o->n, MPI_INT64_T, o->target, o->start, 1, t,
			o->what == FETCH ? MPI_NO_OP : MPI_SUM, win);
	}
}

static void by_request(const struct operation *o, int64_t *give, int64_t *take, MPI_Datatype t, MPI_Request *r)
{
	switch (o->what) {
	case PUT:
		MPI_Rput(give, o->n, MPI_INT64_T, o->target, o->start, 1, t, win, r);
		break;
	case GET:
		MPI_Rget(take, o->n, MPI_INT64_T, o->target, o->start, 1, t, win, r);
		break;
	case SUM:
		MPI_Raccumulate(give, o->n, MPI_INT64_T, o->target, o->start, 1, t, MPI_SUM, win, r);
		break;
	case REPLACE:
		MPI_Raccumulate(give, o->n, MPI_INT64_T, o->target, o->start, 1, t, MPI_REPLACE, win, r);
		break;
	default:
		MPI_Rget_accumulate(give, o->n, MPI_INT64_T, take, o->n, MPI_INT64_T, o->target, o->start, 1, t,
			o->what == FETCH ? MPI_NO_OP : MPI_SUM, win, r);
	}
}

/* Requests are for passive targets only. */
static void perform(int i, enum how how)
{
	const struct operation *o = &operation[i];
	MPI_Datatype t = type_of(o);

	for (int k = 0; k < o->n; k++) {
		out[i][k] = o->first + k;
		in[i][k] = -1;
	}
	if (how == LOCK)
		MPI_Win_lock(pick(2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, o->target, 0, win);
	if (o->by_request && (how == LOCK || how == LOCK_ALL))
		by_request(o, out[i], in[i], t, &request[i]);
	else
		plainly(o, out[i], in[i], t);
	MPI_Type_free(&t);
	if (how == LOCK_ALL && pick(4) == 0)
		MPI_Win_flush(o->target, win);
	if (how == LOCK)
		MPI_Win_unlock(o->target, win);
}

static void begin_round(int round, enum how how, MPI_Group all)
{
	if (how == FENCE)
		MPI_Win_fence(round % 8 ? MPI_MODE_NOPRECEDE : 0, win);
	if (how == LOCK || how == LOCK_ALL)
		MPI_Barrier(WORLD);
	if (how == LOCK_ALL)
		MPI_Win_lock_all(0, win);
	if (how == PSCW) {
		MPI_Win_post(all, 0, win);
		MPI_Win_start(all, 0, win);
	}
}

static void end_round(enum how how)
{
	MPI_Waitall(OPERATIONS, request, MPI_STATUSES_IGNORE);
	if (how == FENCE)
		MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	if (how == LOCK_ALL)
		MPI_Win_unlock_all(win);
	if (how == PSCW) {
		MPI_Win_complete(win);
		MPI_Win_wait(win);
	}
	MPI_Barrier(WORLD);
}

/* --- comparing it --- */

static void compare_memory(int round, enum how how)
{
	int wrong = 0;

	MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
	for (int s = 0; s < SLOTS; s++)
		if (memory[s] != model[rank][s] && wrong++ == 0)
			CHECK(0, "round %d (%d), slot %d is %lld, not %lld", round, how, s, (long long)memory[s],
				(long long)model[rank][s]);
	MPI_Win_unlock(rank, win);
	CHECK(wrong == 0, "round %d (%d): %d are wrong", round, how, wrong);
}

static void compare_fetched(int round, enum how how)
{
	for (int i = 0; i < OPERATIONS; i++) {
		const struct operation *o = &operation[i];
		if (o->origin != rank || (o->what != GET && o->what != FETCH))
			continue;
		for (int k = 0; k < o->n; k++)
			CHECK(in[i][k] == before[o->target][slot(o, k)],
				"round %d (%d), operation %d: %d is %lld, not %lld", round, how, i, k,
				(long long)in[i][k], (long long)before[o->target][slot(o, k)]);
	}
}

static void one_round(int round, MPI_Group all)
{
	enum how how = (enum how)(round % HOWS);

	memcpy(before, model, sizeof(model));
	memset(state, 0, sizeof(state));
	for (int i = 0; i < OPERATIONS; i++) {
		invent(&operation[i]);
		request[i] = MPI_REQUEST_NULL;
	}
	uint32_t common = seed;
	seed += (uint32_t)rank * 77; /* from here on each for itself */
	begin_round(round, how, all);
	for (int i = 0; i < OPERATIONS; i++)
		if (operation[i].origin == rank)
			perform(i, how);
	end_round(how);
	seed = common;
	compare_memory(round, how);
	compare_fetched(round, how);
	MPI_Barrier(WORLD);
}

int main(int argc, char **argv)
{
	MPI_Group all;

	begin(&argc, &argv);
	if (argc > 1)
		seed = (uint32_t)atoi(argv[1]);
	MPI_Win_allocate(SLOTS * 8, 8, MPI_INFO_NULL, WORLD, &memory, &win);
	MPI_Win_get_group(win, &all);
	for (int r = 0; r < size; r++)
		for (int s = 0; s < SLOTS; s++)
			model[r][s] = 1000 * r + s;
	memcpy(memory, model[rank], SLOTS * 8);
	MPI_Barrier(WORLD);
	for (int round = 0; round < ROUNDS; round++)
		one_round(round, all);
	printf("rank %d: digest %08x\n", rank, (unsigned)digest(memory, SLOTS * 8));
	MPI_Group_free(&all);
	MPI_Win_free(&win);
	return end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schedules that libzip makes of plans (libzip/coll/across/plan.h), proved by carrying out those of all ranks:
 * messages between two ranks meet in the order in which they were begun, native broadcasts in that of each part's
 * members, and everything is as late as it may be. No rank waits for ever; a block is there before it is sent, and
 * enters each part once; all ranks have all blocks in the end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* alone, over fakes of what it calls of the engine */
#include "libzip/coll/across/plan.c"

#define PARTS_MAX 9
#define RANKS_MAX 40
#define PIECES_MAX 40

enum kind { MESSAGE_OUT, MESSAGE_IN, NATIVE, CLOSE };

struct step {
	enum kind kind;
	int round, peer; /* NATIVE: the root's rank in the shadow; CLOSE: number of the step */
	char *at, *sent; /* sent: what was there when it began */
	MPI_Count bytes;
	bool open, begun, done;
};

struct zsched { /* of one rank */
	struct zcomm comm;
	struct step *steps;
	int n, room, round;
	int begin, end; /* the round that runs */
	void *memory[16];
	int nmemory;
	struct zplan_piece pieces[PIECES_MAX];
};

struct zworld zworld;
static struct zplace places[RANKS_MAX];
static struct zsched ranks[RANKS_MAX];
static int nranks, npieces;
static struct zcomm_part parts[PARTS_MAX];
static int members[RANKS_MAX], shadow_of[RANKS_MAX], identity[RANKS_MAX];
static char *content[PIECES_MAX];
static MPI_Count entered[PARTS_MAX]; /* bytes that came into the part in messages */

static uint64_t seed = 25;

static int draw(int below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((seed >> 33) % (uint64_t)below);
}

struct zcomm *zsched_comm(const struct zsched *s)
{
	return (struct zcomm *)(uintptr_t)&s->comm;
}

struct zcomm *zsched_inter(const struct zsched *s)
{
	(void)s;
	return NULL;
}

void *zsched_alloc(struct zsched *s, size_t bytes)
{
	assert_true(s->nmemory < 16);
	return s->memory[s->nmemory++] = malloc(bytes);
}

static int add(struct zsched *s, enum kind kind, char *at, MPI_Count bytes, int peer)
{
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->steps = realloc(s->steps, (size_t)s->room * sizeof *s->steps);
		assert_non_null(s->steps);
	}
	s->steps[s->n++] =
		(struct step){.kind = kind, .round = s->round, .peer = peer, .at = at, .bytes = bytes, .sent = NULL};
	return MPI_SUCCESS;
}

int zstep_send(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, int dest)
{
	assert_true(type == MPI_BYTE && count > 0);
	return add(s, MESSAGE_OUT, (char *)(uintptr_t)buf, count, dest);
}

int zstep_recv(struct zsched *s, void *buf, MPI_Count count, MPI_Datatype type, int source)
{
	assert_true(type == MPI_BYTE && count > 0);
	return add(s, MESSAGE_IN, buf, count, source);
}

int zinside_bcast(struct zsched *s, void *buf, MPI_Count count, MPI_Datatype type, int root)
{
	assert_true(type == MPI_BYTE && count > 0);
	return add(s, NATIVE, buf, count, root);
}

int zstep_open(struct zsched *s)
{
	s->steps[s->n - 1].open = true;
	return s->n - 1;
}

int zstep_close(struct zsched *s, int step)
{
	assert_true(step < s->n && s->steps[step].open);
	return add(s, CLOSE, NULL, 0, step);
}

void zsched_round(struct zsched *s)
{
	s->round++;
}

/* --- the ranks of so many parts, in any order */

static void make_ranks(int nparts, int most)
{
	int count[PARTS_MAX], part[RANKS_MAX], next[PARTS_MAX] = {0}, n = 0, order[PARTS_MAX], known = 0;
	nranks = npieces = 0;
	for (int p = 0; p < nparts; p++) {
		count[p] = 1 + draw(most);
		for (int i = 0; i < count[p]; i++)
			part[nranks++] = p;
	}
	for (int i = nranks - 1; i > 0 && draw(2); i--) { /* or interleaved */
		int j = draw(i + 1), other = part[j];
		part[j] = part[i];
		part[i] = other;
	}
	for (int r = 0; r < nranks; r++) { /* parts in the order of their lowest rank */
		int i = 0;
		while (i < known && order[i] != part[r])
			i++;
		if (i == known)
			order[known++] = part[r];
		places[r].part = (uint32_t)part[r];
		identity[r] = r;
	}
	zworld.place = places;
	for (int i = 0; i < nparts; i++) {
		parts[i] = (struct zcomm_part){.part = order[i], .count = count[order[i]], .member = &members[n]};
		n += count[order[i]];
		for (int r = 0; r < nranks; r++) {
			if (part[r] != order[i])
				continue;
			shadow_of[r] = next[i];
			parts[i].member[next[i]++] = r;
		}
		parts[i].leader = parts[i].member[0];
	}
	for (int r = 0; r < nranks; r++) {
		struct zcomm *c = &ranks[r].comm;
		ranks[r] = (struct zsched){.n = 0};
		*c = (struct zcomm){.size = nranks, .rank = r, .vrank = identity, .parts = parts, .nparts = nparts};
		while (parts[c->my_part].part != part[r])
			c->my_part++;
		c->nlocal = parts[c->my_part].count;
		c->shadow_rank = shadow_of; /* of my own part alone that is right */
	}
}

static int leaders_most(int nparts)
{
	int least = parts[0].count;
	for (int p = 1; p < nparts; p++)
		least = parts[p].count < least ? parts[p].count : least;
	return least;
}

static int part_number(int rank)
{
	return ranks[rank].comm.my_part;
}

/* A piece with what is to be in it: at its root, and room for it in all other parts. */
static void add_piece(int root, int number, MPI_Count bytes)
{
	int k = npieces++;
	content[k] = malloc((size_t)bytes + 1);
	for (MPI_Count i = 0; i < bytes; i++)
		content[k][i] = (char)(1 + draw(255));
	for (int r = 0; r < nranks; r++) {
		struct zplan_piece *piece = &ranks[r].pieces[k];
		*piece = (struct zplan_piece){.root = root, .number = number, .bytes = bytes};
		if (r != root && part_number(r) == part_number(root))
			continue;
		piece->wire = calloc((size_t)bytes + 1, 1);
		if (r == root)
			memcpy(piece->wire, content[k], (size_t)bytes);
	}
}

static void free_all(void)
{
	for (int k = 0; k < npieces; k++)
		free(content[k]);
	for (int r = 0; r < nranks; r++) {
		for (int k = 0; k < npieces; k++)
			free(ranks[r].pieces[k].wire);
		for (int i = 0; i < ranks[r].nmemory; i++)
			free(ranks[r].memory[i]);
		free(ranks[r].steps);
	}
	npieces = 0;
}

/* --- carrying out */

/* The first step of that kind and peer that is begun and not done. */
static struct step *first_begun(struct zsched *s, enum kind kind, int peer)
{
	for (int i = 0; i < s->end; i++) {
		struct step *t = &s->steps[i];
		if (t->kind == kind && t->peer == peer && t->begun && !t->done)
			return t;
	}
	return NULL;
}

static void begin(struct step *t)
{
	t->begun = true;
	if (t->kind != MESSAGE_OUT)
		return;
	t->sent = malloc((size_t)t->bytes);
	memcpy(t->sent, t->at, (size_t)t->bytes);
	for (MPI_Count i = 0; i < t->bytes; i++)
		assert_true(t->sent[i] != 0); /* it has it */
}

/* Begins the next round if this one is over. */
static bool go_on(struct zsched *s)
{
	for (int i = s->begin; i < s->end; i++) {
		struct step *t = &s->steps[i];
		if (t->kind == CLOSE)
			t->done = s->steps[t->peer].done;
		if (!t->done && !t->open)
			return false;
	}
	if (s->end == s->n)
		return false;
	s->begin = s->end;
	while (s->end < s->n && s->steps[s->end].round == s->steps[s->begin].round)
		begin(&s->steps[s->end++]);
	return true;
}

/* A message between these that both have begun. */
static bool deliver(int from, int to)
{
	struct step *out = first_begun(&ranks[from], MESSAGE_OUT, to), *in = first_begun(&ranks[to], MESSAGE_IN, from);
	if (!out || !in)
		return false;
	assert_int_equal(out->bytes, in->bytes);
	for (MPI_Count i = 0; i < in->bytes; i++)
		assert_int_equal(in->at[i], 0); /* it has it not */
	memcpy(in->at, out->sent, (size_t)in->bytes);
	free(out->sent);
	out->done = in->done = true;
	assert_int_not_equal(part_number(from), part_number(to));
	entered[part_number(to)] += in->bytes;
	return true;
}

static struct step *native_begun(struct zsched *s)
{
	for (int i = 0; i < s->end; i++)
		if (s->steps[i].kind == NATIVE && s->steps[i].begun && !s->steps[i].done)
			return &s->steps[i];
	return NULL;
}

/* The next native broadcast of a part, when all its members have begun it. */
static bool spread(int p)
{
	struct step *of[RANKS_MAX];
	for (int i = 0; i < parts[p].count; i++)
		if (!(of[i] = native_begun(&ranks[parts[p].member[i]])))
			return false;
	const struct step *root = of[of[0]->peer];
	for (int i = 0; i < parts[p].count; i++) {
		assert_int_equal(of[i]->bytes, root->bytes);
		assert_int_equal(of[i]->peer, root->peer);
		if (of[i] != root)
			memcpy(of[i]->at, root->at, (size_t)root->bytes);
		of[i]->done = true;
	}
	return true;
}

static bool anything(void)
{
	int first = draw(nranks), nparts = ranks[0].comm.nparts;
	for (int i = 0; i < nranks; i++)
		if (go_on(&ranks[(first + i) % nranks]))
			return true;
	for (int p = 0; p < nparts; p++)
		if (spread(p))
			return true;
	for (int i = 0; i < nranks; i++)
		for (int r = 0; r < nranks; r++)
			if (deliver((first + i) % nranks, r))
				return true;
	return false;
}

static void check_end(void)
{
	int nparts = ranks[0].comm.nparts;
	for (int r = 0; r < nranks; r++) {
		assert_int_equal(ranks[r].end, ranks[r].n);
		for (int i = 0; i < ranks[r].n; i++)
			assert_true(ranks[r].steps[i].done);
		for (int k = 0; k < npieces; k++) {
			const struct zplan_piece *piece = &ranks[r].pieces[k];
			if (piece->wire)
				assert_memory_equal(piece->wire, content[k], (size_t)piece->bytes);
		}
	}
	for (int p = 0; p < nparts; p++) {
		MPI_Count once = 0;
		for (int k = 0; k < npieces; k++)
			once += part_number(ranks[0].pieces[k].root) == p ? 0 : ranks[0].pieces[k].bytes;
		assert_int_equal(entered[p], once);
	}
}

static void carry_out_plans(int leaders, const struct ztuning_settings *tune, int absent)
{
	memset(entered, 0, sizeof entered);
	for (int r = 0; r < nranks; r++)
		if (part_number(r) != absent || r == ranks[r].pieces[0].root)
			assert_int_equal(zplan_build(&ranks[r], ranks[r].pieces, npieces, leaders, tune), MPI_SUCCESS);
	while (anything())
		;
	check_end();
}

static struct ztuning_settings draw_settings(void)
{
	static const int64_t segments[] = {1, 2, 3, 7, 64};
	return (struct ztuning_settings){.segment = 1 + draw(40),
		.segments = segments[draw(5)],
		.depth = 1 + draw(9),
		.between = 1 + draw(4)};
}

/* As an allgather: every leader of every part has something, or nothing. */
static void all_to_all(void **state)
{
	(void)state;
	for (int i = 0; i < 400; i++) {
		int nparts = 3 + draw(i % 8 ? 3 : PARTS_MAX - 2);
		const struct ztuning_settings tune = draw_settings();
		make_ranks(nparts, 3);
		int leaders = 1 + draw(leaders_most(nparts));
		for (int a = 0; a < leaders; a++)
			for (int p = 0; p < nparts; p++)
				add_piece(parts[p].member[zleader_first(parts[p].count, leaders, a)], a,
					draw(3) ? draw(200) : 0);
		carry_out_plans(leaders, &tune, -1);
		free_all();
	}
}

/* As a broadcast: one rank has all blocks, and the other ranks of its part need not know. */
static void one_to_all(void **state)
{
	(void)state;
	for (int i = 0; i < 400; i++) {
		int nparts = 3 + draw(i % 8 ? 3 : PARTS_MAX - 2);
		const struct ztuning_settings tune = draw_settings();
		make_ranks(nparts, 4);
		int leaders = 1 + draw(leaders_most(nparts)), root = draw(nranks);
		for (int a = 0; a < leaders; a++)
			add_piece(root, a, 1 + draw(300));
		carry_out_plans(leaders, &tune, part_number(root));
		free_all();
	}
}

/* Groups that overlap as they like. */
static void any_roots(void **state)
{
	(void)state;
	for (int i = 0; i < 200; i++) {
		int nparts = 3 + draw(4), n = 1 + draw(6);
		const struct ztuning_settings tune = draw_settings();
		make_ranks(nparts, 3);
		int leaders = 1 + draw(leaders_most(nparts));
		for (int k = 0; k < n; k++)
			add_piece(draw(nranks), draw(leaders), draw(200));
		carry_out_plans(leaders, &tune, -1);
		free_all();
	}
}

/* So many blocks are expected before the first has come. */
static void depth(void **state)
{
	(void)state;
	for (int deep = 1; deep <= 8; deep++) {
		const struct ztuning_settings tune = {.segment = 10,
			.segments = 64,
			.depth = deep,
			.between = ZTUNING_BETWEEN_CHAIN};
		make_ranks(3, 1);
		add_piece(parts[0].leader, 0, 75);
		struct zsched *second = &ranks[parts[1].leader];
		assert_int_equal(zplan_build(second, second->pieces, 1, 1, &tune), MPI_SUCCESS);
		while (go_on(second))
			;
		assert_int_equal(second->end, deep + (deep > 1)); /* and the first is waited for */
		free_all();
	}
}

/* The number of steps is bounded. */
static void bounded(void **state)
{
	(void)state;
	const struct ztuning_settings tune = {.segment = 1,
		.segments = 5,
		.depth = 2,
		.between = ZTUNING_BETWEEN_SEQUENTIAL};
	make_ranks(3, 1);
	add_piece(parts[0].leader, 0, 1001);
	struct zsched *root = &ranks[parts[0].leader];
	assert_int_equal(zplan_build(root, root->pieces, 1, 1, &tune), MPI_SUCCESS);
	assert_int_equal(root->n, 2 * 5 * 2);
	free_all();
}

/* Blocks of all parts, step by step. */
static void hops(void **state)
{
	(void)state;
	for (int n = 3; n <= PARTS_MAX; n++)
		for (int between = ZTUNING_BETWEEN_SEQUENTIAL; between <= ZTUNING_BETWEEN_PIPELINE; between++) {
			const struct ztuning_settings tune = {.between = between};
			struct zplan_hop *of[PARTS_MAX];
			bool has[PARTS_MAX][PARTS_MAX] = {{false}};
			make_ranks(n, 1);
			int steps = zplan_hops_steps(&ranks[0], &tune);
			for (int p = 0; p < n; p++) {
				of[p] = zplan_hops(&ranks[parts[p].leader], &tune);
				has[p][p] = true;
			}
			for (int i = 0; i < steps * n * n; i++) {
				int j = i / n / n, p = i / n % n, from = i % n, to = of[from][j * n + p].to;
				if (to >= 0) {
					assert_int_equal(of[to][j * n + p].from, from);
					assert_true(has[from][p] && !has[to][p]);
				}
				int source = of[from][j * n + p].from;
				assert_true(source < 0 || of[source][j * n + p].to == from);
				if (i % n == n - 1) /* a receiver has the block in the next step */
					for (int q = 0; q < n; q++)
						has[q][p] |= of[q][j * n + p].from >= 0;
			}
			for (int i = 0; i < n * n; i++)
				assert_true(has[i / n][i % n]);
			free_all();
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_to_all),
		cmocka_unit_test(one_to_all),
		cmocka_unit_test(any_roots),
		cmocka_unit_test(depth),
		cmocka_unit_test(bounded),
		cmocka_unit_test(hops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

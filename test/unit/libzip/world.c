/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a world and of its communicators: each says what it should, and large worlds take little memory. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libzip/world/comm.h"
#include "libzip/world/world.h"

#define PARTS 4
#define RANKS_MAX 60
#define WORLDS 300
#define COMMS 20 /* in each of them */
#define LARGE 131072u
#define OTHER_BYTES (64u << 10) /* what does not grow with the ranks */

static struct zctl_part parts[PARTS];
static struct zctl_run runs[RANKS_MAX];
static struct zctl_attached attached[2];
static int part_of[RANKS_MAX], nranks;

static uint64_t seed = 39;

static int draw(int below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int)((seed >> 33) % (uint64_t)below);
}

/* A world of runs of ranks of some parts. tangled: the order of a part's ranks is not the native one. */
static void make_world(bool tangled)
{
	struct zctl_world w = {.nparts = 1 + (uint32_t)draw(PARTS), .parts = parts, .runs = runs};
	struct zerr err;
	memset(parts, 0, sizeof(parts));
	nranks = 0;
	while (w.nruns < 8) {
		struct zctl_run *r = &runs[w.nruns];
		*r = (struct zctl_run){.vrank = (uint32_t)nranks, .count = 1 + (uint32_t)draw(6)};
		r->part = w.nruns < w.nparts ? w.nruns : (uint32_t)draw((int)w.nparts);
		r->lrank = parts[r->part].size;
		parts[r->part].size += r->count;
		for (uint32_t i = 0; i < r->count; i++)
			part_of[nranks++] = (int)r->part;
		w.nruns++;
	}
	for (uint32_t i = 0; tangled && i < w.nruns; i++) /* two runs of one length change places */
		for (uint32_t k = 0; k < i; k++)
			if (runs[i].part == runs[k].part && runs[i].count == runs[k].count) {
				const uint32_t lrank = runs[i].lrank;
				runs[i].lrank = runs[k].lrank;
				runs[k].lrank = lrank;
			}
	w.vrank = (uint32_t)draw(nranks);
	attached[0] = (struct zctl_attached){.vrank = 2, .count = 3, .fabrics = 6};
	attached[1] = (struct zctl_attached){.vrank = (uint32_t)nranks - 1, .count = 1};
	w.attached = attached;
	w.nattached = nranks > 5 && draw(2) ? 2 : 0;
	assert_int_equal(zworld_fill(&w, &err), 0);
}

static void check_world(void)
{
	int next[PARTS] = {0};
	assert_int_equal(zworld.nranks, nranks);
	for (int v = 0; v < nranks; v++) {
		assert_int_equal(zworld.place[v].part, part_of[v]);
		assert_int_equal(zworld.place[v].lrank, next[part_of[v]]);
		if (part_of[v] == zworld.part)
			assert_int_equal(zworld.my_vrank[next[part_of[v]]], v);
		next[part_of[v]]++;
		uint64_t fabrics = UINT64_C(1) << part_of[v];
		if (zworld.nattached && v >= 2 && v < 5)
			fabrics = 6;
		if (zworld.nattached && v == nranks - 1)
			fabrics = 0;
		assert_int_equal(zworld_fabrics(v), fabrics);
	}
}

static void check_comm(const struct zcomm *c, const int *vranks, int size)
{
	int local = 0, seen[PARTS] = {0};
	assert_int_equal(c->size, size);
	for (int r = 0; r < size; r++) {
		const int part = part_of[vranks[r]];
		int p = 0;
		assert_int_equal(c->vrank[r], vranks[r]);
		assert_int_equal(zcomm_rank_of(c, vranks[r]), r);
		assert_int_equal(zcomm_is_local_rank(c, r), part == zworld.part);
		assert_int_equal(zcomm_shadow_rank(c, r), part == zworld.part ? local : -1);
		if (part == zworld.part)
			assert_int_equal(c->shadow_to_rank[local++], r);
		while (c->parts[p].part != part)
			assert_true(++p < c->nparts);
		assert_int_equal(c->parts[p].member[seen[part]++], r);
	}
	assert_int_equal(c->nlocal, local);
	for (int p = 0; p < c->nparts; p++) {
		assert_int_equal(c->parts[p].count, seen[c->parts[p].part]);
		assert_int_equal(c->parts[p].leader, c->parts[p].member[0]);
	}
}

static void give_back(struct zcomm *c)
{
	zcomm_drop(c);
	assert_int_equal(zcomm_reap(), MPI_SUCCESS);
}

/* A part of the ranks in their order, in a row, or in any order. */
static int draw_members(int *vranks)
{
	const int how = draw(3), first = draw(nranks), most = 1 + draw(nranks - first);
	int n = 0;
	for (int v = 0; v < nranks; v++)
		if (how > 0 ? draw(2) : v >= first && v < first + most)
			vranks[n++] = v;
	for (int i = n - 1; how == 2 && i > 0; i--) {
		const int k = draw(i + 1), kept = vranks[i];
		vranks[i] = vranks[k];
		vranks[k] = kept;
	}
	return n;
}

static void tables_say_who_is_where(void **state)
{
	int all[RANKS_MAX], vranks[RANKS_MAX];
	(void)state;
	for (int v = 0; v < RANKS_MAX; v++)
		all[v] = v;
	for (int k = 0; k < WORLDS; k++) {
		make_world(k % 2);
		check_world();
		struct zcomm *whole = zcomm_create_whole(MPI_COMM_NULL, MPI_COMM_NULL, 0);
		assert_non_null(whole);
		check_comm(whole, all, nranks);
		give_back(whole);
		for (int i = 0; i < COMMS; i++) {
			const int size = draw_members(vranks);
			struct zcomm *c = size > 0 ? zcomm_create(MPI_COMM_NULL, MPI_COMM_NULL, 4, vranks, size) : NULL;
			if (!c)
				continue;
			check_comm(c, vranks, size);
			give_back(c);
		}
		zworld_clear();
	}
}

static size_t bytes_in_use(void)
{
	const struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

static void a_large_world_takes_8_bytes_a_rank(void **state)
{
	struct zctl_part two[2] = {{.size = LARGE / 2}, {.size = LARGE / 2}};
	struct zctl_run run[2] = {{.count = LARGE / 2}, {.vrank = LARGE / 2, .count = LARGE / 2, .part = 1}};
	const struct zctl_world w = {.vrank = LARGE - 1, .nparts = 2, .nruns = 2, .parts = two, .runs = run};
	struct zcomm *c[3];
	struct zerr err;
	(void)state;
	const size_t before = bytes_in_use();
	if (before == 0)
		skip(); /* malloc is a sanitizer's */
	assert_int_equal(zworld_fill(&w, &err), 0);
	for (int i = 0; i < 3; i++) { /* the world, and what is made of it */
		c[i] = zcomm_create_whole(MPI_COMM_NULL, MPI_COMM_NULL, 0);
		assert_non_null(c[i]);
	}
	const size_t taken = bytes_in_use() - before;
	print_message("%u ranks: %zu bytes\n", LARGE, taken);
	assert_true(taken >= LARGE && taken <= 8 * (size_t)LARGE + OTHER_BYTES);
	for (int i = 0; i < 3; i++)
		give_back(c[i]);
	zworld_clear();
	assert_true(bytes_in_use() - before <= OTHER_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_say_who_is_where),
		cmocka_unit_test(a_large_world_takes_8_bytes_a_rank),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

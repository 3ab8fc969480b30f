/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rails carry what, where zippers and fabrics are a graph: by hand for small ones, and what must hold for all:
 * both ends of a pair take the same rail, one that carries it, whatever is lost.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libzip/world/entries.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"
#include "common/control/ctl_name.h"
#include "test/unit/within.h"

#define PARTS_MAX 4
#define RANKS_MAX 64

typedef char entries[ZCTL_RAILS_MAX][ZCTL_ENTRIES_MAX];

/* Z1 on a and b, Z2 on b and c, Z3 on c and d. */
static const entries chain = {"a,b,b+1,b+2", "b+1,b,c,c+1", "c+2,c+1,c,d"};
/* Z1, Z2 and Z3 on a, b, c each, and all of them on wan. */
static const entries star = {"a,wan+1,wan+1", "wan+1,b,wan+1", "wan+1,wan+1,c"};
/* Z1 on a and b, Z2 on b and c, Z3 on c and a. */
static const entries ring = {"a,b,b+1", "b+1,b,c", "a,c+1,c"};
/* Two zippers on a and b, one on b and c. */
static const entries twins = {"a,b,b+1", "a,b,b+1", "b+1,b,c"};
static const entries none; /* no hops */

/* The rail for a rank, and that for a large message, where rails have one track. */
static int rail_of(int vrank)
{
	const struct zrails_track t = zrails_of((uint32_t)vrank);
	assert_int_equal(t.track, 0);
	return t.rail;
}

static int choose(int home, int part)
{
	const struct zrails_track t = zrails_choose((struct zrails_track){.rail = home}, part);
	assert_int_equal(t.track, 0);
	return t.rail;
}

static int sizes[PARTS_MAX];
static struct zplace place[RANKS_MAX];

/* The world of these parts, part after part, with so many ranks each; and the rails, seen from that rank. */
static void see(const entries e, int nrails, const char *parts, const int *size, int vrank)
{
	struct zerr err = {{0}};
	int n = 0;

	memset(&zrails, 0, sizeof(zrails));
	zrails.n = nrails;
	zrails.tracks = 1;
	zworld = (struct zworld){.nparts = zctl_name_split_parts(parts, NULL, PARTS_MAX),
		.part_size = sizes,
		.place = place};
	for (int p = 0; p < zworld.nparts; p++) {
		sizes[p] = size[p];
		for (int l = 0; l < size[p]; l++)
			place[n++] = (struct zplace){.part = (uint32_t)p, .lrank = (uint32_t)l};
	}
	zworld.nranks = n;
	zworld.vrank = vrank;
	zworld.part = (int)place[vrank].part;
	assert_int_equal(zrails_share(e, parts, &err), 0);
}

static void expect(const entries e, int nrails, const char *parts, const uint32_t *want)
{
	uint32_t rails[ZCTL_PARTS_MAX][ZCTL_PARTS_MAX];
	struct zerr err;
	int n = zentries_find_rails(e, nrails, parts, rails, &err);

	assert_int_equal(n, zctl_name_split_parts(parts, NULL, ZCTL_PARTS_MAX));
	for (int p = 0; p < n; p++)
		for (int q = 0; q < n; q++)
			assert_int_equal(rails[p][q], want[p * n + q]);
}

/* The carrier of a rank that had the first one, and has lost these rails. */
static int carrier_without(uint32_t lost)
{
	zrails.carrier.rail = zrails.carriers[0];
	zrails.lost = lost;
	zrails_change_carrier();
	return zrails_of_carrier().rail;
}

static void test_masks(void **state)
{
	/* a-b, b-c and c-d by the one zipper between them; of the others all have as many hops */
	static const uint32_t in_chain[] = {7, 1, 3, 7, 1, 7, 2, 6, 3, 2, 7, 4, 7, 6, 4, 7};
	/* by the zipper of either */
	static const uint32_t in_star[] = {7, 3, 5, 3, 7, 6, 5, 6, 7};
	static const uint32_t in_ring[] = {7, 1, 4, 1, 7, 2, 4, 2, 7};
	static const uint32_t in_twins[] = {7, 3, 7, 3, 7, 4, 7, 4, 7};
	static const uint32_t all[] = {7, 7, 7, 7, 7, 7, 7, 7, 7};

	(void)state;
	expect(chain, 3, "a,b,c,d", in_chain);
	expect(star, 3, "a,b,c", in_star);
	expect(ring, 3, "a,b,c", in_ring);
	expect(twins, 3, "a,b,c", in_twins);
	expect(none, 3, "a,b,c", all);
}

static void test_no_way(void **state)
{
	/* both zippers have b and c behind the same fabric */
	static const entries e = {"a,b,b+1", "b+1,b,b+1"};
	uint32_t rails[ZCTL_PARTS_MAX][ZCTL_PARTS_MAX];
	struct zerr err;

	(void)state;
	assert_int_equal(zentries_find_rails(e, 2, "a,b,c", rails, &err), -ENETUNREACH);
	assert_string_equal(err.text, "no zipper carries between the parts b and c");
}

static void test_parse(void **state)
{
	entries e;
	struct zerr err;

	(void)state;
	assert_int_equal(zentries_parse(e, 2, " a,b+1\t b,c ", &err), 0);
	assert_string_equal(e[0], "a,b+1");
	assert_string_equal(e[1], "b,c");
	assert_int_equal(zentries_parse(e, 2, "a,b", &err), -EINVAL);
	assert_string_equal(err.text, "it is for 1 zippers, and the job has 2");
	assert_int_equal(zentries_parse(e, 1, "a,b c,d e,f", &err), -EINVAL);
	assert_string_equal(err.text, "it is for 3 zippers, and the job has 1");
	assert_int_equal(zentries_parse(e, 1, "", &err), -EINVAL);
	char text[ZCTL_ENTRIES_MAX + 1];
	memset(text, 'a', ZCTL_ENTRIES_MAX);
	text[ZCTL_ENTRIES_MAX] = '\0';
	assert_int_equal(zentries_parse(e, 1, text, &err), -EINVAL);
}

static void test_own_way(void **state)
{
	static struct zhops ways[3];
	struct zctl_join join = {.part = "c", .parts = "a,b,c"};
	struct zerr err;

	(void)state;
	assert_int_equal(zhops_parse_list(ways, 3, "tcp:10.0.0.2>c>b>tcp:10.0.0.1,tcp:10.0.0.2,tcp:10.0.0.3", &err), 3);
	assert_int_equal(zentries_check(ring, ways, 3, &join, &err), 0);
	strcpy(join.part, "b"); /* which has hops to the third zipper, not to the first */
	assert_int_equal(zentries_check(ring, ways, 3, &join, &err), -EINVAL);
	assert_non_null(strstr(err.text, "rail 0, by the zipper at tcp:10.0.0.1"));
	assert_non_null(strstr(err.text, "has 1 hops, but its entries say 0 of part b"));
	strcpy(join.part, "a");
	assert_int_equal(zentries_check(none, ways, 3, &join, &err), -EINVAL);
	assert_int_equal(zentries_check(none, ways + 1, 2, &join, &err), 0);
	strcpy(join.parts, "a,b");
	assert_int_equal(zentries_check(ring, ways, 3, &join, &err), -EINVAL);
}

/* The rail that it took before there were hops. */
static int plain_rail(int u, int v, uint32_t n)
{
	const struct zplace *a = &place[u], *b = &place[v];
	int more = sizes[a->part] - sizes[b->part];

	if (more < 0 || (more == 0 && a->part > b->part)) {
		a = &place[v];
		b = &place[u];
	}
	uint32_t rail = (a->lrank + b->lrank / n) % n;
	while (zrails.lost >> rail & 1)
		rail = (rail + 1) % n;
	return (int)rail;
}

static void test_without_hops(void **state)
{
	static const int size[] = {5, 9, 1};

	(void)state;
	for (int u = 0; u < 15; u++) {
		see(none, 3, "a,b,c", size, u);
		for (uint32_t lost = 0; lost < 7; lost++) {
			zrails.lost = lost;
			for (int v = 0; v < zworld.nranks; v++)
				if (!zworld_is_local(v))
					assert_int_equal(rail_of(v), plain_rail(u, v, 3));
			int carrier = (int)place[u].lrank % 3;
			while (lost >> carrier & 1)
				carrier = (carrier + 1) % 3;
			assert_int_equal(carrier_without(lost), carrier);
			assert_int_equal(zrails_first_part(carrier), place[u].part == 0 ? 1 : 0);
		}
		assert_int_equal(zrails_count(zworld.part == 0), 3);
	}
}

/* Is there a rail for each two parts? */
static bool may_be_lost(const entries e, int nrails, const char *parts, uint32_t lost)
{
	uint32_t rails[ZCTL_PARTS_MAX][ZCTL_PARTS_MAX];
	struct zerr err;
	int n = zentries_find_rails(e, nrails, parts, rails, &err);
	bool may = true;

	for (int p = 0; p < n; p++)
		for (int q = 0; q < n; q++)
			may &= (rails[p][q] & ~lost) != 0;
	return may;
}

/*
 * Stores in rail the rail that each rank takes to each other one, with these lost. Returns whether each is carried and
 * not lost.
 */
static void look(const entries e, int nrails, const char *parts, const int *size, uint32_t lost,
	int rail[RANKS_MAX][RANKS_MAX])
{
	see(e, nrails, parts, size, 0);
	for (int u = 0; u < zworld.nranks; u++) {
		see(e, nrails, parts, size, u);
		zrails.lost = lost;
		for (int v = 0; v < zworld.nranks; v++) {
			const int part = (int)place[v].part;
			rail[u][v] = -1;
			if (zworld_is_local(v))
				continue;
			rail[u][v] = rail_of(v);
			assert_true(zrails_carries(rail[u][v], part));
			assert_false(lost >> rail[u][v] & 1);
			int other = choose(rail[u][v], part);
			assert_true(zrails_carries(other, part) && zrails_is_good(other));
		}
		int carrier = carrier_without(lost);
		assert_true(zrails_is_good(carrier));
		assert_true(zrails_carries(carrier, zrails_first_part(carrier)));
	}
}

static void test_both_ends(void **state)
{
	static const struct {
		const char (*entries)[ZCTL_ENTRIES_MAX];
		const char *parts;
		int size[PARTS_MAX];
	} graphs[] = {{chain, "a,b,c,d", {3, 7, 2, 7}}, {star, "a,b,c", {4, 1, 9}}, {ring, "a,b,c", {5, 5, 5}},
		{twins, "a,b,c", {8, 3, 4}}, {none, "a,b,c", {2, 6, 6}}};
	static int rail[RANKS_MAX][RANKS_MAX];

	(void)state;
	for (size_t g = 0; g < sizeof(graphs) / sizeof(graphs[0]); g++)
		for (uint32_t lost = 0; lost < 7; lost++) {
			if (!may_be_lost(graphs[g].entries, 3, graphs[g].parts, lost))
				continue;
			look(graphs[g].entries, 3, graphs[g].parts, graphs[g].size, lost, rail);
			for (int u = 0; u < zworld.nranks; u++)
				for (int v = 0; v < zworld.nranks; v++)
					assert_int_equal(rail[u][v], rail[v][u]);
		}
}

static void test_share_the_load(void **state)
{
	static const int size[] = {4, 1, 4};

	(void)state;
	/* a to c: all three have as many hops; b to c: one alone */
	see(twins, 3, "a,b,c", size, 0);
	for (int v = 5; v < 9; v++)
		assert_int_equal(rail_of(v), (v - 5) / 3);
	see(twins, 3, "a,b,c", size, 1);
	assert_int_equal(rail_of(5), 1);
	see(twins, 3, "a,b,c", size, 4);
	for (int v = 5; v < 9; v++)
		assert_int_equal(rail_of(v), 2);
	assert_int_equal(rail_of(0), 0);
	assert_int_equal(rail_of(1), 1);
	assert_int_equal(rail_of(2), 0);
	assert_int_equal(zrails_count(0), 2);
	assert_int_equal(zrails_count(2), 1);
}

/* Neighbours take different rails, then different tracks; both ends the same ones; and all have about as much to do. */
static void test_tracks(void **state)
{
	static const int size[] = {12, 5, 7};
	static struct zrails_track by[RANKS_MAX][RANKS_MAX];
	int used[3][4] = {{0}};

	(void)state;
	for (uint32_t lost = 0; lost < 3; lost++) {
		for (int u = 0; u < 24; u++) {
			see(none, 3, "a,b,c", size, u);
			zrails.tracks = 4;
			zrails.lost = lost;
			for (int v = 0; v < zworld.nranks; v++)
				if (!zworld_is_local(v))
					by[u][v] = zrails_of((uint32_t)v);
			assert_int_equal(zrails_count(zworld.part == 0), 12);
		}
		for (int u = 0; u < 24; u++)
			for (int v = 0; v < 24; v++)
				if (place[u].part != place[v].part) {
					assert_true(zrails_same(by[u][v], by[v][u]));
					assert_false(lost >> by[u][v].rail & 1);
					assert_within(by[u][v].track, 0, 3);
					used[by[u][v].rail][by[u][v].track] += lost == 0;
				}
	}
	see(none, 3, "a,b,c", size, 12);
	zrails.tracks = 4;
	for (int v = 0; v < 12; v++) { /* one of b, with all of a */
		assert_int_equal(zrails_of((uint32_t)v).rail, v % 3);
		assert_int_equal(zrails_of((uint32_t)v).track, v / 3);
	}
	for (int i = 0; i < 12; i++)
		assert_within(used[i / 4][i % 4], 2 * (12 * 5 + 12 * 7 + 5 * 7) / 12 - 8,
			2 * (12 * 5 + 12 * 7 + 5 * 7) / 12 + 8);
}

/* A large message takes a track that has nothing to do, then one of another rail. */
static void test_large_ones_by_tracks(void **state)
{
	static const int size[] = {1, 1, 1};
	const struct zrails_track home = {.rail = 1, .track = 1};

	(void)state;
	see(none, 2, "a,b,c", size, 1);
	zrails.tracks = 2;
	assert_false(zrails_is_one());
	assert_true(zrails_same(zrails_choose(home, 0), home));
	zrails_sending(home, 1000);
	assert_true(zrails_same(zrails_choose(home, 0), (struct zrails_track){0, 0}));
	zrails_sending((struct zrails_track){0, 0}, 1000);
	assert_true(zrails_same(zrails_choose(home, 0), (struct zrails_track){1, 0}));
	zrails.failing = 2;
	assert_true(zrails_same(zrails_choose(home, 0), (struct zrails_track){0, 1}));
	zrails.failing = 0;
	zrails_sending((struct zrails_track){1, 0}, 10);
	zrails_sending((struct zrails_track){0, 1}, 20);
	zrails_sent(home, 1000);
	assert_true(zrails_same(zrails_choose(home, 0), home));
	see(none, 1, "a,b,c", size, 1);
	assert_true(zrails_is_one());
	zrails.tracks = 2;
	assert_false(zrails_is_one());
}

static void test_large_ones(void **state)
{
	static const int size[] = {1, 1, 1};

	(void)state;
	see(twins, 3, "a,b,c", size, 1);
	zrails_sending((struct zrails_track){0, 0}, 1000);
	assert_int_equal(choose(0, 0), 1); /* the third has nothing to do, and does not carry that */
	zrails_sending((struct zrails_track){1, 0}, 1000);
	assert_int_equal(choose(0, 0), 0);
	zrails.failing = 2;
	zrails_sent((struct zrails_track){1, 0}, 1000);
	assert_int_equal(choose(0, 0), 0);
	assert_int_equal(choose(2, 2), 2);
}

static void test_carriers(void **state)
{
	static const int size[] = {3, 3, 3, 3};

	(void)state;
	/* a: Z1 carries to b, c and d; then Z2 to c and d, then Z3 to d */
	for (int v = 0; v < 3; v++) {
		see(chain, 3, "a,b,c,d", size, v);
		assert_int_equal(zrails_of_carrier().rail, 0);
		assert_int_equal(zrails_first_part(0), 1);
		assert_int_equal(zrails_first_part(1), 2);
		assert_int_equal(carrier_without(1), 1);
		assert_int_equal(carrier_without(3), 2);
		assert_int_equal(carrier_without(7), 0); /* until one comes back */
	}
	/* b: Z2 carries to c and d, Z1 to a, Z3 to d: among these each rank begins with another one */
	for (int v = 3; v < 6; v++) {
		see(chain, 3, "a,b,c,d", size, v);
		assert_int_equal(zrails_of_carrier().rail, 1);
		assert_int_equal(carrier_without(2), v == 4 ? 2 : 0);
		zrails.lost = 0; /* it stays when the first one comes back */
		assert_false(zrails_change_carrier());
		assert_int_equal(zrails_of_carrier().rail, v == 4 ? 2 : 0);
		assert_int_equal(carrier_without(4), 1); /* another one than the carrier */
	}
	/* in the star the own one alone carries to both others */
	see(star, 3, "a,b,c", size, 4);
	assert_int_equal(zrails_of_carrier().rail, 1);
	assert_int_equal(zrails_first_part(1), 0);
	assert_int_equal(zrails_first_part(2), 2);
}

static void test_doing_without(void **state)
{
	static const int size[] = {1, 1, 1};

	(void)state;
	see(twins, 3, "a,b,c", size, 0); /* a */
	for (int i = 0; i < 3; i++)
		assert_true(zrails_has_another(i)); /* c is reached by the others */
	zrails.failing = 1;
	assert_false(zrails_has_another(1)); /* then none carries to b */
	assert_true(zrails_has_another(2));
	zrails.failing = 0;
	zrails.lost = 1;
	assert_false(zrails_has_another(1));
	see(twins, 3, "a,b,c", size, 1); /* b */
	assert_true(zrails_has_another(0));
	assert_false(zrails_has_another(2));
	see(ring, 3, "a,b,c", size, 0);
	assert_false(zrails_has_another(0));
	assert_true(zrails_has_another(1)); /* which is between two other ranks, and their task */
	assert_false(zrails_has_another(2));
	see(none, 2, "a,b,c", size, 0);
	assert_true(zrails_has_another(1));
	zrails.lost = 1;
	assert_false(zrails_has_another(1));
	assert_false(zrails_is_stranded());
	zrails.failing = 2;
	assert_true(zrails_is_stranded());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_no_way),
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_own_way),
		cmocka_unit_test(test_without_hops),
		cmocka_unit_test(test_both_ends),
		cmocka_unit_test(test_share_the_load),
		cmocka_unit_test(test_large_ones),
		cmocka_unit_test(test_tracks),
		cmocka_unit_test(test_large_ones_by_tracks),
		cmocka_unit_test(test_carriers),
		cmocka_unit_test(test_doing_without),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

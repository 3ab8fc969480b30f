/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The plans of zipcast, proved by carrying them out step by step. A block that one member sends, another one receives
 * in the same step. No member sends a block that it lacks, or gets one that it has. In the end every member has all
 * blocks, after as many steps as castplan.h says. With hybrids every block enters every site once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/castplan/castplan.h"

#define SITES 16 /* of hybrids_of_many_shapes */
#define MEMBERS_MAX 4097
#define OPENERS_MAX 300 /* members at most in groups whose first senders are checked */

struct run {
	struct zcastplan_shape shape;
	uint32_t *site, *label; /* [members]; the plan knows the labels, which are any numbers */
	struct zcastplan **plan;
	struct zcastplan_step *step; /* the next step of each member */
	uint64_t *next;		     /* the number of that step, or UINT64_MAX: there is none */
	uint64_t now;		     /* the least of next */
	uint8_t *has;		     /* [members][blocks] */
	uint32_t *got;		     /* the block that arrives in this step, or ZCASTPLAN_NOBODY */
	uint32_t sites;		     /* all sites are below this */
	uint32_t *entered;	     /* [sites][blocks] times that a block came into a site from another one */
	bool *neighbour;	     /* [members][members], for small groups */
	uint32_t *opener;  /* [members] the sender of its first block, of a message of one block, or of more; or NULL */
	uint32_t *missing; /* [members] blocks */
	uint64_t first, last; /* the steps in which the first and the last receiver had all blocks */
	uint64_t steps;	      /* done */
};

static uint64_t seed = 20161;

static uint32_t draw(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static void look_at_links(struct run *r)
{
	struct zcastplan_shape shape = r->shape;
	shape.blocks = shape.blocks > 1 ? 2 : 1;
	for (uint32_t i = 0; i < shape.members; i++) {
		if (r->opener)
			assert_int_equal(zcastplan_first(&shape, i, &r->opener[i]), 0);
		if (r->neighbour)
			assert_int_equal(zcastplan_peers(&r->shape, i, r->neighbour + (size_t)i * shape.members), 0);
	}
}

static void advance(struct run *r, uint32_t i)
{
	r->next[i] = zcastplan_next(r->plan[i], &r->step[i]) ? r->step[i].number : UINT64_MAX;
}

/* site: [members], or NULL: random ones of seven */
static void begin(struct run *r, enum zcastplan_algorithm algorithm, uint32_t members, uint32_t blocks,
	const uint32_t *site)
{
	*r = (struct run){.shape = {algorithm, members, blocks, NULL}};
	r->site = calloc(members, sizeof(*r->site));
	r->shape.site = r->label = calloc(members, sizeof(*r->label));
	r->plan = calloc(members, sizeof(struct zcastplan *));
	r->step = calloc(members, sizeof(*r->step));
	r->next = calloc(members, sizeof(*r->next));
	r->now = UINT64_MAX;
	r->has = calloc(members, blocks);
	r->got = calloc(members, sizeof(*r->got));
	r->neighbour = members <= 64 ? calloc(members, members) : NULL;
	r->opener = members <= OPENERS_MAX ? calloc(members, sizeof(*r->opener)) : NULL;
	r->missing = calloc(members, sizeof(*r->missing));
	r->first = UINT64_MAX;
	for (uint32_t i = 0; i < members; i++) {
		r->site[i] = site ? site[i] : draw(7);
		r->sites = r->site[i] >= r->sites ? r->site[i] + 1 : r->sites;
		r->label[i] = r->site[i] * 2654435761u;
		r->missing[i] = blocks;
	}
	r->entered = calloc((size_t)r->sites * blocks, sizeof(*r->entered));
	for (uint32_t i = 0; i < members; i++) {
		r->plan[i] = zcastplan_create(&r->shape, i);
		assert_non_null(r->plan[i]);
		r->got[i] = ZCASTPLAN_NOBODY;
		advance(r, i);
		r->now = r->next[i] < r->now ? r->next[i] : r->now;
	}
	look_at_links(r);
	memset(r->has, 1, blocks);
}

static void end(struct run *r)
{
	for (uint32_t i = 0; i < r->shape.members; i++)
		zcastplan_destroy(r->plan[i]);
	free(r->site);
	free(r->label);
	free(r->plan);
	free(r->step);
	free(r->next);
	free(r->has);
	free(r->got);
	free(r->entered);
	free(r->neighbour);
	free(r->opener);
	free(r->missing);
}

/* The step of member i fits the step of the other side. */
static void check_step(struct run *r, uint32_t i)
{
	const struct zcastplan_step *s = &r->step[i];
	uint32_t k = r->shape.blocks;
	if (s->to != ZCASTPLAN_NOBODY) {
		assert_true(s->to < r->shape.members && s->to != i);
		assert_int_equal(r->next[s->to], s->number);
		assert_int_equal(r->step[s->to].from, i);
		assert_int_equal(r->step[s->to].recv_block, s->send_block);
		assert_true(r->has[(size_t)i * k + s->send_block]);
	}
	if (s->from == ZCASTPLAN_NOBODY)
		return;
	assert_true(s->from < r->shape.members);
	assert_int_equal(r->next[s->from], s->number);
	assert_int_equal(r->step[s->from].to, i);
	assert_false(r->has[(size_t)i * k + s->recv_block]);
	r->got[i] = s->recv_block;
	if (r->opener && r->missing[i] == k)
		assert_int_equal(s->from, r->opener[i]);
	if (r->site[s->from] != r->site[i])
		r->entered[(size_t)r->site[i] * k + s->recv_block]++;
	if (r->neighbour) {
		assert_true(r->neighbour[(size_t)i * r->shape.members + s->from]);
		assert_true(r->neighbour[(size_t)s->from * r->shape.members + i]);
	}
}

static void receive(struct run *r, uint32_t i)
{
	if (r->got[i] == ZCASTPLAN_NOBODY)
		return;
	r->has[(size_t)i * r->shape.blocks + r->got[i]] = 1;
	r->got[i] = ZCASTPLAN_NOBODY;
	if (--r->missing[i] == 0) {
		r->first = r->now < r->first ? r->now : r->first;
		r->last = r->now;
	}
}

/* Does one step of all members. False: there is none any more. */
static bool do_step(struct run *r)
{
	const uint32_t n = r->shape.members;
	uint64_t after = UINT64_MAX;
	if (r->now == UINT64_MAX)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (r->next[i] == r->now)
			check_step(r, i);
	for (uint32_t i = 0; i < n; i++) {
		if (r->next[i] == r->now) {
			receive(r, i);
			advance(r, i);
			assert_true(r->next[i] > r->now);
		}
		after = r->next[i] < after ? r->next[i] : after;
	}
	r->steps = r->now + 1;
	r->now = after;
	return true;
}

static void prove_sites(enum zcastplan_algorithm algorithm, uint32_t members, uint32_t blocks, const uint32_t *site)
{
	struct run r;
	begin(&r, algorithm, members, blocks, site);
	while (do_step(&r))
		;
	for (size_t i = 0; i < (size_t)members * blocks; i++)
		assert_true(r.has[i]);
	uint64_t steps = zcastplan_steps(&r.shape);
	if (algorithm != ZCASTPLAN_HYBRID_CHAIN && algorithm != ZCASTPLAN_HYBRID_PIPELINE) {
		assert_int_equal(r.steps, steps);
		if (algorithm == ZCASTPLAN_PIPELINE && members > 1)
			assert_int_equal(steps, blocks + (uint32_t)(32 - __builtin_clz(members - 1)) - 1);
		/* The paper's section 4: the last blocks come in one step, or in two where the size is no power of two.
		 */
		if (algorithm == ZCASTPLAN_PIPELINE && members > 1 && blocks > 1)
			assert_true(r.last - r.first <= ((members & (members - 1)) != 0));
		end(&r);
		return;
	}
	assert_true(r.steps <= steps);
	bool *inhabited = calloc(r.sites, sizeof(*inhabited));
	for (uint32_t i = 0; i < members; i++)
		inhabited[r.site[i]] = true;
	for (uint32_t s = 0; s < r.sites; s++)
		for (uint32_t b = 0; b < blocks; b++)
			assert_int_equal(r.entered[s * blocks + b], inhabited[s] && s != r.site[0]);
	free(inhabited);
	end(&r);
}

static void prove(enum zcastplan_algorithm algorithm, uint32_t members, uint32_t blocks)
{
	prove_sites(algorithm, members, blocks, NULL);
}

static const uint32_t some_blocks[] = {1, 2, 3, 4, 5, 7, 8, 13, 32};

static void small_groups(void **state)
{
	(void)state;
	for (int a = 0; a < ZCASTPLAN_ALGORITHMS; a++)
		for (uint32_t n = 1; n <= 40; n++)
			for (size_t b = 0; b < sizeof(some_blocks) / sizeof(some_blocks[0]); b++)
				prove((enum zcastplan_algorithm)a, n, some_blocks[b]);
}

/* Samples of up to 4097 members; with ZIP_LONG all sizes up to 1024 and every seventh above, as all would take too
 * long. Sequential and chain have as many steps as members. */
static void large_groups(void **state)
{
	const bool all = getenv("ZIP_LONG") != NULL;
	(void)state;
	for (uint32_t n = 41; n <= MEMBERS_MAX; n += n > 4093 ? 1 : all ? (n < 1024 ? 1 : 7) : n < 300 ? 36 : 759) {
		const bool few = n < 1000 || n == 4096 || (all && n % 4 == 1);
		prove(ZCASTPLAN_TREE, n, 2);
		prove(ZCASTPLAN_PIPELINE, n, 1 + draw(12));
		prove(ZCASTPLAN_HYBRID_CHAIN, n, 1 + draw(6));
		prove(ZCASTPLAN_HYBRID_PIPELINE, n, 1 + draw(6));
		if (few) {
			prove(ZCASTPLAN_SEQUENTIAL, n, 1 + (n < 1000));
			prove(ZCASTPLAN_CHAIN, n, 2);
		}
	}
}

/* Puts members into sites: site by site, in turns, or all except one of each site into the first or the last one. */
static void fill_sites(uint32_t *site, uint32_t n, uint32_t sites, int how)
{
	for (uint32_t i = 0; i < n; i++)
		site[i] = how == 0   ? (uint32_t)((uint64_t)i * sites / n)
			  : how == 1 ? i % sites
			  : how == 2 ? (i + sites > n ? i + sites - n : 0)
				     : (i < sites ? i : sites - 1);
}

/* More leaders than a small hypercube has vertices, and as many leaders as members. */
static void hybrids_of_many_sites(void **state)
{
	static const uint32_t counts[] = {17, 31, 32, 33, 63, 65, 100, 255, 257};
	static uint32_t site[MEMBERS_MAX];
	const bool all = getenv("ZIP_LONG") != NULL;
	(void)state;
	for (uint32_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
		for (uint32_t n = counts[c]; n <= 4 * counts[c]; n += counts[c] + 1)
			for (int how = 0; how < 4; how++) {
				fill_sites(site, n, counts[c], how);
				prove_sites(ZCASTPLAN_HYBRID_CHAIN, n, 1 + draw(6), site);
				prove_sites(ZCASTPLAN_HYBRID_PIPELINE, n, 1 + draw(6), site);
			}
	for (uint32_t n = all ? 17 : 4096; n <= 4096; n += all ? 1 + n / 100 : 1)
		for (uint32_t sites = 17; sites <= n; sites = sites < n && 9 * sites > n ? n : 9 * sites) {
			fill_sites(site, n, sites, (int)draw(4));
			prove_sites(ZCASTPLAN_HYBRID_PIPELINE, n, 1 + draw(6), site);
			if (all || sites < n)
				prove_sites(ZCASTPLAN_HYBRID_CHAIN, n, 1 + draw(3), site);
		}
}

/* Two to sixteen sites of one to nine members. */
static void hybrids_of_many_shapes(void **state)
{
	uint32_t site[SITES * 9];
	(void)state;
	for (uint32_t sites = 2; sites <= SITES; sites++)
		for (uint32_t n = sites; n <= 9 * sites; n += n < 4 * sites ? 1 : sites - 1)
			for (int how = 0; how < 4; how++) {
				fill_sites(site, n, sites, how);
				prove_sites(ZCASTPLAN_HYBRID_CHAIN, n, 1 + draw(6), site);
				prove_sites(ZCASTPLAN_HYBRID_PIPELINE, n, 1 + draw(6), site);
			}
}

/* All sizes, with few blocks. A sanitizer takes ten times as long, and would find nothing new. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EACH 11
#else
#define EACH 1
#endif
static void pipelines_of_all_sizes(void **state)
{
	(void)state;
	for (uint32_t n = 2; n <= 4096; n += EACH)
		prove(ZCASTPLAN_PIPELINE, n, 2 + n % 4);
}

/* So many blocks that all dimensions of the hypercube carry different ones for a while. ZIP_LONG: all sizes. */
static void pipelines_of_many_blocks(void **state)
{
	uint32_t dimensions = 0;
	(void)state;
	for (uint32_t n = 2; n <= 4097; n += n < 260 || n > 4090 || getenv("ZIP_LONG") ? 1 : 53) {
		while (1u << dimensions < n)
			dimensions++;
		prove(ZCASTPLAN_PIPELINE, n, dimensions + 3);
		if (n <= 128 || (n & (n - 1)) == 0)
			prove(ZCASTPLAN_PIPELINE, n, 4 * dimensions + 5);
	}
}

/* The least possible number of steps (Ganesan and Seshadri). The paper allows one more for sizes other than 2^d. */
static void pipeline_is_as_short_as_can_be(void **state)
{
	struct zcastplan_shape s = {ZCASTPLAN_PIPELINE, 8, 3, NULL};
	(void)state;
	assert_int_equal(zcastplan_steps(&s), 5); /* the paper's Figure 3: three rounds and two */
	s.members = 9;
	assert_int_equal(zcastplan_steps(&s), 6);
	s.members = 4096;
	s.blocks = 1000;
	assert_int_equal(zcastplan_steps(&s), 1011);
	s.members = 1;
	assert_int_equal(zcastplan_steps(&s), 0);
}

/* "If the binomial pipeline is run with only a single block, it will produce a binomial tree." */
static void one_block_is_a_tree(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 32; i++) {
		struct zcastplan_shape shape = {ZCASTPLAN_PIPELINE, 32, 1, NULL};
		struct zcastplan *pipeline = zcastplan_create(&shape, i);
		shape.algorithm = ZCASTPLAN_TREE;
		struct zcastplan *tree = zcastplan_create(&shape, i);
		struct zcastplan_step a, b;
		bool more;
		do {
			more = zcastplan_next(pipeline, &a);
			assert_int_equal(zcastplan_next(tree, &b), more);
			assert_true(!more || (a.number == b.number && a.to == b.to && a.from == b.from));
		} while (more);
		zcastplan_destroy(pipeline);
		zcastplan_destroy(tree);
	}
}

static void algorithms_have_names(void **state)
{
	(void)state;
	assert_int_equal(zcastplan_find("sequential"), ZCASTPLAN_SEQUENTIAL);
	assert_int_equal(zcastplan_find("tree"), ZCASTPLAN_TREE);
	assert_int_equal(zcastplan_find("chain"), ZCASTPLAN_CHAIN);
	assert_int_equal(zcastplan_find("pipeline"), ZCASTPLAN_PIPELINE);
	assert_int_equal(zcastplan_find("hybrid-chain"), ZCASTPLAN_HYBRID_CHAIN);
	assert_int_equal(zcastplan_find("hybrid-pipeline"), ZCASTPLAN_HYBRID_PIPELINE);
	assert_int_equal(zcastplan_find("magic"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_groups),
		cmocka_unit_test(large_groups),
		cmocka_unit_test(hybrids_of_many_shapes),
		cmocka_unit_test(hybrids_of_many_sites),
		cmocka_unit_test(pipelines_of_all_sizes),
		cmocka_unit_test(pipelines_of_many_blocks),
		cmocka_unit_test(pipeline_is_as_short_as_can_be),
		cmocka_unit_test(one_block_is_a_tree),
		cmocka_unit_test(algorithms_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder without MPI: the table at its limits, plans of persistent requests, and the model of collectives,
 * checked by following what its messages carry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/unit/within.h"
#include "common/graph/graph_model.h"
#include "libzip/record/record_plan.h"
#include "libzip/record/record_table.h"
#include "common/graph/graph_writer.h"
#include "common/graph/graph_load.h"

#define RANKS_MAX 40

static uint64_t sent[RANKS_MAX][RANKS_MAX], messages[RANKS_MAX][RANKS_MAX];
static int sender, ranks;

static void note(void *ctx, int peer, uint64_t blocks, uint64_t n)
{
	(void)ctx;
	assert_within(peer, 0, ranks - 1);
	assert_int_not_equal(peer, sender);
	sent[sender][peer] += blocks;
	messages[sender][peer] += n;
}

static void run(enum zgraph_kind kind, int size, int root)
{
	memset(sent, 0, sizeof(sent));
	memset(messages, 0, sizeof(messages));
	ranks = size;
	for (sender = 0; sender < size; sender++)
		zgraph_model(kind, sender, size, root, note, NULL);
}

static uint64_t sum_to(int rank)
{
	uint64_t sum = 0;
	for (int r = 0; r < ranks; r++)
		sum += sent[r][rank];
	return sum;
}

static uint64_t sum_from(int rank)
{
	uint64_t sum = 0;
	for (int r = 0; r < ranks; r++)
		sum += sent[rank][r];
	return sum;
}

static uint64_t message_sum(void)
{
	uint64_t sum = 0;
	for (int i = 0; i < ranks; i++)
		for (int j = 0; j < ranks; j++)
			sum += messages[i][j];
	return sum;
}

/* How many ranks can be reached from one along messages. */
static int reached_from(int rank)
{
	bool seen[RANKS_MAX] = {false};
	int queue[RANKS_MAX], n = 1;

	queue[0] = rank;
	seen[rank] = true;
	for (int i = 0; i < n; i++)
		for (int r = 0; r < ranks; r++)
			if (messages[queue[i]][r] && !seen[r]) {
				seen[r] = true;
				queue[n++] = r;
			}
	return n;
}

static void trees(void **state)
{
	(void)state;
	for (int n = 1; n <= RANKS_MAX; n++)
		for (int root = 0; root < n; root++) {
			run(ZGRAPH_BCAST, n, root);
			assert_int_equal(reached_from(root), n);
			assert_int_equal(message_sum(), n - 1);
			for (int r = 0; r < n; r++)
				assert_int_equal(sum_to(r), r != root);
			uint64_t down[RANKS_MAX][RANKS_MAX];
			memcpy(down, sent, sizeof(sent));
			run(ZGRAPH_REDUCE, n, root);
			for (int i = 0; i < n; i++)
				for (int j = 0; j < n; j++)
					assert_int_equal(sent[i][j], down[j][i]);
		}
	/* by hand: 0 -> 1, 2, 4; 2 -> 3; 4 -> 5, 6; 6 -> 7 */
	run(ZGRAPH_BCAST, 8, 0);
	assert_true(sent[0][1] && sent[0][2] && sent[0][4] && sent[2][3] && sent[4][5] && sent[4][6] && sent[6][7]);
	run(ZGRAPH_ALLREDUCE, 8, 5);
	assert_true(sent[0][4] && sent[4][0] && message_sum() == 14);
}

/* Every rank but the root keeps one block of what comes, or adds one to it. */
static void blocks_are_conserved(void **state)
{
	(void)state;
	for (int n = 1; n <= RANKS_MAX; n++)
		for (int root = 0; root < n; root++) {
			run(ZGRAPH_SCATTER, n, root);
			for (int r = 0; r < n; r++)
				assert_int_equal(r == root ? (uint64_t)n - 1 : sum_to(r) - 1, sum_from(r));
			run(ZGRAPH_GATHER, n, root);
			for (int r = 0; r < n; r++)
				assert_int_equal(r == root ? (uint64_t)n - 1 : sum_from(r) - 1, sum_to(r));
			assert_int_equal(message_sum(), n - 1);
			run(ZGRAPH_GATHERV, n, root);
			assert_int_equal(sum_to(root), n - 1);
			assert_int_equal(message_sum(), n - 1);
		}
}

static void others(void **state)
{
	(void)state;
	for (int n = 1; n <= RANKS_MAX; n++) {
		run(ZGRAPH_BARRIER, n, 0);
		for (int r = 0; r < n; r++) {
			assert_int_equal(reached_from(r), n);
			assert_int_equal(sum_from(r), 0);
		}
		run(ZGRAPH_ALLTOALL, n, 0);
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				assert_int_equal(sent[i][j], i != j);
		run(ZGRAPH_ALLGATHER, n, 0);
		for (int r = 0; r < n; r++)
			assert_int_equal(sent[r][(r + 1) % n], n - 1);
		assert_int_equal(message_sum(), n * (n - 1));
		run(ZGRAPH_ALLGATHERV, n, 0);
		assert_int_equal(message_sum(), n * (n - 1));
		run(ZGRAPH_EXSCAN, n, 0);
		assert_int_equal(message_sum(), n - 1);
		for (int r = 0; r + 1 < n; r++)
			assert_int_equal(sent[r][r + 1], 1);
		run(ZGRAPH_SCATTERV, n, 0);
		assert_int_equal(message_sum(), 0);
	}
}

/* --- the table --- */

/* Encodes the table as the only rank of a file with room for many peers, and reads it back. */
static struct zgraph *read_back(struct zrecord_table *t, uint32_t size)
{
	struct zgraph_select select = {.phase = -1, .keep_self = true};
	struct zgraph_writer *w;
	struct zgraph *g = NULL;
	struct zerr err = {.text = ""};
	uint8_t *row;
	size_t len;
	char path[64];

	snprintf(path, sizeof(path), "record-%ld.tmp", (long)getpid());
	assert_int_equal(zrecord_table_encode(t, NULL, 0, &row, &len), 0);
	assert_int_equal(zgraph_writer_open(&w, path, size, ZGRAPH_MODEL, "", true, &err), 0);
	assert_int_equal(zgraph_writer_row(w, row, len, &err), 0);
	free(row);
	for (uint32_t r = 1; r < size; r++)
		assert_int_equal(zgraph_writer_row(w, NULL, 0, &err), 0);
	assert_int_equal(zgraph_writer_close(w, &err), 0);
	if (zgraph_load(&g, path, &select, &err) != 0)
		fail_msg("%s", err.text);
	unlink(path);
	return g;
}

static void table_adds_up(void **state)
{
	struct zrecord_table t = {.slots_max = 0};
	(void)state;

	for (uint32_t i = 0; i < 30000; i++) {
		zrecord_table_edge(&t, 1 + i % 3, (enum zgraph_class)(i % 2), i * 7 % 1000, i, 1);
		zrecord_table_call(&t, 1, ZGRAPH_BCAST, i % 5, 1, i);
	}
	struct zgraph *g = read_back(&t, 1000);
	assert_int_equal(g->edges, 1000);
	assert_int_equal(g->total_bytes, 30000ull * 29999 / 2);
	assert_int_equal(g->total_messages, 30000);
	assert_int_equal(g->nlayers, 6);
	assert_int_equal(g->ncalls, 5);
	assert_int_equal(g->calls[4].calls, 6000);
	zgraph_destroy(g);
	zrecord_table_free(&t);
}

static void full_table_loses_nothing_unseen(void **state)
{
	struct zrecord_table t = {.slots_max = 1024};
	uint64_t lost = 0;
	(void)state;

	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 2000; i++)
			zrecord_table_edge(&t, 7, ZGRAPH_P2P, i, 10, 2);
	struct zgraph *g = read_back(&t, 2000);
	assert_within(g->edges, 700, 1023);
	for (size_t i = 0; i < g->ncalls; i++)
		if (g->calls[i].kind == ZGRAPH_LOST) {
			assert_int_equal(g->calls[i].phase, 7);
			assert_int_equal(g->calls[i].bytes, 5 * g->calls[i].calls);
			lost += g->calls[i].bytes;
		}
	assert_int_equal(lost + g->total_bytes, 40000);
	zgraph_destroy(g);
	zrecord_table_free(&t);
}

static void many_sizes_become_one(void **state)
{
	struct zrecord_table t = {.slots_max = 0};
	uint64_t calls = 0;
	(void)state;

	for (uint32_t i = 1; i <= 2 * ZRECORD_CALLS_MAX; i++)
		zrecord_table_call(&t, 1, ZGRAPH_BARRIER, i, 1, 0);
	struct zgraph *g = read_back(&t, 1);
	assert_int_equal(g->ncalls, ZRECORD_CALLS_MAX + 1);
	assert_int_equal(g->calls[0].size, 0);
	for (size_t i = 0; i < g->ncalls; i++)
		calls += g->calls[i].calls;
	assert_int_equal(calls, 2 * ZRECORD_CALLS_MAX);
	zgraph_destroy(g);
	zrecord_table_free(&t);
}

static void plans(void **state)
{
	(void)state;
	assert_null(zrecord_plan_find(5));
	for (int i = 0; i < 10000; i++) {
		struct zrecord_plan *p = zrecord_plan_create((MPI_Request)i);
		assert_non_null(p);
		assert_int_equal(zrecord_plan_add(p, i, 1, 1), 0);
		assert_int_equal(zrecord_plan_add(p, i + 1, 2, 1), 0);
	}
	for (int i = 0; i < 10000; i += 2)
		zrecord_plan_destroy((MPI_Request)i);
	for (int i = 0; i < 10000; i++) {
		const struct zrecord_plan *p = zrecord_plan_find((MPI_Request)i);
		assert_true(i % 2 ? p && p->n == 2 && p->edges[1].vrank == i + 1 : !p);
	}
	/* the handle again, for another request */
	assert_int_equal(zrecord_plan_create((MPI_Request)1)->n, 0);
	zrecord_plan_destroy_all();
	assert_null(zrecord_plan_find(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees),
		cmocka_unit_test(blocks_are_conserved),
		cmocka_unit_test(others),
		cmocka_unit_test(table_adds_up),
		cmocka_unit_test(full_table_loses_nothing_unseen),
		cmocka_unit_test(many_sizes_become_one),
		cmocka_unit_test(plans),
	};
	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}

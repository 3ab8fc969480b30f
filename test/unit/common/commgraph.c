/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded graphs: a written graph is read back, and every damage is reported. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/graph/graph.h"
#include "common/graph/graph_load.h"
#include "common/graph/graph_scan.h"
#include "common/graph/graph_writer.h"
#include "common/graph/graph_format.h"
#include "test/unit/common/corpus.h"
#include "test/unit/within.h"
#include "common/wire/crc32.h"

static char path[64];

/* Writes the file of the test with these bytes, and with a checksum that fits unless crc is false. */
static void file_write(const void *data, size_t len, bool crc)
{
	unlink(path); /* truncating it would wait for the disk */
	FILE *f = fopen(path, "w");
	uint32_t sum = zcrc32(0, data, len);
	uint8_t tail[4] = {(uint8_t)sum, (uint8_t)(sum >> 8), (uint8_t)(sum >> 16), (uint8_t)(sum >> 24)};

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	if (crc)
		assert_int_equal(fwrite(tail, 1, sizeof(tail), f), sizeof(tail));
	assert_int_equal(fclose(f), 0);
}

static size_t file_read(uint8_t *data, size_t cap)
{
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	size_t len = fread(data, 1, cap, f);
	fclose(f);
	return len;
}

#define RUN(p, c, at, n, b, m)                                                                                         \
	{                                                                                                              \
		.phase = (p), .class = (c), .peer = (at), .count = (n), .bytes = (b), .messages = (m)                  \
	}

/* Three ranks: two phases and all classes, self messages, runs that the encoder can join. */
static void example_write(void)
{
	static const struct zgraph_run first[] = {RUN(1, ZGRAPH_P2P, 0, 1, 7, 1), RUN(1, ZGRAPH_P2P, 1, 1, 100, 2),
		RUN(1, ZGRAPH_P2P, 2, 1, 100, 2), RUN(1, ZGRAPH_COLL, 2, 1, UINT64_C(1) << 40, 3),
		RUN(5, ZGRAPH_P2P, 1, 2, 10, 1), RUN(5, ZGRAPH_GET, 1, 1, 1000, 4)};
	static const struct zgraph_call calls[] =
		{{.phase = 1, .kind = ZGRAPH_BCAST, .size = 3, .calls = 4, .bytes = 400},
			{.phase = 5, .kind = ZGRAPH_BARRIER, .size = 2, .calls = 1}};
	static const struct zgraph_run third[] = {RUN(1, ZGRAPH_PUT, 0, 2, 9, 1)};
	struct zgraph_writer *w;
	struct zerr err;
	uint8_t *row;
	size_t len;

	assert_int_equal(zgraph_writer_open(&w, path, 3, 1, "a.out \x01", false, &err), 0);
	assert_int_equal(zgraph_writer_encode(&(struct zgraph_row){.runs = first,
						      .nruns = 6,
						      .calls = calls,
						      .ncalls = 2},
				 &row, &len),
		0);
	assert_int_equal(zgraph_writer_row(w, row, len, &err), 0);
	free(row);
	assert_int_equal(zgraph_writer_encode(&(struct zgraph_row){.nruns = 0}, &row, &len), 0);
	assert_int_equal(len, 0);
	assert_int_equal(zgraph_writer_row(w, row, len, &err), 0);
	assert_int_equal(zgraph_writer_encode(&(struct zgraph_row){.runs = third,
						      .nruns = 1,
						      .calls = calls,
						      .ncalls = 1},
				 &row, &len),
		0);
	assert_int_equal(zgraph_writer_row(w, row, len, &err), 0);
	free(row);
	assert_int_equal(zgraph_writer_close(w, &err), 0);
}

static void row_is(const struct zgraph *g, uint32_t rank, size_t n, const struct zgraph_pair *want)
{
	assert_int_equal(g->off[rank + 1] - g->off[rank], n);
	for (size_t i = 0; i < n; i++) {
		uint64_t at = g->off[rank] + i;
		assert_int_equal(g->peer[at], want[i].peer);
		assert_int_equal(g->bytes[at], want[i].bytes);
		assert_int_equal(g->messages[at], want[i].messages);
	}
}

static void reads_what_was_written(void **state)
{
	struct zgraph *g;
	struct zerr err = {.text = ""};
	(void)state;

	example_write();
	assert_int_equal(zgraph_scan_probe(path, &err), 1);
	assert_int_equal(zgraph_load(&g, path, NULL, &err), 0);
	assert_int_equal(g->ranks, 3);
	assert_int_equal(g->model, 1);
	assert_string_equal(g->title, "a.out ?");
	row_is(g, 0, 2, (struct zgraph_pair[]){{1, 110, 3}, {2, 110 + (UINT64_C(1) << 40), 6}});
	row_is(g, 1, 1, (struct zgraph_pair[]){{0, 1000, 4}});
	row_is(g, 2, 2, (struct zgraph_pair[]){{0, 9, 1}, {1, 9, 1}});
	assert_int_equal(g->edges, 5);
	assert_int_equal(g->total_messages, 3 + 6 + 4 + 2);
	assert_int_equal(g->nlayers, 5);
	assert_int_equal(g->layers[0].phase, 1);
	assert_int_equal(g->layers[0].class, ZGRAPH_P2P);
	assert_int_equal(g->layers[0].edges, 2);
	assert_int_equal(g->layers[0].bytes, 207);
	assert_int_equal(g->layers[0].self_bytes, 7);
	assert_int_equal(g->layers[2].class, ZGRAPH_PUT);
	assert_int_equal(g->layers[2].messages, 2);
	assert_int_equal(g->layers[4].phase, 5);
	assert_int_equal(g->layers[4].class, ZGRAPH_GET);
	assert_int_equal(g->ncalls, 2);
	assert_int_equal(g->calls[0].kind, ZGRAPH_BCAST);
	assert_int_equal(g->calls[0].calls, 8);
	assert_int_equal(g->calls[0].bytes, 800);
	assert_int_equal(g->calls[1].phase, 5);
	zgraph_destroy(g);
}

static void selects(void **state)
{
	struct zgraph *g;
	struct zerr err = {.text = ""};
	(void)state;

	example_write();
	struct zgraph_select select = {.phase = 5, .classes = 1u << ZGRAPH_P2P};
	assert_int_equal(zgraph_load(&g, path, &select, &err), 0);
	assert_int_equal(g->edges, 2);
	assert_int_equal(g->total_bytes, 20);
	assert_int_equal(g->nlayers, 5);
	zgraph_destroy(g);
	select = (struct zgraph_select){.phase = -1, .keep_self = true};
	assert_int_equal(zgraph_load(&g, path, &select, &err), 0);
	row_is(g, 0, 3, (struct zgraph_pair[]){{0, 7, 1}, {1, 110, 3}, {2, 110 + (UINT64_C(1) << 40), 6}});
	zgraph_destroy(g);
	select.edges_max = 7;
	assert_int_equal(zgraph_load(&g, path, &select, &err), -EFBIG);
	assert_non_null(strstr(err.text, "more than 7 pairs"));
}

/* Two ranks with times, and one without. */
static void timed_write(void)
{
	static const struct zgraph_time first[] = {{1, ZGRAPH_SPAN_RUN, 1, 1000}, {1, ZGRAPH_SPAN_BRIDGE, 2, 50},
		{1, (enum zgraph_span)ZGRAPH_BARRIER, 3, 100}, {1, ZGRAPH_SPAN_WAIT, 1, 200},
		{5, ZGRAPH_SPAN_RUN, 1, 10}, {5, ZGRAPH_SPAN_WAIT, 2, 7}};
	static const struct zgraph_time second[] = {{1, ZGRAPH_SPAN_RUN, 1, 900}, {1, ZGRAPH_SPAN_WAIT, 5, 300}};
	const struct zgraph_row rows[] = {{.timed = true, .times = first, .ntimes = 6},
		{.timed = true, .times = second, .ntimes = 2}, {.timed = true}};
	struct zgraph_writer *w;
	struct zerr err;
	uint8_t *row;
	size_t len;

	assert_int_equal(zgraph_writer_open(&w, path, 3, 1, "", true, &err), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(zgraph_writer_encode(&rows[i], &row, &len), 0);
		assert_int_equal(zgraph_writer_row(w, row, len, &err), 0);
		free(row);
	}
	assert_int_equal(zgraph_writer_close(w, &err), 0);
}

static void total_is(const struct zgraph *g, int span, uint64_t calls, uint64_t ns, uint64_t least, uint64_t most)
{
	assert_int_equal(g->span[span].calls, calls);
	assert_int_equal(g->span[span].ns, ns);
	assert_int_equal(g->span[span].least, least);
	assert_int_equal(g->span[span].most, most);
}

static void times_are_summed(void **state)
{
	const struct zgraph_select select = {.phase = 5};
	struct zgraph *g;
	struct zerr err = {.text = ""};
	(void)state;

	timed_write();
	assert_int_equal(zgraph_load(&g, path, NULL, &err), 0);
	total_is(g, ZGRAPH_SPAN_RUN, 3, 1910, 0, 1010);
	total_is(g, ZGRAPH_SPAN_BRIDGE, 2, 50, 0, 50);
	total_is(g, ZGRAPH_BARRIER, 3, 100, 0, 100);
	total_is(g, ZGRAPH_SPAN_WAIT, 8, 507, 0, 300);
	assert_int_equal(g->rank[0].run, 1010);
	assert_int_equal(g->rank[0].mpi, 307);
	assert_int_equal(g->rank[0].bridge, 50);
	assert_int_equal(g->rank[1].mpi, 300);
	assert_int_equal(g->rank[2].run, 0);
	zgraph_destroy(g);
	assert_int_equal(zgraph_load(&g, path, &select, &err), 0);
	total_is(g, ZGRAPH_SPAN_RUN, 1, 10, 0, 10);
	total_is(g, ZGRAPH_SPAN_WAIT, 2, 7, 0, 7);
	assert_int_equal(g->rank[0].mpi, 7);
	zgraph_destroy(g);
	example_write();
	assert_int_equal(zgraph_load(&g, path, NULL, &err), 0);
	assert_null(g->rank);
	zgraph_destroy(g);
}

static void builds_from_a_list(void **state)
{
	struct zgraph_edge e[] = {{2, 0, 5, 1}, {0, 2, 1, 1}, {0, 1, 2, 1}, {1, 1, 9, 1}, {0, 2, 3, 2}};
	struct zgraph *g, *back;
	struct zerr err = {.text = ""};
	(void)state;

	assert_int_equal(zgraph_build(&g, 3, e, 5, false, &err), 0);
	row_is(g, 0, 2, (struct zgraph_pair[]){{1, 2, 1}, {2, 4, 3}});
	row_is(g, 1, 0, NULL);
	row_is(g, 2, 1, (struct zgraph_pair[]){{0, 5, 1}});
	assert_int_equal(zgraph_save(g, path, &err), 0);
	assert_int_equal(zgraph_load(&back, path, NULL, &err), 0);
	assert_int_equal(back->edges, g->edges);
	assert_memory_equal(back->off, g->off, 4 * sizeof(*g->off));
	assert_memory_equal(back->peer, g->peer, g->edges * sizeof(*g->peer));
	assert_memory_equal(back->bytes, g->bytes, g->edges * sizeof(*g->bytes));
	assert_memory_equal(back->messages, g->messages, g->edges * sizeof(*g->messages));
	assert_int_equal(back->layers[0].bytes, g->layers[0].bytes);
	zgraph_destroy(back);
	zgraph_destroy(g);
	assert_int_equal(zgraph_build(&g, 3, e, 5, true, &err), 0);
	row_is(g, 1, 1, (struct zgraph_pair[]){{1, 9, 1}});
	zgraph_destroy(g);
	e[0].dst = 3;
	assert_int_equal(zgraph_build(&g, 3, e, 5, true, &err), -EINVAL);
	assert_string_equal(err.text, "an edge from 2 to 3, but only 3 ranks");
	e[0] = (struct zgraph_edge){0, 2, UINT64_MAX, 1};
	assert_int_equal(zgraph_build(&g, 3, e, 5, true, &err), -EOVERFLOW);
}

/* An all-to-all in which all ranks send the same takes some bytes for each rank, whatever its size. */
static void dense_is_compact(void **state)
{
	enum { RANKS = 1000 };
	static struct zgraph_edge e[RANKS * RANKS];
	struct zgraph *g;
	struct zerr err = {.text = ""};
	uint8_t data[65536];
	(void)state;

	for (uint32_t i = 0; i < RANKS * RANKS; i++)
		e[i] = (struct zgraph_edge){i / RANKS, i % RANKS, 123456, 7};
	assert_int_equal(zgraph_build(&g, RANKS, e, RANKS * RANKS, false, &err), 0);
	assert_int_equal(zgraph_save(g, path, &err), 0);
	zgraph_destroy(g);
	assert_within(file_read(data, sizeof(data)), RANKS, 20 * RANKS);
	assert_int_equal(zgraph_load(&g, path, NULL, &err), 0);
	assert_int_equal(g->edges, RANKS * (RANKS - 1));
	assert_int_equal(g->total_bytes, UINT64_C(123456) * RANKS * (RANKS - 1));
	zgraph_destroy(g);
}

#define HEAD "\x89ZGR\r\n\x1a\n\x01"
#define TIMED "\x89ZGR\r\n\x1a\n\x02"

static void wrong_files(void **state)
{
	static const struct {
		const char *data;
		size_t len;
		const char *error;
	} files[] = {
#define FILE_OF(text, why) {text, sizeof(text) - 1, why}
		FILE_OF("", "byte 0: not a recorded graph"),
		FILE_OF("3 2\n2 3\n1\n1\n", "byte 0: not a recorded graph"),
		FILE_OF("\x89ZGR\n\x1a\n\x01\x01", "byte 0: a recorded graph that was transferred as text"),
		FILE_OF("\x89ZGR\r\n\x1a\n\x03\x01\x01",
			"version 3 of the format, but this program reads versions 1 and 2"),
		FILE_OF("\x89ZGR\r\n\x1a\n\x81\x00\x01\x01", "byte 8: not a version"),
		FILE_OF(HEAD "\x00\x01\x00", "byte 12: no ranks"),
		FILE_OF(HEAD "\xff\xff\xff\xff\x7f\x01\x00", "byte 9: not a number of ranks"),
		FILE_OF(HEAD "\xff\xff\xff\xff\x07\x01\x00", "byte 16: the file is too short for its ranks"),
		FILE_OF(HEAD "\x01\x01\x80\x02", "byte 11: a title that is too long"),
		FILE_OF(HEAD "\x01\x01\x01\n\x00", "byte 13: a title that is no ASCII text"),
		FILE_OF(HEAD "\x02\x01\x00\x00", "byte 12, rank 0: the file ends too early"),
		FILE_OF(HEAD "\x01\x01\x00\x09", "byte 12, rank 0: the file ends too early"),
		FILE_OF(HEAD "\x01\x01\x00\x00x", "byte 13: bytes behind the last row"),
		FILE_OF(HEAD "\x01\x01\x00\x01\x00", "byte 14, rank 0: not a number of groups"),
		FILE_OF(HEAD "\x01\x01\x00\x03\x00\x00\x00",
			"byte 15, rank 0: more bytes in the row than it has entries"),
		FILE_OF(HEAD "\x01\x01\x00\x02\x01\x01", "byte 15, rank 0: not a kind of calls"),
		FILE_OF(HEAD "\x01\x01\x00\x07\x01\x01\x7f\x01\x01\x01\x00", "byte 15, rank 0: not a kind of calls"),
		FILE_OF(HEAD "\x01\x01\x00\x07\x01\x01\x03\x01\x00\x01\x00", "byte 17, rank 0: not a number of calls"),
		FILE_OF(HEAD "\x01\x01\x00\x0c\x02\x01\x03\x01\x01\x01\x01\x03\x01\x01\x01\x00",
			"byte 24, rank 0: kinds of calls that do not ascend"),
		FILE_OF(HEAD "\x01\x01\x00\x08\x00\x01\x01\x09\x01\x00\x01\x01",
			"byte 16, rank 0: not a class of traffic"),
		FILE_OF(HEAD "\x01\x01\x00\x08\x00\x01\x01\x00\x00\x00\x01\x01",
			"byte 17, rank 0: not a number of runs"),
		FILE_OF(HEAD "\x01\x01\x00\x08\x00\x01\x01\x00\x01\x04\x01\x01",
			"byte 19, rank 0: a peer that is not there"),
		FILE_OF(HEAD "\x01\x01\x00\x09\x00\x01\x01\x00\x01\x02\x00\x01\x01",
			"byte 20, rank 0: a run beyond the last rank"),
		FILE_OF(HEAD "\x01\x01\x00\x06\x00\x01\x01\x00\x01\x01", "byte 19, rank 0: the first run repeats none"),
		FILE_OF(HEAD "\x01\x01\x00\x08\x00\x01\x01\x00\x01\x00\x01\x00",
			"byte 20, rank 0: not a number of messages"),
		FILE_OF(HEAD "\x01\x01\x00\x0e\x00\x02\x01\x00\x01\x00\x01\x01\x01\x00\x01\x00\x01\x01",
			"byte 24, rank 0: groups of runs that do not ascend"),
		FILE_OF(HEAD
			"\x02\x01\x00\x12\x00\x01\x01\x00\x01\x02\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x00",
			": more than 2^64 bytes"),
		FILE_OF(TIMED "\x01\x01\x00\x02\x00\x00", "byte 15, rank 0: not a number of times"),
		FILE_OF(TIMED "\x01\x01\x00\x07\x00\x00\x01\x01\x7f\x01\x00", "byte 17, rank 0: not a kind of time"),
		FILE_OF(TIMED "\x01\x01\x00\x07\x00\x00\x01\x01\x00\x00\x00", "byte 18, rank 0: not a number of calls"),
		FILE_OF(TIMED "\x01\x01\x00\x0b\x00\x00\x02\x01\x02\x01\x00\x01\x02\x01\x00",
			"byte 24, rank 0: times that do not ascend"),
		FILE_OF(TIMED "\x01\x01\x00\x1d\x00\x00\x02"
			      "\x01\x02\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
			      "\x01\x03\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
			": its times or their calls are more than 2^64"),
	};
	struct zgraph *g;
	struct zerr err;
	(void)state;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		file_write(files[i].data, files[i].len, true);
		err.text[0] = '\0';
		int rc = zgraph_load(&g, path, NULL, &err);
		if (rc != -EINVAL || !strstr(err.text, files[i].error) || strncmp(err.text, path, strlen(path)) != 0)
			fail_msg("file %zu: %d, \"%s\" instead of \"%s\"", i, rc, err.text, files[i].error);
	}
	assert_int_equal(zgraph_load(&g, "/nonexistent/graph", NULL, &err), -ENOENT);
	assert_int_equal(zgraph_load(&g, "/", NULL, &err), -EINVAL);
	assert_string_equal(err.text, "/: not a file");
	assert_int_equal(zgraph_scan_probe("/nonexistent/graph", &err), -ENOENT);
}

/* A file that is cut at any place, or has any byte changed, is refused. */
static void damage_is_found(void **state)
{
	uint8_t data[4096];
	struct zgraph *g;
	struct zerr err;

	if (*state)
		timed_write();
	else
		example_write();
	size_t len = file_read(data, sizeof(data));
	for (size_t n = 0; n < len; n++) {
		file_write(data, n, false);
		assert_int_equal(zgraph_load(&g, path, NULL, &err), -EINVAL);
	}
	for (size_t n = 0; n < len; n++) {
		data[n] ^= 0x10;
		file_write(data, len, false);
		assert_int_equal(zgraph_load(&g, path, NULL, &err), -EINVAL);
		data[n] ^= 0x10;
	}
}

/* A writer that is abandoned, or closed too early, leaves the old file. */
static void writes_whole_files_only(void **state)
{
	struct zgraph_writer *w;
	struct zerr err;
	struct zgraph *g;
	char temporary[128];
	(void)state;

	example_write();
	assert_int_equal(zgraph_writer_open(&w, path, 2, 0, "", false, &err), 0);
	assert_int_equal(zgraph_writer_row(w, NULL, 0, &err), 0);
	zgraph_writer_abandon(w);
	assert_int_equal(zgraph_writer_open(&w, path, 2, 0, "", false, &err), 0);
	assert_int_equal(zgraph_writer_row(w, NULL, 0, &err), 0);
	assert_int_equal(zgraph_writer_close(w, &err), -EINVAL);
	assert_non_null(strstr(err.text, "1 rows for 2 ranks"));
	snprintf(temporary, sizeof(temporary), "%s.%ld.part", path, (long)getpid());
	assert_int_not_equal(access(temporary, F_OK), 0);
	assert_int_equal(zgraph_load(&g, path, NULL, &err), 0);
	assert_int_equal(g->ranks, 3);
	zgraph_destroy(g);
	assert_int_equal(zgraph_writer_open(&w, "/nonexistent/graph", 2, 0, "", false, &err), -ENOENT);
}

static unsigned good, bad;

static void feed(const char *data, size_t len)
{
	struct zgraph_select select = {.phase = -1, .edges_max = 100000};
	struct zgraph *g;
	struct zerr err = {.text = ""};

	/* with a right checksum, so that the damage is not found too early */
	file_write(data, len < 4 ? 0 : len - 4, true);
	int rc = zgraph_load(&g, path, &select, &err);
	if (rc == 0) {
		assert_within(g->ranks, 1, len);
		assert_int_equal(g->off[g->ranks], g->edges);
		for (uint64_t i = 0; i < g->edges; i++)
			assert_within(g->peer[i], 0, g->ranks - 1);
		zgraph_destroy(g);
		good++;
	} else {
		assert_true(err.text[0] != '\0' && !strchr(err.text, '\n'));
		bad++;
	}
}

static void survives_the_corpus(void **state)
{
	(void)state;
	assert_within(corpus_replay("graph", feed), 3, 100);
	assert_within(good, 1, 100000);
	assert_within(bad, 1, 100000);
}

static int file_remove(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_was_written),
		cmocka_unit_test(selects),
		cmocka_unit_test(times_are_summed),
		cmocka_unit_test(builds_from_a_list),
		cmocka_unit_test(dense_is_compact),
		cmocka_unit_test(wrong_files),
		cmocka_unit_test(damage_is_found),
		cmocka_unit_test_prestate(damage_is_found, path),
		cmocka_unit_test(writes_whole_files_only),
		cmocka_unit_test(survives_the_corpus),
	};
	snprintf(path, sizeof(path), "commgraph-%ld.tmp", (long)getpid());
	return cmocka_run_group_tests_name("commgraph", tests, NULL, file_remove);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuning table: which rule counts, every error with its place and words, and damaged files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/common/corpus.h"
#include "test/unit/within.h"
#include "common/config/tuning.h"
#include "common/config/tuning_parse.h"

static int parse(struct ztuning *table, const char *text, size_t len, struct zerr *err)
{
	assert_int_equal(ztuning_init(table, err), 0);
	FILE *in = len ? fmemopen((void *)(uintptr_t)text, len, "r") : fopen("/dev/null", "r");
	assert_non_null(in);
	int rc = ztuning_parse(table, in, "table", err);
	fclose(in);
	return rc;
}

static struct ztuning_settings choose(const struct ztuning *t, enum ztuning_collective which, int64_t bytes)
{
	return ztuning_choose(t, which,
		&(struct ztuning_case){.bytes = bytes, .ranks = 6, .clusters = 2, .members = 2, .members_max = 4});
}

static void defaults_are_whole(void **state)
{
	struct ztuning t;
	struct zerr err;
	(void)state;
	assert_int_equal(ztuning_init(&t, &err), 0);
	assert_true(t.latency_ns > 0 && t.bandwidth > 0);
	assert_int_equal(choose(&t, ZTUNING_BCAST, 1).segment, 128 << 10);
	assert_int_equal(choose(&t, ZTUNING_BCAST, 1).segments, 64);
	assert_int_equal(choose(&t, ZTUNING_SCATTER, 0).together, 4096);
	assert_int_equal(choose(&t, ZTUNING_GATHER, 0).alone, 16 << 10);
	assert_int_equal(choose(&t, ZTUNING_GATHER, 0).together, 0);
	assert_int_equal(choose(&t, ZTUNING_REDUCE, 2048).inside, ZTUNING_INSIDE_GATHER);
	assert_int_equal(choose(&t, ZTUNING_ALLREDUCE, 2047).inside, ZTUNING_INSIDE_AUTO);
	assert_int_equal(choose(&t, ZTUNING_SCAN, 1 << 20).segment, 128 << 10);
	assert_int_equal(choose(&t, ZTUNING_SCAN, 1 << 20).leaders, 1);
	/* small blocks go together between clusters of any sizes: never a message for each pair */
	for (int large = 1; large <= 300; large++)
		for (int small = 1; small <= large; small++)
			assert_true(ztuning_choose(&t, ZTUNING_ALLTOALL,
					    &(struct ztuning_case){.bytes = 0,
						    .ranks = large + small,
						    .clusters = 2,
						    .members = small,
						    .members_max = large})
					    .aggregate >= 1024);
	/* a collective does not have the settings of others */
	assert_int_equal(choose(&t, ZTUNING_BCAST, 1 << 20).inside, 0);
	assert_int_equal(choose(&t, ZTUNING_SCATTER, 1 << 20).segment, 0);
	assert_int_equal(choose(&t, ZTUNING_SCAN, 1 << 20).inside, 0);
	ztuning_free(&t);
}

static void example_is_the_defaults(void **state)
{
	struct ztuning t, other;
	struct zerr err = {{0}};
	char path[4096];
	const char *top = getenv("ZIP_TOP_SRCDIR");
	(void)state;
	snprintf(path, sizeof(path), "%s/etc/zipper.tuning", top ? top : "..");
	memset(&other, 0, sizeof(other));
	assert_int_equal(ztuning_init(&t, &err), 0);
	assert_int_equal(ztuning_parse_file(&other, path, &err), 0);
	assert_true(ztuning_digest(&t) == ztuning_digest(&other));
	ztuning_free(&t);
	ztuning_free(&other);
}

static void the_last_true_rule_counts(void **state)
{
	static const char text[] = "bcast segment=1M # all\n"
				   "\tbcast\tbytes>=1M bytes<2M   segment=2M segments=7\r\n"
				   "\n"
				   "# nothing\n"
				   "bcast segment=3M clusters>=3\n"
				   "bcast members<2 segment=4M\n"
				   "all bytes>=1G segments=9\n"
				   "bridge latency_ns=77 bandwidth=3M\n"
				   "reduce latency_ns>=77 latency_ns<78 bandwidth>=3145728 segment=300";
	struct ztuning t;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(parse(&t, text, sizeof(text) - 1, &err), 0);
	assert_int_equal(t.latency_ns, 77);
	assert_int_equal(t.bandwidth, 3 << 20);
	assert_int_equal(choose(&t, ZTUNING_BCAST, 0).segment, 1 << 20);
	assert_int_equal(choose(&t, ZTUNING_BCAST, 0).segments, 64);
	assert_int_equal(choose(&t, ZTUNING_BCAST, (1 << 20) - 1).segments, 64);
	assert_int_equal(choose(&t, ZTUNING_BCAST, 1 << 20).segment, 2 << 20);
	assert_int_equal(choose(&t, ZTUNING_BCAST, 1 << 20).segments, 7);
	assert_int_equal(choose(&t, ZTUNING_BCAST, 2 << 20).segment, 1 << 20);
	assert_int_equal(choose(&t, ZTUNING_BCAST, 1 << 30).segments, 9);
	assert_int_equal(choose(&t, ZTUNING_ALLREDUCE, 1 << 30).segments, 9);
	assert_int_equal(choose(&t, ZTUNING_REDUCE, 5).segment, 300);
	struct ztuning_case other = {.bytes = 1, .ranks = 3, .clusters = 3, .members = 2, .members_max = 2};
	assert_int_equal(ztuning_choose(&t, ZTUNING_BCAST, &other).segment, 3 << 20);
	other.members = 1;
	assert_int_equal(ztuning_choose(&t, ZTUNING_BCAST, &other).segment, 4 << 20);
	ztuning_free(&t);
}

static void single_rules(void **state)
{
	struct ztuning t, plain;
	struct zerr err = {{0}};
	(void)state;
	assert_int_equal(ztuning_init(&t, &err), 0);
	assert_int_equal(ztuning_init(&plain, &err), 0);
	assert_int_equal(ztuning_parse_text(&t, "", "V", &err), 0);
	assert_true(ztuning_digest(&t) == ztuning_digest(&plain));
	assert_int_equal(ztuning_parse_text(&t, "bcast segment=1K; reduce bytes<5 segments=3;", "V", &err), 0);
	assert_false(ztuning_digest(&t) == ztuning_digest(&plain));
	assert_int_equal(choose(&t, ZTUNING_BCAST, 0).segment, 1024);
	assert_int_equal(choose(&t, ZTUNING_REDUCE, 4).segments, 3);
	assert_int_equal(ztuning_parse_text(&t, "bcast segment=1K;bcast", "V", &err), -EINVAL);
	assert_string_equal(err.text, "V:2: nothing is set for bcast");
	ztuning_free(&t);
	ztuning_free(&plain);
}

static void digests_tell_tables_apart(void **state)
{
	static const char *const texts[] = {"", "bridge latency_ns=1", "bridge bandwidth=1", "bcast segment=1K",
		"bcast segment=2K", "reduce segment=1K", "bcast bytes<1 segment=1K", "bcast bytes>=1 segment=1K",
		"bcast ranks>=1 segment=1K", "bcast bytes<2 segment=1K", "bcast segments=1024"};
	uint64_t seen[sizeof(texts) / sizeof(texts[0])];
	struct zerr err;
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct ztuning t;
		assert_int_equal(parse(&t, texts[i], strlen(texts[i]), &err), 0);
		seen[i] = ztuning_digest(&t);
		ztuning_free(&t);
		for (size_t k = 0; k < i; k++)
			assert_false(seen[k] == seen[i]);
	}
}

static void refused(const char *text, const char *words)
{
	struct ztuning t;
	struct zerr err = {{0}};
	int rc = parse(&t, text, strlen(text), &err);
	ztuning_free(&t);
	assert_true(rc < 0);
	if (!strstr(err.text, words))
		fail_msg("'%s': wanted '%s'", err.text, words);
}

static void says_what_is_wrong(void **state)
{
	char text[2048];
	(void)state;
	refused("bcats segment=1K\n", "table:1: unknown collective 'bcats' (did you mean bcast?)");
	refused("\n# x\nbcast segmetn=1K\n", "table:3: bcast has no setting 'segmetn' (did you mean segment?)");
	refused("bcast together=1K\n", "table:1: bcast has no setting 'together'");
	refused("all nonsense=1K\n", "table:1: all has no setting 'nonsense'");
	refused("bcast byts>=1 segment=1K\n", "table:1: unknown key 'byts' (did you mean bytes?)");
	refused("bcast bytes>1 segment=1K\n", "table:1: 'bytes>1': a condition is KEY>=NUMBER or KEY<NUMBER");
	refused("bcast bytes>=1X segment=1K\n", "table:1: bytes: '1X' is not");
	refused("bcast bytes>=-1 segment=1K\n", "table:1: bytes: '-1' is not");
	refused("bcast segment=1\n", "table:1: segment: '1' is not");
	refused("bcast segment=2G\n", "table:1: segment: '2G' is not");
	refused("reduce inside=perhaps\n", "table:1: inside: 'perhaps' is not auto, gather or native");
	refused("bcast segment\n", "table:1: 'segment' is neither a condition nor SETTING=VALUE");
	refused("bcast =5\n", "table:1: '=5' is neither");
	refused("bcast bytes>=1\n", "table:1: nothing is set for bcast");
	refused("bridge\n", "table:1: bridge without");
	refused("bridge latency_ns=0\n", "table:1: latency_ns: '0' is not");
	refused("bridge latency=3\n", "table:1: unknown option 'latency'");
	refused("bridge latency_ns\n", "table:1: 'latency_ns' is not of the form NAME=NUMBER");
	refused("bcast bytes>=1 bytes>=1 bytes>=1 bytes>=1 bytes>=1 bytes>=1 bytes>=1 bytes>=1 bytes>=1 segment=1K\n",
		"table:1: more than 8 conditions");
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	refused(text, "table:1: more than 1000 characters");
	struct ztuning t;
	struct zerr err = {{0}};
	assert_int_equal(parse(&t, "bcast\0segment=1K\n", 17, &err), -EINVAL);
	assert_string_equal(err.text, "table:1: zero byte in the line");
	ztuning_free(&t);
	assert_int_equal(ztuning_init(&t, &err), 0);
	assert_int_equal(ztuning_parse_file(&t, "/nowhere/table", &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nowhere/table: "));
	ztuning_free(&t);
}

/* Any input gives a table that can be asked, or one line with a number. */
static void feed(const char *text, size_t len)
{
	struct ztuning t;
	struct zerr err = {{0}};
	if (parse(&t, text, len, &err) < 0) {
		assert_true(strncmp(err.text, "table:", 6) == 0);
		assert_null(strchr(err.text, '\n'));
	} else {
		for (int c = 0; c < ZTUNING_COLLECTIVES; c++)
			choose(&t, (enum ztuning_collective)c, 4096);
		assert_within(choose(&t, ZTUNING_BCAST, 5).segment, 256, 1 << 30);
		assert_within(choose(&t, ZTUNING_REDUCE, 5).segments, 1, 1024);
	}
	ztuning_free(&t);
}

static void survives_damage(void **state)
{
	(void)state;
	assert_true(corpus_replay("tuning", feed) >= 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_whole),
		cmocka_unit_test(example_is_the_defaults),
		cmocka_unit_test(the_last_true_rule_counts),
		cmocka_unit_test(single_rules),
		cmocka_unit_test(digests_tell_tables_apart),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(survives_damage),
	};
	return cmocka_run_group_tests_name("tuning", tests, NULL, NULL);
}

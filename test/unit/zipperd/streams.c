/* SPDX-License-Identifier: BSD-3-Clause */
/* The streams of a trunk at zipperd's workers: windows, what waits, ends, and peers that break the rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/trunk_bench.h"

#define SMALL 960u /* with its envelope 1 KiB: 4 of them are a quarter of the first window, 16 are all of it */
#define LARGE (256u << 10)

static struct bench b;

static void begin(const struct bench_config *config, int streams)
{
	bench_begin(&b, config);
	for (int i = 0; i < streams && !config->accepts; i++) {
		bench_open(&b, i);
		bench_lend(&b, i);
	}
	bench_run(&b);
}

static void show(struct bench_link *l, uint32_t id, uint32_t len, int count)
{
	for (int i = 0; i < count; i++)
		bench_show_message(l, id, ZWIRE_BLOCK, len);
	bench_run(&b);
}

static void credit(uint32_t id, uint64_t gone, uint64_t window)
{
	bench_show_credit(&b, id, gone, window);
	bench_run(&b);
}

static void check_good(void)
{
	assert_false(b.lost);
	assert_null(b.breach);
	bench_end(&b);
}

static void check_lost(const char *breach)
{
	bench_run(&b);
	assert_true(b.lost);
	assert_non_null(b.breach);
	assert_string_equal(b.breach, breach);
	bench_end(&b);
}

/* --- windows --- */

static void a_sender_keeps_to_the_window(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 1);
	show(&b.s[0].rank, 0, SMALL, 40);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_BLOCK), 16);
	credit(1, 1024, ZWIRE_STREAM_FIRST);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_BLOCK), 17);
	credit(1, 4 * 1024, ZWIRE_STREAM_FIRST / 2); /* less than is under way */
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_BLOCK), 17);
	credit(1, 16 * 1024, ZWIRE_STREAM_FIRST);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_BLOCK), 32);
	credit(1, 16 * 1024, ZWIRE_STREAM_LARGE);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_BLOCK), 40);
	check_good();
}

static void a_large_message_goes_when_little_is_under_way(void **state)
{
	const uint64_t bytes = LARGE + ZWIRE_ENV_BYTES;
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 1);
	show(&b.s[0].rank, 0, LARGE, 3);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_BLOCK), 1);
	credit(1, bytes - ZWIRE_STREAM_FIRST / 4 - 1, ZWIRE_STREAM_FIRST);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_BLOCK), 1);
	credit(1, bytes - ZWIRE_STREAM_FIRST / 4, ZWIRE_STREAM_FIRST);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_BLOCK), 2);
	credit(1, bytes, ZWIRE_STREAM_LARGE);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_BLOCK), 3);
	check_good();
}

static void a_receiver_tells_what_has_gone_on(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 1);
	show(&b.wire, 1, SMALL, 3);
	assert_int_equal(bench_count(&b.s[0].rank, 0, ZWIRE_BLOCK), 3);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_CREDIT), 0);
	show(&b.wire, 1, SMALL, 1);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_CREDIT), 1);
	assert_int_equal(bench_last(&b.wire, 1, ZWIRE_CREDIT)->offset, 4 * 1024);
	assert_int_equal(bench_last(&b.wire, 1, ZWIRE_CREDIT)->xfer, ZWIRE_STREAM_LARGE);
	show(&b.wire, 1, LARGE, 1); /* less than a quarter of the large one */
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_CREDIT), 1);
	show(&b.wire, 1, LARGE, 1);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_CREDIT), 2);
	check_good();
}

static void nothing_has_gone_on_that_a_rank_does_not_read(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 2);
	b.s[0].rank.full = true;
	show(&b.wire, 1, SMALL, 16);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_CREDIT), 0);
	show(&b.wire, 2, SMALL, 4); /* it does not hold up another one */
	assert_int_equal(bench_count(&b.s[1].rank, 0, ZWIRE_BLOCK), 4);
	assert_int_equal(bench_count(&b.wire, 2, ZWIRE_CREDIT), 1);
	bench_empty(&b.s[0].rank);
	bench_run(&b);
	assert_int_equal(bench_count(&b.s[0].rank, 0, ZWIRE_BLOCK), 16);
	assert_int_equal(bench_last(&b.wire, 1, ZWIRE_CREDIT)->offset, 16 * 1024);
	check_good();
}

/* Memory for one large window. */
static void take_turns(const struct bench_config *config)
{
	begin(config, 3);
	show(&b.wire, 1, SMALL, 4);
	assert_int_equal(bench_last(&b.wire, 1, ZWIRE_CREDIT)->xfer, ZWIRE_STREAM_LARGE);
	show(&b.wire, 1, SMALL, 1);
	show(&b.wire, 2, SMALL, 4);
	assert_int_equal(bench_last(&b.wire, 2, ZWIRE_CREDIT)->xfer, ZWIRE_STREAM_LARGE);
	assert_int_equal(bench_last(&b.wire, 1, ZWIRE_CREDIT)->xfer, ZWIRE_STREAM_FIRST);
	assert_int_equal(bench_last(&b.wire, 1, ZWIRE_CREDIT)->offset, 5 * 1024);
	b.s[1].rank.full = true;
	show(&b.wire, 2, SMALL, 1); /* it cannot do without */
	show(&b.wire, 3, SMALL, 4);
	assert_int_equal(bench_last(&b.wire, 3, ZWIRE_CREDIT)->xfer, ZWIRE_STREAM_FIRST);
	assert_int_equal(bench_count(&b.wire, 2, ZWIRE_CREDIT), 1);
	bench_close(&b, 1);
	show(&b.wire, 3, SMALL, 4);
	assert_int_equal(bench_last(&b.wire, 3, ZWIRE_CREDIT)->xfer, ZWIRE_STREAM_LARGE);
	check_good();
}

static void large_windows_take_half_of_the_memory(void **state)
{
	(void)state;
	take_turns(&(struct bench_config){.memory = 4 << 20});
}

static void large_windows_take_half_of_the_users_memory(void **state)
{
	(void)state;
	take_turns(&(struct bench_config){.user_memory = 3 << 20});
}

static void a_used_up_share_leaves_the_first_window(void **state)
{
	(void)state;
	begin(&(struct bench_config){.user_memory = 3 << 20}, 1);
	atomic_fetch_add(&b.share.used, 1 << 20);
	show(&b.wire, 1, SMALL, 4);
	assert_int_equal(bench_last(&b.wire, 1, ZWIRE_CREDIT)->xfer, ZWIRE_STREAM_FIRST);
	atomic_fetch_sub(&b.share.used, 1 << 20);
	show(&b.wire, 1, SMALL, 4);
	assert_int_equal(bench_last(&b.wire, 1, ZWIRE_CREDIT)->xfer, ZWIRE_STREAM_LARGE);
	check_good();
}

/* --- what waits --- */

static void answers_wait_for_their_source(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 0);
	bench_open(&b, 1);
	for (int i = 1; i <= 3; i++)
		bench_show(&b.wire,
			&(struct zwire_env){.kind = ZWIRE_BLOCK, .job = 2, .seq = (uint64_t)i, .len = SMALL});
	const uint64_t before = b.budget.used;
	bench_run(&b);
	assert_true(b.budget.used >= before + 3 * 1024);
	bench_open(&b, 2);
	bench_lend(&b, 2);
	show(&b.wire, 3, SMALL, 1);
	assert_int_equal(bench_count(&b.s[2].rank, 0, ZWIRE_BLOCK), 1);
	bench_lend(&b, 1);
	bench_run(&b);
	assert_int_equal(b.s[1].rank.nout, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(b.s[1].rank.out[i].seq, i + 1);
	check_good();
}

static void data_wait_until_the_control_thread_has_heard(void **state)
{
	const struct zwire_env eager = {.kind = ZWIRE_EAGER, .job = 1, .dst = 1, .seq = 1, .len = 100};
	(void)state;
	begin(&(struct bench_config){.accepts = true, .jobs = true}, 0);
	bench_show_message(&b.wire, 1, ZWIRE_CTRL, 100);
	bench_show(&b.wire, &eager);
	bench_run(&b);
	assert_int_equal(b.s[0].heard, 1);
	bench_say(&b, 0, 50);
	bench_lend(&b, 0);
	bench_run(&b);
	assert_int_equal(bench_count(&b.s[0].rank, 0, ZWIRE_EAGER), 1);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_CTRL), 1);
	check_good();
}

static void all_waits_while_the_trunk_is_full(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 2);
	b.wire.full = true;
	show(&b.s[0].rank, 0, SMALL, 3);
	show(&b.s[1].rank, 0, SMALL, 3);
	bench_close(&b, 1); /* its messages go with it */
	bench_run(&b);
	assert_int_equal(b.wire.nout, 0);
	bench_empty(&b.wire);
	bench_run(&b);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_BLOCK), 3);
	assert_int_equal(bench_count(&b.wire, 2, ZWIRE_CLOSE), 1);
	check_good();
}

/* --- ends --- */

static void both_ends_say_close(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 2);
	bench_close(&b, 0);
	bench_run(&b);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_CLOSE), 1);
	show(&b.wire, 1, SMALL, 3); /* dropped: the other side has not heard yet */
	assert_int_equal(b.s[0].rank.nout, 0);
	bench_show_message(&b.wire, 1, ZWIRE_CLOSE, 0);
	credit(1, 0, ZWIRE_STREAM_FIRST); /* crosses the end */
	assert_null(stream_find(&b.rx, 1));
	bench_show_message(&b.wire, 2, ZWIRE_CLOSE, 0);
	bench_run(&b);
	assert_true(b.s[1].ended);
	assert_null(stream_find(&b.rx, 2));
	check_good();
}

static void what_came_before_close_is_delivered(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 0);
	bench_open(&b, 0);
	bench_show_message(&b.wire, 1, ZWIRE_BLOCK, SMALL);
	bench_show_message(&b.wire, 1, ZWIRE_CLOSE, 0);
	bench_run(&b);
	bench_lend(&b, 0);
	bench_run(&b);
	assert_int_equal(bench_count(&b.s[0].rank, 0, ZWIRE_BLOCK), 1);
	assert_true(b.s[0].ended);
	check_good();
}

static void a_lost_trunk_ends_its_streams(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 2);
	bench_open(&b, 2);
	b.s[0].rank.full = true;
	show(&b.wire, 1, SMALL, 2);
	show(&b.wire, 3, SMALL, 2);
	b.wire.ended = -ECONNRESET;
	bench_run(&b);
	assert_true(b.lost && b.s[0].ended && b.s[1].ended);
	assert_null(b.breach);
	bench_end(&b);
}

static void the_other_side_wants_no_more_streams(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 1);
	bench_show_message(&b.wire, 0, ZWIRE_CLOSE, 0);
	show(&b.wire, 1, SMALL, 1);
	assert_int_equal(b.leaves, 1);
	assert_int_equal(b.s[0].rank.nout, 1);
	check_good();
}

/* --- peers that break the rules --- */

static void break_rules(bool accepts, const struct zwire_env *env, const char *breach)
{
	begin(&(struct bench_config){.accepts = accepts}, 1);
	bench_show(&b.wire, env);
	check_lost(breach);
}

static void bad_numbers_end_the_trunk(void **state)
{
	(void)state;
	break_rules(false, &(struct zwire_env){.kind = ZWIRE_BLOCK, .job = 2}, "a stream that nobody has begun");
	break_rules(false, &(struct zwire_env){.kind = ZWIRE_CLOSE, .job = UINT32_MAX},
		"a stream that nobody has begun");
	break_rules(false, &(struct zwire_env){.kind = ZWIRE_BLOCK}, "a message of no stream");
	break_rules(true, &(struct zwire_env){.kind = ZWIRE_CLOSE}, "a message of no stream");
	break_rules(true, &(struct zwire_env){.kind = ZWIRE_CTRL, .job = STREAMS_MAX + 1},
		"too many streams in one trunk");
	break_rules(true, &(struct zwire_env){.kind = ZWIRE_CREDIT, .job = 1}, "room for a stream that has not begun");
	begin(&(struct bench_config){.accepts = true}, 0);
	bench_show_message(&b.wire, 2, ZWIRE_CTRL, 1);
	bench_show_credit(&b, 1, 0, ZWIRE_STREAM_FIRST); /* it has been passed over, and has said nothing */
	check_lost("room for a stream that has not begun");
}

static void a_number_is_good_once(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 1);
	bench_close(&b, 0);
	bench_run(&b);
	bench_show_message(&b.wire, 1, ZWIRE_CLOSE, 0);
	show(&b.wire, 1, SMALL, 1);
	check_lost("a stream with the number of one that has ended");
	begin(&(struct bench_config){.accepts = true}, 0);
	bench_show_message(&b.wire, 2, ZWIRE_CTRL, 1);
	bench_show_message(&b.wire, 2, ZWIRE_CLOSE, 0);
	bench_run(&b);
	bench_close(&b, 1);
	bench_run(&b);
	assert_null(stream_find(&b.rx, 2));
	bench_show_message(&b.wire, 1, ZWIRE_CTRL, 1); /* later than the second */
	bench_run(&b);
	assert_int_equal(b.s[0].heard, 1);
	assert_false(b.lost);
	bench_show_message(&b.wire, 2, ZWIRE_CTRL, 1);
	check_lost("a stream with the number of one that has ended");
}

static void nothing_comes_after_close(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 0);
	bench_open(&b, 0);
	bench_show_message(&b.wire, 1, ZWIRE_CLOSE, 0);
	show(&b.wire, 1, SMALL, 1);
	check_lost("a message of a stream after its end");
}

static void more_than_the_window_ends_the_trunk(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 1);
	b.s[0].rank.full = true;
	show(&b.wire, 1, SMALL, 16);
	assert_false(b.lost);
	show(&b.wire, 1, 0, 1);
	check_lost("more of a stream than its window");
	begin(&(struct bench_config){.accepts = false}, 1);
	b.s[0].rank.full = true;
	show(&b.wire, 1, LARGE, 1);
	assert_false(b.lost);
	show(&b.wire, 1, 0, 1);
	check_lost("more of a stream than its window");
}

static void more_room_than_was_used_ends_the_trunk(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 1);
	show(&b.s[0].rank, 0, SMALL, 1);
	credit(1, 1024, ZWIRE_STREAM_FIRST);
	assert_false(b.lost);
	credit(1, 1025, ZWIRE_STREAM_FIRST);
	check_lost("more of a stream has gone on than was sent");
}

static void a_bad_rank_ends_its_stream_alone(void **state)
{
	(void)state;
	begin(&(struct bench_config){.accepts = false}, 2);
	bench_show_message(&b.s[0].rank, 0, ZWIRE_CREDIT, 0); /* such words are for zipperds */
	bench_run(&b);
	assert_true(b.s[0].ended);
	assert_int_equal(bench_count(&b.wire, 1, ZWIRE_CREDIT), 0);
	show(&b.wire, 2, SMALL, 1);
	assert_int_equal(b.s[1].rank.nout, 1);
	check_good();
	begin(&(struct bench_config){.accepts = false, .jobs = true}, 2);
	bench_show(&b.wire, &(struct zwire_env){.kind = ZWIRE_EAGER, .job = 1, .src = 1, .dst = 1, .seq = 1});
	bench_show(&b.wire, &(struct zwire_env){.kind = ZWIRE_EAGER, .job = 2, .dst = 1, .seq = 1});
	bench_run(&b);
	assert_true(b.s[0].ended);
	assert_int_equal(b.s[0].rank.nout, 0);
	assert_int_equal(b.s[1].rank.nout, 1);
	check_good();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sender_keeps_to_the_window),
		cmocka_unit_test(a_large_message_goes_when_little_is_under_way),
		cmocka_unit_test(a_receiver_tells_what_has_gone_on),
		cmocka_unit_test(nothing_has_gone_on_that_a_rank_does_not_read),
		cmocka_unit_test(large_windows_take_half_of_the_memory),
		cmocka_unit_test(large_windows_take_half_of_the_users_memory),
		cmocka_unit_test(a_used_up_share_leaves_the_first_window),
		cmocka_unit_test(answers_wait_for_their_source),
		cmocka_unit_test(data_wait_until_the_control_thread_has_heard),
		cmocka_unit_test(all_waits_while_the_trunk_is_full),
		cmocka_unit_test(both_ends_say_close),
		cmocka_unit_test(what_came_before_close_is_delivered),
		cmocka_unit_test(a_lost_trunk_ends_its_streams),
		cmocka_unit_test(the_other_side_wants_no_more_streams),
		cmocka_unit_test(bad_numbers_end_the_trunk),
		cmocka_unit_test(a_number_is_good_once),
		cmocka_unit_test(nothing_comes_after_close),
		cmocka_unit_test(more_than_the_window_ends_the_trunk),
		cmocka_unit_test(more_room_than_was_used_ends_the_trunk),
		cmocka_unit_test(a_bad_rank_ends_its_stream_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

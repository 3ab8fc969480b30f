/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages under way when a rail is lost, where rails have brought different messages: see bridge_fixture.h. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/libzip/bridge_fixture.h"
#include "libzip/bridge/bridge.h"
#include "libzip/bridge/dispatch.h"
#include "libzip/bridge/failover.h"
#include "libzip/bridge/multicast.h"
#include "libzip/stream/breach.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/outgoing.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/stream/transfer_recv.h"

#define WINDOW FRAGMENT /* one transfer takes all of it */

static uint8_t buf[PEERS][8 * FRAGMENT];

/* RAILS of a rank that has lost the first incarnation of these rails. */
static struct zwire_env rails_lost(uint32_t lost)
{
	uint16_t least[ZWIRE_RAILS_MAX] = {0};
	struct zwire_env env = {.kind = ZWIRE_RAILS};

	for (int i = 0; i < ZWIRE_RAILS_MAX; i++)
		least[i] = lost >> i & 1;
	zwire_put_rails(&env, least, ZWIRE_RAILS_MAX);
	return env;
}

/* Both say that these rails are lost, the other one last. */
static void agree(int rail, uint32_t with, uint32_t lost, uint64_t ack)
{
	bridge_turn();
	const struct post *told = bridge_posted(ZWIRE_RAILS, with);
	assert_non_null(told);
	struct zwire_env env = rails_lost(lost);
	assert_int_equal(told->env.comm, env.comm);
	assert_int_equal(told->env.offset, env.offset);
	env.ack = ack;
	bridge_say(rail, with, env);
	bridge_turn();
}

/* So many fragments come, from that one on. */
static void bring(int rail, uint32_t from, uint64_t xfer, uint32_t at, uint32_t n)
{
	for (; n > 0; n--, at++) {
		bridge_say(rail, from,
			(struct zwire_env){.kind = ZWIRE_DATA, .xfer = xfer, .offset = at * FRAGMENT, .len = FRAGMENT});
		bridge_turn();
	}
}

static void test_moved_frees_the_window(void **state)
{
	const uint32_t from = 1, other = 3; /* by rails 0 and 2 */
	(void)state;
	bridge_begin(3, WINDOW, true);
	struct zreq *a = bridge_recv(buf[0], 2 * FRAGMENT, (int)from),
		    *b = bridge_recv(buf[1], 2 * FRAGMENT, (int)other);
	bridge_say(0, from,
		(struct zwire_env){.kind = ZWIRE_RTS,
			.flags = ZWIRE_F_ONE_SIDED,
			.seq = 1,
			.xfer = 7,
			.offset = 2 * FRAGMENT});
	bridge_turn();
	const struct post *cts = bridge_posted(ZWIRE_CTS, from);
	assert_int_equal(cts->env.len, ZRMA_KEY_BYTES);
	uint64_t id = cts->env.comm;
	/* All has been written, and the sender told so; we were not. */
	bridge_break(0);
	agree(1, from, 1, 0);
	cts = bridge_posted(ZWIRE_CTS, from);
	assert_true(cts->env.flags & ZWIRE_F_RESTART);
	assert_int_equal(cts->env.offset, WINDOW);
	bridge_say(2, other, (struct zwire_env){.kind = ZWIRE_RTS, .seq = 1, .xfer = 8, .offset = 2 * FRAGMENT});
	bridge_turn();
	assert_null(bridge_posted(ZWIRE_CTS, other));
	bridge_say(1, from, (struct zwire_env){.kind = ZWIRE_MOVED, .flags = ZWIRE_F_RESTART, .xfer = id});
	bridge_turn();
	assert_true(a->done);
	cts = bridge_posted(ZWIRE_CTS, other);
	assert_non_null(cts);
	assert_int_equal(cts->env.offset, WINDOW);
	bring(2, other, cts->env.comm, 0, 2);
	assert_true(b->done);
	zreq_release(a);
	zreq_release(b);
	bridge_end();
}

/* Messages to several ranks, by the carrier, which is rail 0. */
static void send_to_several(uint32_t a, uint32_t b)
{
	const int dest[2] = {(int)a, (int)b};
	struct zreq *r;
	assert_int_equal(zmulticast_start(&bridge_comm, ZCOMM_COLL, buf[0], 8, MPI_BYTE, dest, 2, 0, 1000, &r),
		MPI_SUCCESS);
	assert_true(r->done);
	zreq_release(r);
}

/* A large message to `to` whose offer has gone by the carrier, rail 0, behind something that went to several; its
 * receiver has answered there, acknowledging so much, and been sent two fragments by its own rail. *xfer: the sender's
 * id of it. */
static struct zreq *send_behind_multicast(uint32_t to, uint32_t other, uint64_t ack, uint64_t *xfer)
{
	send_to_several(to, other);
	struct zreq *r = bridge_send(buf[0], 3 * FRAGMENT, (int)to, ZSEND_STANDARD);
	const struct post *list = bridge_posted(ZWIRE_RECEIVERS, ZWIRE_NOBODY);
	assert_int_equal(list->rail, 0);
	assert_int_equal(list->first.dst, to);
	assert_int_equal(list->first.seq, 2);
	*xfer = list->first.xfer;
	bridge_say(0, to,
		(struct zwire_env){.kind = ZWIRE_CTS, .ack = ack, .xfer = *xfer, .comm = 77, .offset = 2 * FRAGMENT});
	bridge_turn();
	assert_int_equal(bridge_count(ZWIRE_DATA, to), 2);
	assert_int_not_equal(bridge_posted(ZWIRE_DATA, to)->rail, 0);
	return r;
}

static void test_answers_by_the_carrier(void **state)
{
	const uint32_t to = 2;
	uint64_t xfer;
	(void)state;
	bridge_begin(3, WINDOW, false);
	struct zreq *r = send_behind_multicast(to, 3, 2, &xfer);
	bridge_say(0, to, (struct zwire_env){.kind = ZWIRE_CTS, .xfer = xfer, .comm = 77, .offset = 3 * FRAGMENT});
	bridge_turn();
	assert_int_equal(bridge_count(ZWIRE_DATA, to), 3);
	/* It has all of it, and its answer to that is lost with the rail by which the offer had come. */
	bridge_break(0);
	agree(1, to, 1, 2);
	const struct post *ask = bridge_posted(ZWIRE_ASK, to);
	assert_non_null(ask);
	assert_int_equal(ask->env.xfer, xfer);
	bridge_say(1, to, (struct zwire_env){.kind = ZWIRE_DONE, .xfer = xfer});
	bridge_turn();
	assert_true(r->done);
	zreq_release(r);
	bridge_end();
}

/* A restart and grants of before, which come later by another rail: whether they are larger or smaller. */
static void test_grants_of_before(void **state)
{
	const uint32_t to = 2;
	uint64_t xfer;
	(void)state;
	for (uint32_t old = 1; old <= 3; old += 2) {
		bridge_begin(3, WINDOW, false);
		struct zreq *r = send_behind_multicast(to, 3, 2, &xfer);
		bridge_break(1); /* by which the fragments go */
		agree(2, to, 2, 2);
		assert_non_null(bridge_posted(ZWIRE_ASK, to));
		int before = bridge_count(ZWIRE_DATA, to);
		bridge_say(2, to,
			(struct zwire_env){.kind = ZWIRE_CTS,
				.flags = ZWIRE_F_RESTART,
				.xfer = xfer,
				.comm = 77,
				.offset = 2 * FRAGMENT,
				.tag = 2});
		bridge_turn();
		assert_int_equal(bridge_count(ZWIRE_DATA, to), before + 2);
		bridge_say(0, to,
			(struct zwire_env){.kind = ZWIRE_CTS, .xfer = xfer, .comm = 77, .offset = old * FRAGMENT});
		bridge_turn();
		assert_int_equal(bridge_count(ZWIRE_DATA, to), before + 2);
		bridge_say(2, to,
			(struct zwire_env){.kind = ZWIRE_CTS,
				.xfer = xfer,
				.comm = 77,
				.offset = 3 * FRAGMENT,
				.tag = 2});
		bridge_turn();
		assert_int_equal(bridge_count(ZWIRE_DATA, to), before + 3);
		bridge_say(2, to, (struct zwire_env){.kind = ZWIRE_DONE, .xfer = xfer});
		bridge_turn();
		assert_true(r->done);
		zreq_release(r);
		bridge_end();
	}
}

/* A grant acknowledges what came before the request that it answers, and the rail of the fragments alone is lost. */
static void test_granted_before_acknowledged(void **state)
{
	const uint32_t to = 2;
	uint64_t xfer;
	(void)state;
	bridge_begin(3, WINDOW, false);
	struct zreq *r = send_behind_multicast(to, 3, 1, &xfer);
	bridge_break(1);
	agree(2, to, 2, 1);
	const struct post *ask = bridge_posted(ZWIRE_ASK, to);
	assert_non_null(ask);
	assert_int_equal(ask->env.xfer, xfer);
	bridge_say(2, to, (struct zwire_env){.kind = ZWIRE_DONE, .ack = 2, .xfer = xfer});
	bridge_turn();
	assert_true(r->done);
	zreq_release(r);
	bridge_end();
}

/* Messages to a rank take the carrier for a while: this says nothing about messages from that rank, by its own rail. */
static void test_early_ones_stay(void **state)
{
	const uint32_t from = 2;
	(void)state;
	bridge_begin(3, WINDOW, false);
	struct zreq *a = bridge_recv(buf[0], 8, (int)from), *b = bridge_recv(buf[1], 8, (int)from);
	send_to_several(from, 3);
	bridge_say(1, from, (struct zwire_env){.kind = ZWIRE_EAGER, .seq = 2, .len = 8, .offset = 8});
	bridge_turn();
	assert_false(a->done);
	bridge_break(0);
	agree(1, from, 1, 1);
	bridge_say(1, from, (struct zwire_env){.kind = ZWIRE_EAGER, .seq = 1, .len = 8, .offset = 8});
	bridge_turn();
	assert_true(a->done && b->done);
	zreq_release(a);
	zreq_release(b);
	bridge_end();
}

/* A rank that is met for the first time after a loss may not have heard of it, and answer by that rail. */
static void test_met_after_a_loss(void **state)
{
	const uint32_t to = 1; /* by rail 0 */
	(void)state;
	bridge_begin(3, WINDOW, false);
	bridge_break(0);
	bridge_turn();
	struct zreq *r = bridge_send(buf[0], 8, (int)to, ZSEND_SYNC);
	bridge_turn();
	assert_int_equal(bridge_count(ZWIRE_EAGER, to), 0);
	agree(1, to, 1, 0);
	const struct post *m = bridge_posted(ZWIRE_EAGER, to);
	assert_non_null(m);
	assert_int_equal(m->rail, 1);
	assert_int_equal(bridge_count(ZWIRE_RAILS, to), 1);
	bridge_say(1, to, (struct zwire_env){.kind = ZWIRE_DONE, .ack = 1, .xfer = m->env.xfer});
	bridge_turn();
	assert_true(r->done);
	zreq_release(r);
	bridge_end();
}

/* The message about the loss reached a rank that had taken its last look before it left. */
static void test_left_without_hearing(void **state)
{
	const uint32_t to = 1;
	(void)state;
	bridge_begin(3, WINDOW, false);
	struct zreq *r = bridge_send(buf[0], 8, (int)to, ZSEND_STANDARD);
	bridge_turn();
	assert_true(r->done);
	bridge_break(0);
	bridge_turn();
	assert_int_equal(bridge_count(ZWIRE_RAILS, to), 1);
	bridge_turn();
	assert_int_equal(bridge_count(ZWIRE_RAILS, to), 1);
	bridge_pass(60000);
	bridge_turn();
	assert_int_equal(bridge_count(ZWIRE_RAILS, to), 2);
	bridge_say(1, to, (struct zwire_env){.kind = ZWIRE_BYE}); /* zipperd's answer to that */
	bridge_turn();
	assert_true(zoutgoing_drained(&zstations[0]));
	bridge_pass(60000);
	bridge_turn();
	assert_int_equal(bridge_count(ZWIRE_RAILS, to), 2);
	bridge_end();
}

/* A rank acknowledges the messages it has taken over a connection that breaks, and then it leaves. */
static void test_left_without_a_word(void **state)
{
	const uint32_t to = 1;
	(void)state;
	bridge_begin(2, WINDOW, false);
	struct zreq *r = bridge_send(buf[0], 8, (int)to, ZSEND_STANDARD);
	assert_true(r->done);
	bridge_turn();
	bridge_pass(60000);
	bridge_turn();
	assert_int_equal(bridge_count(ZWIRE_RAILS, to), 0);
	zfailover_leave();
	bridge_turn();
	bridge_pass(60000);
	bridge_turn();
	assert_int_equal(bridge_count(ZWIRE_RAILS, to), 1);
	bridge_say(0, to, (struct zwire_env){.kind = ZWIRE_BYE}); /* zipperd's answer to that */
	bridge_turn();
	assert_true(zoutgoing_drained(&zstations[0]));
	bridge_end();
}

/* Two ranks that were to have direct links have decided against them, and say so one right after the other. */
static void test_direct_links_given_up(void **state)
{
	(void)state;
	bridge_begin(3, WINDOW, false);
	bridge_introduce(1);
	bridge_introduce(4);
	struct zreq *a = bridge_recv(buf[0], 0, 1), *b = bridge_recv(buf[1], 0, 4);
	bridge_say(0, 1, (struct zwire_env){.kind = ZWIRE_EAGER, .seq = 1});
	bridge_say(0, 4, (struct zwire_env){.kind = ZWIRE_EAGER, .seq = 1});
	bridge_turn();
	assert_true(a->done && b->done);
	zreq_release(a);
	zreq_release(b);
	bridge_end();
}

/* A peer sends more than was granted, elsewhere, or without end: nothing of it has a place in the buffer. */
static void test_more_than_granted(void **state)
{
	static const struct {
		uint64_t offset;
		uint32_t len;
	} bad[] = {{0, FRAGMENT + 1}, {0, 2 * FRAGMENT}, {0, UINT32_MAX}, {FRAGMENT, FRAGMENT}, {4 * FRAGMENT, 1},
		{UINT64_MAX, 1}};
	const uint32_t from = 1;
	(void)state;
	bridge_begin(3, WINDOW, false);
	struct zreq *a = bridge_recv(buf[0], 4 * FRAGMENT, (int)from);
	bridge_say(0, from, (struct zwire_env){.kind = ZWIRE_RTS, .seq = 1, .xfer = 7, .offset = 4 * FRAGMENT});
	bridge_turn();
	const struct post *cts = bridge_posted(ZWIRE_CTS, from);
	assert_non_null(cts);
	assert_int_equal(cts->env.offset, WINDOW);
	struct zwire_env env = {.kind = ZWIRE_DATA, .src = from, .xfer = cts->env.comm, .len = FRAGMENT};
	struct zremote *r = zremote_find(&zstations[0], from);
	assert_ptr_equal(ztransfer_recv_place(r, &env), buf[0]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		env.offset = bad[i].offset;
		env.len = bad[i].len;
		assert_null(ztransfer_recv_place(r, &env));
		assert_int_equal(ztransfer_recv_take_data(r, &env), -EPROTO);
	}
	bring(0, from, cts->env.comm, 0, 4);
	assert_true(a->done);
	zreq_release(a);
	bridge_end();
}

/* Messages that overtook others by another rail are held, as many as a window has. A peer that sends more is not
 * believed. */
static void test_no_more_held_than_a_window(void **state)
{
	const uint32_t from = 1;
	(void)state;
	bridge_begin(3, WINDOW, false);
	struct zchannel *way = zchannel_open(&zstations[0], (struct zrails_track){1, 0}, 1);
	for (uint64_t seq = 2; seq <= ZPEER_WINDOW_MSGS; seq++) {
		bridge_say(1, from, (struct zwire_env){.kind = ZWIRE_EAGER, .seq = seq, .tag = 5});
		bridge_turn();
	}
	assert_null(bridge_posted(ZWIRE_RAILS, from));
	struct zwire_env env = {.kind = ZWIRE_EAGER, .src = from, .tag = 5};
	uint8_t raw[ZWIRE_ENV_BYTES];
	for (int i = 0; i < 3; i++) {
		env.seq = ((const uint64_t[]){ZPEER_WINDOW_MSGS + 1, 2 * ZPEER_WINDOW_MSGS, UINT64_MAX})[i];
		zwire_encode(raw, &env);
		assert_int_equal(zdispatch_take(way, &env, raw, NULL), -EPROTO);
	}
	bridge_end();
}

/* The end of a channel is told with the sender of the bad message, and with what is wrong in it. */
static void test_bad_messages_are_named(void **state)
{
	static const struct {
		struct zwire_env env;
		const char *text;
	} bad[] = {
		{{.kind = ZWIRE_EAGER, .src = 1, .seq = UINT64_MAX},
			"bad message (EAGER) of rank 1: its sequence number is not the next one"},
		{{.kind = ZWIRE_EAGER, .src = 2, .seq = 1, .offset = 1},
			"bad message (EAGER) of rank 2: its length does not fit its kind and flags"},
		{{.kind = ZWIRE_RTS, .src = 2, .seq = 1, .len = 3},
			"bad message (RTS) of rank 2: its length does not fit its kind and flags"},
		{{.kind = ZWIRE_CTS, .src = 3, .xfer = 99},
			"bad message (CTS) of rank 3: its transfer does not wait for that"},
		{{.kind = ZWIRE_DONE, .src = 3, .xfer = 99},
			"bad message (DONE) of rank 3: its transfer does not wait for that"},
		{{.kind = ZWIRE_EAGER, .src = 77, .seq = 1},
			"bad message (EAGER) of sender 77: there is no such sender"},
		{{.kind = ZWIRE_EAGER, .src = 1, .dst = 2, .seq = 1},
			"bad message (EAGER) of rank 1: its receiver is another rank"},
		{{.kind = ZWIRE_EAGER, .src = 0, .seq = 1},
			"bad message (EAGER) of rank 0: its sender is not at the other end of this channel"},
		{{.kind = ZWIRE_CTRL, .src = 1}, "bad message (CTRL) of rank 1: ranks send no such message"},
	};
	uint8_t raw[ZWIRE_ENV_BYTES], payload[512];
	(void)state;
	bridge_begin(3, WINDOW, false);
	struct zchannel *way = zchannel_open(&zstations[0], (struct zrails_track){0, 0}, 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		zwire_encode(raw, &bad[i].env);
		assert_int_equal(zdispatch_take(way, &bad[i].env, raw, payload), -EPROTO);
		assert_string_equal(zbreach_find(way), bad[i].text);
		assert_string_equal(zchannel_describe_end(way, -EPROTO), bad[i].text);
		assert_null(zbreach_find(zchannel_open(&zstations[0], (struct zrails_track){1, 0}, 1)));
	}
	/* zipperd does not take the channel, and says why */
	struct zctl_msg refusal = {.type = ZCTL_ERROR, .u.error = {.code = EACCES, .text = "there is no such job"}};
	struct zwire_env env = {.kind = ZWIRE_CTRL, .len = (uint32_t)zctl_encode(payload, sizeof(payload), &refusal)};
	zwire_encode(raw, &env);
	assert_int_equal(zdispatch_take(way, &env, raw, payload), -EPROTO);
	assert_string_equal(zchannel_describe_end(way, -EPROTO), "there is no such job");
	assert_string_equal(zchannel_describe_end(way, -ESHUTDOWN), "closed");
	bridge_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_more_held_than_a_window),
		cmocka_unit_test(test_bad_messages_are_named),
		cmocka_unit_test(test_more_than_granted),
		cmocka_unit_test(test_moved_frees_the_window),
		cmocka_unit_test(test_answers_by_the_carrier),
		cmocka_unit_test(test_grants_of_before),
		cmocka_unit_test(test_granted_before_acknowledged),
		cmocka_unit_test(test_early_ones_stay),
		cmocka_unit_test(test_met_after_a_loss),
		cmocka_unit_test(test_left_without_hearing),
		cmocka_unit_test(test_left_without_a_word),
		cmocka_unit_test(test_direct_links_given_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

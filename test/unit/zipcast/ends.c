/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a group behind its last message; roots and members that go without it, and whom the others name. */
#include "test/unit/zipcast/ends.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test/unit/zipcast/five.h"

#define BYTES 200000

static const char *const algorithms[] = {"sequential", "tree", "chain", "pipeline", "hybrid-chain"};
#define ALGORITHMS (sizeof(algorithms) / sizeof(algorithms[0]))

/* A node that closes frees its side of the group. */
static void close_node(struct cast *c, uint32_t i)
{
	cast_close_node(c, i);
	m[i].group = NULL;
}

static void check_ended(uint32_t from, uint32_t messages)
{
	cast_wait_ended(m + from, N - from);
	for (uint32_t i = from; i < N; i++)
		if (m[i].group) {
			assert_int_equal(m[i].complete, messages);
			assert_int_equal(m[i].ended, 1);
			assert_int_equal(m[i].failed, 0);
			assert_int_equal(zipcast_group_suspect(m[i].group), ZIPCAST_NOBODY);
		}
}

/* Every member that is left has failed once, and names this member. */
static void check_failed(uint32_t suspect)
{
	for (uint32_t i = 0; i < N; i++)
		if (m[i].group && i != suspect) {
			cast_wait_failed(&m[i], 1);
			if (m[i].suspect != suspect)
				fail_msg("member %u names %d: %s", i, (int)m[i].suspect, m[i].why);
			assert_int_equal(m[i].failed, 1);
			assert_int_equal(m[i].ended, 0);
		}
}

void end_of_an_idle_group(void **state)
{
	for (uint32_t a = 0; a < ALGORITHMS; a++) {
		struct cast c;
		open_group(&c, *state, algorithms[a]);
		cast_send(&m[0], 1, BYTES);
		cast_wait_complete(m, N, 1);
		destroy_member(0);
		check_ended(1, 1);
		close_group(&c);
	}
}

/* The root destroys the group at once. Its memory is its own on return: the members have the bytes of before. */
void end_behind_what_was_accepted(void **state)
{
	enum { MESSAGES = 10 };
	static uint8_t data[MESSAGES][BYTES];
	for (uint32_t a = 0; a < ALGORITHMS; a++) {
		struct cast c;
		open_group(&c, *state, algorithms[a]);
		m[0].keeps_all = true;
		for (uint32_t i = 0; i < MESSAGES; i++) {
			cast_fill(1, i + 1, data[i], BYTES);
			assert_int_equal(zipcast_send(m[0].group, data[i], BYTES - i), 0);
		}
		destroy_member(0);
		memset(data, 0, sizeof(data));
		check_ended(1, MESSAGES);
		for (uint32_t i = 1; i < N; i++)
			assert_int_equal(m[i].damaged, 0);
		close_group(&c);
	}
}

void end_by_a_call(void **state)
{
	static uint8_t byte;
	struct cast c;
	open_group(&c, *state, "pipeline");
	for (uint32_t i = 1; i <= 3; i++)
		cast_send(&m[0], i, BYTES);
	assert_int_equal(zipcast_group_end(m[1].group), -EPERM);
	assert_int_equal(zipcast_group_end(m[0].group), 0);
	assert_int_equal(zipcast_send(m[0].group, &byte, 1), -EPIPE);
	assert_int_equal(zipcast_group_end(m[0].group), -EPIPE);
	check_ended(0, 3);
	/* nothing can fail any more */
	close_node(&c, 4);
	close_node(&c, 1);
	usleep(100000);
	check_ended(0, 3);
	close_group(&c);
}

/* --- a callback for the end that destroys its group --- */

struct last { /* a root alone in its group */
	struct zipcast_group *group;
	uint32_t complete;
	atomic_int ended;
};

static void count_complete(void *arg, void *data, uint64_t bytes)
{
	struct last *last = arg;
	(void)data;
	(void)bytes;
	last->complete++;
}

static void destroy_at_end(void *arg)
{
	struct last *last = arg;
	zipcast_group_destroy(last->group);
	last->ended++;
}

void end_that_is_destroyed_in_its_callback(void **state)
{
	static uint8_t byte;
	struct cast c;
	char why[ZIPCAST_WHY_BYTES];
	cast_open(&c, *state, 1, ZIPCAST_HYBRID);
	for (uint32_t late = 0; late < 2; late++) { /* late: the callback is set when the end has come */
		struct last last = {.ended = 0};
		assert_int_equal(zipcast_group_create(&last.group, c.zc[0],
					 &(struct zipcast_group_config){.number = late, .nmembers = 1, .members = all},
					 &(struct zipcast_events){NULL, count_complete, NULL, &last}, why),
			0);
		if (!late)
			zipcast_group_on_end(last.group, destroy_at_end);
		for (int i = 0; i < 3; i++)
			assert_int_equal(zipcast_send(last.group, &byte, 1), 0);
		assert_int_equal(zipcast_group_end(last.group), 0);
		if (late)
			zipcast_group_on_end(last.group, destroy_at_end);
		for (int i = 0; i < 60000 && last.ended == 0; i++)
			usleep(1000);
		assert_int_equal(last.ended, 1);
		assert_int_equal(last.complete, 3);
	}
	cast_close(&c);
}

/* --- late members --- */

/* The root has gone before any other member comes, and each member before the next one comes. */
void end_before_members_come(void **state)
{
	const struct zipcast_group_config config = {.number = 1, .nmembers = N, .members = all, .algorithm = "chain"};
	char why[ZIPCAST_WHY_BYTES] = "";
	struct cast c;
	cast_open(&c, *state, N, ZIPCAST_HYBRID);
	for (uint32_t i = 0; i < N; i++) {
		m[i] = (struct cast_member){.cast = &c, .node = i, .number = 1, .root = i == 0};
		if (cast_create(&m[i], &config, why) != 0)
			fail_msg("node %u: %s", i, why);
		if (i > 0)
			cast_wait_ended(&m[i], 1);
		if (i % 2 == 0) /* the others are at the end, and are still there */
			destroy_member(i);
	}
	close_group(&c);
}

/* A member leaves before the end, and is the only way to others. */
void end_of_a_group_that_a_member_has_left(void **state)
{
	/* 1: the last member makes the group behind the end; 2: members make it when the one before has left */
	for (uint32_t late = 0; late < 3; late++) {
		const struct zipcast_group_config config = {1, N, all, "chain", 0, NULL};
		char why[ZIPCAST_WHY_BYTES] = "";
		struct cast c;
		memset(m, 0, sizeof(m));
		cast_open(&c, *state, N, ZIPCAST_HYBRID);
		for (uint32_t i = 0; i < N - (late == 1); i++) {
			m[i] = (struct cast_member){.cast = &c, .node = i, .number = 1, .root = i == 0};
			assert_int_equal(cast_create(&m[i], &config, why), 0);
			if (late == 2 && i % 2 == 1)
				destroy_member(i);
		}
		if (late == 2)
			usleep(50000); /* until they have greeted each other */
		for (uint32_t i = 1; i < N && late < 2; i += 2)
			destroy_member(i);
		destroy_member(0);
		cast_wait_ended(&m[2], 1);
		if (late == 1)
			m[4] = (struct cast_member){.cast = &c, .node = 4, .number = 1};
		if (late == 1)
			assert_int_equal(cast_create(&m[4], &config, why), 0);
		check_ended(1, 0);
		close_group(&c);
	}
}

/* --- a member whose thread is held up --- */

static atomic_bool shut, reached;

static struct cast_member gate[2];

static void wait_at_gate(struct cast_member *member)
{
	(void)member;
	reached = true;
	while (shut)
		usleep(1000);
}

static void hold(struct cast *c, uint32_t node)
{
	const uint32_t pair[] = {node ? 0 : 1, node};
	memset(gate, 0, sizeof(gate));
	gate[1].behind = wait_at_gate;
	shut = true;
	reached = false;
	cast_group(c, gate, &(struct zipcast_group_config){.number = 2, .nmembers = 2, .members = pair});
	cast_send(&gate[0], 1, 1);
	while (!reached)
		usleep(1000);
}

/* Members at the end close, while another one has not heard anything yet: it has all messages and the end. */
void end_of_members_that_others_do_not_need(void **state)
{
	struct cast c;
	open_group(&c, *state, "chain");
	cast_send(&m[0], 1, 1000);
	cast_wait_complete(m, N, 1);
	hold(&c, 4);
	cast_send(&m[0], 2, 1000); /* node 4 has said READY for it */
	assert_int_equal(zipcast_group_end(m[0].group), 0);
	cast_wait_ended(m, 4);
	close_node(&c, 3);
	close_node(&c, 2);
	shut = false;
	check_ended(0, 2);
	cast_destroy(gate, 2);
	close_group(&c);
}

/* A member has left, and messages that the root has accepted need it. The root's call returns. */
void end_that_lacks_a_member(void **state)
{
	static uint8_t data[BYTES];
	struct cast c;
	open_group(&c, *state, "chain");
	cast_send(&m[0], 1, BYTES);
	cast_wait_complete(m, N, 1);
	hold(&c, 0); /* the root accepts messages until it hears of the member */
	destroy_member(2);
	m[0].keeps_all = true;
	assert_int_equal(zipcast_send(m[0].group, data, BYTES), 0);
	assert_int_equal(zipcast_send(m[0].group, data, BYTES), 0);
	shut = false;
	destroy_member(0);
	check_failed(2);
	cast_destroy(gate, 2);
	close_group(&c);
}

/* --- without an end --- */

/* Nobody takes the messages of a root that closes: the others are told. */
void root_that_closes_with_messages(void **state)
{
	static uint8_t data[BYTES];
	struct cast c;
	open_group(&c, *state, "pipeline");
	cast_send(&m[0], 1, BYTES);
	cast_wait_complete(m, N, 1);
	hold(&c, 0); /* the commands to send and to close come in one turn */
	m[0].keeps_all = true;
	for (int i = 0; i < 3; i++)
		assert_int_equal(zipcast_send(m[0].group, data, BYTES), 0);
	pthread_t closer;
	struct zipcast *zc = c.zc[0];
	assert_int_equal(pthread_create(&closer, NULL, (void *(*)(void *))(void (*)(void))zipcast_close, zc), 0);
	usleep(100000);
	shut = false;
	pthread_join(closer, NULL);
	c.zc[0] = NULL;
	m[0].group = gate[1].group = NULL;
	check_failed(0);
	cast_destroy(gate, 2);
	close_group(&c);
}

/* All connections of a node break, and it does not notice, as if its process had been killed. */
static void cut(struct cast *c, uint32_t node)
{
	for (uint32_t i = 0; i < N; i++) {
		const struct cast_link *l = &c->zc[node]->node[i].link;
		if (i != node && l->zlink)
			shutdown(l->tx_fd, SHUT_RDWR);
	}
}

static void lose(const char *transport, uint32_t node)
{
	for (uint32_t a = 0; a < ALGORITHMS; a++) {
		struct cast c;
		open_group(&c, transport, algorithms[a]);
		cast_send(&m[0], 1, BYTES);
		cast_wait_complete(m, N, 1);
		hold(&c, node);
		cut(&c, node);
		check_failed(node);
		shut = false;
		cast_destroy(gate, 2);
		close_group(&c);
	}
}

void root_that_is_lost(void **state)
{
	lose(*state, 0);
}

void member_that_is_lost(void **state)
{
	lose(*state, 2);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Barriers of groups, over tcp and shm: with messages, late members, ends, and members that go. */
#include <errno.h>
#include <unistd.h>

#include "test/unit/zipcast/cases.h"
#include "test/unit/zipcast/five.h"

static const char *const algorithms[] = {"sequential", "tree", "chain", "pipeline", "hybrid-chain", "hybrid-pipeline"};
#define ALGORITHMS (sizeof(algorithms) / sizeof(algorithms[0]))

static void enter(uint32_t i)
{
	assert_int_equal(zipcast_group_barrier(m[i].group, cast_passed), 0);
}

static uint32_t sum_passed(void)
{
	uint32_t sum = 0;
	pthread_mutex_lock(&m[0].cast->lock);
	for (uint32_t i = 0; i < N; i++)
		sum += m[i].passed;
	pthread_mutex_unlock(&m[0].cast->lock);
	return sum;
}

/* Whichever member is the last one, nobody passes before. */
static void nobody_passes_alone(void **state)
{
	for (uint32_t a = 0; a < ALGORITHMS; a++) {
		struct cast c;
		open_group(&c, *state, algorithms[a]);
		for (uint32_t last = 0; last < N; last++) {
			for (uint32_t i = 1; i < N; i++)
				enter((last + i) % N);
			usleep(20000);
			assert_int_equal(sum_passed(), last * N);
			enter(last);
			cast_wait_passed(m, N, last + 1);
		}
		close_group(&c);
	}
}

/* Members enter many barriers ahead. */
static void many_at_once(void **state)
{
	enum { MANY = 50 };
	struct cast c;
	open_group(&c, *state, "pipeline");
	for (uint32_t i = 0; i < N; i++) {
		for (uint32_t k = 0; k < MANY; k++)
			enter(i);
		if (i == 2)
			assert_int_equal(zipcast_group_barrier(m[i].group, NULL), 0); /* is not told */
	}
	cast_wait_passed(m, N, MANY);
	close_group(&c);
}

static void enter_behind(struct cast_member *member)
{
	if (zipcast_group_barrier(member->group, cast_passed) != 0)
		abort();
}

/* Each member enters in the callback of the message: behind the barrier all have it. */
static void all_have_the_message(void **state)
{
	struct cast c;
	open_group(&c, *state, "tree");
	for (uint32_t i = 0; i < N; i++)
		m[i].behind = enter_behind;
	for (uint32_t k = 1; k <= 10; k++) {
		cast_send(&m[0], k, cast_size(1, k, 300000));
		cast_wait_passed(&m[k % N], 1, k); /* one alone */
		for (uint32_t i = 0; i < N; i++) {
			assert_true(m[i].complete >= k);
			assert_int_equal(m[i].damaged, 0);
		}
	}
	cast_wait_passed(m, N, 10);
	close_group(&c);
}

/* A member makes the group when the others wait in its barrier. */
static void late_members(void **state)
{
	for (uint32_t late = 0; late < N; late++) {
		const struct zipcast_group_config config = {1, N, all, "pipeline", 0, NULL};
		char why[ZIPCAST_WHY_BYTES] = "";
		struct cast c;
		memset(m, 0, sizeof(m));
		cast_open(&c, *state, N, ZIPCAST_HYBRID);
		for (uint32_t k = 1; k <= N; k++) {
			const uint32_t i = (late + k) % N;
			m[i] = (struct cast_member){.cast = &c, .node = i, .number = 1, .root = i == 0};
			if (i == late)
				usleep(20000);
			assert_int_equal(cast_create(&m[i], &config, why), 0);
			enter(i);
		}
		cast_wait_passed(m, N, 1);
		close_group(&c);
	}
}

static void *destroy(void *arg)
{
	zipcast_group_destroy(arg);
	return NULL;
}

/* The end comes behind the barriers that the root has entered, also if it destroys the group; others are never passed.
 */
static void before_the_end(void **state)
{
	for (uint32_t destroys = 0; destroys < 2; destroys++) {
		pthread_t destroyer;
		struct cast c;
		open_group(&c, *state, "pipeline");
		enter(0);
		enter(0);
		if (destroys)
			assert_int_equal(pthread_create(&destroyer, NULL, destroy, m[0].group), 0);
		else
			assert_int_equal(zipcast_group_end(m[0].group), 0);
		usleep(20000);
		for (uint32_t i = 1; i < N; i++) {
			enter(i);
			enter(i);
			zipcast_group_barrier(m[i].group, cast_passed); /* unless the end has come */
		}
		if (destroys)
			pthread_join(destroyer, NULL);
		cast_wait_ended(m + destroys, N - destroys);
		for (uint32_t i = destroys; i < N; i++)
			assert_int_equal(m[i].passed, 2);
		assert_int_equal(zipcast_group_barrier(m[1].group, cast_passed), -EPIPE);
		if (destroys)
			m[0].group = NULL;
		close_group(&c);
	}
}

static void check_failed(uint32_t suspect)
{
	for (uint32_t i = 0; i < N; i++)
		if (m[i].group) {
			cast_wait_failed(&m[i], 1);
			if (m[i].suspect != suspect)
				fail_msg("member %u names %d: %s", i, (int)m[i].suspect, m[i].why);
			assert_int_equal(m[i].passed, 0);
			assert_int_equal(zipcast_group_barrier(m[i].group, cast_passed), -EPIPE);
		}
}

/* A member leaves without having entered, before the others enter or after that. */
static void members_that_leave(void **state)
{
	for (uint32_t a = 0; a < ALGORITHMS; a++)
		for (uint32_t after = 0; after < 2; after++) {
			const uint32_t goes = 1 + (a + 2 * after) % (N - 1);
			struct cast c;
			open_group(&c, *state, algorithms[a]);
			if (!after)
				destroy_member(goes);
			for (uint32_t i = 0; i < N; i++)
				if (i != goes && zipcast_group_barrier(m[i].group, cast_passed) != 0)
					assert_int_equal(after, 0); /* it has failed already */
			if (after)
				destroy_member(goes);
			check_failed(goes);
			close_group(&c);
		}
}

/* A root leaves with a barrier that others have not entered: in its end nobody waits. */
static void root_that_closes(void **state)
{
	struct cast c;
	open_group(&c, *state, "pipeline");
	for (uint32_t i = 0; i < N - 1; i++)
		enter(i);
	cast_close_node(&c, 0);
	m[0].group = NULL;
	check_failed(0);
	close_group(&c);
}

/* A member enters, leaves, and needs to hear nothing: the others pass. */
static void members_that_have_entered(void **state)
{
	struct cast c;
	open_group(&c, *state, "chain");
	enter(4);
	destroy_member(4);
	for (uint32_t i = 0; i < 4; i++)
		enter(i);
	cast_wait_passed(m, 4, 1);
	close_group(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CAST_CASE(nobody_passes_alone, "tcp"),
		CAST_CASE(nobody_passes_alone, "shm"),
		CAST_CASE(many_at_once, "tcp"),
		CAST_CASE(all_have_the_message, "tcp"),
		CAST_CASE(all_have_the_message, "shm"),
		CAST_CASE(late_members, "tcp"),
		CAST_CASE(late_members, "shm"),
		CAST_CASE(before_the_end, "tcp"),
		CAST_CASE(members_that_leave, "tcp"),
		CAST_CASE(root_that_closes, "shm"),
		CAST_CASE(members_that_have_entered, "tcp"),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* zipcast without memory: any one allocation fails (the linker's --wrap). The call or group that needed it fails, and
 * nothing else. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test/unit/zipcast/fixture.h"
#include "test/unit/within.h"

static atomic_int left = -1; /* allocations until one fails; below 0: none fails */

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);

static bool fails(void)
{
	return atomic_load(&left) >= 0 && atomic_fetch_sub(&left, 1) == 0;
}

void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	return fails() ? NULL : __real_calloc(n, bytes);
}

static const uint32_t two[] = {0, 1};

static bool is_over(struct cast_member *m)
{
	pthread_mutex_lock(&m->cast->lock);
	const bool over = m->complete + m->failed > 0;
	assert_int_equal(m->damaged, 0);
	pthread_mutex_unlock(&m->cast->lock);
	return over;
}

/* Makes a group of two in new contexts; the k-th allocation after their opening fails. False: fewer were needed. */
static bool try(int k)
{
	static struct cast_member m[2];
	struct zipcast_group_config config = {.number = 7, .nmembers = 2, .members = two};
	struct cast c;
	char why[ZIPCAST_WHY_BYTES] = "";
	cast_open(&c, "tcp", 2, ZIPCAST_HYBRID);
	for (uint32_t i = 0; i < 2; i++)
		m[i] = (struct cast_member){.cast = &c, .node = i, .number = 7, .root = i == 0, .salt = 7};
	atomic_store(&left, k);
	int rc = cast_create(&m[1], &config, why);
	bool needed = atomic_exchange(&left, -1) < 0;
	if (rc != 0) { /* the other member would wait for it */
		assert_true(why[0] != '\0');
		assert_null(m[1].group);
	} else if (cast_create(&m[0], &config, why) == 0) {
		rc = cast_try_send(&m[0], 1, 300000);
		assert_true(rc == 0 || rc == -EPIPE); /* the other member may have failed already, and said so */
		for (int i = 0; i < 60000 && !is_over(&m[1]); i++)
			usleep(1000);
		assert_true(is_over(&m[1]));
	}
	cast_destroy(m, 2);
	cast_close(&c);
	return needed;
}

static void any_allocation_fails(void **state)
{
	int k = 0;
	(void)state;
	while (try(k))
		k++;
	assert_within(k, 10, 500);
}

/* A zipcast_meet that fails leaves the context without nodes, and can be called again. */
static void meeting_fails(void **state)
{
	static const char *const address[] = {"tcp:127.0.0.1:9", "tcp:127.0.0.1:9"};
	const struct zipcast_group_config group = {.number = 7, .nmembers = 2, .members = two};
	const struct zipcast_config config = {.listen = "tcp:127.0.0.1:0", .session = "test", .key = cast_key};
	const struct zipcast_events none = {.arg = NULL};
	char why[ZIPCAST_WHY_BYTES] = "";
	struct zipcast_group *g;
	struct zipcast *zc;
	int k = 0, rc;
	(void)state;
	assert_int_equal(zipcast_open(&zc, &config, why), 0);
	for (;; k++) {
		atomic_store(&left, k);
		rc = zipcast_meet(zc, address, 2, why);
		if (atomic_exchange(&left, -1) >= 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(zipcast_group_create(&g, zc, &group, &none, why), -EDEADLK);
		assert_string_equal(why, "zipcast_meet comes first");
	}
	assert_int_equal(rc, 0);
	assert_int_equal(k, 2);
	zipcast_close(zc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_allocation_fails),
		cmocka_unit_test(meeting_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

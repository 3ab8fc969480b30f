/* SPDX-License-Identifier: BSD-3-Clause */
/* The two ends of a ring in shared memory: who is woken, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/transport/shm/shm_consumer.h"
#include "common/transport/shm/shm_producer.h"

#define QUARTER (SHM_RING_BYTES / 4)
#define LAPS 3

struct ends {
	struct shm_map map;
	struct shm_producer p;
	struct shm_consumer c;
	int fd;
};

static void ends_init(struct ends *e)
{
	struct zerr err;
	e->fd = shm_map_create(&e->map, &err);
	if (e->fd < 0)
		fail_msg("%s", err.text);
	shm_producer_init(&e->p, &e->map, 0);
	shm_consumer_init(&e->c, &e->map, 0);
}

static void ends_fini(struct ends *e)
{
	shm_map_close(&e->map);
	close(e->fd);
}

static int produce(struct ends *e, size_t len)
{
	uint8_t *at;
	const int rc = shm_producer_reserve(&e->p, len, &at);
	if (rc == 1)
		shm_producer_commit(&e->p, len);
	return rc;
}

static int consume(struct ends *e, size_t len)
{
	const uint8_t *at;
	const int rc = shm_consumer_peek(&e->c, len, &at);
	if (rc == 1)
		shm_consumer_pop(&e->c, len);
	return rc;
}

/* A producer that is woken for every message would sleep again at once. */
static void a_producer_is_woken_when_half_is_free(void **state)
{
	struct ends e;
	(void)state;
	ends_init(&e);
	for (int lap = 0; lap < LAPS; lap++) {
		while (produce(&e, QUARTER) == 1)
			;
		shm_producer_publish(&e.p); /* a consumer sleeps at first */
		assert_true(shm_producer_sleep(&e.p, QUARTER));
		assert_int_equal(consume(&e, QUARTER), 1);
		assert_false(shm_consumer_release(&e.c));
		assert_int_equal(consume(&e, QUARTER - SHM_RING_ALIGN), 1);
		assert_false(shm_consumer_release(&e.c));
		assert_int_equal(consume(&e, SHM_RING_ALIGN), 1);
		assert_true(shm_consumer_release(&e.c));
		assert_false(shm_consumer_release(&e.c)); /* once for each sleep */
		assert_true(shm_producer_awake(&e.p));
		assert_int_equal(consume(&e, 2 * QUARTER), 1);
		assert_false(shm_consumer_release(&e.c));
	}
	ends_fini(&e);
}

static void a_producer_with_room_does_not_sleep(void **state)
{
	struct ends e;
	(void)state;
	ends_init(&e);
	for (int lap = 0; lap < LAPS; lap++) {
		while (produce(&e, QUARTER) == 1)
			;
		shm_producer_publish(&e.p);
		assert_int_equal(consume(&e, QUARTER), 1);
		assert_false(shm_consumer_release(&e.c));
		assert_true(shm_producer_sleep(&e.p, 2 * QUARTER));
		assert_false(shm_producer_awake(&e.p)); /* nobody has woken it */
		assert_false(shm_producer_sleep(&e.p, QUARTER));
		assert_false(shm_producer_awake(&e.p));
	}
	ends_fini(&e);
}

static void a_consumer_is_woken_by_what_is_published(void **state)
{
	struct ends e;
	(void)state;
	ends_init(&e);
	for (int lap = 0; lap < LAPS; lap++) {
		assert_int_equal(consume(&e, SHM_RING_ALIGN), 0);
		assert_true(shm_consumer_sleep(&e.c));
		assert_int_equal(produce(&e, SHM_RING_ALIGN), 1);
		assert_int_equal(consume(&e, SHM_RING_ALIGN), 0); /* not published yet */
		assert_true(shm_producer_publish(&e.p));
		assert_true(shm_consumer_awake(&e.c));
		assert_false(shm_consumer_sleep(&e.c)); /* there is something */
		assert_false(shm_consumer_awake(&e.c));
		assert_int_equal(produce(&e, SHM_RING_ALIGN), 1);
		assert_false(shm_producer_publish(&e.p)); /* it does not sleep */
		assert_int_equal(consume(&e, 2 * SHM_RING_ALIGN), 1);
		shm_consumer_release(&e.c);
	}
	ends_fini(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_producer_is_woken_when_half_is_free),
		cmocka_unit_test(a_producer_with_room_does_not_sleep),
		cmocka_unit_test(a_consumer_is_woken_by_what_is_published),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

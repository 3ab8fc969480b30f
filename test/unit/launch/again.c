/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher counts the time for which a zipper is away, over several attempts to come back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "launch/start/again.h"

#define LOST_MS 1000
#define LATER_MS 60000 /* a try is due again */

static struct zlink link;
static int refuses;	     /* the zipperd cannot be reached */
static int poll_rc;	     /* what zsession_poll returns next; 0 afterwards */
static struct zctl_msg told; /* with poll_rc 1 */

static void close_link(struct zlink *l)
{
	assert_ptr_equal(l, &link);
}

static const struct ztransport ops = {.close = close_link};

/* -Wmissing-prototypes asks for these. */
int __wrap_zjob_register(struct zjob *, struct zsession **, struct zsession_params *, const struct zroute *,
	const char *, bool, struct zerr *);
struct zlink *__wrap_zsession_release(struct zsession *);
uint32_t __wrap_zsession_protocol(const struct zsession *);
int __wrap_zsession_poll(struct zsession *, struct zctl_msg *, struct zerr *);

int __wrap_zjob_register(struct zjob *job, struct zsession **out, struct zsession_params *params,
	const struct zroute *route, const char *entries, bool again, struct zerr *err)
{
	(void)job, (void)params, (void)route, (void)entries, (void)err;
	assert_true(again);
	if (refuses)
		return -ECONNREFUSED;
	*out = (struct zsession *)&link; /* only these wrappers look at it */
	return 0;
}

struct zlink *__wrap_zsession_release(struct zsession *s)
{
	return (struct zlink *)s;
}

uint32_t __wrap_zsession_protocol(const struct zsession *s)
{
	(void)s;
	return ZCTL_PROTOCOL;
}

int __wrap_zsession_poll(struct zsession *s, struct zctl_msg *msg, struct zerr *err)
{
	const int rc = poll_rc;
	(void)s, (void)err;
	poll_rc = 0;
	if (rc > 0)
		*msg = told;
	return rc;
}

/* A job that has lost its only zipper, and the attempt that begins at the time begin_ms. */
static struct zjob_rail *begin(struct zjob *job, int64_t begin_ms)
{
	static const struct zroute route;
	link.ops = &ops;
	refuses = 0;
	*job = (struct zjob){.n = 1, .world = true, .reconnect_ms = 5 * LATER_MS};
	struct zjob_rail *rail = &job->rails[0];
	*rail = (struct zjob_rail){.name = "gw", .route = &route, .lost = true, .told = true, .gone_ms = LOST_MS};
	assert_false(zagain_turn(job, LOST_MS));
	assert_null(rail->again);
	assert_false(zagain_turn(job, begin_ms));
	assert_non_null(rail->again);
	return rail;
}

static void say(enum zctl_event_kind kind, const char *text)
{
	told = (struct zctl_msg){.type = ZCTL_EVENT, .u.event = {.kind = kind}};
	snprintf(told.u.event.text, sizeof(told.u.event.text), "%s", text);
	poll_rc = 1;
}

static void a_zipper_that_ends_each_attempt_has_been_away_all_the_time(void **state)
{
	struct zjob job;
	struct zjob_rail *rail = begin(&job, 2 * LATER_MS);
	(void)state;
	say(ZCTL_EV_LOST, "zipperd is shutting down");
	assert_false(zagain_turn(&job, 2 * LATER_MS + 700));
	assert_null(rail->again);
	/* without the attempt's own time */
	assert_int_equal(rail->gone_ms, LOST_MS + 700);
	/* a second one, and one that does not come about */
	assert_false(zagain_turn(&job, 4 * LATER_MS));
	assert_non_null(rail->again);
	say(ZCTL_EV_LOST, "zipperd is shutting down");
	assert_false(zagain_turn(&job, 4 * LATER_MS + 50));
	refuses = 1;
	assert_false(zagain_turn(&job, 6 * LATER_MS));
	assert_null(rail->again);
	assert_int_equal(rail->gone_ms, LOST_MS + 750);
}

static void a_zipper_that_is_lost_again_is_away_anew(void **state)
{
	struct zjob job;
	struct zjob_rail *rail = begin(&job, 2 * LATER_MS);
	(void)state;
	poll_rc = -ECONNRESET;
	assert_false(zagain_turn(&job, 2 * LATER_MS + 700));
	assert_int_equal(rail->gone_ms, 2 * LATER_MS + 700);
}

static void the_word_of_the_only_zipper_ends_the_job(void **state)
{
	struct zjob job;
	struct zjob_rail *rail = begin(&job, 2 * LATER_MS);
	(void)state;
	say(ZCTL_EV_DEAD, "rank 1 has died");
	assert_true(zagain_turn(&job, 2 * LATER_MS + 700));
	assert_true(rail->dead);
	assert_false(rail->lost);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_zipper_that_ends_each_attempt_has_been_away_all_the_time),
		cmocka_unit_test(a_zipper_that_is_lost_again_is_away_anew),
		cmocka_unit_test(the_word_of_the_only_zipper_ends_the_job),
	};
	return cmocka_run_group_tests_name("again", tests, NULL, NULL);
}

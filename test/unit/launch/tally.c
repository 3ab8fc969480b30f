/* SPDX-License-Identifier: BSD-3-Clause */
/* The launcher sums up the words of several zippers: whether the job goes on, else the cause of its end; and what the
 * user is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/within.h"
#include "launch/run/cause.h"
#include "launch/run/losses.h"
#include "launch/run/tally.h"

#define DIED "rank 3 (b rank 1 on h) died (lost its connection)"
#define ABORTED "rank 2 (b rank 0 on h) aborted with code 7"
#define VAIN "rank 2 (b rank 0 on h) ended without MPI_Finalize while rank 0 (a rank 0 on h) waits"
#define FAILED "rank 2 (b rank 0 on h) ended with status 7 without MPI_Finalize"
#define QUIT "rank 2 (b rank 0 on h) has lost this zipper: its data connection broke"
#define KILLED "zipperd was killed by signal 9 (Killed)"
#define STOPS "zipperd is shutting down"

static const char *const names[] = {"gw1", "gw2", "gw3"};

/* A job of four ranks over n zippers, with its world or still joining. */
static void make_job(struct zjob *job, int n, bool world)
{
	memset(job, 0, sizeof(*job));
	job->n = n;
	for (int i = 0; i < n; i++)
		job->rails[i] = (struct zjob_rail){.name = names[i], .world = world, .joined = world ? 4 : 2};
	ztally_make(job);
}

/* A zipper says at that time that the job is over. */
static void die(struct zjob *job, int rail, int code, const char *text, int64_t now_ms)
{
	struct zjob_rail *r = &job->rails[rail];
	r->dead = true;
	r->dead_code = code;
	r->order = ++job->ndown;
	r->down_ms = now_ms;
	snprintf(r->text, sizeof(r->text), "%s", text);
	ztally_make(job);
}

static void lose(struct zjob *job, int rail, const char *why, int64_t now_ms)
{
	ztally_lose(job, rail, why);
	job->rails[rail].down_ms = now_ms;
}

static void goes_on(const struct zjob *job)
{
	if (job->dead || job->lost)
		fail_msg("ended: %s", job->text);
}

static void ends(const struct zjob *job, bool dead, const char *text)
{
	assert_string_equal(job->text, text);
	assert_int_equal(job->dead, dead);
	assert_int_equal(job->lost, !dead);
}

static void one_zipper(void **state)
{
	struct zjob job;
	(void)state;
	make_job(&job, 1, true);
	assert_true(job.world);
	assert_int_equal(job.joined, 4);
	goes_on(&job);
	lose(&job, 0, "zipperd at shm closed the connection", 0);
	ends(&job, false, "zipperd at shm closed the connection");
	lose(&job, 0, KILLED, 0);
	ends(&job, false, KILLED);

	make_job(&job, 1, true);
	die(&job, 0, 7, ABORTED, 0);
	ends(&job, true, ABORTED);
	assert_int_equal(job.dead_code, 7);
	lose(&job, 0, KILLED, 0);
	ends(&job, true, ABORTED);
}

static void while_joining(void **state)
{
	struct zjob job;
	(void)state;
	make_job(&job, 2, false);
	assert_false(job.world);
	assert_int_equal(job.joined, 2);
	job.rails[0].world = true;
	job.rails[1].joined = 1;
	ztally_make(&job);
	assert_false(job.world);
	assert_int_equal(job.joined, 1);
	goes_on(&job);
	die(&job, 1, 1, DIED, 0);
	ends(&job, true, "zipper gw2: " DIED);
	/* the lost zipper was the reason */
	lose(&job, 0, KILLED, 0);
	ends(&job, false, "zipper gw1: " KILLED);
}

static void one_is_left(void **state)
{
	struct zjob job;
	(void)state;
	make_job(&job, 3, true);
	job.rails[0].done = 2;
	job.rails[1].done = 1;
	job.rails[2].done = 4;
	ztally_make(&job);
	assert_int_equal(job.done, 1);
	lose(&job, 1, KILLED, 0);
	goes_on(&job);
	assert_true(job.world);
	assert_int_equal(job.done, 2);
	die(&job, 0, 1, STOPS, 0);
	goes_on(&job);
	assert_int_equal(job.done, 4);
	assert_int_equal(zjob_left(&job), 1);
	lose(&job, 2, KILLED, 0);
	ends(&job, false, "zipper gw2: " KILLED "; no zipper is left");
	assert_int_equal(job.rail, 1);
	assert_int_equal(job.done, 4);
}

static void told_ones_are_no_cause(void **state)
{
	struct zjob job;
	(void)state;
	make_job(&job, 2, true);
	lose(&job, 0, KILLED, 0);
	job.rails[0].told = true;
	die(&job, 1, 1, STOPS, 0);
	ends(&job, true, "zipper gw2: " STOPS "; no zipper is left");

	make_job(&job, 2, true);
	lose(&job, 0, KILLED, 0);
	job.rails[0].told = true;
	die(&job, 1, 9, DIED, 0);
	ends(&job, true, DIED);
	assert_int_equal(job.dead_code, 9);
}

static void all_tell_of_a_rank(void **state)
{
	struct zjob job;
	(void)state;
	make_job(&job, 3, true);
	die(&job, 2, 7, ABORTED, 0);
	die(&job, 0, 1, DIED, 0);
	goes_on(&job);
	die(&job, 1, 1, DIED, 0);
	ends(&job, true, ABORTED);
	assert_int_equal(job.dead_code, 7);

	/* a host that had a rank and a zipper */
	make_job(&job, 2, true);
	lose(&job, 0, KILLED, 0);
	die(&job, 1, 1, DIED, 0);
	ends(&job, true, DIED);

	/* a rank has ended by itself: that, too, all zippers tell */
	make_job(&job, 2, true);
	die(&job, 0, 7, FAILED, 0);
	goes_on(&job);
	die(&job, 1, 7, FAILED, 0);
	ends(&job, true, FAILED);
	make_job(&job, 2, true);
	die(&job, 1, 1, VAIN, 0);
	die(&job, 0, 1, VAIN, 0);
	ends(&job, true, VAIN);

	/* nobody died */
	make_job(&job, 2, true);
	die(&job, 0, 0, QUIT, 0);
	goes_on(&job);
	die(&job, 1, 0, QUIT, 0);
	ends(&job, true, "zipper gw1: " QUIT "; no zipper is left");
}

static void one_does_not_tell(void **state)
{
	struct zjob job;
	(void)state;
	make_job(&job, 2, true);
	assert_false(zcause_believe_death(&job));
	lose(&job, 1, KILLED, 0);
	assert_false(zcause_believe_death(&job));
	goes_on(&job);

	make_job(&job, 2, true);
	die(&job, 1, 9, DIED, 0);
	goes_on(&job);
	assert_true(zcause_believe_death(&job));
	ends(&job, true, DIED);
	assert_int_equal(job.dead_code, 9);
}

static void has_said(struct zoutput *out, const char *wanted)
{
	char got[1024];
	snprintf(got, sizeof(got), "%.*s", (int)(out->end - out->begin), out->buf ? out->buf + out->begin : "");
	assert_string_equal(got, wanted);
	out->begin = out->end = 0;
}

static void losses_are_held_back(void **state)
{
	struct zjob job;
	struct zoutput out;
	(void)state;
	zoutput_init(&out, -1);
	make_job(&job, 3, true);
	assert_int_equal(zlosses_timeout(&job, 10000), -1);
	zlosses_tell_all(&job, &out);
	has_said(&out, "");
	lose(&job, 1, KILLED, 10000);
	die(&job, 2, 1, STOPS, 10200);
	int ms = zlosses_timeout(&job, 10000);
	assert_within(ms, 500, 2500);
	zlosses_tell(&job, &out, 10000 + ms - 1);
	has_said(&out, "");
	zlosses_tell(&job, &out, 10000 + ms);
	has_said(&out, "zmpirun: warning: zipper gw2 is lost: " KILLED "; the job goes on with 1 of 3\n");
	assert_int_equal(zlosses_timeout(&job, 10000), ms + 200);
	assert_int_equal(zlosses_timeout(&job, 20000), 0);
	zlosses_tell_all(&job, &out);
	has_said(&out, "zmpirun: warning: zipper gw3 is lost: " STOPS "; the job goes on with 1 of 3\n");
	assert_int_equal(zlosses_timeout(&job, 20000), -1);
	zlosses_tell_all(&job, &out);
	has_said(&out, "");

	/* the rank lives, as the job went on */
	make_job(&job, 2, true);
	die(&job, 0, 1, DIED, 10000);
	zlosses_tell(&job, &out, 20000); /* the other zipper may find out only now */
	has_said(&out, "");
	zlosses_tell(&job, &out, 25000);
	has_said(&out,
		"zmpirun: warning: zipper gw1 is lost: rank 3 (b rank 1 on h): lost its connection; the job goes on "
		"with 1 of 2\n");
	zoutput_free(&out);
}

static void losses_beside_a_death(void **state)
{
	struct zjob job;
	struct zoutput out;
	(void)state;
	zoutput_init(&out, -1);
	make_job(&job, 3, true);
	lose(&job, 1, KILLED, 0);
	die(&job, 0, 1, DIED, 0);
	die(&job, 2, 1, DIED, 0);
	zlosses_tell_others(&job, &out);
	has_said(&out, "zmpirun: warning: zipper gw2 is lost: " KILLED "\n");
	ztally_make(&job);
	ends(&job, true, DIED);
	zoutput_free(&out);
}

/* A rank that has told its own end: the ranks that mpiexec kills after it are no deaths of their own. */
static void an_end_is_told_by_the_rank(void **state)
{
	static const struct {
		const char *text;
		bool death, exits;
	} words[] = {{DIED, true, false}, {ABORTED, true, false}, {VAIN, true, true}, {FAILED, true, true},
		{QUIT, false, false}, {KILLED, false, false}, {STOPS, false, false}};
	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct zjob job;
		make_job(&job, 1, true);
		die(&job, 0, 1, words[i].text, 100);
		assert_int_equal(zcause_is_death(&job.rails[0]), words[i].death);
		assert_int_equal(zcause_is_exit(&job.rails[0]), words[i].exits);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_zipper),
		cmocka_unit_test(while_joining),
		cmocka_unit_test(one_is_left),
		cmocka_unit_test(told_ones_are_no_cause),
		cmocka_unit_test(all_tell_of_a_rank),
		cmocka_unit_test(one_does_not_tell),
		cmocka_unit_test(losses_are_held_back),
		cmocka_unit_test(losses_beside_a_death),
		cmocka_unit_test(an_end_is_told_by_the_rank),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

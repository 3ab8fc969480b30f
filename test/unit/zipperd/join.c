/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks of a job come together at the real zipperd: whole and mixed worlds, placement maps, and mistakes.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/zipperd/job_fixture.h"

static void two_parts_join(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	job_start(&d, r, TCP, NULL);
	for (uint32_t i = 0; i < 4; i++) {
		const struct zctl_world *w = &r[i].world;
		assert_int_equal(w->vrank, i);
		assert_int_equal(w->external32, 0);
		assert_int_equal(w->nparts, 2);
		assert_string_equal(w->parts[0].name, "a");
		assert_string_equal(w->parts[1].name, "b");
		assert_int_equal(w->parts[1].size, 2);
		assert_int_equal(w->nruns, 2);
		assert_int_equal(w->runs[1].vrank, 2);
		assert_int_equal(w->runs[1].lrank, 0);
		assert_int_equal(w->eager_bytes, 32 << 10);
	}
	job_bye(r, 4);
	assert_true(daemon_logged(&d, "job tester/j: over"));
	assert_int_equal(daemon_stop(&d), 0);
}

static void three_parts_of_different_kind_join(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, SHM, NULL);
	fake_init(&r[0], "j", "a,b,c", "a", 0, 1, d.addr);
	fake_init(&r[1], "j", "a,b,c", "b", 0, 1, d.addr);
	fake_init(&r[2], "j", "a,b,c", "c", 0, 2, d.addr);
	fake_init(&r[3], "j", "a,b,c", "c", 1, 2, d.addr);
	r[2].join.abi = 7; /* another representation */
	r[0].join.tag_ub = 1000;
	r[1].join.tag_ub = 500;
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	assert_int_equal(r[3].world.vrank, 3);
	assert_int_equal(r[0].world.nparts, 3);
	assert_int_equal(r[0].world.external32, 1);
	assert_int_equal(r[0].world.tag_ub, 500);
	assert_int_equal(r[3].world.tag_ub, 500);
	job_exchange(r, 4, 300);
	job_assert_good(r, 4);
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void other_tuning_is_refused(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, NULL);
	job_init(r, "j", d.addr);
	for (int i = 0; i < 4; i++)
		r[i].join.tuning = i < 3 ? 5 : 6;
	fake_join_all(r, 4);
	for (int i = 0; i < 4; i++) {
		assert_true(r[i].rc < 0);
		assert_non_null(strstr(r[i].err.text, "does not fit in: it has another tuning table than the others"));
		fake_kill(&r[i]);
	}
	assert_int_equal(daemon_stop(&d), 0);
}

static void other_endpoints_are_refused(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, NULL);
	job_init(r, "j", d.addr);
	r[0].join.endpoints = r[1].join.endpoints = 3;
	fake_join_all(r, 4);
	for (int i = 0; i < 4; i++) {
		assert_true(r[i].rc < 0); /* whoever came first */
		if (!strstr(r[i].err.text, "does not fit in: it has 3 endpoints, others 1 (ZIPPER_ENDPOINTS)"))
			assert_non_null(strstr(r[i].err.text, "it has 1 endpoint, others 3 (ZIPPER_ENDPOINTS)"));
		fake_kill(&r[i]);
	}
	assert_int_equal(daemon_stop(&d), 0);
}

/* A mixed job of one part or of several: the fourth rank is alone in its part. */
static void other_recording_is_refused(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, NULL);
	job_init(r, "j", d.addr);
	r[3].join.records = 1;
	fake_join_all(r, 4);
	for (int i = 0; i < 4; i++) {
		assert_true(r[i].rc < 0); /* whoever came first */
		if (!strstr(r[i].err.text, "does not fit in: it records a graph, others do not (ZIPPER_PROFILE)"))
			assert_non_null(strstr(r[i].err.text, "it records no graph, others do (ZIPPER_PROFILE)"));
		fake_kill(&r[i]);
	}
	assert_int_equal(daemon_stop(&d), 0);
}

/* A placement map that every rank has read for itself. */
static void ranks_say_their_numbers(void **state)
{
	static const uint32_t vranks[4] = {2, 0, 3, 1};
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, NULL);
	job_init_mapped(r, "j", d.addr, vranks);
	for (uint32_t v = 0; v < 4; v++)
		r[v].join.vrank = v;
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	assert_int_equal(r[0].world.nruns, 4);
	job_exchange(r, 4, 100);
	job_assert_good(r, 4);
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void maps_that_differ_end_the_join(void **state)
{
	static const struct {
		uint32_t vranks[4];
		const char *text;
	} bad[] = {
		{{0, 1, 2, 4}, "the map makes b rank 1 rank 4, but there are only 4 ranks"},
		{{0, 1, 2, 1}, "maps make both a rank 1 and b rank 1 rank 1"},
		{{0, 1, ZCTL_VRANK_ANY, 2}, "b rank 0 was started without a map, others with one"},
	};
	struct daemon_fixture d;
	(void)state;
	daemon_start(&d, TCP, NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fake_rank r[4];
		char job[8];
		snprintf(job, sizeof(job), "j%zu", i);
		job_init(r, job, d.addr);
		for (int k = 0; k < 4; k++)
			r[k].join.vrank = bad[i].vranks[k];
		fake_join_all(r, 4);
		for (int k = 0; k < 4; k++) {
			assert_true(r[k].rc < 0);
			assert_string_equal(r[k].err.text, bad[i].text);
			fake_kill(&r[k]);
		}
	}
	assert_int_equal(daemon_stop(&d), 0);
}

static void mixed_job_keeps_native_ranks(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[5];
	const char *part[] = {"a", "b", "b", "a", "b"};
	(void)state;
	daemon_start(&d, TCP, NULL);
	for (uint32_t i = 0; i < 5; i++) {
		fake_init(&r[i], "m", "a,b", part[i], i, 5, d.addr);
		r[i].join.mixed = 1;
	}
	fake_join_all(r, 5);
	job_assert_joined(r, 5);
	const struct zctl_world *w = &r[4].world;
	assert_int_equal(w->vrank, 4);
	assert_int_equal(w->parts[0].size, 2);
	assert_int_equal(w->parts[1].size, 3);
	assert_int_equal(w->nruns, 4);
	assert_int_equal(w->runs[1].vrank, 1);
	assert_int_equal(w->runs[1].count, 2);
	assert_int_equal(w->runs[1].part, 1);
	assert_int_equal(w->runs[3].lrank, 2);
	job_exchange(r, 5, 100);
	job_assert_good(r, 5);
	job_bye(r, 5);
	assert_int_equal(daemon_stop(&d), 0);
}

static void missing_ranks_are_named(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[3];
	(void)state;
	daemon_start(&d, TCP, "join_timeout=4s");
	fake_init(&r[0], "j", "a,b", "a", 0, 3, d.addr);
	fake_init(&r[1], "j", "a,b", "a", 1, 3, d.addr);
	fake_join_all(r, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(r[i].rc, -ECANCELED);
		assert_non_null(strstr(r[i].err.text, "part b: nobody reported"));
		assert_non_null(
			strstr(r[i].err.text, "part a: rank 2 of 3 did not report: was libzipper.so preloaded there?"));
		fake_kill(&r[i]);
	}
	/* A late rank hears the reason, too. */
	fake_init(&r[2], "j", "a,b", "a", 2, 3, d.addr);
	fake_join_all(&r[2], 1);
	assert_int_equal(r[2].rc, -ECANCELED);
	assert_non_null(strstr(r[2].err.text, "nobody reported"));
	fake_kill(&r[2]);
	assert_int_equal(daemon_stop(&d), 0);
}

/* A rank that has been started since then is not late, but belongs to another attempt. */
static void a_failed_job_is_started_again(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, NULL);
	fake_init(&r[0], "j", "a,b", "x", 0, 2, d.addr);
	fake_join_all(r, 1);
	assert_non_null(strstr(r[0].err.text, "its part x is not among"));
	fake_kill(&r[0]);
	fixture_nap(100);
	job_init(r, "j", d.addr);
	for (int i = 0; i < 4; i++)
		r[i].join.age_ms = 10;
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void other_zippers_are_refused(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4], again;
	(void)state;
	daemon_start(&d, TCP, NULL);
	job_init(r, "j", d.addr);
	r[2].join.nrails = r[3].join.nrails = 2;
	fake_join_all(r, 4);
	for (int i = 0; i < 4; i++) { /* whoever came first */
		assert_true(r[i].rc < 0);
		if (!strstr(r[i].err.text, "does not fit in: it names 2 zippers, others 1 (ZIPPER_ZIPPERD)"))
			assert_non_null(strstr(r[i].err.text, "it names 1 zipper, others 2 (ZIPPER_ZIPPERD)"));
		fake_kill(&r[i]);
	}
	job_init(r, "order", d.addr);
	for (uint32_t i = 0; i < 4; i++) {
		r[i].join.nrails = 2;
		r[i].join.rail = i > 1;
	}
	fake_join_all(r, 4);
	for (int i = 0; i < 4; i++) {
		assert_true(r[i].rc < 0);
		assert_non_null(strstr(r[i].err.text, "does not fit in: it names this zipper as number "));
		fake_kill(&r[i]);
	}
	/* One after the other, as ranks do it. */
	job_init(r, "twice", d.addr);
	for (int i = 0; i < 4; i++)
		r[i].join.nrails = 2;
	again = r[0];
	again.join.rail = 1;
	fake_join_all(r, 4);
	job_assert_joined(r, 4);
	fake_join_all(&again, 1);
	assert_true(again.rc < 0);
	assert_non_null(strstr(again.err.text, "job tester/twice names this zipper twice, as number 1 and 2"));
	fake_kill(&again);
	job_bye(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void try_misfit(const struct zaddr *addr, const char *job, const struct zctl_join *change, const char *text)
{
	struct fake_rank r[2];
	fake_init(&r[0], job, "a,b", "a", 0, 2, addr);
	fake_init(&r[1], job, "a,b", "a", 1, 2, addr);
	r[1].join = *change;
	fake_join_all(r, 2);
	assert_true(r[0].rc < 0 && r[1].rc < 0);
	/* Either rank may have come first. Both hear what does not fit. */
	if (!strstr(r[1].err.text, text) && !strstr(r[0].err.text, text))
		fail_msg("neither '%s' nor '%s' holds '%s'", r[0].err.text, r[1].err.text, text);
	fake_kill(&r[0]);
	fake_kill(&r[1]);
}

static void misfits_end_the_join(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r;
	(void)state;
	daemon_start(&d, "a,b=tcp:127.0.0.1:0 c=tcp:127.0.0.1:0", "max_ranks=1000");
	fake_init(&r, "", "a,b", "a", 1, 2, d.addr);
	struct zctl_join j = r.join;
	j.rank = 0;
	try_misfit(d.addr, "twice", &j, "there is a rank 0 already");
	j = r.join;
	j.size = 3;
	try_misfit(d.addr, "size", &j, "ranks, but others said");
	j = r.join;
	strcpy(j.parts, "b,a");
	try_misfit(d.addr, "parts", &j, "it says that the parts are");
	j = r.join;
	j.mixed = 1;
	try_misfit(d.addr, "mixed", &j, "it was started by one mpirun");
	j = r.join;
	strcpy(j.part, "x");
	try_misfit(d.addr, "part", &j, "its part x is not among");
	j = r.join;
	j.rank = 2;
	try_misfit(d.addr, "range", &j, "rank 2 of 2");
	/* alone */
	fake_init(&r, "nofabric", "a,x", "a", 0, 1, d.addr);
	fake_join_all(&r, 1);
	assert_non_null(strstr(r.err.text, "serves no fabric 'x'"));
	fake_kill(&r);
	fake_init(&r, "wrongdoor", "a,c", "c", 0, 1, d.addr);
	fake_join_all(&r, 1);
	assert_non_null(strstr(r.err.text, "which does not serve its fabric c"));
	fake_kill(&r);
	fake_init(&r, "big", "a,b", "a", 0, 2000, d.addr);
	fake_join_all(&r, 1);
	assert_non_null(strstr(r.err.text, "max_ranks (1000)"));
	fake_kill(&r);
	assert_int_equal(daemon_stop(&d), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_parts_join),
		cmocka_unit_test(three_parts_of_different_kind_join),
		cmocka_unit_test(ranks_say_their_numbers),
		cmocka_unit_test(maps_that_differ_end_the_join),
		cmocka_unit_test(other_tuning_is_refused),
		cmocka_unit_test(other_endpoints_are_refused),
		cmocka_unit_test(other_recording_is_refused),
		cmocka_unit_test(mixed_job_keeps_native_ranks),
		cmocka_unit_test(missing_ranks_are_named),
		cmocka_unit_test(a_failed_job_is_started_again),
		cmocka_unit_test(other_zippers_are_refused),
		cmocka_unit_test(misfits_end_the_join),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd_join", tests, NULL, NULL);
}

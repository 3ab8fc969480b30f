/* SPDX-License-Identifier: BSD-3-Clause */
/* The real zipperd with fake ranks: joining, forwarding with contents checked, several jobs, faults, flow control. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon_fixture.h"

#define TCP "a,b,c=tcp:127.0.0.1:0"
#define SHM "a,b,c=shm:%d/sock"
#define RUN_MS 180000 /* sanitizers and two busy cores are slow */

static void init2(struct fake_rank *r, const char *job, const struct zaddr *addr)
{
	fake_init(&r[0], job, "a,b", "a", 0, 2, addr);
	fake_init(&r[1], job, "a,b", "a", 1, 2, addr);
	fake_init(&r[2], job, "a,b", "b", 0, 2, addr);
	fake_init(&r[3], job, "a,b", "b", 1, 2, addr);
}

static void assert_joined(const struct fake_rank *r, int n)
{
	for (int i = 0; i < n; i++) {
		if (r[i].rc != 0)
			print_error("rank %d: %s\n", i, r[i].err.text);
		assert_int_equal(r[i].rc, 0);
	}
}

static void bye_all(struct fake_rank *r, int n)
{
	for (int i = 0; i < n; i++)
		fake_bye(&r[i]);
}

/* Everybody to everybody of another part. */
static void set_goals(struct fake_rank *r, int n, uint64_t goal)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < n; k++)
			if (strcmp(r[i].join.part, r[k].join.part) != 0)
				r[i].peer[k].goal = goal;
}

static void assert_good(const struct fake_rank *r, int n)
{
	for (int i = 0; i < n; i++) {
		assert_int_equal(r[i].bad, 0);
		assert_false(r[i].dead);
	}
}

static void two_parts_join(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, NULL);
	init2(r, "j", d.addr);
	fake_join_all(r, 4);
	assert_joined(r, 4);
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
		assert_memory_equal(w->token, r[0].world.token, sizeof(w->token));
	}
	bye_all(r, 4);
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
	fake_join_all(r, 4);
	assert_joined(r, 4);
	assert_int_equal(r[3].world.vrank, 3);
	assert_int_equal(r[0].world.nparts, 3);
	assert_int_equal(r[0].world.external32, 1);
	set_goals(r, 4, 300);
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	assert_good(r, 4);
	bye_all(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void other_tuning_is_refused(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, NULL);
	init2(r, "j", d.addr);
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

/* r[v] is to be vrank v; vranks says which one that is of a 0, a 1, b 0, b 1. */
static void init_mapped(struct fake_rank *r, const char *job, const struct zaddr *addr, const uint32_t vranks[4])
{
	for (uint32_t i = 0; i < 4; i++)
		fake_init(&r[vranks[i]], job, "a,b", i < 2 ? "a" : "b", i % 2, 2, addr);
}

/* A placement map that every rank has read for itself. */
static void ranks_say_their_numbers(void **state)
{
	static const uint32_t vranks[4] = {2, 0, 3, 1};
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, NULL);
	init_mapped(r, "j", d.addr, vranks);
	for (uint32_t v = 0; v < 4; v++)
		r[v].join.vrank = v;
	fake_join_all(r, 4);
	assert_joined(r, 4);
	assert_int_equal(r[0].world.nruns, 4);
	set_goals(r, 4, 100);
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	assert_good(r, 4);
	bye_all(r, 4);
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
		init2(r, job, d.addr);
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
	assert_joined(r, 5);
	const struct zctl_world *w = &r[4].world;
	assert_int_equal(w->vrank, 4);
	assert_int_equal(w->parts[0].size, 2);
	assert_int_equal(w->parts[1].size, 3);
	assert_int_equal(w->nruns, 4);
	assert_int_equal(w->runs[1].vrank, 1);
	assert_int_equal(w->runs[1].count, 2);
	assert_int_equal(w->runs[1].part, 1);
	assert_int_equal(w->runs[3].lrank, 2);
	set_goals(r, 5, 100);
	assert_true(fake_run(r, 5, fake_all_taken, RUN_MS));
	assert_good(r, 5);
	bye_all(r, 5);
	assert_int_equal(daemon_stop(&d), 0);
}

static void forward(const char *listen, const char *options)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	daemon_start(&d, listen, options);
	init2(r, "j", d.addr);
	fake_join_all(r, 4);
	assert_joined(r, 4);
	for (int i = 0; i < 4; i++)
		r[i].max_len = 16 << 10;
	set_goals(r, 4, 2000);
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	assert_good(r, 4);
	bye_all(r, 4);
	assert_true(daemon_logged(&d, "a>b 8000 messages"));
	assert_true(daemon_logged(&d, "b>a 8000 messages"));
	assert_int_equal(daemon_stop(&d), 0);
}

static void forwards_both_ways_over_tcp(void **state)
{
	(void)state;
	forward(TCP, NULL);
	forward(TCP, "threads=pair");
}

static void forwards_both_ways_over_shm(void **state)
{
	(void)state;
	forward(SHM, NULL);
	forward(SHM, "threads=pair spin=never");
	forward(SHM, "spin=1000");
}

static void forwards_from_tcp_to_shm(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, "a=tcp:127.0.0.1:0 b=shm:%d/sock", NULL);
	init2(r, "j", d.addr);
	r[2].addr = r[3].addr = d.addr[1];
	fake_join_all(r, 4);
	assert_joined(r, 4);
	set_goals(r, 4, 1000);
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	assert_good(r, 4);
	bye_all(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

#define JOBS 6
static void many_jobs_at_once(void **state)
{
	struct daemon_fixture d;
	static struct fake_rank r[JOBS][4];
	static char name[JOBS][8];
	(void)state;
	daemon_start(&d, TCP " " SHM, NULL);
	for (int j = 0; j < JOBS; j++) {
		snprintf(name[j], sizeof(name[j]), "job%d", j);
		init2(r[j], name[j], &d.addr[j % 2]);
		fake_join_all(r[j], 4);
		assert_joined(r[j], 4);
		for (int k = 0; k < j; k++)
			assert_memory_not_equal(r[k][0].world.token, r[j][0].world.token, ZCTL_TOKEN_BYTES);
		set_goals(r[j], 4, 300 + 10 * (uint64_t)j);
	}
	/* One job's ranks with another's token: refused. */
	struct fake_rank thief = r[0][0];
	memset(thief.link, 0, sizeof(thief.link));
	memcpy(thief.world.token, r[1][0].world.token, ZCTL_TOKEN_BYTES);
	thief.job = "job0";
	assert_int_equal(fake_attach(&thief, 1), 0); /* said afterwards, by closing */
	struct zsink sink = {.take = NULL};
	int rc = 0;
	for (int64_t end = fixture_now_ms() + RUN_MS; rc == 0 && fixture_now_ms() < end;) {
		struct zwire_env env = {.kind = ZWIRE_ACK, .dst = 2};
		rc = fake_post(&thief, 1, &env, NULL);
		fixture_nap(10);
	}
	(void)sink;
	assert_true(rc < 0);
	thief.link[1]->ops->close(thief.link[1]);
	for (bool all = false; !all;) {
		all = true;
		for (int j = 0; j < JOBS; j++) {
			for (int i = 0; i < 4; i++)
				fake_turn(&r[j][i]);
			all &= fake_all_taken(r[j], 4);
		}
	}
	/* The death of one is nothing to the others. */
	fake_kill(&r[2][1]);
	assert_true(fake_run(r[2], 4, fake_all_dead, RUN_MS));
	set_goals(r[3], 4, 1000);
	assert_true(fake_run(r[3], 4, fake_all_taken, RUN_MS));
	for (int j = 0; j < JOBS; j++)
		if (j != 2) {
			assert_good(r[j], 4);
			bye_all(r[j], 4);
		} else {
			fake_kill(&r[j][0]);
			fake_kill(&r[j][2]);
			fake_kill(&r[j][3]);
		}
	assert_int_equal(daemon_stop(&d), 0);
}

/* --- faults --- */

static void wrong_key_is_refused(void **state)
{
	struct daemon_fixture d;
	struct zsession *s;
	struct zsession_params p;
	struct zerr err;
	(void)state;
	daemon_start(&d, TCP, NULL);
	fixture_params(&p, d.addr, "j");
	p.key[0] ^= 1;
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_RANK, &err), -EACCES);
	assert_non_null(strstr(err.text, "refuses the key of user tester"));
	fixture_params(&p, d.addr, "j");
	strcpy(p.user, "nobody");
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_RANK, &err), -EACCES);
	assert_true(daemon_logged(&d, "wrong key for user tester"));
	assert_int_equal(daemon_stop(&d), 0);
}

static int take_nothing(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	(void)ctx;
	(void)env;
	(void)raw;
	(void)payload;
	return 0;
}

/* Memory is for those who have proved who they are: what they announce is looked at before it has come. */
static void strangers_get_no_memory(void **state)
{
	struct daemon_fixture d;
	struct zlink *z;
	struct zerr err;
	uint8_t raw[ZWIRE_ENV_BYTES];
	const struct zwire_env env = {.kind = ZWIRE_CTRL, .len = 1 << 20};
	const struct zsink sink = {.take = take_nothing};
	int rc;
	(void)state;
	daemon_start(&d, TCP, NULL);
	assert_int_equal(ztransport_tcp.connect(&z, d.addr, RUN_MS, &err), 0);
	zwire_encode(raw, &env);
	uint8_t *payload = calloc(1, env.len);
	assert_non_null(payload);
	assert_int_equal(z->ops->post(z, raw, payload, 5000), 0); /* the rest never comes */
	z->ops->flush(z);
	while ((rc = z->ops->poll(z, &sink, 1)) == 0)
		fixture_nap(1);
	assert_true(rc < 0);
	z->ops->close(z);
	free(payload);
	assert_true(daemon_logged(&d, "not what a zipper's peer sends"));
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
	/* A late one hears why, too. */
	fake_init(&r[2], "j", "a,b", "a", 2, 3, d.addr);
	fake_join_all(&r[2], 1);
	assert_int_equal(r[2].rc, -ECANCELED);
	assert_non_null(strstr(r[2].err.text, "nobody reported"));
	fake_kill(&r[2]);
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
	/* Either may have come first; both hear what does not fit. */
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

static void death_of_a_rank_is_told(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, SHM, NULL);
	init2(r, "j", d.addr);
	fake_join_all(r, 4);
	assert_joined(r, 4);
	set_goals(r, 4, 50);
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	fake_kill(&r[3]);
	assert_true(fake_run(r, 4, fake_all_dead, RUN_MS));
	for (int i = 0; i < 3; i++) {
		assert_non_null(strstr(r[i].dead_text, "rank 3 (b rank 1 on host1) died"));
		fake_kill(&r[i]);
	}
	assert_int_equal(daemon_stop(&d), 0);
}

/* Its mpiexec kills the others of a part as soon as one has died. Of rank 0 zipperd has something to read already when
 * the first one dies, which puts it in front in what epoll reports. */
static void first_death_is_named(void **state)
{
	const char *listen[] = {SHM, TCP};
	(void)state;
	for (size_t t = 0; t < sizeof(listen) / sizeof(listen[0]); t++) {
		struct daemon_fixture d;
		struct fake_rank r[4];
		struct zctl_traffic none = {.nparts = 0};
		daemon_start(&d, listen[t], NULL);
		init2(r, "j", d.addr);
		fake_join_all(r, 4);
		assert_joined(r, 4);
		assert_int_equal(kill(d.pid, SIGSTOP), 0);
		assert_int_equal(zsession_traffic(r[0].session, &none), 0);
		assert_int_equal(zsession_traffic(r[2].session, &none), 0);
		fake_bye(&r[2]);
		fake_kill(&r[1]);
		fake_kill(&r[0]);
		assert_int_equal(kill(d.pid, SIGCONT), 0);
		assert_true(fake_run(&r[3], 1, fake_all_dead, 30000));
		assert_non_null(strstr(r[3].dead_text, "rank 1 (a rank 1 on host1) died"));
		fake_kill(&r[3]);
		assert_int_equal(daemon_stop(&d), 0);
	}
}

static void loss_of_a_channel_is_death_too(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, NULL);
	init2(r, "j", d.addr);
	fake_join_all(r, 4);
	assert_joined(r, 4);
	set_goals(r, 4, 50);
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	r[1].link[1]->ops->close(r[1].link[1]);
	r[1].link[1] = NULL;
	assert_true(fake_run(r, 4, fake_all_dead, RUN_MS));
	for (int i = 0; i < 4; i++) {
		assert_non_null(strstr(r[i].dead_text, "rank 1 (a rank 1 on host1) died"));
		fake_kill(&r[i]);
	}
	assert_int_equal(daemon_stop(&d), 0);
}

static void abort_reaches_all(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, NULL);
	init2(r, "j", d.addr);
	fake_join_all(r, 4);
	assert_joined(r, 4);
	assert_int_equal(zsession_abort(r[2].session, 77, "had enough"), 0);
	fake_kill(&r[2]);
	assert_true(fake_run(r, 4, fake_all_dead, RUN_MS));
	assert_non_null(strstr(r[0].dead_text, "rank 2 (b rank 0 on host0) aborted with code 77: had enough"));
	for (int i = 0; i < 4; i++)
		if (i != 2)
			fake_kill(&r[i]);
	assert_int_equal(daemon_stop(&d), 0);
}

static int next_event(struct zsession *s, struct zctl_msg *msg)
{
	struct zerr err;
	int rc = 0;
	for (int64_t end = fixture_now_ms() + RUN_MS; rc == 0 && fixture_now_ms() < end;) {
		rc = zsession_poll(s, msg, &err);
		if (rc == 0)
			fixture_nap(1);
	}
	return rc;
}

static struct zsession *launch_mapped(const struct daemon_fixture *d, const char *job, uint32_t size,
	struct zctl_run *runs, uint32_t nruns)
{
	struct zsession_params p;
	struct zsession *s;
	struct zerr err;
	struct zctl_create c = {.parts = "a,b",
		.sizes = {size, size},
		.join_timeout_ms = RUN_MS,
		.runs = runs,
		.nruns = nruns};
	fixture_params(&p, d->addr, job);
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_LAUNCHER, &err), 0);
	assert_int_equal(zsession_create(s, &c, &err), 0);
	return s;
}

static struct zsession *launch(const struct daemon_fixture *d, const char *job, uint32_t size)
{
	return launch_mapped(d, job, size, NULL, 0);
}

static void launcher_numbers_ranks(void **state)
{
	static struct zctl_run runs[] = {{0, 2, 1, 0}, {2, 1, 0, 1}, {3, 1, 0, 0}};
	static struct zctl_run twice[] = {{0, 2, 1, 0}, {2, 1, 0, 1}, {3, 1, 0, 1}};
	static const uint32_t vranks[4] = {3, 2, 0, 1};
	struct daemon_fixture d;
	struct fake_rank r[4];
	struct zsession *s;
	(void)state;
	daemon_start(&d, TCP, NULL);
	s = launch_mapped(&d, "j", 2, runs, 3);
	init_mapped(r, "j", d.addr, vranks);
	fake_join_all(r, 4);
	assert_joined(r, 4);
	set_goals(r, 4, 50);
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	assert_good(r, 4);
	bye_all(r, 4);
	zsession_close(s);
	s = launch_mapped(&d, "k", 2, twice, 3);
	init2(r, "k", d.addr);
	fake_join_all(r, 4);
	for (int i = 0; i < 4; i++) {
		assert_true(r[i].rc < 0);
		assert_string_equal(r[i].err.text, "the launcher's map has a rank 1 twice");
		fake_kill(&r[i]);
	}
	zsession_close(s);
	assert_int_equal(daemon_stop(&d), 0);
}

/* Any number of ranks could come to the empty one, which the map has no vranks for. */
static void launcher_may_leave_no_part_empty(void **state)
{
	static struct zctl_run run[] = {{0, 1, 0, 0}};
	struct zctl_create c = {.parts = "a,b", .sizes = {1, 0}, .join_timeout_ms = RUN_MS, .runs = run, .nruns = 1};
	struct daemon_fixture d;
	struct fake_rank r[2];
	struct zsession_params p;
	struct zsession *s;
	struct zerr err;
	(void)state;
	daemon_start(&d, TCP, NULL);
	fixture_params(&p, d.addr, "j");
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_LAUNCHER, &err), 0);
	assert_true(zsession_create(s, &c, &err) < 0);
	zsession_close(s);
	fake_init(&r[0], "j", "a,b", "a", 0, 1, d.addr);
	fake_init(&r[1], "j", "a,b", "b", 0, 1, d.addr);
	fake_join_all(r, 2);
	assert_joined(r, 2);
	bye_all(r, 2);
	assert_int_equal(daemon_stop(&d), 0);
}

static void launcher_hears_events_and_stats(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	struct zctl_msg msg;
	struct zctl_stats_reply stats;
	struct zerr err;
	(void)state;
	daemon_start(&d, TCP, NULL);
	struct zsession *s = launch(&d, "j", 2);
	init2(r, "j", d.addr);
	fake_join_all(r, 4);
	assert_joined(r, 4);
	for (uint32_t i = 1; i <= 4; i++) {
		assert_int_equal(next_event(s, &msg), 1);
		assert_int_equal(msg.u.event.kind, ZCTL_EV_RANK_JOINED);
		assert_int_equal(msg.u.event.number, i);
	}
	assert_int_equal(next_event(s, &msg), 1);
	assert_int_equal(msg.u.event.kind, ZCTL_EV_WORLD);
	set_goals(r, 4, 20);
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	bye_all(r, 4);
	for (uint32_t i = 1; i <= 4; i++) {
		assert_int_equal(next_event(s, &msg), 1);
		assert_int_equal(msg.u.event.kind, ZCTL_EV_RANK_DONE);
	}
	assert_int_equal(zsession_stats(s, &stats, &err), 0);
	assert_int_equal(stats.ndirs, 2);
	assert_string_equal(stats.dirs[0].from, "a");
	assert_string_equal(stats.dirs[0].to, "b");
	assert_int_equal(stats.dirs[0].msgs, 80);
	assert_int_equal(stats.dirs[1].msgs, 80);
	assert_true(stats.dirs[0].bytes > 0);
	zctl_stats_free(&stats);
	zsession_close(s);
	assert_int_equal(daemon_stop(&d), 0);
}

static uint64_t admin_sees(const struct daemon_fixture *d, const char *user, const char *job, uint32_t *ndirs)
{
	struct zsession_params p;
	struct zsession *s;
	struct zctl_stats_reply stats;
	struct zerr err;
	uint64_t msgs = 0;
	fixture_params(&p, d->addr, job);
	strcpy(p.user, user);
	if (strcmp(user, FIXTURE_USER) != 0)
		p.key[0] = p.key[31] = 0xff; /* the fixture's other key */
	assert_int_equal(zsession_open(&s, &p, ZCTL_SERVICE_ADMIN, &err), 0);
	assert_int_equal(zsession_stats(s, &stats, &err), 0);
	for (uint32_t i = 0; i < stats.ndirs; i++)
		msgs += stats.dirs[i].msgs;
	*ndirs = stats.ndirs;
	zctl_stats_free(&stats);
	zsession_close(s);
	return msgs;
}

static void admins_see_their_own_jobs(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[2][4];
	uint32_t ndirs;
	(void)state;
	daemon_start(&d, TCP, NULL);
	for (int i = 0; i < 2; i++) {
		init2(r[i], i ? "two" : "one", d.addr);
		fake_join_all(r[i], 4);
		assert_joined(r[i], 4);
		set_goals(r[i], 4, i ? 20 : 5);
		assert_true(fake_run(r[i], 4, fake_all_taken, RUN_MS));
	}
	assert_int_equal(admin_sees(&d, FIXTURE_USER, "", &ndirs), 8 * 25);
	assert_int_equal(ndirs, 2);
	assert_int_equal(admin_sees(&d, FIXTURE_USER, "two", &ndirs), 8 * 20);
	assert_int_equal(admin_sees(&d, FIXTURE_USER, "three", &ndirs), 0);
	assert_int_equal(ndirs, 0);
	assert_int_equal(admin_sees(&d, "other", "", &ndirs), 0);
	assert_int_equal(ndirs, 0);
	bye_all(r[0], 4);
	bye_all(r[1], 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void loss_of_the_launcher_ends_the_job(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, NULL);
	struct zsession *s = launch(&d, "j", 2);
	init2(r, "j", d.addr);
	fake_join_all(r, 4);
	assert_joined(r, 4);
	zsession_close(s);
	assert_true(fake_run(r, 4, fake_all_dead, RUN_MS));
	for (int i = 0; i < 4; i++) {
		assert_non_null(strstr(r[i].dead_text, "the launcher left"));
		fake_kill(&r[i]);
	}
	/* The name is free again at once. */
	s = launch(&d, "j", 2);
	zsession_close(s);
	assert_int_equal(daemon_stop(&d), 0);
}

static void ranks_must_be_what_the_launcher_started(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r;
	struct zctl_msg msg;
	(void)state;
	daemon_start(&d, TCP, NULL);
	struct zsession *s = launch(&d, "j", 2);
	fake_init(&r, "j", "a,b", "a", 0, 3, d.addr);
	fake_join_all(&r, 1);
	assert_non_null(strstr(r.err.text, "part a has 3 ranks, but the launcher started 2"));
	assert_int_equal(next_event(s, &msg), 1);
	assert_int_equal(msg.u.event.kind, ZCTL_EV_DEAD);
	fake_kill(&r);
	zsession_close(s);
	assert_int_equal(daemon_stop(&d), 0);
}

static void sigterm_tells_all(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, NULL);
	init2(r, "j", d.addr);
	fake_join_all(r, 4);
	assert_joined(r, 4);
	set_goals(r, 4, 20);
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	kill(d.pid, SIGTERM);
	assert_true(fake_run(r, 4, fake_all_dead, RUN_MS));
	for (int i = 0; i < 4; i++) {
		assert_string_equal(r[i].dead_text, "zipperd is shutting down");
		fake_kill(&r[i]);
	}
	assert_int_equal(daemon_stop(&d), 0);
}

static void breaking_the_rules_ends_that_job(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4], other[4];
	const struct zwire_env bad[] = {
		{.kind = ZWIRE_EAGER, .src = 1, .dst = 2, .seq = 1},		   /* not its name */
		{.kind = ZWIRE_EAGER, .src = 0, .dst = 1, .seq = 1},		   /* same part */
		{.kind = ZWIRE_EAGER, .src = 0, .dst = 99, .seq = 1},		   /* nobody */
		{.kind = ZWIRE_EAGER, .src = 0, .dst = 2, .seq = 0},		   /* no number */
		{.kind = ZWIRE_RTS, .src = 0, .dst = 2, .seq = 1, .len = 5},	   /* payload */
		{.kind = ZWIRE_EAGER, .src = 0, .dst = 2, .seq = 1, .len = 40000}, /* too large */
		{.kind = ZWIRE_NAK, .src = 0, .dst = 2, .seq = 1},		   /* zipperd's own */
		{.kind = ZWIRE_CTRL, .src = 0, .dst = 2},
		{.kind = ZWIRE_ACK, .src = 0, .dst = 2, .job = 7},
	};
	static const uint8_t zeros[40000];
	(void)state;
	daemon_start(&d, TCP, NULL);
	init2(other, "other", d.addr);
	fake_join_all(other, 4);
	assert_joined(other, 4);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		init2(r, "j", d.addr);
		fake_join_all(r, 4);
		assert_joined(r, 4);
		assert_int_equal(fake_attach(&r[0], 1), 0);
		assert_int_equal(fake_post(&r[0], 1, &bad[i], zeros), 0);
		assert_true(fake_run(r, 4, fake_all_dead, RUN_MS));
		assert_non_null(strstr(r[3].dead_text, "rank 0 (a rank 0 on host0) broke the protocol"));
		for (int k = 0; k < 4; k++)
			fake_kill(&r[k]);
	}
	set_goals(other, 4, 100);
	assert_true(fake_run(other, 4, fake_all_taken, RUN_MS));
	assert_good(other, 4);
	bye_all(other, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

/* --- flow control --- */

static bool others_done(struct fake_rank *r, int n)
{
	(void)n;
	for (int i = 0; i < 2; i++)
		if (r[i].peer[3].acked < r[i].peer[3].goal)
			return false;
	return true;
}

/* Rank 2 does not receive: what goes to rank 3 from the same sources flows on, zipperd's memory is bounded, and when
 * rank 2 wakes up nothing is lost. */
static void deaf_rank(const char *listen, const char *options)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	daemon_start(&d, listen, options);
	init2(r, "j", d.addr);
	fake_join_all(r, 4);
	assert_joined(r, 4);
	for (int i = 0; i < 4; i++)
		r[i].max_len = 16 << 10;
	r[2].deaf = true;
	assert_int_equal(fake_attach(&r[2], 0), 0);
	/* More in windows than kernel buffers or rings hold: a filler of unsequenced fragments first, until nothing has
	 * gone for two seconds. */
	static uint8_t junk[128 << 10];
	assert_int_equal(fake_attach(&r[0], 1), 0);
	const struct zwire_env data = {.kind = ZWIRE_DATA, .src = 0, .dst = 2, .len = sizeof(junk), .comm = 1};
	long filled = 0;
	for (int64_t end = fixture_now_ms() + 2000; fixture_now_ms() < end && filled < 24L << 20;) {
		if (fake_post(&r[0], 1, &data, junk) == 0) {
			filled += (long)sizeof(junk);
			end = fixture_now_ms() + 2000;
		} else {
			fixture_nap(1);
		}
	}
	set_goals(r, 4, 400);
	r[1].peer[2].goal = 3000;
	r[0].peer[2].goal = 0; /* its own channel is stalled by what it did */
	r[0].peer[3].goal = 0;
	r[2].peer[0].goal = r[2].peer[1].goal = 0;
	assert_true(fake_run(r, 4, others_done, RUN_MS));
	assert_true(r[1].peer[2].naks > 0);
	assert_true(r[1].peer[2].held > 0);
	assert_true(r[1].peer[2].acked == 0);
	r[2].deaf = false;
	r[0].peer[2].goal = r[0].peer[3].goal = 100; /* the stalled source goes on, too */
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	assert_true(r[1].peer[2].resumes > 0);
	assert_good(r, 4);
	/* 24 MiB were thrown at it, and 16 MiB is what may wait; rings and buffers of the links come on top. */
	print_message("# highest resident size: %ld KiB\n", daemon_memory_kib(&d));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	assert_true(daemon_memory_kib(&d) < 32 << 10);
#endif
	bye_all(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void deaf_rank_holds_up_nobody_over_tcp(void **state)
{
	(void)state;
	deaf_rank(TCP, "dest_share=64K memory=16M");
	deaf_rank(TCP, "dest_share=64K memory=16M threads=pair");
}

static void deaf_rank_holds_up_nobody_over_shm(void **state)
{
	(void)state;
	deaf_rank(SHM, "dest_share=64K memory=16M");
}

/* Refusals come from a worker, the request to open from the control thread: either may be first. */
static bool refused_and_asked(struct fake_rank *r, int n)
{
	(void)n;
	for (int i = 0; i < 2; i++)
		if (r[i].peer[3].goal && r[i].peer[3].naks == 0)
			return false;
	return r[3].opens > 0;
}

/* A rank without a channel is asked to open it; until it does its messages wait, and those beyond are refused. */
static void messages_wait_for_a_channel(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, "dest_share=20K eager_bytes=16K");
	init2(r, "j", d.addr);
	fake_join_all(r, 4);
	assert_joined(r, 4);
	for (int i = 0; i < 4; i++)
		r[i].max_len = 16 << 10;
	r[3].ignores_open = true;
	r[0].peer[3].goal = r[1].peer[3].goal = 200;
	assert_true(fake_run(r, 4, refused_and_asked, RUN_MS));
	assert_int_equal(r[3].opens, 1);
	assert_int_equal(fake_attach(&r[3], 0), 0);
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	assert_good(r, 4);
	bye_all(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static bool told_bye(struct fake_rank *r, int n)
{
	(void)n;
	return r[0].peer[3].bye && r[1].peer[3].bye && r[0].peer[2].acked == 10;
}

/* Who sends to a rank that has left is told so; also for what was waiting. */
static void messages_to_a_rank_that_left(void **state)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	(void)state;
	daemon_start(&d, TCP, "dest_share=20K eager_bytes=16K");
	init2(r, "j", d.addr);
	fake_join_all(r, 4);
	assert_joined(r, 4);
	r[3].ignores_open = true;
	r[0].peer[3].goal = 100;
	assert_true(fake_run(r, 4, refused_and_asked, RUN_MS));
	assert_int_equal(r[3].opens, 1);
	fake_bye(&r[3]);
	r[1].peer[3].goal = 5;
	r[0].peer[2].goal = 10;
	assert_true(fake_run(r, 4, told_bye, RUN_MS));
	bye_all(r, 3);
	assert_true(daemon_logged(&d, "job tester/j: over"));
	assert_int_equal(daemon_stop(&d), 0);
}

static void idle(const char *options)
{
	struct daemon_fixture d;
	struct fake_rank r[4];
	daemon_start(&d, TCP " " SHM, options);
	init2(r, "j", d.addr);
	r[2].addr = r[3].addr = d.addr[1];
	fake_join_all(r, 4);
	assert_joined(r, 4);
	set_goals(r, 4, 50);
	assert_true(fake_run(r, 4, fake_all_taken, RUN_MS));
	fixture_nap(200);
	long before = daemon_cpu_ticks(&d);
	fixture_nap(2000);
	long used = daemon_cpu_ticks(&d) - before;
	print_message("# %ld clock ticks in 2 s\n", used);
	assert_true(used <= 2);
	bye_all(r, 4);
	assert_int_equal(daemon_stop(&d), 0);
}

static void idle_daemon_sleeps(void **state)
{
	(void)state;
	idle("threads=direction");
	idle("threads=pair");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_parts_join),
		cmocka_unit_test(three_parts_of_different_kind_join),
		cmocka_unit_test(ranks_say_their_numbers),
		cmocka_unit_test(maps_that_differ_end_the_join),
		cmocka_unit_test(other_tuning_is_refused),
		cmocka_unit_test(mixed_job_keeps_native_ranks),
		cmocka_unit_test(forwards_both_ways_over_tcp),
		cmocka_unit_test(forwards_both_ways_over_shm),
		cmocka_unit_test(forwards_from_tcp_to_shm),
		cmocka_unit_test(many_jobs_at_once),
		cmocka_unit_test(wrong_key_is_refused),
		cmocka_unit_test(strangers_get_no_memory),
		cmocka_unit_test(missing_ranks_are_named),
		cmocka_unit_test(misfits_end_the_join),
		cmocka_unit_test(death_of_a_rank_is_told),
		cmocka_unit_test(first_death_is_named),
		cmocka_unit_test(loss_of_a_channel_is_death_too),
		cmocka_unit_test(abort_reaches_all),
		cmocka_unit_test(launcher_numbers_ranks),
		cmocka_unit_test(launcher_may_leave_no_part_empty),
		cmocka_unit_test(launcher_hears_events_and_stats),
		cmocka_unit_test(admins_see_their_own_jobs),
		cmocka_unit_test(loss_of_the_launcher_ends_the_job),
		cmocka_unit_test(ranks_must_be_what_the_launcher_started),
		cmocka_unit_test(sigterm_tells_all),
		cmocka_unit_test(breaking_the_rules_ends_that_job),
		cmocka_unit_test(deaf_rank_holds_up_nobody_over_tcp),
		cmocka_unit_test(deaf_rank_holds_up_nobody_over_shm),
		cmocka_unit_test(messages_wait_for_a_channel),
		cmocka_unit_test(messages_to_a_rank_that_left),
		cmocka_unit_test(idle_daemon_sleeps),
	};
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("zipperd", tests, NULL, NULL);
}

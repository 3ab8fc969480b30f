/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs whose ranks come to their zipperd through other zipperds: a-1-b-2-c-3-d, with networks a to d and zipperds 1
 * to 3. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/unit/zipperd/job_fixture.h"
#include "common/session/session_attach.h"

#define DESCRIPTORS 56 /* of a zipperd where they are few; it keeps a quarter of them to say so */
#define IDLE 32

#define DAEMONS 3
#define RANKS 6 /* a 0, a 1, b 0, c 0, c 1, d 0 */

static const char *const part_of[RANKS] = {"a", "a", "b", "c", "c", "d"};

struct row {
	struct daemon_fixture d[DAEMONS];
	struct fake_rank r[RANKS];
	int at; /* the zipperd of the job: 0 to 2 */
};

static void start_daemons(struct row *w, const char *transport, const char *options)
{
	static const char *const next[DAEMONS] = {"next=b", "next=b next=c", "next=c"};
	for (int i = 0; i < DAEMONS; i++) {
		char listen[160], all[160];
		const char left = (char)('a' + i), right = (char)('b' + i);
		if (strcmp(transport, "tcp") == 0)
			snprintf(listen, sizeof(listen), "%c=tcp:127.0.0.1:0 %c=tcp:127.0.0.1:0", left, right);
		else if (strcmp(transport, "sealed") == 0)
			snprintf(listen, sizeof(listen),
				"%c=tcp:127.0.0.1:0/integrity=yes %c=tcp:127.0.0.1:0/encrypt=yes", left, right);
		else if (strcmp(transport, "shm") == 0)
			snprintf(listen, sizeof(listen), "%c=shm:%%d/l %c=shm:%%d/r", left, right);
		else /* in turns */
			snprintf(listen, sizeof(listen),
				i % 2 ? "%c=tcp:127.0.0.1:0 %c=shm:%%d/r" : "%c=shm:%%d/l %c=tcp:127.0.0.1:0", left,
				right);
		snprintf(all, sizeof(all), "%s%s%s", next[i], options ? " " : "", options ? options : "");
		daemon_start(&w->d[i], listen, all);
	}
}

/* The way from a part to the zipperd of the job: the nearest zipperd on its own network, and then one after the other.
 */
static void set_way(struct row *w, struct fake_rank *r, int part)
{
	int right = part <= w->at; /* that is where it lies */
	int here = right ? part : part - 1;
	r->addr = w->d[here].addr[right ? 0 : 1];
	for (; here != w->at; here += right ? 1 : -1) {
		struct zhop *h = &r->hop[r->nhops++];
		snprintf(h->from, sizeof(h->from), "%c", 'a' + here + !right);
		snprintf(h->to, sizeof(h->to), "%c", 'a' + here + right);
		h->addr = w->d[here + (right ? 1 : -1)].addr[right ? 0 : 1];
	}
}

static void init_ranks(struct row *w, int at)
{
	static const char *const entries[DAEMONS] = {"a,b,b+1,b+2", "b+1,b,c,c+1", "c+2,c+1,c,d"};
	static const uint32_t rank[RANKS] = {0, 1, 0, 0, 1, 0}, size[RANKS] = {2, 2, 1, 2, 2, 1};
	w->at = at;
	for (int i = 0; i < RANKS; i++) {
		fake_init(&w->r[i], "j", "a,b,c,d", part_of[i], rank[i], size[i], &w->d[0].addr[0]);
		strcpy(w->r[i].join.entries, entries[at]);
		set_way(w, &w->r[i], part_of[i][0] - 'a');
	}
}

/* Ranks that this zipperd has on different sides. */
static bool are_apart(const struct row *w, int i, int k)
{
	return (part_of[i][0] - 'a' <= w->at) != (part_of[k][0] - 'a' <= w->at);
}

static void start(struct row *w, const char *transport, const char *options, int at)
{
	memset(w, 0, sizeof(*w));
	start_daemons(w, transport, options);
	init_ranks(w, at);
	fake_join_all(w->r, RANKS);
	job_assert_joined(w->r, RANKS);
}

static void halt(struct row *w)
{
	for (int i = 0; i < RANKS; i++)
		if (w->r[i].session)
			fake_bye(&w->r[i]);
	for (int i = 0; i < DAEMONS; i++)
		if (w->d[i].pid)
			assert_int_equal(daemon_stop(&w->d[i]), 0);
}

static void set_goals(struct row *w, uint64_t goal)
{
	for (int i = 0; i < RANKS; i++)
		for (int k = 0; k < RANKS; k++)
			if (are_apart(w, i, k))
				w->r[i].peer[k].goal = goal;
}

static void exchange(const char *transport, const char *options)
{
	for (int at = 0; at < DAEMONS; at++) {
		struct row w;
		start(&w, transport, options, at);
		for (int i = 0; i < RANKS; i++)
			w.r[i].max_len = 16 << 10;
		set_goals(&w, 200);
		assert_true(fake_run(w.r, RANKS, fake_all_taken, RUN_MS));
		job_assert_good(w.r, RANKS);
		halt(&w);
	}
}

static void all_talk_over_tcp(void **state)
{
	(void)state;
	exchange("tcp", "threads=pair");
	exchange("tcp", "threads=direction");
}

static void all_talk_over_sealed_connections(void **state)
{
	(void)state;
	exchange("sealed", NULL);
}

static void all_talk_over_shm(void **state)
{
	(void)state;
	exchange("shm", NULL);
}

static void all_talk_over_both(void **state)
{
	(void)state;
	exchange("both", "dest_share=64K eager_bytes=16K");
}

/* Lists of receivers in several parts that come by one fabric and so belong to one worker. */
static void a_list_goes_to_all_behind_one_fabric(void **state)
{
	static const char *const transports[] = {"tcp", "shm", "both"};
	(void)state;
	for (size_t t = 0; t < 3; t++) {
		struct row w;
		start(&w, transports[t], t == 1 ? "threads=direction" : NULL, 0);
		for (int i = 0; i < RANKS; i++)
			w.r[i].max_len = 16 << 10;
		for (int i = 2; i < RANKS; i++) {
			w.r[0].peer[i].listed = true;
			w.r[0].peer[i].goal = 300;
			w.r[i].peer[0].goal = 50;
		}
		for (uint32_t p = 1; p < 4; p++)
			assert_int_equal(fake_attach(&w.r[0], p), 0);
		w.r[0].carrier = 2;
		assert_true(fake_run(w.r, RANKS, fake_all_taken, RUN_MS));
		job_assert_good(w.r, RANKS);
		halt(&w);
	}
}

static bool job_is_dead(struct fake_rank *r, int n)
{
	for (int i = 0; i < n; i++)
		if (r[i].session && !r[i].dead)
			return false;
	return true;
}

static void nothing_goes_between_those_on_one_side(void **state)
{
	struct row w;
	struct zwire_receiver list = {.seq = 1};
	struct zwire_env env = {.kind = ZWIRE_EAGER, .dst = ZWIRE_NOBODY};
	char reason[ZCTL_TEXT_MAX + 1] = "";
	struct zlink *z;
	(void)state;
	start(&w, "tcp", NULL, 1);
	/* A channel is closed, with the reason. */
	assert_int_equal(fake_attach(&w.r[0], 1), 0);
	z = w.r[0].link[1];
	fixture_read_reason(z, reason);
	assert_non_null(strstr(reason, "rank 0 cannot have a channel to part b here: both come by fabric b"));
	z->ops->close(z);
	w.r[0].link[1] = NULL;
	/* In a list it is a breach. */
	assert_int_equal(fake_attach(&w.r[0], 2), 0);
	list.dst = 2;
	w.r[0].carrier = 2;
	assert_int_equal(fake_post_list(&w.r[0], &list, 1, &env, NULL), 0);
	assert_true(fake_run(w.r, RANKS, job_is_dead, RUN_MS));
	assert_non_null(strstr(w.r[5].dead_text, "rank 0 (a rank 0 on "));
	assert_non_null(strstr(w.r[5].dead_text, "a list with a receiver that no channel leads to"));
	for (int i = 0; i < RANKS; i++)
		fake_kill(&w.r[i]);
	halt(&w);
}

static void a_death_two_hops_away_is_told(void **state)
{
	struct row w;
	(void)state;
	start(&w, "both", NULL, 2);
	set_goals(&w, 20);
	assert_true(fake_run(w.r, RANKS, fake_all_taken, RUN_MS));
	fake_kill(&w.r[1]);
	assert_true(fake_run(w.r, RANKS, job_is_dead, RUN_MS));
	assert_non_null(strstr(w.r[5].dead_text, "rank 1 (a rank 1 on "));
	for (int i = 0; i < RANKS; i++)
		if (w.r[i].session)
			fake_kill(&w.r[i]);
	halt(&w);
}

static bool lost_or_dead(struct fake_rank *r, int n)
{
	(void)n;
	return r[5].dead && r[3].dead;
}

static void a_zipperd_on_the_way_that_is_killed_ends_it(void **state)
{
	int status;
	struct row w;
	(void)state;
	start(&w, "tcp", NULL, 2);
	set_goals(&w, 20);
	assert_true(fake_run(w.r, RANKS, fake_all_taken, RUN_MS));
	kill(w.d[1].pid, SIGKILL);
	waitpid(w.d[1].pid, &status, 0);
	assert_true(fake_run(w.r, RANKS, lost_or_dead, RUN_MS));
	for (int i = 0; i < RANKS; i++)
		if (w.r[i].session)
			fake_kill(&w.r[i]);
	w.d[1].pid = 0;
	halt(&w);
}

/* The answer of zipperd 1 to a connection from a that asks for zipperd 2 at that address. */
static int ask_as(struct row *w, bool other, const char *from, const char *to, const struct zaddr *there,
	struct zerr *err)
{
	struct zsession_params p;
	struct zsession *s;
	struct zhop hop = {.addr = *there};
	fixture_params(&p, &w->d[0].addr[0], "j");
	if (other)
		fixture_be_other(&p);
	strcpy(hop.from, from);
	strcpy(hop.to, to);
	p.hops = &hop;
	p.nhops = 1;
	int rc = zsession_open(&s, &p, ZCTL_SERVICE_RANK, err);
	if (rc == 0)
		zsession_close(s);
	return rc;
}

static int ask(struct row *w, const char *from, const char *to, const struct zaddr *there, struct zerr *err)
{
	return ask_as(w, false, from, to, there, err);
}

static void assert_says(const struct zerr *err, const char *text)
{
	if (!strstr(err->text, text))
		fail_msg("'%s' does not say '%s'", err->text, text);
}

static void what_may_not_be_is_refused(void **state)
{
	struct row w;
	struct zerr err;
	struct zaddr closed;
	(void)state;
	memset(&w, 0, sizeof(w));
	start_daemons(&w, "tcp", NULL);
	const struct zaddr *there = &w.d[1].addr[0];
	assert_int_equal(ask(&w, "a", "b", there, &err), 0);
	assert_int_equal(ask(&w, "a", "x", there, &err), -ENOENT);
	assert_says(&err, "serves no fabric 'x'");
	assert_int_equal(ask(&w, "b", "a", there, &err), -EINVAL);
	assert_says(&err, "does not serve fabric b");
	closed = *there;
	closed.port = 1;
	struct zaddr socket = {.kind = ZADDR_SHM};
	snprintf(socket.host, sizeof(socket.host), "%s/l", w.d[1].dir);
	assert_int_equal(ask(&w, "a", "b", &socket, &err), -EACCES); /* nobody listens so there */
	assert_int_equal(ask(&w, "a", "b", &closed, &err), -EHOSTUNREACH);
	assert_says(&err, "cannot reach the next: ");
	assert_says(&err, "tcp:127.0.0.1:1");
	/* The direction that has no next. */
	daemon_stop(&w.d[0]);
	daemon_start(&w.d[0], "a=tcp:127.0.0.1:0 b=tcp:127.0.0.1:0", "next=b=tcp:127.0.0.1:1 next=b=tcp:127.0.0.1:2");
	assert_int_equal(ask(&w, "a", "b", there, &err), -EACCES);
	assert_says(&err, "may not connect to tcp:127.0.0.1:");
	assert_says(&err, "next in zipperd.conf");
	assert_int_equal(ask(&w, "a", "b", &closed, &err), -EHOSTUNREACH);
	halt(&w);
}

#define ASKING 24
#define LITTLE_MS 2000 /* a dial that nobody answers takes more than twice as long */

struct asking {
	struct row *w;
	const struct zaddr *there;
	struct asking *before; /* that is to end before; NULL: none */
	bool was_second;       /* it has */
	struct zerr err;
	int rc;
	atomic_bool over;
};

static void *ask_one(void *arg)
{
	struct asking *a = arg;
	a->rc = ask(a->w, "a", "b", a->there, &a->err);
	atomic_store(&a->over, true);
	/* Both answers may be on their way at the same time. */
	for (const int64_t end = fixture_now_ms() + LITTLE_MS; a->before && fixture_now_ms() < end;)
		if (atomic_load(&a->before->over)) {
			a->was_second = true;
			break;
		}
	return NULL;
}

/* A listening socket whose queue is full: connections to it wait. */
static int make_silent(struct zaddr *addr)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&in, len), 0);
	assert_int_equal(listen(fd, 0), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	*addr = (struct zaddr){.kind = ZADDR_TCP, .host = "127.0.0.1", .port = ntohs(in.sin_port)};
	for (int i = 0; i < 4; i++) {
		int other = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)connect(other, (struct sockaddr *)&in, len);
	}
	return fd;
}

/* Many wait for an address that does not answer. All of them hear so, and another user is connected meanwhile. */
static void who_waits_for_the_dead_stops_nobody(void **state)
{
	static struct asking asking[ASKING];
	pthread_t thread[ASKING];
	struct zaddr silent;
	struct row w;
	struct zerr err;
	(void)state;
	memset(&w, 0, sizeof(w));
	start_daemons(&w, "tcp", NULL);
	int fd = make_silent(&silent);
	for (int i = 0; i < ASKING; i++) {
		asking[i] = (struct asking){.w = &w, .there = &silent};
		assert_int_equal(pthread_create(&thread[i], NULL, ask_one, &asking[i]), 0);
	}
	fixture_nap(300); /* most of them wait by now; else this test shows less */
	assert_int_equal(ask(&w, "a", "b", &w.d[1].addr[0], &err), 0);
	for (int i = 0; i < ASKING; i++) {
		pthread_join(thread[i], NULL);
		assert_int_equal(asking[i].rc, -EHOSTUNREACH);
		assert_says(&asking[i].err, "cannot reach the next: ");
	}
	close(fd);
	halt(&w);
}

/* A user has one dial at a time: the second one, to a zipperd that answers, begins when the first one has ended. */
static void dials_of_one_user_wait_for_each_other(void **state)
{
	struct asking silent, second;
	pthread_t thread[2];
	struct zaddr nowhere;
	struct row w;
	struct zerr err;
	(void)state;
	memset(&w, 0, sizeof(w));
	start_daemons(&w, "tcp", "user_dials=1");
	const int fd = make_silent(&nowhere);
	silent = (struct asking){.w = &w, .there = &nowhere, .rc = 1};
	second = (struct asking){.w = &w, .there = &w.d[1].addr[0], .rc = 1, .before = &silent};
	assert_int_equal(pthread_create(&thread[0], NULL, ask_one, &silent), 0);
	fixture_nap(300); /* it is being made by now; else this test shows less */
	assert_int_equal(pthread_create(&thread[1], NULL, ask_one, &second), 0);
	assert_int_equal(ask_as(&w, true, "a", "b", &w.d[1].addr[0], &err), 0); /* another user */
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(silent.rc, -EHOSTUNREACH);
	assert_int_equal(second.rc, 0);
	assert_true(second.was_second);
	close(fd);
	halt(&w);
}

/* Refused: no pass, a pass whose key is not known, the pass of another job, another zipperd, the pass of a rank that
 * has left. */
static void data_channels_need_a_pass(void **state)
{
	struct row w;
	struct zsession_pass pass;
	(void)state;
	start(&w, "tcp", NULL, 1);
	struct fake_rank *r = &w.r[0];
	pass = r->passes[0];
	memset(r->passes[0].name, 0, sizeof(pass.name));
	assert_int_equal(fake_attach(r, 2), -EACCES);
	assert_says(&r->err, "no way of that pass");
	r->passes[0] = pass;
	r->passes[0].key[0] ^= 1;
	assert_int_equal(fake_attach(r, 2), -EACCES);
	assert_says(&r->err, "no way of that pass");
	r->passes[0] = pass;
	r->job = "k";
	assert_int_equal(fake_attach(r, 2), -EACCES);
	r->job = "j";
	strcpy(r->hop[0].from, "x");
	assert_int_equal(fake_attach(r, 2), -EACCES);
	strcpy(r->hop[0].from, "a");
	const struct zaddr there = r->hop[0].addr;
	r->hop[0].addr = w.d[2].addr[0];
	assert_int_equal(fake_attach(r, 2), -EACCES);
	assert_says(&r->err, "no way of that pass leads to tcp:127.0.0.1:");
	r->hop[0].addr = there;
	assert_int_equal(fake_attach(r, 2), 0);
	for (int i = 0; i < RANKS; i++)
		fake_bye(&w.r[i]);
	struct zctl_attach a = {.vrank = 0, .part = 2};
	const struct zsession_way way = fake_way(r);
	struct zlink *z;
	int rc;
	/* Another thread hears the end of the connection before. */
	while ((rc = zsession_attach_to(&z, &way, &a, NULL, RUN_MS, &r->err)) == 0)
		z->ops->close(z);
	assert_int_equal(rc, -EACCES);
	halt(&w);
}

static int count_descriptors(const struct daemon_fixture *d)
{
	char path[64];
	int n = -2; /* "." and ".." */
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)d->pid);
	DIR *dir = opendir(path);
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* It does not matter what has taken the other descriptors. The kept ones serve to tell that there is no room. */
static void descriptors_lack_on_the_way(void **state)
{
	struct row w;
	struct zsession *idle[IDLE];
	struct zsession_params p;
	struct zerr err;
	int rc, n = 0;
	(void)state;
	fixture_descriptors = DESCRIPTORS;
	start(&w, "tcp", "user_connections=99", 1);
	fixture_descriptors = 0;
	fixture_params(&p, &w.d[0].addr[0], "idle");
	/* Some more than fit: a few descriptors may have high numbers, and leave lower ones free. */
	while (count_descriptors(&w.d[0]) < DESCRIPTORS - DESCRIPTORS / 4 + 4) {
		assert_true(n < IDLE);
		assert_int_equal(zsession_open(&idle[n++], &p, ZCTL_SERVICE_RANK, &err), 0);
	}
	assert_int_equal(fake_attach(&w.r[0], 2), -EBUSY);
	assert_says(&w.r[0].err, "has all its 56 descriptors (ulimit -n)");
	while (n > 0)
		zsession_close(idle[--n]);
	/* zipperd has yet to notice that. */
	while ((rc = fake_attach(&w.r[0], 2)) == -EBUSY)
		fixture_nap(20);
	assert_int_equal(rc, 0);
	halt(&w);
}

static void entries_must_agree(void **state)
{
	struct row w;
	(void)state;
	memset(&w, 0, sizeof(w));
	start_daemons(&w, "tcp", NULL);
	init_ranks(&w, 1);
	strcpy(w.r[5].join.entries, "b+1,b,c,c+2");
	fake_join_all(w.r, RANKS);
	int bad = 0;
	for (int i = 0; i < RANKS; i++)
		bad += w.r[i].rc != 0 && strstr(w.r[i].err.text, "says that the parts come by") != NULL;
	assert_true(bad > 0);
	for (int i = 0; i < RANKS; i++)
		if (w.r[i].session)
			fake_kill(&w.r[i]);
	halt(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_talk_over_tcp),
		cmocka_unit_test(all_talk_over_sealed_connections),
		cmocka_unit_test(all_talk_over_shm),
		cmocka_unit_test(all_talk_over_both),
		cmocka_unit_test(a_list_goes_to_all_behind_one_fabric),
		cmocka_unit_test(nothing_goes_between_those_on_one_side),
		cmocka_unit_test(a_death_two_hops_away_is_told),
		cmocka_unit_test(a_zipperd_on_the_way_that_is_killed_ends_it),
		cmocka_unit_test(what_may_not_be_is_refused),
		cmocka_unit_test(who_waits_for_the_dead_stops_nobody),
		cmocka_unit_test(dials_of_one_user_wait_for_each_other),
		cmocka_unit_test(data_channels_need_a_pass),
		cmocka_unit_test(descriptors_lack_on_the_way),
		cmocka_unit_test(entries_must_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

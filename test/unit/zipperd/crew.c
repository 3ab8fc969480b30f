/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands to workers, one of which takes none for a while: they come in the order in which they were sent. And the
 * relays between workers, and systemd's watchdog, which hears nothing while a worker hangs. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "zipperd/conn/channel.h"
#include "common/base/clock.h"
#include "zipperd/conn/crew.h"
#include "zipperd/control/crew_event.h"
#include "zipperd/control/watchdog.h"
#include "zipperd/job/job.h"
#include "zipperd/lane/relay.h"
#include "test/unit/within.h"

#define PATIENCE_MS 20000

/* A link whose first poll ends when the test wants it to. */
struct slow_link {
	struct zlink base;
	int fd;
	atomic_bool polled, go_on;
};

static int slow_poll(struct zlink *z, const struct zsink *sink, unsigned budget)
{
	struct slow_link *l = (struct slow_link *)z;
	(void)sink;
	(void)budget;
	atomic_store(&l->polled, true);
	while (!atomic_load(&l->go_on))
		sched_yield();
	return 0;
}

static int slow_fd(const struct zlink *z, enum zlink_half half, uint32_t *events)
{
	(void)half;
	*events = EPOLLIN;
	return ((const struct slow_link *)z)->fd;
}

static int slow_arm(struct zlink *z, enum zlink_half half)
{
	(void)z;
	(void)half;
	return 0;
}

static const struct ztransport slow = {.name = "slow", .poll = slow_poll, .fd = slow_fd, .arm = slow_arm};

struct bench {
	struct daemon d;
	struct job j;
	struct worker *ab, *ac;
	struct lane *lane[2], *later;
	struct channel *c;
	struct slow_link link;
};

static struct lane *add_lane(struct bench *b, struct worker *w, uint32_t to)
{
	struct lane *l = lane_create(1, 3);
	assert_non_null(l);
	l->to = to;
	l->worker = w;
	l->owner = &b->j;
	b->j.nlanes++;
	crew_send(&b->d, w, &(struct command){.kind = CMD_ADD_LANE, .lane = l});
	return l;
}

static void drop_lane(struct bench *b, struct lane *l)
{
	crew_send(&b->d, l->worker, &(struct command){.kind = CMD_DROP_LANE, .lane = l});
}

/* Three fabrics, and the worker of the first two is busy with its source. */
static void start(struct bench *b)
{
	struct zerr err;
	memset(b, 0, sizeof(*b));
	assert_int_equal(settings_init(&b->d.settings, &err), 0);
	b->d.settings.nfabrics = 3;
	b->d.settings.threads = SETTINGS_THREADS_DIRECTION;
	b->d.budget.limit = 64 << 20;
	b->d.epoll = epoll_create1(EPOLL_CLOEXEC);
	b->j.state = JOB_RUNNING;
	b->j.daemon = &b->d;
	assert_int_equal(crew_create(&b->d, &err), 0);
	b->ab = crew_worker(&b->d, 0, 1, 0, &err);
	b->ac = crew_worker(&b->d, 0, 2, 0, &err);
	b->c = aligned_alloc(alignof(struct channel), sizeof(*b->c));
	assert_true(b->ab && b->ac && b->c);
	memset(b->c, 0, sizeof(*b->c));
	b->link = (struct slow_link){.base.ops = &slow, .fd = eventfd(0, EFD_CLOEXEC)};
	b->c->halves = 2; /* the test keeps one */
	b->c->source.zlink = &b->link.base;
	b->c->source.channel = b->c;
	b->c->source.lane = b->lane[0] = add_lane(b, b->ab, 1);
	b->lane[1] = add_lane(b, b->ac, 2);
	crew_send(&b->d, b->ab, &(struct command){.kind = CMD_ADD_SOURCE, .source = &b->c->source});
	while (!atomic_load(&b->link.polled))
		sched_yield();
}

static void halt(struct bench *b)
{
	const int64_t end = zclock_ms() + PATIENCE_MS;
	atomic_store(&b->link.go_on, true);
	crew_send(&b->d, b->ab, &(struct command){.kind = CMD_DROP_SOURCE, .source = &b->c->source});
	drop_lane(b, b->lane[0]);
	drop_lane(b, b->lane[1]);
	drop_lane(b, b->later);
	while (b->j.nlanes > 0) {
		crew_poll(&b->d, crew_event);
		assert_true(zclock_ms() < end);
		sched_yield();
	}
	crew_destroy(&b->d);
	assert_int_equal(b->d.budget.used, 0);
	lane_destroy(b->lane[0]);
	lane_destroy(b->lane[1]);
	lane_destroy(b->later);
	free(b->c);
	close(b->link.fd);
	close(b->d.epoll);
	settings_fini(&b->d.settings);
}

static uint32_t sent_to(struct worker *w)
{
	return atomic_load(&w->ports->commands.tail);
}

/* A relay leads to a lane whose command has been sent to its worker, but has not been taken. */
static void commands_keep_their_order(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	const struct command nothing_new = {.kind = CMD_DEST_BYE, .lane = b.lane[0]};
	while (command_ring_push(&b.ab->ports->commands, &nothing_new))
		;
	b.later = add_lane(&b, b.ab, 1);
	assert_true(crew_timeout(&b.d) > 0);
	const uint32_t before = sent_to(b.ac);
	crew_send(&b.d, b.ac, &(struct command){.kind = CMD_DEST_BYE, .lane = b.lane[1]});
	assert_int_equal(sent_to(b.ac), before);
	atomic_store(&b.link.go_on, true);
	while (crew_timeout(&b.d) > 0)
		crew_poll(&b.d, crew_event);
	assert_int_equal(sent_to(b.ac), before + 1);
	halt(&b);
}

static void ask_for_relay(struct bench *b)
{
	crew_event(&b->d, &(struct event){.kind = EVENT_RELAY, .lane = b->lane[0], .part = 2});
}

/* There is one relay in each direction for all lanes, and only where a message needs it. */
static void relays_are_made_when_needed(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	b.later = add_lane(&b, b.ab, 1);
	struct lane *of_job[9] = {[1] = b.lane[0]};
	b.j.nparts = 3;
	b.j.tracks = 1;
	b.j.lane = of_job;
	ask_for_relay(&b); /* nobody has a channel to that part yet */
	assert_true(!b.ab->outbound && !b.ac->outbound);
	assert_true(b.lane[0]->wanted == 1 << 2);
	of_job[2] = b.lane[1];
	for (int i = 0; i < 2; i++) {
		ask_for_relay(&b);
		assert_true(b.ab->outbound && b.ab->outbound->to == b.ac && !b.ab->outbound->next);
		assert_true(b.ac->outbound && b.ac->outbound->to == b.ab && !b.ac->outbound->next);
	}
	halt(&b);
}

/* A socket in place of systemd's. */
static int listen_as_systemd(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	char name[64];
	int n = snprintf(name, sizeof(name), "@zipper-watchdog-%d", (int)getpid());
	memcpy(sa.sun_path, name, (size_t)n);
	sa.sun_path[0] = '\0';
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n)),
		0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

/* How often systemd has heard that zipperd lives. */
static int count_told(int fd)
{
	char text[128];
	int told = 0;
	while (recv(fd, text, sizeof(text), 0) > 0)
		told += strncmp(text, "WATCHDOG=1\n", 11) == 0;
	return told;
}

/* Turns of the control thread, at that time, until all workers but nsilent have answered. */
static void look_after_workers(struct bench *b, int64_t now_ms, int nsilent)
{
	const int64_t end = zclock_ms() + PATIENCE_MS;
	b->d.now_ms = now_ms;
	watchdog_turn(&b->d);
	while (b->d.nsilent > nsilent) {
		crew_poll(&b->d, crew_event);
		assert_true(zclock_ms() < end);
		sched_yield();
	}
}

static void a_worker_that_hangs_is_no_life(void **state)
{
	struct bench b;
	(void)state;
	const int fd = listen_as_systemd();
	start(&b);
	b.later = add_lane(&b, b.ac, 2);
	setenv("WATCHDOG_USEC", "3000000", 1);
	watchdog_init(&b.d);
	assert_int_equal(watchdog_timeout(&b.d), 0);
	look_after_workers(&b, 1, 1); /* four workers, and one of them is with its source */
	assert_int_equal(b.d.nsilent, 1);
	assert_int_equal(watchdog_timeout(&b.d), 1000);
	look_after_workers(&b, 1001, 1);
	look_after_workers(&b, 9001, 1);
	assert_int_equal(count_told(fd), 0);
	atomic_store(&b.link.go_on, true);
	look_after_workers(&b, 9002, 0);
	assert_int_equal(count_told(fd), 1);
	look_after_workers(&b, 20000, 0);
	assert_int_equal(count_told(fd), 1);
	halt(&b);
	unsetenv("WATCHDOG_USEC");
	unsetenv("NOTIFY_SOCKET");
	close(fd);
}

/* A child of a process with a watchdog has none itself. */
static void the_watchdog_is_for_one_process(void **state)
{
	struct daemon d = {.now_ms = 5};
	char pid[16];
	(void)state;
	setenv("WATCHDOG_USEC", "3000000", 1);
	setenv("WATCHDOG_PID", "1", 1);
	watchdog_init(&d);
	assert_int_equal(watchdog_timeout(&d), -1);
	watchdog_turn(&d);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("WATCHDOG_PID", pid, 1);
	watchdog_init(&d);
	assert_int_equal(d.watchdog_ms, 1000);
	unsetenv("WATCHDOG_PID");
	unsetenv("WATCHDOG_USEC");
}

/* Numbers go round over the workers of a direction, which are made as they are needed and have an opposite each. What
 * lanes have carried stays with the worker when they are gone. */
static void workers_of_a_direction(void **state)
{
	struct zctl_worker_status list[12];
	struct worker *w[6];
	struct daemon d = {.epoll = epoll_create1(EPOLL_CLOEXEC)};
	struct zerr err;
	(void)state;
	assert_int_equal(settings_init(&d.settings, &err), 0);
	strcpy(d.settings.fabric[0], "a");
	strcpy(d.settings.fabric[1], "b");
	d.settings.nfabrics = 2;
	d.settings.threads = SETTINGS_THREADS_PAIR;
	d.settings.workers = 3;
	d.budget.limit = 64 << 20;
	assert_int_equal(crew_create(&d, &err), 0);
	assert_non_null(w[1] = crew_worker(&d, 0, 1, 1, &err));
	assert_int_equal(crew_list(&d, list), 2);
	assert_int_equal(list[0].number, 1);
	for (uint32_t i = 0; i < 6; i++) {
		assert_non_null(w[i] = crew_worker(&d, 0, 1, i, &err));
		assert_ptr_equal(w[i], w[i % 3]);
		assert_ptr_equal(crew_worker(&d, 1, 0, i, &err), w[i]->opposite);
	}
	assert_true(w[0] != w[1] && w[1] != w[2] && w[0] != w[2]);
	struct lane *l = lane_create(1, 2);
	assert_non_null(l);
	lane_join(l, w[2]);
	lane_add(&l->stats.msgs, 7);
	lane_add(&l->stats.bytes, 70);
	for (int gone = 0; gone < 2; gone++) {
		assert_int_equal(crew_list(&d, list), 6);
		for (uint32_t i = 0; i < 6; i++) {
			assert_int_equal(list[i].number, i / 2);
			assert_string_equal(list[i].from, i % 2 ? "b" : "a");
			assert_string_equal(list[i].to, i % 2 ? "a" : "b");
			assert_int_equal(list[i].msgs, i == 4 ? 7 : 0);
			assert_int_equal(list[i].bytes, i == 4 ? 70 : 0);
		}
		if (!gone)
			lane_destroy(l);
	}
	crew_destroy(&d);
	close(d.epoll);
	settings_fini(&d.settings);
}

/* Does zipperd.conf allow so many workers of so many fabrics? Gives how many there are of each direction, or 0. */
static uint32_t width(const char *workers, int nfabrics, int64_t memory_mib)
{
	static const char *const no_key = "key_file";
	struct settings c;
	struct zerr err;
	assert_int_equal(settings_init(&c, &err), 0);
	int rc = zconf_set(settings_rows, &c, no_key, "/none", "test", &err);
	if (rc == 0)
		rc = zconf_set(settings_rows, &c, "workers", workers, "test", &err);
	c.nlistens = 1;
	c.nfabrics = nfabrics;
	c.memory = memory_mib << 20;
	if (rc == 0)
		rc = settings_check(&c, "test", &err);
	const uint32_t n = rc == 0 ? settings_workers(&c) : 0;
	settings_fini(&c);
	return n;
}

static void limits_of_workers(void **state)
{
	(void)state;
	assert_int_equal(width("1", 2, 4096), 1);
	assert_int_equal(width("32", 2, 4096), 32);
	assert_int_equal(width("0", 2, 4096), 0);
	assert_int_equal(width("33", 2, 4096), 0);
	assert_int_equal(width("2x", 2, 4096), 0);
	assert_int_equal(width("", 2, 4096), 0);
	assert_int_equal(width("32", 11, 4096), 32);
	assert_int_equal(width("32", 12, 4096), 0); /* 132 directions */
	assert_int_equal(width("31", 12, 4096), 31);
	assert_int_equal(width("1", 64, 4096), 1);
	assert_int_equal(width("8", 2, 8), 8); /* 4 MiB, half of the memory */
	assert_int_equal(width("9", 2, 8), 0);
	assert_within(width("auto", 2, 4096), 1, 8);
	assert_int_equal(width("auto", 64, 4096), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_keep_their_order),
		cmocka_unit_test(workers_of_a_direction),
		cmocka_unit_test(limits_of_workers),
		cmocka_unit_test(relays_are_made_when_needed),
		cmocka_unit_test(a_worker_that_hangs_is_no_life),
		cmocka_unit_test(the_watchdog_is_for_one_process),
	};
	return cmocka_run_group_tests_name("commands to workers", tests, NULL, NULL);
}

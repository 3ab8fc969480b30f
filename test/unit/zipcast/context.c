/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread serves all groups of a context: no group waits for another, whatever callbacks do. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "test/unit/zipcast/cases.h"
#include "test/unit/within.h"
#include "common/base/clock.h"
#include "zipcast/group.h"

static const uint32_t two[] = {0, 1};

/* --- callbacks that send and destroy --- */

struct last_words { /* of a root */
	struct zipcast_group *group;
	uint8_t data[1000];
	uint32_t refused;
	atomic_bool done;
};

static void send_and_destroy(void *arg, void *data, uint64_t bytes)
{
	struct last_words *w = arg;
	for (int i = 0; i < 5; i++)
		w->refused += zipcast_send(w->group, data, bytes) != 0;
	zipcast_group_destroy(w->group);
	w->done = true;
}

/* Messages that were queued before a callback destroyed their group are dropped with it, and the others are told. */
static void messages_queued_by_who_destroys(void **state)
{
	static struct last_words w;
	struct cast c;
	char why[ZIPCAST_WHY_BYTES];
	cast_open(&c, *state, 2, ZIPCAST_HYBRID);
	for (uint32_t k = 0; k < 20; k++) {
		const struct zipcast_group_config config = {.number = k, .nmembers = 2, .members = two};
		struct cast_member m = {.cast = &c, .node = 1, .number = k};
		w.done = false;
		assert_int_equal(zipcast_group_create(&w.group, c.zc[0], &config,
					 &(struct zipcast_events){NULL, send_and_destroy, NULL, &w}, why),
			0);
		assert_int_equal(cast_create(&m, &config, why), 0);
		assert_int_equal(zipcast_send(w.group, w.data, sizeof(w.data)), 0);
		for (int i = 0; i < 60000 && !w.done; i++)
			usleep(1000);
		assert_true(w.done && w.refused == 0);
		cast_wait_failed(&m, 1);
		assert_non_null(strstr(m.why, "before it had sent all messages"));
		assert_int_equal(m.suspect, 0);
		cast_destroy(&m, 1);
	}
	cast_close(&c);
}

/* --- signals --- */

static volatile sig_atomic_t caught;

static void catch (int signal)
{
	caught = signal;
}

/* A signal waits while the application's thread blocks it: the context's thread does not take it. */
static void signals_are_the_applications(void **state)
{
	struct cast c;
	sigset_t usr1, before, pending;
	int signal;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	cast_open(&c, *state, 2, ZIPCAST_HYBRID);
	struct sigaction action = {.sa_handler = catch}, old;
	assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
	pthread_sigmask(SIG_BLOCK, &usr1, &before);
	kill(getpid(), SIGUSR1);
	usleep(100000);
	sigpending(&pending);
	assert_int_equal(caught, 0);
	assert_int_equal(sigismember(&pending, SIGUSR1), 1);
	assert_int_equal(sigwait(&usr1, &signal), 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	sigaction(SIGUSR1, &old, NULL);
	cast_close(&c);
}

/* --- what is complete --- */

struct gate { /* a group of one, whose callback holds up its node */
	struct zipcast *zc;
	struct zipcast_group *group;
	atomic_bool shut, reached;
};

static void wait_at_gate(void *arg, void *data, uint64_t bytes)
{
	struct gate *g = arg;
	(void)data;
	(void)bytes;
	zipcast_close(g->zc); /* must not wait for itself */
	g->reached = true;
	while (g->shut)
		usleep(1000);
}

static void shut_gate(struct gate *g, struct cast *c, uint32_t node)
{
	static uint8_t byte;
	char why[ZIPCAST_WHY_BYTES];
	*g = (struct gate){.zc = c->zc[node], .shut = true};
	const struct zipcast_group_config config = {.number = 999, .nmembers = 1, .members = &node};
	assert_int_equal(zipcast_group_create(&g->group, g->zc, &config,
				 &(struct zipcast_events){NULL, wait_at_gate, NULL, g}, why),
		0);
	assert_int_equal(zipcast_send(g->group, &byte, 1), 0);
	while (!g->reached)
		usleep(1000);
}

static void open_gate(struct gate *g)
{
	g->shut = false;
	zipcast_group_destroy(g->group);
}

/* Reads a field of the context's thread. */
__attribute__((no_sanitize("thread"))) static bool has_heard(const struct zipcast_group *g, uint32_t member)
{
	return *(const volatile uint64_t *)&g->member[member].ready > 0;
}

/* Blocks that a broken link did not take are not sent: no message is complete by them. Only the sending half knows that
 * the link is broken. */
static void nothing_is_sent_by_a_broken_link(void **state)
{
	static uint8_t data[300000];
	static struct cast_member m[2];
	static struct gate gate;
	struct cast c;
	memset(m, 0, sizeof(m));
	cast_open(&c, *state, 2, ZIPCAST_HYBRID);
	cast_group(&c, m, &(struct zipcast_group_config){.number = 1, .nmembers = 2, .members = two});
	m[0].kept = data;
	while (!has_heard(m[0].group, 1))
		usleep(1000);
	shut_gate(&gate, &c, 1);
	shutdown(c.zc[0]->node[1].link.tx_fd, SHUT_WR);
	assert_int_equal(zipcast_send(m[0].group, data, sizeof(data)), 0);
	cast_wait_failed(m, 1);
	assert_int_equal(m[0].complete, 0);
	open_gate(&gate);
	cast_wait_failed(m, 2);
	cast_destroy(m, 2);
	cast_close(&c);
}

/* --- links between members that exchange nothing --- */

/* A link breaks. One group needs it; another group, of the same members and one more, does not. */
static void a_link_that_one_group_needs(void **state)
{
	static const uint32_t chain[] = {0, 1, 2}, ends[] = {0, 2};
	static struct cast_member m[3], o[2];
	struct cast c;
	memset(m, 0, sizeof(m));
	memset(o, 0, sizeof(o));
	cast_open(&c, *state, 3, ZIPCAST_HYBRID);
	cast_group(&c, m,
		&(struct zipcast_group_config){.number = 1, .nmembers = 3, .members = chain, .algorithm = "chain"});
	cast_group(&c, o, &(struct zipcast_group_config){.number = 2, .nmembers = 2, .members = ends});
	cast_send(&m[0], 1, 100000);
	cast_send(&o[0], 1, 100000);
	cast_wait_complete(m, 3, 1);
	cast_wait_complete(o, 2, 1);
	shutdown(c.zc[0]->node[2].link.tx_fd, SHUT_RDWR);
	cast_wait_failed(o, 2);
	cast_send(&m[0], 2, 1000000);
	cast_wait_complete(m, 3, 2);
	cast_destroy(m, 3);
	cast_destroy(o, 2);
	cast_close(&c);
}

/* --- a context that is never idle --- */

struct mill { /* a group of one that sends all the time */
	struct zipcast_group *group;
	uint8_t byte;
	atomic_bool stop, stopped;
};

static void send_again(void *arg, void *data, uint64_t bytes)
{
	struct mill *mill = arg;
	if (mill->stop || zipcast_send(mill->group, data, bytes) != 0)
		mill->stopped = true;
}

/* Other nodes connect to it, and full links are used again when there is room. */
static void what_others_need_of_a_busy_context(void **state)
{
	enum { BYTES = 32 << 20 };
	static const uint32_t me[] = {0}, other[] = {0, 2};
	static struct cast_member m[2], o[2];
	static struct mill mill;
	uint8_t *data = calloc(1, BYTES);
	struct cast c;
	char why[ZIPCAST_WHY_BYTES];
	assert_non_null(data);
	memset(m, 0, sizeof(m));
	memset(o, 0, sizeof(o));
	memset(&mill, 0, sizeof(mill));
	cast_open(&c, *state, 3, ZIPCAST_HYBRID);
	assert_int_equal(zipcast_group_create(&mill.group, c.zc[0],
				 &(struct zipcast_group_config){.number = 1, .nmembers = 1, .members = me},
				 &(struct zipcast_events){NULL, send_again, NULL, &mill}, why),
		0);
	assert_int_equal(zipcast_send(mill.group, &mill.byte, 1), 0);
	cast_group(&c, m, &(struct zipcast_group_config){.number = 2, .nmembers = 2, .members = two});
	cast_group(&c, o, &(struct zipcast_group_config){.number = 3, .nmembers = 2, .members = other});
	m[0].kept = o[0].kept = data;
	m[1].unchecked = o[1].unchecked = true;
	assert_int_equal(zipcast_send(m[0].group, data, BYTES), 0);
	assert_int_equal(zipcast_send(o[0].group, data, BYTES), 0);
	cast_wait_complete(m, 2, 1);
	cast_wait_complete(o, 2, 1);
	assert_false(mill.stopped);
	mill.stop = true;
	while (!mill.stopped)
		usleep(1000);
	zipcast_group_destroy(mill.group);
	cast_destroy(m, 2);
	cast_destroy(o, 2);
	cast_close(&c);
	free(data);
}

/* --- a node that does not answer --- */

static void *give_nothing(void *arg, uint64_t bytes)
{
	(void)arg;
	(void)bytes;
	return NULL;
}

struct vain {
	struct zipcast *zc;
	int rc;
	char why[ZIPCAST_WHY_BYTES];
	uint32_t number;
};

static void *create_in_vain(void *arg)
{
	static const uint32_t members[] = {2, 1};
	struct vain *v = arg;
	struct zipcast_group *g;
	struct zipcast_group_config config = {.number = v->number, .nmembers = 2, .members = members};
	v->rc = zipcast_group_create(&g, v->zc, &config, &(struct zipcast_events){.arg = NULL}, v->why);
	return NULL;
}

static int listen_mutely(struct sockaddr_in *at)
{
	socklen_t len = sizeof(*at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	*at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	assert_int_equal(bind(fd, (struct sockaddr *)at, len), 0);
	assert_int_equal(listen(fd, 10), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)at, &len), 0);
	return fd;
}

/* Groups without the node are made meanwhile. Groups with it wait for it at the same time, not one after the other. */
static void one_that_does_not_answer(void **state)
{
	enum { TIMEOUT_MS = 3000, TRIES = 3 };
	static const uint8_t key[ZIPCAST_KEY_BYTES] = "a key";
	static const uint32_t members[] = {2, 0};
	struct zipcast_config config = {.listen = "tcp:127.0.0.1:0",
		.session = "test",
		.key = key,
		.timeout_ms = TIMEOUT_MS};
	struct zipcast *zc[2];
	struct zipcast_group *g[2];
	struct vain vain[TRIES];
	pthread_t thread[TRIES];
	struct sockaddr_in mute;
	char why[ZIPCAST_WHY_BYTES], address[64];
	(void)state;
	int fd = listen_mutely(&mute);
	snprintf(address, sizeof(address), "tcp:127.0.0.1:%u", ntohs(mute.sin_port));
	for (uint32_t i = 0; i < 2; i++) {
		config.me = 2 * i;
		assert_int_equal(zipcast_open(&zc[i], &config, why), 0);
	}
	const char *all[] = {zipcast_address(zc[0]), address, zipcast_address(zc[1])};
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(zipcast_meet(zc[i], all, 3, why), 0);
	const int64_t start_ms = zclock_ms();
	for (uint32_t i = 0; i < TRIES; i++) {
		vain[i] = (struct vain){.zc = zc[1], .number = i};
		assert_int_equal(pthread_create(&thread[i], NULL, create_in_vain, &vain[i]), 0);
	}
	usleep(200000);
	struct zipcast_group_config group = {.number = 7, .nmembers = 2, .members = members};
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(zipcast_group_create(&g[i], zc[i], &group,
					 &(struct zipcast_events){give_nothing, NULL, NULL, NULL}, why),
			0);
	assert_within(zclock_ms() - start_ms, 0, TIMEOUT_MS - 500);
	for (uint32_t i = 0; i < TRIES; i++) {
		pthread_join(thread[i], NULL);
		assert_true(vain[i].rc < 0);
		assert_non_null(strstr(vain[i].why, "node 1"));
	}
	assert_within(zclock_ms() - start_ms, TIMEOUT_MS - 500, 2 * TIMEOUT_MS - 500);
	for (uint32_t i = 0; i < 2; i++) {
		zipcast_group_destroy(g[i]);
		zipcast_close(zc[i]);
	}
	close(fd);
}

static int64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A connection before the nodes have met does not keep waking the thread; after that it is looked at. */
static void a_stranger_comes_early(void **state)
{
	struct zipcast_config config = {.me = 0,
		.listen = "tcp:127.0.0.1:0",
		.session = "early",
		.key = cast_key,
		.waiting = ZIPCAST_INTERRUPTS};
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct zipcast *zc;
	char why[ZIPCAST_WHY_BYTES], byte;
	(void)state;
	assert_int_equal(zipcast_open(&zc, &config, why), 0);
	const char *address = zipcast_address(zc);
	at.sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1));
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(send(fd, "nonsense of more bytes than a greeting has", 42, MSG_NOSIGNAL), 42);
	const int64_t before = cpu_ns();
	usleep(300000);
	assert_within(cpu_ns() - before, 0, 100000000);
	assert_int_equal(zipcast_meet(zc, &address, 1, why), 0);
	/* it is no node: its connection is closed */
	assert_true(recv(fd, &byte, 1, 0) <= 0);
	close(fd);
	zipcast_close(zc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CAST_CASE(messages_queued_by_who_destroys, "tcp"),
		CAST_CASE(nothing_is_sent_by_a_broken_link, "tcp"),
		CAST_CASE(a_link_that_one_group_needs, "tcp"),
		CAST_CASE(what_others_need_of_a_busy_context, "tcp"),
		CAST_CASE(what_others_need_of_a_busy_context, "shm"),
		CAST_CASE(one_that_does_not_answer, "tcp"),
		CAST_CASE(signals_are_the_applications, "tcp"),
		CAST_CASE(a_stranger_comes_early, "tcp"),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

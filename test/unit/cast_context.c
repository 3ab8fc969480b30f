/* SPDX-License-Identifier: BSD-3-Clause */
/* What one thread does for all groups of a context: none waits for another one, whatever callbacks do. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cast_cases.h"
#include "clock.h"
#include "context.h"

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

/* What a group was asked for before it was destroyed is dropped with it. */
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

/* A signal to the process that the application's thread does not take now waits for it. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		CAST_CASE(messages_queued_by_who_destroys, "tcp"),
		CAST_CASE(signals_are_the_applications, "tcp"),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

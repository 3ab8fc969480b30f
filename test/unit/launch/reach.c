/* SPDX-License-Identifier: BSD-3-Clause */
/* Does an mpiexec reach all its hosts? The answer comes from its children and sockets. A process plays mpiexec, and
 * changes both when it is told to. The test chooses the moments itself. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "launch/start/reach.h"

struct actor { /* plays mpiexec */
	pid_t pid;
	int to, from; /* pipe of orders; pipe of answers that they are carried out */
};

/* status < 0: the child lives. Otherwise it has ended, and nobody has taken its status. */
static void child(int status)
{
	siginfo_t info;
	const pid_t mpiexec = getpid();
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (status >= 0 || getppid() != mpiexec) /* mpiexec may have been killed before that */
			_exit(status);
		pause();
		_exit(0);
	}
	if (status >= 0 && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0)
		_exit(99);
}

/* l: one more living proxy; f: a proxy whose launcher fails with status 255; s: one more socket; c: one socket less. */
static void play(int orders, int answers)
{
	int sockets[8], n = 0;
	char order;

	for (int fd = 3; fd < 64; fd++) /* sockets of the program that runs the tests */
		if (fd != orders && fd != answers)
			close(fd);
	close(0);
	while (read(orders, &order, 1) == 1) {
		if (order == 's')
			sockets[n++] = socket(AF_UNIX, SOCK_STREAM, 0);
		else if (order == 'c')
			close(sockets[--n]);
		else
			child(order == 'f' ? 255 : -1);
		if (write(answers, &order, 1) != 1)
			break;
	}
	_exit(0);
}

static void tell(struct actor *a, const char *orders)
{
	for (; *orders; orders++) {
		char answer;
		assert_int_equal(write(a->to, orders, 1), 1);
		assert_int_equal(read(a->from, &answer, 1), 1);
	}
}

static void start(struct actor *a, const char *orders)
{
	int to[2], from[2];

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	a->pid = fork();
	if (a->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]);
		close(from[0]);
		play(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	a->to = to[1];
	a->from = from[0];
	tell(a, orders);
}

static void end(struct actor *a)
{
	close(a->to);
	close(a->from);
	kill(a->pid, SIGKILL);
	waitpid(a->pid, NULL, 0);
}

/* Looks twice a second. True: the failure of the launcher was told within that time. */
static bool is_told(struct zreach *r, const struct actor *a, bool report, int64_t from_ms, int64_t to_ms)
{
	char text[80] = "";

	for (int64_t now = from_ms; now <= to_ms; now += 500)
		if (zreach_has_failed(r, a->pid, report, now, text, sizeof(text))) {
			assert_string_equal(text + sizeof("reach") - 1, " ended with status 255");
			return true;
		}
	return false;
}

/* s: one socket to listen at, and one for each proxy. */
static void a_launcher_fails(void **state)
{
	(void)state;
	for (int report = 0; report < 2; report++) {
		struct zreach r = {0};
		struct actor a;
		start(&a, "sslf");
		assert_false(is_told(&r, &a, report, 1000, 2500));
		assert_true(is_told(&r, &a, report, 3000, 3500));
		end(&a);
	}
}

static void all_are_there(void **state)
{
	struct zreach r = {0};
	struct actor a;

	(void)state;
	start(&a, "ssll");
	assert_false(is_told(&r, &a, false, 1000, 9000));
	assert_false(r.reached);
	tell(&a, "s");
	assert_false(is_told(&r, &a, false, 9500, 19000));
	assert_true(r.reached);
	tell(&a, "f"); /* the loss of its ssh does not matter to a proxy that has connected */
	assert_false(is_told(&r, &a, false, 19500, 29000));
	end(&a);
}

/* At first mpiexec has started one proxy of two. It has one socket too many, with which it looks up a name. */
static void it_only_begins(void **state)
{
	struct zreach r = {0};
	struct actor a;

	(void)state;
	start(&a, "ssl");
	assert_false(is_told(&r, &a, false, 1000, 1000));
	tell(&a, "cfs");
	assert_true(is_told(&r, &a, false, 1500, 4000));
	end(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_launcher_fails),
		cmocka_unit_test(all_are_there),
		cmocka_unit_test(it_only_begins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A bare relay in user space, three processes without MPI and without our protocol: the baseline for zipperd. README.md
 * tells how to run it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bytes.h"
#include "common/base/copy.h"
#include "bench/dial.h"

/* Blocking messages over bytes, for the two ends. */
struct endpoint {
	struct bytes bytes;
	struct zwait wait;
};

static void send_message(void *ctx, const void *from, size_t len)
{
	struct endpoint *e = ctx;
	struct sleeper s;
	bytes_sleeper_tx(&e->bytes, &s);
	for (size_t done = 0; done < len;) {
		size_t n = bytes_write(&e->bytes, (const uint8_t *)from + done, len - done);
		done += n;
		if (n)
			zwait_reset(&e->wait);
		else
			measure_wait(&e->wait, &s, 1);
	}
}

static void receive_message(void *ctx, void *to, size_t len)
{
	struct endpoint *e = ctx;
	struct sleeper s;
	bytes_sleeper_rx(&e->bytes, &s);
	for (size_t done = 0; done < len;) {
		const uint8_t *at;
		size_t n = bytes_peek(&e->bytes, &at);
		if (n == SIZE_MAX)
			measure_die("the other end has gone");
		if (n == 0) {
			measure_wait(&e->wait, &s, 1);
			continue;
		}
		n = n < len - done ? n : len - done;
		zcopy((uint8_t *)to + done, at, n);
		bytes_consume(&e->bytes, n);
		done += n;
		zwait_reset(&e->wait);
	}
}

/* Moves all bytes that are there. True: some moved. *stuck: the other side did not take all. */
static bool forward(struct bytes *from, struct bytes *to, bool *stuck, bool *end)
{
	const uint8_t *at;
	size_t n = bytes_peek(from, &at);
	*end = n == SIZE_MAX;
	*stuck = false;
	if (*end || n == 0)
		return false;
	size_t sent = bytes_write(to, at, n);
	if (sent)
		bytes_consume(from, sent);
	*stuck = sent < n;
	return sent > 0;
}

static void relay(struct bytes *a, struct bytes *b, bool busy)
{
	struct zwait w;
	zwait_init(&w, busy);
	for (;;) {
		bool stuck_ab, stuck_ba, end_a, end_b;
		bool moved = forward(a, b, &stuck_ab, &end_a);
		moved |= forward(b, a, &stuck_ba, &end_b);
		if (end_a || end_b)
			return;
		if (moved) {
			zwait_reset(&w);
			continue;
		}
		struct sleeper s[2];
		if (stuck_ab)
			bytes_sleeper_tx(b, &s[0]);
		else
			bytes_sleeper_rx(a, &s[0]);
		if (stuck_ba)
			bytes_sleeper_tx(a, &s[1]);
		else
			bytes_sleeper_rx(b, &s[1]);
		measure_wait(&w, s, 2);
	}
}

static bool busy_with(int processes)
{
	return processes > zwait_cores();
}

static void run_end(struct endpoint *e, bool sender, int processes, const char *title)
{
	struct carrier c = {send_message, receive_message, e};
	zwait_init(&e->wait, busy_with(processes));
	if (sender)
		measure_send(&c, &measure_default_plan, title);
	else
		measure_receive(&c, &measure_default_plan);
}

static pid_t part(void)
{
	pid_t pid = fork();
	if (pid < 0)
		measure_die("fork: %s", strerror(errno));
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static int join(pid_t a, pid_t b)
{
	int status_a = 0, status_b = 0;
	if (a > 0)
		waitpid(a, &status_a, 0);
	if (b > 0)
		waitpid(b, &status_b, 0);
	return status_a || status_b;
}

/* All processes on this machine, over the loopback or rings; two processes without a relay. */
static int run_local_tcp(bool relayed)
{
	struct zaddr addr = {.kind = ZADDR_TCP, .host = "127.0.0.1"}, far = addr;
	int near_listener = dial_listen(&addr), far_listener = relayed ? dial_listen(&far) : -1;
	struct endpoint e;
	struct bytes a, b;
	pid_t receiver = part();
	if (receiver == 0) {
		bytes_open_tcp(&e.bytes, relayed ? dial_connect(&far) : dial_accept(near_listener));
		run_end(&e, false, 2 + relayed, NULL);
		exit(0);
	}
	pid_t middle = relayed ? part() : -1;
	if (middle == 0) {
		bytes_open_tcp(&a, dial_accept(near_listener));
		bytes_open_tcp(&b, dial_accept(far_listener));
		relay(&a, &b, busy_with(3));
		exit(0);
	}
	bytes_open_tcp(&e.bytes, dial_connect(&addr));
	run_end(&e, true, 2 + relayed, relayed ? "bare tcp, relay" : "bare tcp, direct");
	close(e.bytes.rx_fd);
	return join(receiver, middle);
}

static int run_local_shm(bool relayed)
{
	struct bytes_shm near, far;
	struct endpoint e;
	struct bytes a, b;
	bytes_make_shm(&near);
	if (relayed)
		bytes_make_shm(&far);
	pid_t receiver = part();
	if (receiver == 0) {
		bytes_open_shm(&e.bytes, relayed ? &far : &near, 1);
		run_end(&e, false, 2 + relayed, NULL);
		exit(0);
	}
	pid_t middle = relayed ? part() : -1;
	if (middle == 0) {
		bytes_open_shm(&a, &near, 1);
		bytes_open_shm(&b, &far, 0);
		relay(&a, &b, busy_with(3));
		exit(0);
	}
	bytes_open_shm(&e.bytes, &near, 0);
	run_end(&e, true, 2 + relayed, relayed ? "bare shm, relay" : "bare shm, direct");
	/* This process also closes its copies of the others' sockets. */
	if (middle > 0)
		kill(middle, SIGTERM), waitpid(middle, NULL, 0);
	return join(receiver, -1);
}

static void usage(void)
{
	fputs("usage: relay local tcp|shm [direct]\n"
	      "       relay forward tcp:ADDR[:PORT] tcp:ADDR[:PORT]   between the two, once\n"
	      "       relay receive tcp:ADDR[:PORT]                   connects, receives\n"
	      "       relay send tcp:ADDR[:PORT]                      connects, sends and prints\n",
		stderr);
	exit(2);
}

int main(int argc, char **argv)
{
	struct zaddr a, b;
	struct endpoint e;
	if (argc >= 3 && strcmp(argv[1], "local") == 0) {
		bool direct = argc > 3 && strcmp(argv[3], "direct") == 0;
		if (strcmp(argv[2], "tcp") == 0)
			return run_local_tcp(!direct);
		if (strcmp(argv[2], "shm") == 0)
			return run_local_shm(!direct);
	} else if (argc == 4 && strcmp(argv[1], "forward") == 0) {
		struct bytes from, to;
		dial_parse(&a, argv[2]);
		dial_parse(&b, argv[3]);
		int la = dial_listen(&a), lb = dial_listen(&b);
		bytes_open_tcp(&from, dial_accept(la));
		bytes_open_tcp(&to, dial_accept(lb));
		relay(&from, &to, busy_with(3));
		return 0;
	} else if (argc == 3 && (strcmp(argv[1], "send") == 0 || strcmp(argv[1], "receive") == 0)) {
		dial_parse(&a, argv[2]);
		bytes_open_tcp(&e.bytes, dial_connect(&a));
		run_end(&e, argv[1][0] == 's', 3, "bare tcp, relay");
		return 0;
	}
	usage();
}

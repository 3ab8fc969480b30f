/* SPDX-License-Identifier: BSD-3-Clause */
/* A cable of any length: two network interfaces (tap), each in a network namespace. A frame that enters one interface
 * leaves the other one after a delay. The kernels of small machines have no netem.
 *     delay MICROSECONDS NAME NAME 3<NAMESPACE 4<NAMESPACE
 * Prints "ready" and its process number when the interfaces are there. They go when this program ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX 65536
#define FRAMES 4096 /* on their way in one direction; more wait in the interface, and are lost where it is full */

struct frame {
	int64_t due; /* ns */
	size_t len;
	char *bytes; /* [FRAME_MAX], or NULL: never used */
};
struct way {
	int in, out;
	unsigned first, n;
	struct frame frame[FRAMES];
};

static void fail(const char *what)
{
	fprintf(stderr, "delay: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_tap(int namespace, const char *name)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	if (setns(namespace, CLONE_NEWNET) != 0)
		fail("setns");
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		fail("/dev/net/tun");
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (ioctl(fd, TUNSETIFF, &request) != 0)
		fail(name);
	return fd;
}

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Takes the frames that are there, up to a full cable. */
static void take(struct way *w, int64_t delay)
{
	while (w->n < FRAMES) {
		struct frame *f = &w->frame[(w->first + w->n) % FRAMES];
		if (!f->bytes && !(f->bytes = malloc(FRAME_MAX)))
			fail("memory");
		ssize_t got = read(w->in, f->bytes, FRAME_MAX);
		if (got < 0)
			return;
		f->len = (size_t)got;
		f->due = now() + delay;
		w->n++;
	}
}

/* Hands on the frames that are due. A frame that an interface does not take is lost, as on any cable. */
static void hand_on(struct way *w)
{
	int64_t t = now();
	for (; w->n > 0 && w->frame[w->first].due <= t; w->n--, w->first = (w->first + 1) % FRAMES)
		if (write(w->out, w->frame[w->first].bytes, w->frame[w->first].len) < 0 && errno != EAGAIN &&
			errno != EIO)
			fail("write");
}

int main(int argc, char **argv)
{
	static struct way way[2];
	if (argc != 4 || atol(argv[1]) <= 0) {
		fprintf(stderr, "usage: delay MICROSECONDS NAME NAME 3<NAMESPACE 4<NAMESPACE\n");
		return 2;
	}
	int64_t delay = atol(argv[1]) * 1000LL;
	way[0].in = way[1].out = open_tap(3, argv[2]);
	way[1].in = way[0].out = open_tap(4, argv[3]);
	prctl(PR_SET_TIMERSLACK, 1);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;) {
		struct pollfd fds[2];
		int64_t next = INT64_MAX;
		for (int i = 0; i < 2; i++) {
			fds[i] = (struct pollfd){.fd = way[i].in, .events = way[i].n < FRAMES ? POLLIN : 0};
			if (way[i].n > 0 && way[i].frame[way[i].first].due < next)
				next = way[i].frame[way[i].first].due;
		}
		int64_t wait = next == INT64_MAX ? next : next - now();
		struct timespec t = {.tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000};
		if (wait > 0 && ppoll(fds, 2, next == INT64_MAX ? NULL : &t, NULL) < 0 && errno != EINTR)
			fail("ppoll");
		for (int i = 0; i < 2; i++) {
			take(&way[i], delay);
			hand_on(&way[i]);
		}
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Time that passes only when this process says so: the clock, timers, and poll with a limit, for the transport and for
 * the fake. Calls without a limit wait for other threads (vwatch.c), and are left alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "test/unit/verbs/random_parts.h"

#define TIMERS 32
#define PATIENT_MS 1000 /* a call that waits longer waits for the kernel */

static bool begun;
static int64_t now_ns;
static struct {
	int fd;
	int64_t at_ns; /* 0: it is not set */
} timers[TIMERS];

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *t)
{
	if (!begun || id != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, id, t);
	*t = (struct timespec){.tv_sec = now_ns / 1000000000, .tv_nsec = now_ns % 1000000000};
	return 0;
}

__attribute__((visibility("default"))) int timerfd_create(int id, int flags)
{
	const int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	(void)id, (void)flags;
	for (int i = 0; i < TIMERS && fd >= 0; i++)
		if (timers[i].fd == 0 || timers[i].fd == fd) {
			timers[i].fd = fd;
			timers[i].at_ns = 0;
			return fd;
		}
	return fd;
}

__attribute__((visibility("default"))) int timerfd_settime(int fd, int flags, const struct itimerspec *when,
	struct itimerspec *old)
{
	(void)flags, (void)old;
	for (int i = 0; i < TIMERS; i++)
		if (timers[i].fd == fd)
			timers[i].at_ns = (int64_t)when->it_value.tv_sec * 1000000000 + when->it_value.tv_nsec;
	return 0;
}

void clock_begin(void)
{
	begun = true;
	now_ns = 1000000000;
}

void clock_pass(int64_t ns)
{
	now_ns += ns;
	for (int i = 0; i < TIMERS; i++)
		if (timers[i].at_ns && timers[i].at_ns <= now_ns) {
			timers[i].at_ns = 0;
			eventfd_write(timers[i].fd, 1);
		}
}

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t n, int ms)
{
	static int (*next)(struct pollfd *, nfds_t, int);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "poll");
	if (!begun || ms <= 0 || ms > PATIENT_MS)
		return next(fds, n, ms);
	for (int i = 0; i < ms; i++) {
		const int rc = next(fds, n, 0);
		if (rc != 0)
			return rc;
		clock_pass(1000000);
	}
	return 0;
}

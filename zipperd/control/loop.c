/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread's loop: one turn handles what epoll reports, what workers report, and whose time is over. */
#include "zipperd/control/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "zipperd/control/circuit.h"
#include "common/base/clock.h"
#include "zipperd/control/crew.h"
#include "zipperd/control/job.h"
#include "zipperd/control/listener.h"
#include "common/base/log.h"
#include "zipperd/main/notify.h"
#include "zipperd/control/peer.h"
#include "zipperd/main/reload.h"

#define EPOLL_BATCH 64
#define TICK_MS 50   /* resolution of all time limits */
#define STOP_MS 2000 /* for jobs to hear that they are over */

struct signals {
	struct watch watch;
	struct daemon *daemon;
	int fd;
};
static struct signals signals = {.fd = -1};

int daemon_watch(struct daemon *d, int fd, uint32_t events, struct watch *watch)
{
	struct epoll_event ev = {.events = events, .data.ptr = watch};
	return epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &ev) == 0 ? 0 : -errno;
}

void daemon_rewatch(struct daemon *d, int fd, uint32_t events, struct watch *watch)
{
	struct epoll_event ev = {.events = events, .data.ptr = watch};
	epoll_ctl(d->epoll, EPOLL_CTL_MOD, fd, &ev);
}

void daemon_unwatch(struct daemon *d, int fd)
{
	epoll_ctl(d->epoll, EPOLL_CTL_DEL, fd, NULL);
}

int daemon_watch_hangup(struct daemon *d, int fd, void *owner)
{
	struct epoll_event ev = {.events = EPOLLRDHUP, .data.ptr = owner};
	return epoll_ctl(d->hangups, EPOLL_CTL_ADD, fd, &ev) == 0 ? 0 : -errno;
}

void daemon_unwatch_hangup(struct daemon *d, int fd)
{
	epoll_ctl(d->hangups, EPOLL_CTL_DEL, fd, NULL);
}

int daemon_hangups(const struct daemon *d, void **owners, int max)
{
	struct epoll_event ev[EPOLL_BATCH];
	int n = epoll_wait(d->hangups, ev, max < EPOLL_BATCH ? max : EPOLL_BATCH, 0);
	for (int i = 0; i < n; i++)
		owners[i] = ev[i].data.ptr;
	return n < 0 ? 0 : n;
}

static void on_signal(struct watch *watch)
{
	struct signals *s = (struct signals *)(void *)watch;
	struct signalfd_siginfo info;
	while (read(s->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			notify_state("RELOADING=1");
			reload(s->daemon);
			notify_state("READY=1");
		} else {
			s->daemon->stopping = true;
		}
	}
}

int loop_init(struct daemon *d, struct zerr *err)
{
	sigset_t set;
	struct list *lists[] = {&d->strangers, &d->greeted, &d->known, &d->leaving, &d->again, &d->dead, &d->draining,
		&d->all_jobs, &d->circuits};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		list_init(lists[i]);
	d->now_ms = zclock_ms();
	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	d->hangups = epoll_create1(EPOLL_CLOEXEC);
	if (d->epoll < 0 || d->hangups < 0)
		return zerr_set(err, -errno, "epoll: %s", strerror(errno));
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signals = (struct signals){.watch.ready = on_signal, .daemon = d};
	signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	int rc = signals.fd < 0 ? -errno : daemon_watch(d, signals.fd, EPOLLIN, &signals.watch);
	return rc == 0 ? 0 : zerr_set(err, rc, "signalfd: %s", strerror(-rc));
}

static int choose_timeout(const struct daemon *d)
{
	int crew = crew_timeout(d);
	if (!list_empty(&d->again))
		return 0;
	if (crew >= 0)
		return crew;
	if (!list_empty(&d->draining))
		return CHANNEL_DRAIN_MS;
	if (d->stopping || d->paused || peers_timed(d) || jobs_timed(d) || circuits_timed(d))
		return TICK_MS;
	return -1;
}

static void turn(struct daemon *d)
{
	struct epoll_event ev[EPOLL_BATCH];
	int n = epoll_wait(d->epoll, ev, EPOLL_BATCH, choose_timeout(d));
	d->now_ms = zclock_ms();
	/* Peers that go in this turn are freed at its end only: the batch may hold them still. */
	for (int i = 0; i < n; i++) {
		struct watch *w = ev[i].data.ptr;
		w->ready(w);
	}
	peers_continue(d);
	crew_poll(d);
	channels_drain(d);
	peers_expire(d);
	jobs_expire(d);
	circuits_expire(d);
	listeners_resume(d);
	peers_bury(d);
}

void loop_run(struct daemon *d)
{
	while (!d->stopping)
		turn(d);
	notify_state("STOPPING=1");
	jobs_end_all(d, "zipperd is shutting down");
	circuits_end_all(d);
	int64_t end = d->now_ms + STOP_MS;
	while (d->now_ms < end && !(list_empty(&d->leaving) && list_empty(&d->all_jobs) && list_empty(&d->circuits)))
		turn(d);
	/* Whoever has not gone by itself goes now; then the workers give everything back. */
	peers_close(d);
	while (!(list_empty(&d->all_jobs) && list_empty(&d->circuits)) && d->now_ms < end + STOP_MS) {
		jobs_end_all(d, "zipperd is shutting down");
		turn(d);
	}
}

void loop_fini(struct daemon *d)
{
	if (signals.fd >= 0)
		close(signals.fd);
	close(d->epoll);
	close(d->hangups);
}

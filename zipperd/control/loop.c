/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread's loop: one turn handles what epoll reports, what workers report, and time limits. */
#include "zipperd/control/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "zipperd/conn/address.h"
#include "zipperd/conn/capacity.h"
#include "zipperd/conn/channel.h"
#include "zipperd/conn/conn.h"
#include "zipperd/conn/crew.h"
#include "zipperd/conn/listener.h"
#include "zipperd/control/crew_event.h"
#include "zipperd/control/drain.h"
#include "zipperd/control/hear.h"
#include "zipperd/control/notify.h"
#include "zipperd/control/reload.h"
#include "zipperd/control/watchdog.h"
#include "zipperd/job/circuit.h"
#include "zipperd/trunk/trunk.h"
#include "zipperd/job/job.h"
#include "zipperd/job/job_deadline.h"
#include "zipperd/job/job_end.h"

#define EPOLL_BATCH 64
#define TICK_MS 50	/* resolution of all time limits */
#define LEAVE_MS 100	/* a node's zipperd waits so long for ranks that come a little later */
#define NOBODY_MS 10000 /* and so long for the first one */
#define STOP_MS 2000	/* for jobs to hear that they are over */

struct signals {
	struct watch watch;
	struct daemon *daemon;
	int fd;
};

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
		&d->all_jobs, &d->circuits, &d->trunks, &d->losing, &d->quiet};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		list_init(lists[i]);
	d->now_ms = d->started_ms = zclock_ms();
	const int64_t half = (d->settings.max_connections + 1) / 2, strangers = d->settings.max_strangers;
	if (address_init(&d->addresses, strangers < half ? strangers : half, d->settings.address_strangers, err) != 0)
		return -ENOMEM;
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
	struct signals *s = d->signals = calloc(1, sizeof(*s));
	if (!s)
		return zerr_set(err, -ENOMEM, "out of memory");
	*s = (struct signals){.watch.ready = on_signal, .daemon = d};
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	int rc = s->fd < 0 ? -errno : watch_add(d, s->fd, EPOLLIN, &s->watch);
	return rc == 0 ? 0 : zerr_set(err, rc, "signalfd: %s", strerror(-rc));
}

/* A node's zipperd ends with its job. */
static void end_with_ranks(struct daemon *d)
{
	if (!d->node.set)
		return;
	d->visited |= d->nvisitors > 0;
	if (d->nvisitors > 0)
		d->lonely_since_ms = 0;
	else if (d->lonely_since_ms == 0)
		d->lonely_since_ms = d->now_ms;
	else if (d->now_ms - d->lonely_since_ms >= (d->visited ? LEAVE_MS : NOBODY_MS))
		d->stopping = true;
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
	if (d->stopping || d->paused || trunk_any_timed(d) || (d->node.set && d->nvisitors == 0) || conn_any_timed(d) ||
		job_deadline_any(d) || circuit_any_timed(d))
		return TICK_MS;
	return watchdog_timeout(d);
}

static void turn(struct daemon *d)
{
	struct epoll_event ev[EPOLL_BATCH];
	int n = epoll_wait(d->epoll, ev, EPOLL_BATCH, choose_timeout(d));
	d->now_ms = zclock_ms();
	/* Connections that go in this turn are freed at its end, because the batch may still hold them. */
	for (int last = 0; last <= 1; last++) {
		for (int i = 0; i < n; i++) {
			struct watch *w = ev[i].data.ptr;
			if (w->last == last)
				w->ready(w);
		}
	}
	hear_continue_all(d);
	crew_poll(d, crew_event);
	channel_drain_all(d);
	hear_expire_all(d);
	job_deadline_check_all(d);
	circuit_expire_all(d);
	trunk_expire_all(d);
	listener_resume_all(d);
	watchdog_turn(d);
	drain_turn(d);
	conn_bury_all(d);
	capacity_trim(d);
	end_with_ranks(d);
}

/* Do workers have nothing any more? */
static bool all_back(const struct daemon *d)
{
	return list_empty(&d->all_jobs) && list_empty(&d->circuits) && d->ntrunks == 0;
}

void loop_run(struct daemon *d)
{
	while (!d->stopping)
		turn(d);
	notify_state("STOPPING=1");
	listener_stop_all(d); /* the next zipperd may be waiting for the addresses */
	job_end_all(d, "zipperd is shutting down");
	circuit_end_all(d);
	trunk_end_all(d);
	int64_t end = d->now_ms + STOP_MS;
	while (d->now_ms < end && !(list_empty(&d->leaving) && all_back(d)))
		turn(d);
	/* Connections that have not gone by themselves are closed now. Then the workers give everything back. */
	hear_close_all(d);
	while (!all_back(d) && d->now_ms < end + STOP_MS) {
		job_end_all(d, "zipperd is shutting down");
		turn(d);
	}
}

void loop_fini(struct daemon *d)
{
	if (d->signals && d->signals->fd >= 0)
		close(d->signals->fd);
	free(d->signals);
	d->signals = NULL;
	address_fini(d->addresses);
	close(d->epoll);
	close(d->hangups);
}

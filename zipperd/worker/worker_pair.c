/* SPDX-License-Identifier: BSD-3-Clause */
/* Both workers of a pair of fabrics, see worker_pair.h. */
#include "zipperd/worker/worker_pair.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "zipperd/lane/body.h"
#include "zipperd/lane/borrowed.h"
#include "zipperd/lane/relay.h"
#include "zipperd/onesided/reader.h"
#include "zipperd/worker/inbound.h"

static int create(struct worker **out, const struct worker_params *p, const char *from, const char *to,
	struct zerr *err)
{
	int rc = -ENOMEM;
	const char *why = NULL;
	*out = NULL;
	struct worker *w = aligned_alloc(alignof(struct worker), sizeof(*w));
	if (!w)
		goto err;
	memset(w, 0, sizeof(*w));
	struct list *lists[] = {&w->hot, &w->cold, &w->stalled, &w->touched, &w->blocked, &w->due, &w->carrying,
		&w->reading, &w->writing, &w->telling, &w->finishing, &w->fanouts, &w->all_lanes, &w->trunks_full,
		&w->streams_wide, &w->streams_held, &w->streams_due};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		list_init(lists[i]);
	w->ports = aligned_alloc(alignof(struct worker_ports), sizeof(*w->ports));
	if (!w->ports)
		goto err_free;
	memset(w->ports, 0, sizeof(*w->ports));
	rc = pool_init(&w->pool, p->budget, p->eager_bytes, p->frag_bytes);
	if (rc != 0) {
		why = "all of its memory is in use (memory in zipperd.conf(5))";
		goto err_ports;
	}
	staging_init(&w->staging, w, p->budget, p->staging_bytes, p->piece_bytes);
	w->waiter = WAITER_WAKE;
	w->control_fd = p->control_fd;
	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->epoll = w->rx_epoll = w->tx_epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = &w->waiter};
	if (w->wake_fd < 0 || w->epoll < 0 || epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->wake_fd, &ev) != 0) {
		rc = -errno;
		goto err_fds;
	}
	*out = w;
	return 0;

err_fds:
	if (w->epoll >= 0)
		close(w->epoll);
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	pool_fini(&w->pool);
err_ports:
	free(w->ports);
err_free:
	free(w);
err:
	return zerr_set(err, rc, "cannot start the worker %s>%s: %s", from, to, why ? why : strerror(-rc));
}

static void destroy(struct worker *w)
{
	while (w->outbound) {
		struct relay *r = w->outbound;
		w->outbound = r->next;
		free(r);
	}
	reader_fini(w);
	staging_fini(&w->staging); /* before the endpoint, whose device it may be registered with */
	if (w->endpoint)
		w->settles->endpoint_close(w->endpoint);
	close(w->epoll);
	close(w->wake_fd);
	body_collect(w);
	pool_fini(&w->pool);
	free(w->ports);
	free(w);
}

static int start(struct worker_thread *t, const struct worker_params *p, struct zerr *err)
{
	sigset_t all, old;
	zwait_init(&t->wait, p->spin < 0 && zwait_cores() < WORKER_FEW_CORES);
	if (p->spin >= 0)
		t->wait.spins = (uint32_t)p->spin;
	t->poll_ns = p->poll_ns;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* signals belong to the control thread */
	int rc = -pthread_create(&t->thread, NULL, thread_run, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc != 0)
		return zerr_set(err, rc, "cannot start the worker %s: %s%s", t->name, strerror(-rc),
			rc == -EAGAIN ? " (too many processes and threads: ulimit -u)" : "");
	t->started = true;
	return 0;
}

/* One thread for both: it sleeps in the first worker's epoll set, which contains the second worker's. */
static int join(const struct worker_pair *pair, struct zerr *err)
{
	struct worker *first = pair->worker[0], *second = pair->worker[1];
	second->second = WAITER_SECOND;
	second->rx_epoll = first->epoll;
	first->tx_epoll = second->epoll;
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = &second->second};
	return epoll_ctl(first->epoll, EPOLL_CTL_ADD, second->epoll, &ev) == 0
		       ? 0
		       : zerr_set(err, -errno, "cannot start two workers in one thread: %s", strerror(errno));
}

static void stop(struct worker_pair *pair)
{
	const struct command stop_command = {.kind = CMD_STOP};
	for (int i = 0; i < 2; i++) {
		while (!command_ring_push(&pair->worker[i]->ports->commands, &stop_command))
			usleep(1000);
		eventfd_write(pair->worker[i]->wake_fd, 1);
	}
	for (int i = 0; i < 2; i++)
		if (pair->thread[i].started)
			pthread_join(pair->thread[i].thread, NULL);
}

int worker_pair_start(struct worker_pair *pair, const struct worker_params *p, struct zerr *err)
{
	memset(pair, 0, sizeof(*pair));
	int rc = create(&pair->worker[0], p, p->from, p->to, err);
	if (rc != 0)
		return rc;
	rc = create(&pair->worker[1], p, p->to, p->from, err);
	if (rc != 0)
		goto err_first;
	for (int i = 0; i < 2; i++) {
		struct worker_thread *t = &pair->thread[p->shared ? 0 : i];
		pair->worker[i]->opposite = pair->worker[!i];
		t->worker[t->count++] = pair->worker[i];
		snprintf(t->name, sizeof(t->name), "%.6s%s%.7s", i && !p->shared ? p->to : p->from,
			p->shared ? "<>" : ">", i && !p->shared ? p->from : p->to);
		if (p->number > 0)
			snprintf(t->name, sizeof(t->name), "%.4s%s%.4s.%u", i && !p->shared ? p->to : p->from,
				p->shared ? "<>" : ">", i && !p->shared ? p->from : p->to, p->number % 100);
	}
	pair->fabric[0] = p->from;
	pair->fabric[1] = p->to;
	pair->number = p->number;
	if (p->shared)
		rc = join(pair, err);
	for (int i = 0; i < 2 && rc == 0; i++)
		if (pair->thread[i].count > 0)
			rc = start(&pair->thread[i], p, err);
	if (rc == 0)
		return 0;
	stop(pair);
	destroy(pair->worker[1]);
err_first:
	destroy(pair->worker[0]);
	return rc;
}

struct zendpoint *worker_pair_endpoint(struct worker *w, const struct ztransport *t, struct zerr *err)
{
	if (!w->endpoint && t->endpoint_open(&w->endpoint, err) == 0)
		w->settles = t;
	return w->endpoint;
}

static uint64_t cpu_ns(const struct worker_pair *pair, int i)
{
	const struct worker_thread *t = &pair->thread[pair->thread[i].started ? i : 0];
	struct timespec used;
	clockid_t clock;
	if (pthread_getcpuclockid(t->thread, &clock) != 0 || clock_gettime(clock, &used) != 0)
		return 0;
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

void worker_pair_tell(const struct worker_pair *pair, int i, struct zctl_worker_status *out)
{
	const struct worker *w = pair->worker[i];
	*out = (struct zctl_worker_status){.shares = !pair->thread[1].started,
		.cpu_ns = cpu_ns(pair, i),
		.number = pair->number,
		.msgs = w->past_msgs,
		.bytes = w->past_bytes};
	snprintf(out->from, sizeof(out->from), "%s", pair->fabric[i]);
	snprintf(out->to, sizeof(out->to), "%s", pair->fabric[!i]);
	for (const struct list *node = w->all_lanes.next; node != &w->all_lanes; node = node->next) {
		const struct lane_stats *s = &list_entry(node, struct lane, of_worker)->stats;
		out->msgs += atomic_load_explicit(&s->msgs, memory_order_relaxed);
		out->bytes += atomic_load_explicit(&s->bytes, memory_order_relaxed);
	}
}

void worker_pair_stop(struct worker_pair *pair)
{
	stop(pair);
}

void worker_pair_drain(struct worker_pair *pair)
{
	for (int i = 0; i < 2; i++) {
		inbound_drain(pair->worker[i]);
		borrowed_fini(pair->worker[i]);
	}
}

void worker_pair_free(struct worker_pair *pair)
{
	destroy(pair->worker[0]);
	destroy(pair->worker[1]);
}

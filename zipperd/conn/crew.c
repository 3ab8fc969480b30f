/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers of all directions, see crew.h. */
#include "zipperd/conn/crew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/base/log.h"
#include "zipperd/conn/watch.h"
#include "zipperd/lane/relay.h"
#include "zipperd/worker/worker_pair.h"

#define RETRY_MS 1 /* while a worker's command ring is full */

struct waiting { /* a command that found the ring full */
	struct waiting *next;
	struct worker *worker;
	struct command command;
};

struct crew {
	struct watch watch;
	struct daemon *daemon;
	int event_fd;							      /* workers -> control thread */
	struct worker_pair *pair[SETTINGS_FABRICS_MAX][SETTINGS_FABRICS_MAX]; /* [lower][higher] */
	/* One queue for all workers: a command must not overtake one that another worker must have first. */
	struct waiting *head, **tail;
};

static void ready(struct watch *watch)
{
	struct crew *crew = (struct crew *)(void *)watch;
	eventfd_t ignored;
	eventfd_read(crew->event_fd, &ignored); /* every turn looks at the rings */
}

int crew_create(struct daemon *d, struct zerr *err)
{
	struct crew *crew = calloc(1, sizeof(*crew));
	if (!crew)
		return zerr_set(err, -ENOMEM, "out of memory");
	crew->watch.ready = ready;
	crew->daemon = d;
	crew->tail = &crew->head;
	crew->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int rc = crew->event_fd < 0 ? -errno : watch_add(d, crew->event_fd, EPOLLIN, &crew->watch);
	if (rc != 0) {
		if (crew->event_fd >= 0)
			close(crew->event_fd);
		free(crew);
		return zerr_set(err, rc, "eventfd: %s", strerror(-rc));
	}
	d->crew = crew;
	return 0;
}

static struct worker_pair *make_pair(struct crew *crew, int a, int b, struct zerr *err)
{
	struct daemon *d = crew->daemon;
	struct worker_pair *p = calloc(1, sizeof(*p));
	if (!p) {
		zerr_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	struct worker_params params = {.from = d->settings.fabric[a],
		.to = d->settings.fabric[b],
		.eager_bytes = (uint32_t)d->settings.eager_bytes,
		.frag_bytes = settings_fragment(&d->settings),
		.piece_bytes = (uint32_t)d->settings.frag_bytes,
		.staging_bytes = (uint64_t)d->settings.one_sided_bytes,
		.budget = &d->budget,
		.control_fd = crew->event_fd,
		.spin = d->settings.spin,
		.poll_ns = d->settings.poll_ms * 1000000,
		.shared = d->settings.threads == SETTINGS_THREADS_AUTO ? zwait_cores() < WORKER_FEW_CORES
								       : d->settings.threads == SETTINGS_THREADS_PAIR};
	if (worker_pair_start(p, &params, err) != 0) {
		free(p);
		return NULL;
	}
	return p;
}

struct worker *crew_worker(struct daemon *d, int from, int to, struct zerr *err)
{
	int a = from < to ? from : to, b = from < to ? to : from;
	struct worker_pair **p = &d->crew->pair[a][b];
	if (!*p && !(*p = make_pair(d->crew, a, b, err)))
		return NULL;
	return (*p)->worker[from > to];
}

struct relay *crew_relay(struct daemon *d, struct worker *from, struct worker *to)
{
	struct relay *r = from->outbound;
	while (r && r->to != to)
		r = r->next;
	if (r)
		return r;
	r = aligned_alloc(alignof(struct relay), sizeof(*r));
	if (!r)
		return NULL;
	memset(r, 0, sizeof(*r));
	r->from = from;
	r->to = to;
	r->next = from->outbound;
	from->outbound = r;
	crew_send(d, to, &(struct command){.kind = CMD_ADD_INBOUND, .relay = r});
	return r;
}

static void wake(struct worker *w)
{
	eventfd_write(w->wake_fd, 1);
}

void crew_send(struct daemon *d, struct worker *w, const struct command *c)
{
	struct crew *crew = d->crew;
	if (!crew->head && command_ring_push(&w->ports->commands, c)) {
		wake(w);
		return;
	}
	struct waiting *q;
	while (!(q = malloc(sizeof(*q)))) /* a lost command would lose a channel; the workers go on meanwhile */
		usleep(1000);
	*q = (struct waiting){.worker = w, .command = *c};
	*crew->tail = q;
	crew->tail = &q->next;
}

int crew_ping(struct daemon *d)
{
	int n = 0;
	for (int a = 0; a < SETTINGS_FABRICS_MAX; a++)
		for (int b = a + 1; b < SETTINGS_FABRICS_MAX; b++)
			for (int i = 0; d->crew->pair[a][b] && i < 2; i++, n++)
				crew_send(d, d->crew->pair[a][b]->worker[i], &(struct command){.kind = CMD_PING});
	return n;
}

void crew_each(const struct daemon *d,
	void (*tell)(void *arg, const char *from, const char *to, bool shares, uint64_t cpu_ns), void *arg)
{
	const struct settings *c = &d->settings;
	for (int a = 0; a < c->nfabrics; a++)
		for (int b = a + 1; b < c->nfabrics; b++) {
			const struct worker_pair *p = d->crew->pair[a][b];
			for (int i = 0; p && i < 2; i++)
				tell(arg, c->fabric[i ? b : a], c->fabric[i ? a : b], !p->thread[1].started,
					worker_pair_cpu_ns(p, i));
		}
}

static void push_waiting(struct crew *crew)
{
	while (crew->head) {
		struct waiting *q = crew->head;
		if (!command_ring_push(&q->worker->ports->commands, &q->command))
			return;
		wake(q->worker);
		crew->head = q->next;
		if (!crew->head)
			crew->tail = &crew->head;
		free(q);
	}
}

static void poll_worker(struct daemon *d, struct worker *w, void (*handle)(struct daemon *, const struct event *))
{
	struct event *e;
	while ((e = event_ring_peek(&w->ports->events))) {
		struct event copy = *e;
		event_ring_drop(&w->ports->events);
		handle(d, &copy);
	}
}

void crew_poll(struct daemon *d, void (*handle)(struct daemon *, const struct event *))
{
	for (int a = 0; a < d->settings.nfabrics; a++)
		for (int b = a + 1; b < d->settings.nfabrics; b++) {
			struct worker_pair *p = d->crew->pair[a][b];
			if (!p)
				continue;
			poll_worker(d, p->worker[0], handle);
			poll_worker(d, p->worker[1], handle);
		}
	push_waiting(d->crew);
}

int crew_timeout(const struct daemon *d)
{
	return d->crew->head ? RETRY_MS : -1;
}

static void for_each_pair(struct crew *crew, void (*fn)(struct worker_pair *))
{
	for (int a = 0; a < SETTINGS_FABRICS_MAX; a++)
		for (int b = a + 1; b < SETTINGS_FABRICS_MAX; b++)
			if (crew->pair[a][b])
				fn(crew->pair[a][b]);
}

void crew_destroy(struct daemon *d)
{
	struct crew *crew = d->crew;
	if (!crew)
		return;
	for_each_pair(crew, worker_pair_stop);
	for_each_pair(crew, worker_pair_drain);
	for_each_pair(crew, worker_pair_free);
	for (int a = 0; a < SETTINGS_FABRICS_MAX; a++)
		for (int b = a + 1; b < SETTINGS_FABRICS_MAX; b++)
			free(crew->pair[a][b]);
	watch_remove(d, crew->event_fd);
	close(crew->event_fd);
	free(crew);
	d->crew = NULL;
}

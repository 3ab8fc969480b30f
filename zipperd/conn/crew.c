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
	int event_fd;							       /* workers -> control thread */
	uint32_t width;							       /* workers of each direction */
	struct worker_pair **pair[SETTINGS_FABRICS_MAX][SETTINGS_FABRICS_MAX]; /* [lower][higher][width], as made */
	uint32_t turn;
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
	crew->width = settings_workers(&d->settings);
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

static struct worker_pair *make_pair(struct crew *crew, int a, int b, uint32_t number, struct zerr *err)
{
	struct daemon *d = crew->daemon;
	struct worker_pair *p = calloc(1, sizeof(*p));
	if (!p) {
		zerr_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	struct worker_params params = {.from = d->settings.fabric[a],
		.to = d->settings.fabric[b],
		.number = number,
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

struct worker *crew_worker(struct daemon *d, int from, int to, uint32_t number, struct zerr *err)
{
	struct crew *crew = d->crew;
	int a = from < to ? from : to, b = from < to ? to : from;
	struct worker_pair ***all = &crew->pair[a][b];
	if (!*all && !(*all = calloc(crew->width, sizeof(**all)))) {
		zerr_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	number %= crew->width;
	struct worker_pair **p = &(*all)[number];
	if (!*p && !(*p = make_pair(crew, a, b, number, err)))
		return NULL;
	return (*p)->worker[from > to];
}

uint32_t crew_width(const struct daemon *d)
{
	return d->crew->width;
}

uint32_t crew_turn(struct daemon *d)
{
	return d->crew->turn++;
}

/* Has fn do something with all pairs there are, in the order of their fabrics. */
static void for_each_pair(const struct crew *crew, void (*fn)(struct worker_pair *, void *arg), void *arg)
{
	const int n = crew->daemon->settings.nfabrics;
	for (int a = 0; a < n; a++)
		for (int b = a + 1; b < n; b++)
			for (uint32_t i = 0; crew->pair[a][b] && i < crew->width; i++)
				if (crew->pair[a][b][i])
					fn(crew->pair[a][b][i], arg);
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

struct pinging {
	struct daemon *daemon;
	int n;
};

static void ping(struct worker_pair *p, void *arg)
{
	struct pinging *all = arg;
	for (int i = 0; i < 2; i++, all->n++)
		crew_send(all->daemon, p->worker[i], &(struct command){.kind = CMD_PING});
}

int crew_ping(struct daemon *d)
{
	struct pinging all = {.daemon = d};
	for_each_pair(d->crew, ping, &all);
	return all.n;
}

struct listing {
	struct zctl_worker_status *list;
	uint32_t n;
};

static void tell(struct worker_pair *p, void *arg)
{
	struct listing *all = arg;
	for (int i = 0; i < 2; i++)
		worker_pair_tell(p, i, &all->list[all->n++]);
}

uint32_t crew_list(const struct daemon *d, struct zctl_worker_status *list)
{
	struct listing all = {.list = list};
	for_each_pair(d->crew, tell, &all);
	return all.n;
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

struct polling {
	struct daemon *daemon;
	void (*handle)(struct daemon *, const struct event *);
};

static void poll_pair(struct worker_pair *p, void *arg)
{
	const struct polling *all = arg;
	poll_worker(all->daemon, p->worker[0], all->handle);
	poll_worker(all->daemon, p->worker[1], all->handle);
}

void crew_poll(struct daemon *d, void (*handle)(struct daemon *, const struct event *))
{
	for_each_pair(d->crew, poll_pair, &(struct polling){.daemon = d, .handle = handle});
	push_waiting(d->crew);
}

int crew_timeout(const struct daemon *d)
{
	return d->crew->head ? RETRY_MS : -1;
}

static void stop_pair(struct worker_pair *p, void *arg)
{
	(void)arg;
	worker_pair_stop(p);
}

static void drain_pair(struct worker_pair *p, void *arg)
{
	(void)arg;
	worker_pair_drain(p);
}

static void free_pair(struct worker_pair *p, void *arg)
{
	(void)arg;
	worker_pair_free(p);
	free(p);
}

void crew_destroy(struct daemon *d)
{
	struct crew *crew = d->crew;
	if (!crew)
		return;
	for_each_pair(crew, stop_pair, NULL);
	for_each_pair(crew, drain_pair, NULL);
	for_each_pair(crew, free_pair, NULL);
	for (int a = 0; a < SETTINGS_FABRICS_MAX; a++)
		for (int b = a + 1; b < SETTINGS_FABRICS_MAX; b++)
			free(crew->pair[a][b]);
	watch_remove(d, crew->event_fd);
	close(crew->event_fd);
	free(crew);
	d->crew = NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages in the network, see transfer.h. A pool is a part of a message that one number of bytes is left of. */
#include "mapper/replay/transfer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "mapper/base/rng.h"
#include "mapper/replay/shares_settle.h"

struct pool {
	struct agenda_item event; /* first: its end */
	struct message *message;
	double left, rate;   /* bytes; bytes/s: INFINITY where nothing limits it */
	double begin, since; /* s; since: when left and why were brought up to date */
	struct why *why;
	enum why_cause cause;
	uint32_t limit; /* of the first flow; or the node, where it is local */
	uint32_t flow[ROUTING_PATHS_MAX], nflows;
	uint64_t settled;	  /* as in struct transfers, when its rate was found */
	struct pool *next, *prev; /* all pools; or the next unused one */
};

struct transfers {
	const struct net *net;
	const struct replay_opts *opts;
	struct agenda *agenda;
	struct why_store *whys;
	struct shares *shares;
	int (*done)(void *, struct message *, double);
	void *arg;
	double now, due;	 /* due: when the rates are to be found again, at the latest */
	uint64_t drawn, settled; /* messages that have drawn paths; times that rates were found */
	struct pool *pools, *unused;
	struct path_set paths;
};

int transfers_create(struct transfers **out, const struct net *net, uint32_t nodes, const struct replay_opts *opts,
	struct agenda *agenda, struct why_store *whys, int (*done)(void *, struct message *, double), void *arg)
{
	uint32_t ends = opts->node_bandwidth > 0 ? 2 * nodes : 0;
	double *capacity = malloc(((size_t)net->links + ends + 1) * sizeof(*capacity));
	struct transfers *t = calloc(1, sizeof(*t));
	int rc = -ENOMEM;

	*out = t;
	if (t && capacity) {
		*t = (struct transfers){.net = net,
			.opts = opts,
			.agenda = agenda,
			.whys = whys,
			.due = INFINITY,
			.done = done,
			.arg = arg};
		for (uint32_t l = 0; l < net->links; l++)
			capacity[l] = (double)net->capacity[l];
		for (uint32_t e = 0; e < ends; e++)
			capacity[net->links + e] = opts->node_bandwidth;
		rc = shares_create(&t->shares, capacity, net->links + ends);
	}
	free(capacity);
	return rc;
}

void transfers_destroy(struct transfers *t)
{
	for (int i = 0; t && i < 2; i++)
		for (struct pool *p = i ? t->unused : t->pools, *next; p; p = next) {
			next = p->next;
			free(p);
		}
	if (t)
		shares_destroy(t->shares);
	free(t);
}

/* --- pools --- */

static struct pool *pool_new(struct transfers *t, struct message *m, double bytes)
{
	struct pool *p = t->unused;

	if (p)
		t->unused = p->next;
	else if (!(p = malloc(sizeof(*p))))
		return NULL;
	*p = (struct pool){.event = {.kind = AGENDA_POOL},
		.message = m,
		.left = bytes,
		.begin = t->now,
		.since = t->now,
		.why = why_hold(m->why),
		.cause = WHY_LINK,
		.next = t->pools};
	if (p->next)
		p->next->prev = p;
	t->pools = p;
	m->pools++;
	return p;
}

static void pool_free(struct transfers *t, struct pool *p)
{
	if (p->next)
		p->next->prev = p->prev;
	if (p->prev)
		p->prev->next = p->next;
	else
		t->pools = p->next;
	p->next = t->unused;
	t->unused = p;
}

/* Brings the pool up to date. */
static void pool_advance(struct transfers *t, struct pool *p)
{
	double seconds = t->now - p->since;

	if (!(seconds > 0))
		return;
	p->left -= p->rate * seconds;
	p->left = p->left > 0 ? p->left : 0;
	p->why = why_add(t->whys, p->why, p->message->phase, p->cause, p->limit, seconds);
	p->since = t->now;
}

/* Puts the end of the pool on the agenda, by its rate. */
static int pool_plan(struct transfers *t, struct pool *p)
{
	return agenda_put(t->agenda, &p->event, t->now + (isinf(p->rate) ? 0 : p->left / p->rate));
}

static void pool_changed(void *arg, void *owner)
{
	struct transfers *t = arg;
	struct pool *p = owner;
	bool first = !p->settled;

	if (p->settled == t->settled)
		return; /* for another one of its flows */
	p->settled = t->settled;
	if (!first)
		pool_advance(t, p);
	p->rate = 0;
	for (uint32_t i = 0; i < p->nflows; i++)
		p->rate += shares_rate(t->shares, p->flow[i]);
	p->limit = shares_limit(t->shares, p->flow[0]);
	if (first)
		pool_advance(t, p); /* it has had this rate since it began */
	pool_plan(t, p);	    /* it is there, so this cannot fail */
}

/* Something has changed that would last for so long: for the share of it that is tolerated, rates may stay as they are.
 */
static void due(struct transfers *t, double seconds)
{
	double at = t->now + t->opts->tolerance * seconds;

	t->due = at < t->due ? at : t->due;
}

/* Adds a path to the pool; without any link it has no limit. */
static int pool_route(struct transfers *t, struct pool *p, const uint32_t *link, uint32_t n, double weight)
{
	int rc;

	if (!n) {
		p->rate = INFINITY;
		return pool_plan(t, p);
	}
	rc = shares_add(t->shares, link, n, weight, p, &p->flow[p->nflows]);
	if (rc)
		return rc;
	p->nflows++;
	due(t, p->left / shares_ceiling(t->shares, p->flow[p->nflows - 1]));
	/* its time is known when the rates are found, see pool_changed; until then it never ends */
	return agenda_put(t->agenda, &p->event, INFINITY);
}

/* --- paths --- */

/* The links of a path and the ends of its nodes, into link[NET_SLOTS_MAX + 2]. Returns their number. */
static uint32_t path_take(const struct transfers *t, struct message *m, const uint32_t *path, uint32_t slots,
	uint32_t *link)
{
	const struct net *net = t->net;
	uint32_t n = 0;

	for (uint32_t i = 0; i < slots; i++)
		if (net->link_class[path[i]] != NET_NONE)
			link[n++] = path[i];
	m->hops = n > m->hops ? n : m->hops;
	if (t->opts->node_bandwidth > 0) {
		link[n++] = net->links + 2 * m->from.node;
		link[n++] = net->links + 2 * m->to.node + 1;
	}
	return n;
}

/* Draws the paths of a message, into t->paths; between nodes at one point, one without links. A message draws the same
 * ones each time. */
static void paths_draw(struct transfers *t, struct message *m)
{
	const struct replay_opts *o = t->opts;
	uint32_t s = m->from.point, d = m->to.point;

	t->paths.n = 0;
	if (!m->draw)
		m->draw = ++t->drawn;
	if (s == d)
		path_set_add(&t->paths, 0);
	else
		o->routing->draw(t->net, &o->model, s, d,
			rng_at(o->model.seed, RNG_PATH, (uint64_t)s << 32 | d, m->draw - 1), &t->paths);
}

static int local_begin(struct transfers *t, struct message *m)
{
	struct pool *p = pool_new(t, m, (double)m->bytes);

	if (!p)
		return -ENOMEM;
	p->cause = WHY_LOCAL;
	p->limit = m->from.node;
	p->rate = t->opts->local_bandwidth > 0 ? t->opts->local_bandwidth : (double)INFINITY;
	return pool_plan(t, p);
}

void transfers_measure(struct transfers *t, struct message *m)
{
	uint32_t link[NET_SLOTS_MAX + 2];
	const uint32_t *path = t->paths.link;

	if (!(t->opts->hop > 0) || m->hops || m->from.node == m->to.node)
		return;
	paths_draw(t, m);
	for (uint32_t k = 0; k < t->paths.n; path += t->paths.slots[k++])
		path_take(t, m, path, t->paths.slots[k], link);
}

int transfers_begin(struct transfers *t, struct message *m, double now)
{
	uint32_t link[NET_SLOTS_MAX + 2];
	const uint32_t *path = t->paths.link;
	struct pool *p = NULL;
	int rc = 0;

	t->now = now;
	if (!m->bytes) {
		transfers_measure(t, m);
		return t->done(t->arg, m, now);
	}
	if (m->from.node == m->to.node)
		return local_begin(t, m);
	paths_draw(t, m);
	for (uint32_t k = 0, n; k < t->paths.n && !rc; path += t->paths.slots[k++]) {
		double part = 1.0 / t->paths.n;

		if (!t->opts->routing->adaptive || !p)
			p = pool_new(t, m, (double)m->bytes * (t->opts->routing->adaptive ? 1 : part));
		if (!p)
			return -ENOMEM;
		n = path_take(t, m, path, t->paths.slots[k], link);
		rc = pool_route(t, p, link, n, part);
	}
	return rc;
}

int transfers_end(struct transfers *t, struct agenda_item *event, double now)
{
	struct pool *p = (struct pool *)event;
	struct message *m = p->message;

	t->now = now;
	pool_advance(t, p);
	for (uint32_t i = 0; i < p->nflows; i++)
		shares_remove(t->shares, p->flow[i]);
	if (p->nflows)
		due(t, now - p->begin);
	why_drop(t->whys, m->why);
	m->why = p->why;
	m->pools--;
	pool_free(t, p);
	return m->pools ? 0 : t->done(t->arg, m, now);
}

double transfers_since(const struct agenda_item *event)
{
	return ((const struct pool *)event)->begin;
}

double transfers_due(const struct transfers *t)
{
	return t->due;
}

int transfers_settle(struct transfers *t, double now)
{
	t->now = now;
	t->due = INFINITY;
	t->settled++;
	return shares_settle(t->shares, pool_changed, t);
}

void transfers_name(const struct net *net, uint32_t id, char *buf, size_t size, bool *is_end)
{
	*is_end = id >= net->links;
	if (*is_end)
		snprintf(buf, size, "node %u %s", (id - net->links) / 2, (id - net->links) % 2 ? "in" : "out");
	else
		net->ops->link_name(net, id, buf, size);
}

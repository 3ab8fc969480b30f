/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of the control thread, see peer.h. What a peer does wrong costs that peer alone. */
#include "zipperd/control/peer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "zipperd/control/circuit.h"
#include "zipperd/control/job.h"
#include "common/base/log.h"

#define READ_BUDGET 16		   /* messages per turn */
#define REFUSE_MS 2000		   /* time to read an ERROR */
#define HANGUPS_MAX 64		   /* ends that are put in order */
#define STRANGER_MAX_BYTES 4096	   /* of a message before it is known who sends it */
#define LEAVE_MAX_BYTES (4u << 20) /* that a dismissed peer may go on sending */

static void peer_ready(struct watch *);
static void turn(struct peer *);

/* --- life --- */

static void unwatch(struct peer *p)
{
	daemon_unwatch(p->daemon, p->rx_fd);
	if (p->tx_fd != p->rx_fd)
		daemon_unwatch(p->daemon, p->tx_fd);
}

int peer_create(struct daemon *d, const struct listener *l, struct zlink *z, struct zerr *err)
{
	struct peer *p = calloc(1, sizeof(*p));
	uint32_t rx_events = 0, tx_events = 0;
	if (!p) {
		z->ops->close(z);
		return zerr_set(err, -ENOMEM, "out of memory");
	}
	p->watch.ready = peer_ready;
	p->daemon = d;
	p->listener = l;
	p->zlink = z;
	p->tail = &p->head;
	p->deadline_ms = d->now_ms + d->settings.hello_timeout_ms;
	p->rx_fd = z->ops->fd(z, ZLINK_RX, &rx_events);
	p->tx_fd = z->ops->fd(z, ZLINK_TX, &tx_events);
	int rc = daemon_watch(d, p->rx_fd, rx_events, &p->watch);
	if (rc == 0 && p->tx_fd != p->rx_fd)
		rc = daemon_watch(d, p->tx_fd, 0, &p->watch);
	if (rc == 0)
		rc = daemon_watch_hangup(d, p->rx_fd, p);
	if (rc != 0) {
		unwatch(p);
		z->ops->close(z);
		free(p);
		return zerr_set(err, rc, "%s", strerror(-rc));
	}
	list_add(&d->strangers, &p->link);
	d->nstrangers++;
	p->late = d->full_since_ms != 0;
	d->nlate += p->late;
	d->nconnections++;
	/* Something may be there already, and the link wants to be armed. */
	list_add(&d->again, &p->again);
	return 0;
}

void peer_leave_strangers(struct peer *p)
{
	if (p->state == PEER_HELLO || p->state == PEER_PROOF || p->state == PEER_ATTACH)
		p->daemon->nstrangers--;
}

/* Out of everything but its job; freed at the end of the turn. */
static void detach(struct peer *p)
{
	struct daemon *d = p->daemon;
	peer_leave_strangers(p);
	unwatch(p);
	daemon_unwatch_hangup(d, p->rx_fd);
	d->nlate -= p->late;
	p->state = PEER_DEAD;
	list_del(&p->again);
	list_del(&p->link);
	list_add(&d->dead, &p->link);
	if (p->rank)
		p->rank->peer = NULL;
	if (p->launches)
		p->launches->launcher = NULL;
	if (p->circuit)
		circuit_forget(p->circuit);
	p->rank = NULL;
	p->launches = NULL;
}

static void peer_close(struct peer *p)
{
	if (p->state == PEER_DEAD)
		return;
	detach(p);
	p->daemon->nconnections--;
	p->zlink->ops->close(p->zlink);
	p->zlink = NULL;
}

struct zlink *peer_release(struct peer *p)
{
	struct zlink *z = p->zlink;
	detach(p);
	p->zlink = NULL;
	return z;
}

void peers_bury(struct daemon *d)
{
	while (!list_empty(&d->dead)) {
		struct peer *p = list_entry(d->dead.next, struct peer, link);
		list_del(&p->link);
		peer_drop_unsent(p);
		free(p);
	}
}

/* The connection is gone. What that means depends on whose it was. */
static void peer_lost(struct peer *p, const char *how)
{
	struct rank *rank = p->rank;
	struct job *job = p->launches;
	peer_close(p);
	if (rank)
		job_rank_lost(rank, how);
	if (job)
		job_launcher_gone(job, how);
}

void peer_breach(struct peer *p, const char *what)
{
	struct daemon *d = p->daemon;
	uint32_t dropped;
	if (p->state == PEER_DEAD)
		return;
	if (limit_pass(&d->bad_peer, d->now_ms, &dropped)) {
		if (dropped)
			zlog(ZLOG_WARN, "%u more connections that made no sense", dropped);
		zlog(ZLOG_WARN, "%s: %s: connection closed", p->zlink->peer, what);
	}
	peer_lost(p, what);
}

/* --- taking leave --- */

void peer_dismiss(struct peer *p, int64_t ms)
{
	if (p->state == PEER_DEAD || p->state == PEER_LEAVING)
		return;
	peer_leave_strangers(p);
	if (p->rank)
		p->rank->peer = NULL;
	if (p->launches)
		p->launches->launcher = NULL;
	p->rank = NULL;
	p->launches = NULL;
	p->state = PEER_LEAVING;
	p->deadline_ms = p->daemon->now_ms + ms;
	list_del(&p->link);
	list_add(&p->daemon->leaving, &p->link);
}

void peer_refuse(struct peer *p, int code, const char *fmt, ...)
{
	struct zctl_msg msg = {.type = ZCTL_ERROR};
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(msg.u.error.text, sizeof(msg.u.error.text), fmt, ap);
	va_end(ap);
	msg.u.error.code = code;
	if (p->state == PEER_LEAVING || p->state == PEER_DEAD)
		return;
	peer_send(p, &msg);
	peer_dismiss(p, REFUSE_MS);
}

/* --- what it says --- */

static void on_bye(struct peer *p)
{
	struct rank *rank = p->rank;
	struct job *job = p->launches;
	peer_close(p);
	if (rank)
		job_rank_bye(rank);
	if (job)
		job_launcher_gone(job, "left");
}

/* What came is handled after poll has returned, so that nothing closes a link inside its own poll. */
struct received {
	bool bye, any;
	struct zctl_msg msg;
	struct zerr bad;
	uint64_t bytes;
};

static int take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct received *r = ctx;
	(void)raw;
	r->any = true;
	r->bytes += ZWIRE_ENV_BYTES + (uint64_t)env->len;
	if (env->kind == ZWIRE_BYE && env->len == 0) {
		r->bye = true;
		return 0;
	}
	if (env->kind != ZWIRE_CTRL)
		return zerr_set(&r->bad, -EPROTO, "%s where a control message belongs", zwire_kind_name(env->kind));
	return zctl_decode(&r->msg, payload, env->len, &r->bad);
}

/* One place for all that nobody will look at. */
static void *place_leaving(void *ctx, const struct zwire_env *env)
{
	static uint8_t dropped[ZWIRE_MAX_PAYLOAD];
	(void)ctx;
	(void)env;
	return dropped;
}

static int take_leaving(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct received *r = ctx;
	(void)raw;
	(void)payload;
	r->any = true;
	r->bytes += ZWIRE_ENV_BYTES + (uint64_t)env->len;
	r->bye |= env->kind == ZWIRE_BYE;
	return 0;
}

/* A rank that dies takes others with it: its mpiexec kills them at once, before zipperd may have looked. Who was first
 * is to be named, and the set for messages cannot tell: who spoke shortly before is in front there. So those who ended
 * before p are heard first; a BYE that waits in one of them makes it none of the dead. */
static void hear_earlier_ends(struct peer *p)
{
	void *gone[HANGUPS_MAX];
	int n = p->rank ? daemon_hangups(p->daemon, gone, HANGUPS_MAX) : 0;
	for (int i = 0; i < n && gone[i] != p && p->rank; i++) {
		struct peer *earlier = gone[i];
		if (earlier->rank && earlier->rank->job == p->rank->job && earlier->state == PEER_READY)
			turn(earlier);
	}
}

static void peer_ended(struct peer *p, int rc)
{
	hear_earlier_ends(p);
	peer_lost(p, rc == -ESHUTDOWN ? "closed its connection" : "lost its connection");
}

/* One message. true: there may be more. */
static bool read_one(struct peer *p)
{
	bool leaving = p->state == PEER_LEAVING;
	struct received r = {.any = false};
	struct zsink sink = {.take = take, .ctx = &r};
	if (leaving)
		sink = (struct zsink){.place = place_leaving, .take = take_leaving, .ctx = &r};
	else if (p->state != PEER_READY)
		sink.max_len = STRANGER_MAX_BYTES;
	int rc = p->zlink->ops->poll(p->zlink, &sink, 1);
	if (leaving) {
		p->dropped_bytes += r.bytes;
		if ((rc < 0 && rc != -EAGAIN) || r.bye || p->dropped_bytes > LEAVE_MAX_BYTES)
			peer_close(p);
		return r.any;
	}
	if (r.bad.text[0])
		peer_breach(p, r.bad.text);
	else if (rc == -EPROTO)
		peer_breach(p, "not what a zipper's peer sends");
	else if (rc == -EMFILE)
		peer_breach(p, "no descriptors are left for its connection (ulimit -n)");
	else if (r.bye)
		on_bye(p);
	else if (r.any && rc >= 0)
		peer_hear(p, &r.msg);
	else if (rc < 0 && rc != -EAGAIN)
		peer_ended(p, rc);
	if (r.msg.type)
		zctl_free(&r.msg);
	return r.any;
}

static void turn(struct peer *p)
{
	if (p->head || p->blocked)
		peer_push(p);
	for (int i = 0; i < READ_BUDGET; i++) {
		bool any = read_one(p);
		if (p->state == PEER_DEAD)
			return;
		if (!any && p->zlink->ops->arm(p->zlink, ZLINK_RX) == 0)
			return;
	}
	if (!list_linked(&p->again))
		list_add(&p->daemon->again, &p->again);
}

static void peer_ready(struct watch *watch)
{
	struct peer *p = (struct peer *)(void *)watch;
	if (p->state != PEER_DEAD)
		turn(p);
}

void peers_continue(struct daemon *d)
{
	struct list round;
	list_take(&round, &d->again); /* those that add themselves again are for the next turn */
	while (!list_empty(&round)) {
		struct peer *p = list_entry(round.next, struct peer, again);
		list_del(&p->again);
		turn(p);
	}
}

/* --- time --- */

static void expire(struct peer *p)
{
	if (p->state == PEER_LEAVING) {
		peer_close(p);
	} else if (p->state == PEER_READY) {
		peer_lost(p, "does not read what it is sent");
	} else {
		peer_breach(p, "did not say who it is in time");
	}
}

/* The first of the list whose time is over, or NULL. */
static struct peer *overdue(const struct daemon *d, const struct list *head)
{
	for (const struct list *node = head->next; node != head; node = node->next) {
		struct peer *p = list_entry(node, struct peer, link);
		if (p->deadline_ms && p->deadline_ms <= d->now_ms)
			return p;
	}
	return NULL;
}

void peers_expire(struct daemon *d)
{
	struct list *lists[] = {&d->strangers, &d->greeted, &d->leaving};
	struct peer *p;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		while ((p = overdue(d, lists[i]))) /* from the beginning: its job's peers may have moved too */
			expire(p);
}

bool peers_timed(const struct daemon *d)
{
	return !list_empty(&d->strangers) || !list_empty(&d->greeted) || !list_empty(&d->leaving);
}

void peers_close(struct daemon *d)
{
	struct list *lists[] = {&d->strangers, &d->greeted, &d->known, &d->leaving};
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		while (!list_empty(lists[i]))
			peer_close(list_entry(lists[i]->next, struct peer, link));
	peers_bury(d);
}

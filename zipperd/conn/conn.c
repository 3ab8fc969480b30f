/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of connections, see conn.h. */
#include "zipperd/conn/conn.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/conn/munger.h"
#include "zipperd/conn/quota.h"

#define REFUSE_MS 2000 /* the time to read an ERROR */

static void unwatch(struct conn *conn)
{
	if (conn->inner)
		return;
	watch_remove(conn->daemon, conn->rx_fd);
	if (conn->tx_fd != conn->rx_fd)
		watch_remove(conn->daemon, conn->tx_fd);
}

int conn_create(struct conn **out, struct daemon *d, const struct listener *l, struct zlink *z,
	void (*ready)(struct watch *), struct zerr *err)
{
	struct conn *conn = calloc(1, sizeof(*conn));
	uint32_t rx_events = 0, tx_events = 0;
	if (!conn) {
		z->ops->close(z);
		return zerr_set(err, -ENOMEM, "out of memory");
	}
	conn->watch.ready = ready;
	conn->daemon = d;
	conn->listener = l;
	conn->zlink = z;
	conn->tail = &conn->head;
	conn->deadline_ms = d->now_ms + d->settings.hello_timeout_ms;
	conn->rx_fd = z->ops->fd(z, ZLINK_RX, &rx_events);
	conn->tx_fd = z->ops->fd(z, ZLINK_TX, &tx_events);
	int rc = watch_add(d, conn->rx_fd, rx_events, &conn->watch);
	if (rc == 0 && conn->tx_fd != conn->rx_fd)
		rc = watch_add(d, conn->tx_fd, 0, &conn->watch);
	if (rc == 0)
		rc = watch_add_hangup(d, conn->rx_fd, conn);
	if (rc == 0 && (rc = address_enter(d->addresses, &conn->stranger, z->peer, d->now_ms)) != 0)
		watch_remove_hangup(d, conn->rx_fd);
	if (rc != 0) {
		unwatch(conn);
		z->ops->close(z);
		free(conn);
		return zerr_set(err, rc, "%s", strerror(-rc));
	}
	list_add(&d->strangers, &conn->link);
	conn->late = d->full_since_ms != 0;
	d->nlate += conn->late;
	d->nconnections++;
	/* A message may be there already, and the link wants to be armed. */
	list_add(&d->again, &conn->again);
	*out = conn;
	return 0;
}

struct conn *conn_create_inner(struct daemon *d, const struct listener *l, struct zlink *z,
	void (*ready)(struct watch *))
{
	struct conn *conn = calloc(1, sizeof(*conn));
	if (!conn)
		return NULL;
	conn->watch.ready = ready;
	conn->daemon = d;
	conn->listener = l;
	conn->zlink = z;
	conn->inner = true;
	conn->tail = &conn->head;
	conn->deadline_ms = d->now_ms + d->settings.hello_timeout_ms;
	conn->rx_fd = conn->tx_fd = -1;
	list_add(&d->strangers, &conn->link);
	return conn;
}

/* Its rank or launcher's job does not have it any more. */
static void let_go(struct conn *conn)
{
	if (conn->held_at)
		*conn->held_at = NULL;
	conn->held_at = NULL;
	conn->rank = NULL;
	conn->launches = NULL;
}

/* Takes it out of all lists; it is freed at the end of the turn. */
static void detach(struct conn *conn)
{
	struct daemon *d = conn->daemon;
	address_leave(&conn->stranger);
	unwatch(conn);
	if (!conn->inner)
		watch_remove_hangup(d, conn->rx_fd);
	d->nlate -= conn->late;
	d->nvisitors -= conn->visits;
	if (conn->asks)
		munger_drop(conn->asks);
	conn->asks = NULL;
	conn->state = CONN_DEAD;
	list_del(&conn->again);
	list_del(&conn->link);
	list_add(&d->dead, &conn->link);
	let_go(conn);
}

void conn_close(struct conn *conn)
{
	if (conn->state == CONN_DEAD)
		return;
	detach(conn);
	if (!conn->inner) {
		conn->daemon->nconnections--;
		quota_give(conn->user, QUOTA_CONNECTIONS);
	}
	conn->zlink->ops->close(conn->zlink);
	conn->zlink = NULL;
}

struct zlink *conn_release(struct conn *conn)
{
	struct zlink *z = conn->zlink;
	detach(conn);
	conn->zlink = NULL;
	return z;
}

void conn_bury_all(struct daemon *d)
{
	while (!list_empty(&d->dead)) {
		struct conn *conn = list_entry(d->dead.next, struct conn, link);
		list_del(&conn->link);
		conn_send_drop(conn);
		zauth_module.wipe(conn->key, sizeof(conn->key));
		zauth_module.wipe(conn->secret, sizeof(conn->secret));
		free(conn);
	}
}

/* --- what it has said --- */

/* A rank greets all zippers and then joins one after the other, and each answers only when all ranks are there. That
 * may take the longest time that another zipper allows; this one only knows its own. A launcher knows for its own
 * zipperds. */
static int64_t find_deadline(const struct conn *conn)
{
	const struct settings *s = &conn->daemon->settings;
	const int64_t join_ms =
		s->join_timeout_ms > s->max_join_timeout_ms ? s->join_timeout_ms : s->max_join_timeout_ms;
	const bool rank = conn->hello.service == ZCTL_SERVICE_RANK;
	if (rank && conn->daemon->for_job)
		return 0;
	return conn->daemon->now_ms + s->hello_timeout_ms + (rank ? join_ms : 0);
}

void conn_greet(struct conn *conn)
{
	address_leave(&conn->stranger);
	conn->state = CONN_READY;
	conn->deadline_ms = find_deadline(conn);
	list_del(&conn->link);
	list_add(&conn->daemon->greeted, &conn->link);
}

void conn_settle(struct conn *conn)
{
	conn->deadline_ms = 0;
	conn->daemon->nlate -= conn->late;
	conn->late = false;
	list_del(&conn->link);
	list_add(&conn->daemon->known, &conn->link);
}

/* --- taking leave --- */

void conn_dismiss(struct conn *conn, int64_t ms)
{
	if (conn->state == CONN_DEAD || conn->state == CONN_LEAVING)
		return;
	if (conn->asks)
		munger_drop(conn->asks);
	conn->asks = NULL;
	let_go(conn);
	address_note(&conn->stranger, false); /* a stranger stays one: refused strangers do not make room for others */
	conn->state = CONN_LEAVING;
	conn->deadline_ms = conn->daemon->now_ms + ms;
	list_del(&conn->link);
	list_add(&conn->daemon->leaving, &conn->link);
}

void conn_give_way(struct conn *conn, const char *option, int64_t value)
{
	struct daemon *d = conn->daemon;
	struct zctl_msg msg = {.type = ZCTL_ERROR};
	uint32_t dropped;
	if (limit_pass(&d->displaced, d->now_ms, &dropped)) {
		if (dropped)
			zlog(ZLOG_WARN, "%u more connections that were closed for newer ones", dropped);
		zlog(ZLOG_WARN, "%s: closed for a newer connection: too many have not proved who they are (%s = %lld)",
			conn->zlink->peer, option, (long long)value);
	}
	msg.u.error.code = EAGAIN; /* zsession_open tries again */
	snprintf(msg.u.error.text, sizeof(msg.u.error.text),
		"zipperd has too many connections that have not proved who they are (%s = %lld): try again later",
		option, (long long)value);
	if (conn->state != CONN_LEAVING)
		conn_send(conn, &msg);
	conn_close(conn);
}

void conn_refuse(struct conn *conn, int code, const char *fmt, ...)
{
	struct zctl_msg msg = {.type = ZCTL_ERROR};
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(msg.u.error.text, sizeof(msg.u.error.text), fmt, ap);
	va_end(ap);
	msg.u.error.code = code;
	if (conn->state == CONN_LEAVING || conn->state == CONN_DEAD)
		return;
	conn->daemon->nrefused++;
	conn_send(conn, &msg);
	conn_dismiss(conn, REFUSE_MS);
}

bool conn_administers(const struct conn *conn)
{
	const struct zctl_hello *h = &conn->hello;
	if (conn->state != CONN_READY || h->service != ZCTL_SERVICE_ADMIN)
		return false;
	return settings_has_administrator(&conn->daemon->settings, h->user) ||
	       (h->method == ZCTL_METHOD_MUNGE && strcmp(h->user, "root") == 0);
}

bool conn_any_timed(const struct daemon *d)
{
	return !list_empty(&d->strangers) || !list_empty(&d->greeted) || !list_empty(&d->leaving);
}

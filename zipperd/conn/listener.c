/* SPDX-License-Identifier: BSD-3-Clause */
/* Listening and accepting, see listener.h. Where there are too many connections, new ones wait in the kernel's queue at
 * first (capacity.h), so that none is refused that could be served a moment later. */
#include "zipperd/conn/listener.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/transport/base/inherited.h"
#include "common/transport/tcp/tcp_socket.h"
#include "common/transport/transports.h"
#include "zipperd/conn/capacity.h"
#include "zipperd/conn/conn.h"

#define ACCEPT_BUDGET 32      /* connections per turn */
#define NO_DESCRIPTORS_MS 200 /* pause when accept fails for lack of resources */
/* A zipperd that ends closes its listeners at once. A new one that is started beside it may still be too early. */
#define BUSY_MS 2000
#define BUSY_AGAIN_MS 20 /* between two tries */

static struct conn *conn_of(struct stranger *s)
{
	return s ? list_entry(s, struct conn, stranger) : NULL;
}

/* Closes a stranger where the newest one is one too many. */
static void make_room(struct conn *newest)
{
	struct daemon *d = newest->daemon;
	const char *option;
	int64_t limit;
	struct conn *goes = conn_of(address_surplus(&newest->stranger, d->now_ms, &option, &limit));
	if (!goes && d->crowded) {
		option = "max_connections";
		limit = d->settings.max_connections;
		goes = conn_of(address_spare(d->addresses, d->now_ms));
	}
	if (goes)
		conn_give_way(goes, option, limit);
}

static void ready(struct watch *watch)
{
	struct listener *l = (struct listener *)(void *)watch;
	struct daemon *d = l->daemon;
	for (int i = 0; i < ACCEPT_BUDGET; i++) {
		struct zlink *z;
		struct conn *conn;
		struct zerr err = {.text = ""};
		if (!capacity_allows(d)) {
			listener_pause_all(d, 0);
			return;
		}
		int rc = l->zlistener->ops->accept(l->zlistener, &z, &err);
		if (rc == -EAGAIN)
			return;
		if (rc == 0)
			rc = conn_create(&conn, d, l, z, l->conn_ready, &err);
		if (rc == 0) {
			make_room(conn);
			continue;
		}
		uint32_t dropped;
		if (limit_pass(&d->no_accept, d->now_ms, &dropped))
			zlog(ZLOG_WARN, "%s: a connection was lost on accepting it: %s", l->text,
				err.text[0] ? err.text : strerror(-rc));
		if (rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM || rc == -ENOBUFS) {
			listener_pause_all(d, NO_DESCRIPTORS_MS);
			return;
		}
	}
}

void listener_pause_all(struct daemon *d, int64_t for_ms)
{
	if (d->paused)
		return;
	d->paused = true;
	d->pause_until_ms = for_ms ? d->now_ms + for_ms : 0;
	for (int i = 0; i < d->nlisteners; i++)
		if (d->listeners[i].zlistener)
			watch_change(d, d->listeners[i].fd, 0, &d->listeners[i].watch);
}

void listener_resume_all(struct daemon *d)
{
	if (!d->paused || d->now_ms < d->pause_until_ms || !capacity_allows(d))
		return;
	d->paused = false;
	for (int i = 0; i < d->nlisteners; i++)
		if (d->listeners[i].zlistener)
			watch_change(d, d->listeners[i].fd, EPOLLIN, &d->listeners[i].watch);
}

/* Listens at the place, which another zipperd may be about to leave. 0 or a negative errno with text. */
static int listen_at(const struct ztransport *t, struct listener *l, struct zerr *err)
{
	const struct timespec pause = {.tv_nsec = BUSY_AGAIN_MS * 1000000};
	const int64_t end = zclock_ms() + BUSY_MS;
	int rc;
	while ((rc = t->listen(&l->zlistener, &l->where.addr, err)) == -EADDRINUSE && zclock_ms() < end)
		nanosleep(&pause, NULL);
	return rc;
}

/* 0 or a negative errno with text. */
static int open_one(struct daemon *d, struct listener *l, struct zerr *err)
{
	static const char what[] = "cannot listen on";
	const struct ztransport *t = ztransports_find(l->where.addr.kind, err);
	if (!t)
		return zaddr_prefix(&l->where.addr, err, -EPROTONOSUPPORT, what);
	int rc = listen_at(t, l, err);
	if (rc != 0)
		return rc;
	t->listener_addr(l->zlistener, &l->where.addr);
	zaddr_format(&l->where.addr, l->text, sizeof(l->text));
	l->fd = t->listener_fd(l->zlistener);
	rc = watch_add(d, l->fd, EPOLLIN, &l->watch);
	if (rc == 0)
		return 0;
	t->unlisten(l->zlistener);
	return zerr_set(err, rc, "%s %s: %s", what, l->text, strerror(-rc));
}

/* Puts the place of the option in front of the text, where the place is a line of a file. */
static int fail_at(const struct settings_listen *where, int rc, struct zerr *err)
{
	return strchr(where->at, ':') ? zerr_prefix(err, rc, "%s", where->at) : rc;
}

int listener_check_all(const struct settings *c, struct zerr *err)
{
	for (int i = 0; i < c->nlistens; i++) {
		const struct settings_listen *l = &c->listen[i];
		struct zaddr tcp;
		int rc = zaddr_tcp(&l->addr, &tcp) ? tcp_socket_resolve(&tcp, err) : 0;
		if (rc != 0)
			return fail_at(l, zerr_prefix(err, rc, "listen"), err);
	}
	return 0;
}

int listener_open_all(struct daemon *d, void (*conn_ready)(struct watch *), struct zerr *err)
{
	d->listeners = calloc((size_t)d->settings.nlistens, sizeof(*d->listeners));
	if (!d->listeners)
		return zerr_set(err, -ENOMEM, "out of memory");
	for (int i = 0; i < d->settings.nlistens; i++) {
		struct listener *l = &d->listeners[i];
		l->watch.ready = ready;
		l->watch.last = true; /* strangers that have said something by now do not go for new ones */
		l->daemon = d;
		l->conn_ready = conn_ready;
		l->where = d->settings.listen[i];
		int rc = open_one(d, l, err);
		if (rc != 0) {
			if (!d->for_job)
				fail_at(&l->where, rc, err);
			listener_close_all(d);
			return rc;
		}
		d->nlisteners++;
	}
	char address[128];
	while (zinherited_close_one(address, sizeof(address)) == 0)
		zlog(ZLOG_WARN, "the service manager listens on %s, which no listen names: closed", address);
	return 0;
}

void listener_stop_all(struct daemon *d)
{
	for (int i = 0; i < d->nlisteners; i++) {
		struct listener *l = &d->listeners[i];
		if (!l->zlistener)
			continue;
		watch_remove(d, l->fd);
		l->zlistener->ops->unlisten(l->zlistener);
		l->zlistener = NULL;
	}
}

void listener_close_all(struct daemon *d)
{
	listener_stop_all(d);
	free(d->listeners);
	d->listeners = NULL;
	d->nlisteners = 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to connections, see conn_send.h. */
#include "zipperd/conn/conn_send.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"

#define OUT_MAX_BYTES (8u << 20) /* that may wait for an end that does not read: some worlds, many events */

struct out { /* an encoded message that waits */
	struct out *next;
	uint32_t len;
	uint8_t bytes[];
};

static void set_blocked(struct conn *conn, bool blocked)
{
	struct daemon *d = conn->daemon;
	uint32_t rx_events = 0, tx_events = 0;
	if (conn->blocked == blocked)
		return;
	conn->blocked = blocked;
	conn->zlink->ops->fd(conn->zlink, ZLINK_RX, &rx_events);
	conn->zlink->ops->fd(conn->zlink, ZLINK_TX, &tx_events);
	/* Both descriptors have been in the set from the start. Adding one now might fail, and then nothing would tell
	 * that there is room. */
	if (conn->tx_fd == conn->rx_fd)
		watch_change(d, conn->rx_fd, blocked ? rx_events | tx_events : rx_events, &conn->watch);
	else
		watch_change(d, conn->tx_fd, blocked ? tx_events : 0, &conn->watch);
}

static int push_out(struct conn *conn)
{
	struct zwire_env env = {.kind = ZWIRE_CTRL, .src = ZWIRE_NOBODY, .dst = ZWIRE_NOBODY};
	uint8_t raw[ZWIRE_ENV_BYTES];
	while (conn->head) {
		struct out *o = conn->head;
		env.len = o->len;
		zwire_encode(raw, &env);
		int rc = conn->zlink->ops->post(conn->zlink, raw, o->bytes, o->len);
		if (rc == -EAGAIN) {
			rc = conn->zlink->ops->flush(conn->zlink);
			if (rc == 0)
				rc = conn->zlink->ops->post(conn->zlink, raw, o->bytes, o->len);
		}
		if (rc != 0)
			return rc;
		conn->head = o->next;
		if (!conn->head)
			conn->tail = &conn->head;
		conn->out_bytes -= o->len;
		free(o);
	}
	return conn->zlink->ops->flush(conn->zlink);
}

void conn_send_queue(struct conn *conn)
{
	for (int tries = 0; tries < 4; tries++) {
		int rc = push_out(conn);
		if (rc != -EAGAIN) {
			set_blocked(conn, false);
			if (rc != 0 && !list_linked(&conn->again))
				list_add(&conn->daemon->again, &conn->again);
			return;
		}
		set_blocked(conn, true);
		if (conn->zlink->ops->arm(conn->zlink, ZLINK_TX) == 0)
			return;
	}
	if (!list_linked(&conn->again))
		list_add(&conn->daemon->again, &conn->again);
}

void conn_send_bytes(struct conn *conn, const uint8_t *msg, size_t len)
{
	if (conn->state == CONN_DEAD)
		return;
	struct out *o = conn->out_bytes + len <= OUT_MAX_BYTES ? malloc(sizeof(*o) + len) : NULL;
	if (!o) { /* the other end does not read: its time is over */
		conn->deadline_ms = conn->daemon->now_ms;
		list_del(&conn->link);
		list_add(&conn->daemon->leaving, &conn->link);
		return;
	}
	o->next = NULL;
	o->len = (uint32_t)len;
	memcpy(o->bytes, msg, len);
	*conn->tail = o;
	conn->tail = &o->next;
	conn->out_bytes += len;
	if (!conn->blocked)
		conn_send_queue(conn);
}

void conn_send(struct conn *conn, const struct zctl_msg *msg)
{
	uint8_t small[2048], *buf = small;
	int len = zctl_encode_as(small, sizeof(small), conn->hello.protocol, msg);
	if (len == -EMSGSIZE) { /* stats of many directions */
		buf = malloc(ZWIRE_MAX_PAYLOAD);
		len = buf ? zctl_encode_as(buf, ZWIRE_MAX_PAYLOAD, conn->hello.protocol, msg) : -ENOMEM;
	}
	if (len >= 0)
		conn_send_bytes(conn, buf, (size_t)len);
	else
		zlog(ZLOG_ERROR, "%s: cannot send control message %u: %s", conn->zlink->peer, msg->type,
			strerror(-len));
	if (buf != small)
		free(buf);
}

void conn_send_drop(struct conn *conn)
{
	while (conn->head) {
		struct out *o = conn->head;
		conn->head = o->next;
		free(o);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a connection of the control thread is told, and what waits while its link is full. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/control/peer.h"

#define OUT_MAX_BYTES (8u << 20) /* that may wait for a peer that does not read: some worlds, many events */

struct out { /* an encoded message that waits */
	struct out *next;
	uint32_t len;
	uint8_t bytes[];
};

void peer_set_blocked(struct peer *p, bool blocked)
{
	struct daemon *d = p->daemon;
	uint32_t rx_events = 0, tx_events = 0;
	if (p->blocked == blocked)
		return;
	p->blocked = blocked;
	p->zlink->ops->fd(p->zlink, ZLINK_RX, &rx_events);
	p->zlink->ops->fd(p->zlink, ZLINK_TX, &tx_events);
	/* Both are in the set since it was made: to be added now might fail, and nothing tell that there is room. */
	if (p->tx_fd == p->rx_fd)
		daemon_rewatch(d, p->rx_fd, blocked ? rx_events | tx_events : rx_events, &p->watch);
	else
		daemon_rewatch(d, p->tx_fd, blocked ? tx_events : 0, &p->watch);
}

static int push_out(struct peer *p)
{
	struct zwire_env env = {.kind = ZWIRE_CTRL, .src = ZWIRE_NOBODY, .dst = ZWIRE_NOBODY};
	uint8_t raw[ZWIRE_ENV_BYTES];
	while (p->head) {
		struct out *o = p->head;
		env.len = o->len;
		zwire_encode(raw, &env);
		int rc = p->zlink->ops->post(p->zlink, raw, o->bytes, o->len);
		if (rc == -EAGAIN) {
			rc = p->zlink->ops->flush(p->zlink);
			if (rc == 0)
				rc = p->zlink->ops->post(p->zlink, raw, o->bytes, o->len);
		}
		if (rc != 0)
			return rc;
		p->head = o->next;
		if (!p->head)
			p->tail = &p->head;
		p->out_bytes -= o->len;
		free(o);
	}
	return p->zlink->ops->flush(p->zlink);
}

/* Broken links are noticed by the receiving half, in the loop: sending never makes a peer go from under its caller. */
void peer_push(struct peer *p)
{
	for (int tries = 0; tries < 4; tries++) {
		int rc = push_out(p);
		if (rc != -EAGAIN) {
			peer_set_blocked(p, false);
			if (rc != 0 && !list_linked(&p->again))
				list_add(&p->daemon->again, &p->again);
			return;
		}
		peer_set_blocked(p, true);
		if (p->zlink->ops->arm(p->zlink, ZLINK_TX) == 0)
			return;
	}
	if (!list_linked(&p->again))
		list_add(&p->daemon->again, &p->again);
}

void peer_send_bytes(struct peer *p, const uint8_t *msg, size_t len)
{
	if (p->state == PEER_DEAD)
		return;
	struct out *o = p->out_bytes + len <= OUT_MAX_BYTES ? malloc(sizeof(*o) + len) : NULL;
	if (!o) { /* it does not read: its time is over */
		p->deadline_ms = p->daemon->now_ms;
		list_del(&p->link);
		list_add(&p->daemon->leaving, &p->link);
		return;
	}
	o->next = NULL;
	o->len = (uint32_t)len;
	memcpy(o->bytes, msg, len);
	*p->tail = o;
	p->tail = &o->next;
	p->out_bytes += len;
	if (!p->blocked)
		peer_push(p);
}

void peer_send(struct peer *p, const struct zctl_msg *msg)
{
	uint8_t small[2048], *buf = small;
	int len = zctl_encode(small, sizeof(small), msg);
	if (len == -EMSGSIZE) { /* stats of many directions */
		buf = malloc(ZWIRE_MAX_PAYLOAD);
		len = buf ? zctl_encode(buf, ZWIRE_MAX_PAYLOAD, msg) : -ENOMEM;
	}
	if (len >= 0)
		peer_send_bytes(p, buf, (size_t)len);
	else
		zlog(ZLOG_ERROR, "%s: cannot send control message %u: %s", p->zlink->peer, msg->type, strerror(-len));
	if (buf != small)
		free(buf);
}

void peer_drop_unsent(struct peer *p)
{
	while (p->head) {
		struct out *o = p->head;
		p->head = o->next;
		free(o);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for both halves of a link: reasons, events, the TCP connection. See vlink.h. */
#include "common/transport/verbs/link/vlink.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#include "common/base/clock.h"
#include "common/transport/verbs/device/voptions.h"

#define PORT_EVENT_MS 1000 /* the event of a port may come so much later than a failure because of the port */
#define ASK_EVERY_MS 10

int vlink_error(enum ibv_wc_status status)
{
	switch (status) {
	case IBV_WC_SUCCESS:
		return 0;
	case IBV_WC_RETRY_EXC_ERR:
	case IBV_WC_RESP_TIMEOUT_ERR:
		return -ETIMEDOUT;
	case IBV_WC_RNR_RETRY_EXC_ERR: /* the peer gave credit for receives that it has not posted */
		return -EPROTO;
	case IBV_WC_REM_ACCESS_ERR:
		return -EACCES;
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR:
	case IBV_WC_BAD_RESP_ERR:
		return -EREMOTEIO;
	case IBV_WC_LOC_QP_OP_ERR: /* with Soft-RoCE: the port is down */
		return -ENOLINK;
	case IBV_WC_WR_FLUSH_ERR:
	case IBV_WC_REM_ABORT_ERR:
		return -ECONNRESET;
	default: /* an error of our own side */
		return -EIO;
	}
}

/* Asks at most once within some milliseconds. */
static bool port_is_down(struct vlink *l, struct vdoubt *doubt, int64_t now)
{
	struct ibv_port_attr port;
	if (doubt->asked_ms && now - doubt->asked_ms < ASK_EVERY_MS)
		return false;
	doubt->asked_ms = now;
	return ibv_query_port(l->dev->ctx, l->life.port, &port) == 0 && port.state != IBV_PORT_ACTIVE;
}

int vlink_contexts(const struct vlink *l, struct ibv_context *ctx[VCONTEXTS])
{
	struct ibv_context *of[VCONTEXTS] = {l->dev->ctx};
	if (l->rx.pool && l->tx.pool) {
		of[1] = l->rx.pool->home.ctx;
		of[2] = l->tx.pool->home.ctx;
	}
	int n = 0;
	for (int i = 0; i < VCONTEXTS; i++)
		if (of[i] && (n == 0 || (of[i] != ctx[0] && of[i] != ctx[n - 1])))
			ctx[n++] = of[i];
	return n;
}

static void look_for_events(struct vlink *l)
{
	struct ibv_context *ctx[VCONTEXTS] = {NULL};
	for (int i = 0, n = vlink_contexts(l, ctx); i < n; i++)
		vlife_look(l->dev, ctx[i]);
}

void vlink_look(struct vlink *l)
{
	look_for_events(l);
	vlife_look_at_ports(l->dev);
}

int vlink_reason(struct vlink *l, struct vdoubt *doubt, int rc)
{
	const int64_t now = zclock_ms();
	look_for_events(l); /* the event may not have been read yet */
	if (vlink_lost(l))
		return vlink_lost(l);
	if (port_is_down(l, doubt, now))
		return -ENETDOWN; /* or the event may not have come */
	if (rc != -ENOLINK)
		return rc;
	if (!doubt->since_ms)
		doubt->since_ms = now;
	return now - doubt->since_ms < PORT_EVENT_MS ? 0 : rc;
}

void vlink_tell_path(struct vlink *l, bool goes_on)
{
	char text[480];
	if (atomic_exchange(&l->told_path, true) || !voptions->warn)
		return;
	snprintf(text, sizeof(text), "%s:%u: %.200s acknowledges no packet%s: %s", l->dev->name, l->life.port,
		l->base.peer, goes_on ? ", messages go by TCP" : "",
		l->address.ethernet ? "is UDP port 4791 open between the hosts, are both GIDs of one network or routed "
				      "(verbs_gid_index), and does all between them carry the MTU (verbs_mtu)?"
				    : "do the partition and the service level suit, and does the subnet manager know a "
				      "path?");
	voptions->warn(text);
}

bool vlink_hung_up(const struct vlink *l)
{
	struct pollfd p = {.fd = l->life.sock, .events = POLLRDHUP};
	return poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

const struct sockaddr *vlink_local(const struct vlink *l, struct sockaddr_storage *sa)
{
	socklen_t len = sizeof(*sa);
	return getsockname(l->life.sock, (struct sockaddr *)sa, &len) == 0 ? (struct sockaddr *)sa : NULL;
}

int vlink_post_frame(struct vlink *l, const struct vframe *f)
{
	uint8_t env[ZWIRE_ENV_BYTES], payload[VFRAME_BYTES];
	vframe_encode(env, payload, f);
	return l->stream->ops->post(l->stream, env, payload, VFRAME_BYTES);
}

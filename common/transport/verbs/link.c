/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs transport's operations table, connecting and accepting, and what both halves need. See link.h. */
#include "common/transport/verbs/rma.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/module.h"
#include "common/transport/verbs/share.h"
#include "common/transport/verbs/verbs_module.h"

#define PORT_EVENT_MS 1000 /* the event of a port may be so much later than what fails because of it */
#define ASK_EVERY_MS 10

struct vlistener {
	struct zlistener base;
	struct zlistener *stream;
	struct zaddr addr;
};

const struct zverbs_options *voptions;
static const struct ztransport transport;

/* --- for both halves --- */

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
	case IBV_WC_LOC_QP_OP_ERR: /* with Soft-RoCE: the port has gone down */
		return -ENOLINK;
	case IBV_WC_WR_FLUSH_ERR:
	case IBV_WC_REM_ABORT_ERR:
		return -ECONNRESET;
	default: /* what the device does not like about our own side */
		return -EIO;
	}
}

/* Not twice within some milliseconds. */
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
		vdevice_look(l->dev, ctx[i]);
}

void vlink_look(struct vlink *l)
{
	look_for_events(l);
	vdevice_look_at_ports(l->dev);
}

int vlink_reason(struct vlink *l, struct vdoubt *doubt, int rc)
{
	const int64_t now = zclock_ms();
	look_for_events(l); /* the event may not have been read yet */
	if (vlink_lost(l))
		return vlink_lost(l);
	if (port_is_down(l, doubt, now))
		return -ENETDOWN; /* or not have come */
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

bool vlink_event(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *ctx;
	if (ibv_get_cq_event(channel, &cq, &ctx) != 0)
		return false;
	ibv_ack_cq_events(cq, 1);
	return true;
}

/* Its queue pair has failed. Why, its own thread knows, or will find out: that is ours where the endpoint is one. */
static int why_sender_failed(struct vlink *l)
{
	const bool ours = l->share[ZLINK_TX]->endpoint == l->share[ZLINK_RX]->endpoint;
	const int rc = ours ? vtx_reap(l) : 0;
	return rc ? rc : -ENOLINK;
}

bool vlink_woken(struct vlink *l, int epoll)
{
	struct epoll_event e[VWATCHED];
	struct ibv_context *ctx[VCONTEXTS] = {NULL};
	bool stream = false;
	int n = epoll_wait(epoll, e, VWATCHED, 0), nctx = n > 0 ? vlink_contexts(l, ctx) : 0;
	for (int i = 0; i < n; i++) {
		int k = 0;
		while (k < nctx && e[i].data.fd != ctx[k]->async_fd)
			k++;
		if (k < nctx)
			vdevice_look(l->dev, ctx[k]);
		else if (e[i].data.fd == l->dev->timer)
			vdevice_look_at_ports(l->dev);
		else if (e[i].data.fd == l->tx.queue.channel->fd) {
			if (epoll == l->rx.epoll && vnotice_of_sender(l))
				l->rx.sender = why_sender_failed(l);
		} else if (e[i].data.fd != l->rx.queue.channel->fd)
			stream = true;
	}
	return stream;
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

/* --- links --- */

/* The link owns the stream in any case. */
static int make_link(struct vlink **out, struct zlink *stream, struct zerr *err)
{
	struct vlink *l = aligned_alloc(alignof(struct vlink), sizeof(*l));
	uint32_t events;
	if (!l) {
		stream->ops->close(stream);
		return zerr_set(err, -ENOMEM, "out of memory for a connection");
	}
	memset(l, 0, sizeof(*l));
	l->base.ops = &transport;
	memcpy(l->base.peer, stream->peer, sizeof(l->base.peer));
	l->stream = stream;
	l->life.sock = stream->ops->fd(stream, ZLINK_RX, &events);
	l->tx.epoll = l->rx.epoll = -1;
	pthread_mutex_init(&l->tx.noticing, NULL);
	*out = l;
	return 0;
}

static int verbs_drain(struct zlink *base)
{
	struct vlink *l = (struct vlink *)base;
	vtx_leave_holders(l);
	vlookout_del(&l->lookout);
	return vdrain(base);
}

static void verbs_close(struct zlink *base)
{
	struct vlink *l = (struct vlink *)base;
	vtx_leave_holders(l);
	vlookout_del(&l->lookout);
	vdrain_wait(l);
	vsetup_undo(l);
	l->stream->ops->close(l->stream);
	pthread_mutex_destroy(&l->tx.noticing);
	free(l);
}

static struct vnet net_of_options(void)
{
	return (struct vnet){.partition = (uint16_t)(voptions->partition & VADDRESS_PARTITION),
		.service_level = (uint8_t)voptions->service_level,
		.traffic_class = (uint8_t)voptions->traffic_class,
		.mtu = (uint8_t)voptions->mtu,
		.gid_index = (int)voptions->gid_index};
}

static struct vnet net_of(const struct zaddr *own)
{
	struct vnet net = net_of_options();
	vnet_override(&net, own);
	return net;
}

/* The number of an entry in the peer's table means nothing in ours. */
static struct vnet net_towards(const struct zaddr *peer)
{
	struct vnet net = net_of(peer);
	net.gid_index = (int)voptions->gid_index;
	return net;
}

static int verbs_connect_plain(struct zlink **out, const struct zaddr *addr, int timeout_ms, struct zerr *err)
{
	char text[320];
	struct zaddr tcp;
	struct zlink *stream;
	struct vlink *l = NULL;
	zaddr_format(addr, text, sizeof(text));
	if (!addr->via[0])
		return zerr_set(err, -EDESTADDRREQ, "%s: no host is named (%s@HOST[:PORT])", text, text);
	zaddr_via(addr, &tcp);
	int rc = ztransport_tcp.connect(&stream, &tcp, timeout_ms, err);
	if (rc < 0)
		return zerr_set(err, rc, "cannot connect to %s: %s", text, strerror(-rc));
	rc = make_link(&l, stream, err);
	if (rc < 0)
		return rc;
	l->connecting = true;
	l->net = net_towards(addr);
	snprintf(l->port, sizeof(l->port), "%.63s:%u", addr->host, addr->port);
	*out = &l->base;
	return 0;
}

static void verbs_use_port(struct zlink *base, const struct zaddr *own)
{
	struct vlink *l = (struct vlink *)base;
	if (own->kind != ZADDR_VERBS)
		return;
	snprintf(l->own_port, sizeof(l->own_port), "%.63s:%u", own->host, own->port);
	vnet_override(&l->net, own);
}

static int verbs_connect(struct zlink **out, const struct zaddr *addr, int timeout_ms, struct zerr *err)
{
	char text[320];
	struct zlink *l;
	int rc = verbs_connect_plain(&l, addr, timeout_ms, err);
	if (rc < 0)
		return rc;
	rc = vsetup_connecting((struct vlink *)l, err);
	if (rc < 0) {
		verbs_close(l);
		zaddr_format(addr, text, sizeof(text));
		return zerr_prefix(err, rc, "cannot connect to %s", text);
	}
	*out = l;
	return 0;
}

/* --- listening --- */

/* A port that is not active now (InfiniBand, before the subnet manager has been there) may be later. */
static int check_state(const struct zaddr *addr, struct vdevice *d, struct zerr *err)
{
	const struct vnet net = net_of(addr);
	struct vaddress a;
	struct zerr why = {""};
	char text[sizeof(why.text) + 64];
	int rc = vaddress_find(&a, d, (uint8_t)addr->port, NULL, NULL, &net, &why);
	if (rc == -ENETDOWN && voptions->patient) {
		snprintf(text, sizeof(text), "%s: connections over it are refused until it is", why.text);
		if (voptions->warn)
			voptions->warn(text);
		return 0;
	}
	if (rc < 0)
		return zerr_set(err, rc, "%s", why.text);
	vaddress_warn(&a, d, (uint8_t)addr->port, voptions);
	return 0;
}

/* The port must be usable; where no TCP address is written, connections are made at the port's own IP address. */
static int check_port(struct zaddr *addr, struct zerr *err)
{
	struct vdevice *d;
	int rc = vdevice_open(&d, addr->host, err);
	if (rc < 0)
		return rc;
	rc = check_state(addr, d, err);
	if (rc == 0 && !addr->via[0])
		addr->via_port = ZADDR_DEFAULT_PORT;
	if (rc == 0 && (!addr->via[0] || strcmp(addr->via, ZADDR_VIA_OWN) == 0))
		rc = vaddress_ip(addr->via, sizeof(addr->via), d, (uint8_t)addr->port, err);
	vdevice_close(d);
	return rc;
}

static int verbs_listen(struct zlistener **out, const struct zaddr *addr, struct zerr *err)
{
	struct vlistener *v = calloc(1, sizeof(*v));
	struct zaddr tcp;
	if (!v)
		return zaddr_prefix(addr, err, zerr_set(err, -ENOMEM, "out of memory"), "cannot listen on");
	v->base.ops = &transport;
	v->addr = *addr;
	int rc = check_port(&v->addr, err);
	if (rc == 0) {
		zaddr_via(&v->addr, &tcp);
		rc = ztransport_tcp.listen(&v->stream, &tcp, err);
		if (rc < 0)
			zerr_set(err, rc, "%s", strerror(-rc));
	}
	if (rc < 0) {
		zaddr_prefix(&v->addr, err, rc, "cannot listen on");
		free(v);
		return rc;
	}
	ztransport_tcp.listener_addr(v->stream, &tcp);
	v->addr.via_port = tcp.port;
	*out = &v->base;
	return 0;
}

static void verbs_unlisten(struct zlistener *base)
{
	struct vlistener *v = (struct vlistener *)base;
	ztransport_tcp.unlisten(v->stream);
	free(v);
}

static int verbs_accept(struct zlistener *base, struct zlink **out, struct zerr *err)
{
	struct vlistener *v = (struct vlistener *)base;
	struct zlink *stream;
	struct vlink *l;
	int rc = ztransport_tcp.accept(v->stream, &stream, err);
	if (rc == 0)
		rc = make_link(&l, stream, err);
	if (rc < 0)
		return rc;
	snprintf(l->port, sizeof(l->port), "%.63s:%u", v->addr.host, v->addr.port);
	l->life.port = (uint8_t)v->addr.port;
	l->net = net_of(&v->addr);
	*out = &l->base;
	return 0;
}

static int verbs_listener_fd(const struct zlistener *base)
{
	return ztransport_tcp.listener_fd(((const struct vlistener *)base)->stream);
}

static void verbs_listener_addr(const struct zlistener *base, struct zaddr *out)
{
	*out = ((const struct vlistener *)base)->addr;
}

/* --- sleeping --- */

static int verbs_fd(const struct zlink *base, enum zlink_half half, uint32_t *events)
{
	const struct vlink *l = (const struct vlink *)base;
	int epoll = half == ZLINK_RX ? l->rx.epoll : l->tx.epoll;
	if (epoll < 0)
		return l->stream->ops->fd(l->stream, half, events);
	*events = EPOLLIN;
	return epoll;
}

static int verbs_arm(struct zlink *base, enum zlink_half half)
{
	struct vlink *l = (struct vlink *)base;
	return half == ZLINK_RX ? vrx_arm(l) : vtx_arm(l);
}

static uint64_t verbs_copied(const struct zlink *base, enum zlink_half half)
{
	const struct vlink *l = (const struct vlink *)base;
	return half == ZLINK_RX ? l->rx.copied : l->tx.copied;
}

static const struct ztransport transport = {
	.name = "verbs",
	.kind = ZADDR_VERBS,
	.rma = &vrma,
	.listen = verbs_listen,
	.connect = verbs_connect,
	.accept = verbs_accept,
	.listener_fd = verbs_listener_fd,
	.listener_addr = verbs_listener_addr,
	.unlisten = verbs_unlisten,
	.drain = verbs_drain,
	.close = verbs_close,
	.stop_sending = vdrain_stop_sending,
	.connect_plain = verbs_connect_plain,
	.use_port = verbs_use_port,
	.settle = vsetup_settle,
	.settle_begin = vsetup_begin,
	.settle_wait = vsetup_wait,
	.settle_end = vsetup_end,
	.endpoint_open = vendpoint_open,
	.endpoint_close = vendpoint_close,
	.post = vtx_post,
	.flush = vtx_flush,
	.poll = vrx_poll,
	.unplace = vrx_unplace,
	.fd = verbs_fd,
	.arm = verbs_arm,
	.copied = verbs_copied,
	.max_payload = ZWIRE_MAX_PAYLOAD,
	.fragment_bytes = (size_t)128 << 10,
	.inline_payload = 128,
};

static void configure(const struct zverbs_options *options)
{
	voptions = options;
}

extern const struct zverbs_module zverbs_module;
__attribute__((visibility("default"))) const struct zverbs_module zverbs_module = {
	.release = ZMODULE_RELEASE,
	.transport = &transport,
	.configure = configure,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations table of the verbs transport: listening, connecting and accepting. See vlink.h. */
#include "common/transport/verbs/transport_verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "common/transport/verbs/device/vendpoint.h"
#include "common/transport/verbs/device/voptions.h"
#include "common/transport/verbs/device/vport.h"
#include "common/transport/verbs/link/vholders.h"
#include "common/transport/verbs/link/vrx.h"
#include "common/transport/verbs/link/vtx.h"
#include "common/transport/verbs/link/vtx_sleep.h"
#include "common/transport/verbs/vdrain.h"
#include "common/transport/verbs/vrma.h"
#include "common/transport/verbs/vsetup.h"

struct vlistener {
	struct zlistener base;
	struct zlistener *stream;
	struct zaddr addr;
};

/* --- links --- */

/* Makes a link, which owns the stream in any case. */
static int make_link(struct vlink **out, struct zlink *stream, struct zerr *err)
{
	struct vlink *l = aligned_alloc(alignof(struct vlink), sizeof(*l));
	uint32_t events;
	if (!l) {
		stream->ops->close(stream);
		return zerr_set(err, -ENOMEM, "out of memory for a connection");
	}
	memset(l, 0, sizeof(*l));
	l->base.ops = &ztransport_verbs;
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
	vholders_del(l);
	vlookout_del(&l->lookout);
	return vdrain(base);
}

static void verbs_close(struct zlink *base)
{
	struct vlink *l = (struct vlink *)base;
	vholders_del(l);
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
	vaddress_override_net(&net, own);
	return net;
}

/* The index of an entry in the peer's table means nothing in ours. */
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
	zaddr_tcp(addr, &tcp);
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
	if (!zaddr_traits(own)->by_device)
		return;
	snprintf(l->own_port, sizeof(l->own_port), "%.63s:%u", own->host, own->port);
	vaddress_override_net(&l->net, own);
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

/* A port that is not active now (InfiniBand, before the subnet manager has been there) may be active later. */
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

/* Checks that the port is usable. Where no TCP address is written, connections are made at the port's own IP address.
 */
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
		rc = vport_ip(addr->via, sizeof(addr->via), d, (uint8_t)addr->port, err);
	vdevice_close(d);
	return rc;
}

static int verbs_listen(struct zlistener **out, const struct zaddr *addr, struct zerr *err)
{
	struct vlistener *v = calloc(1, sizeof(*v));
	struct zaddr tcp;
	if (!v)
		return zaddr_prefix(addr, err, zerr_set(err, -ENOMEM, "out of memory"), "cannot listen on");
	v->base.ops = &ztransport_verbs;
	v->addr = *addr;
	int rc = check_port(&v->addr, err);
	if (rc == 0) {
		zaddr_tcp(&v->addr, &tcp);
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
	return half == ZLINK_RX ? vrx_arm(l) : vtx_sleep_arm(l);
}

static uint64_t verbs_copied(const struct zlink *base, enum zlink_half half)
{
	const struct vlink *l = (const struct vlink *)base;
	return half == ZLINK_RX ? l->rx.copied : l->tx.copied;
}

const struct ztransport ztransport_verbs = {
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

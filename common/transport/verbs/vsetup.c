/* SPDX-License-Identifier: BSD-3-Clause */
/* Setting up a link, see vsetup.h. */
#include "common/transport/verbs/vsetup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/transport/verbs/device/vendpoint.h"
#include "common/transport/verbs/device/voptions.h"
#include "common/transport/verbs/device/vport.h"
#include "common/transport/verbs/device/vshare.h"
#include "common/transport/verbs/link/vexpose.h"
#include "common/transport/verbs/link/vpath.h"
#include "common/transport/verbs/link/vrx.h"
#include "common/transport/verbs/link/vtx_queue.h"
#include "common/transport/verbs/vhalves.h"

static struct zendpoint *own; /* of the connections that this process makes */

/* --- queue pairs --- */

static int watch(int epoll, int fd, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.fd = fd};
	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0 ? 0 : -errno;
}

static int look_out(struct vlink *l, int ep)
{
	struct ibv_context *ctx[VCONTEXTS];
	struct vlookout *o = &l->lookout;
	o->epoll = ep;
	o->n = vlink_contexts(l, ctx);
	for (int i = 0; i < o->n; i++)
		o->fd[i] = ctx[i]->async_fd;
	o->fd[o->n++] = l->dev->timer;
	return vlookout_add(o);
}

/* Makes the epoll set that wakes a half: by the TCP connection and by completions. A receive half is also woken, once
 * each time, by the send half's queue while no other thread expects events of it, as the event is not the receive
 * half's to take. A few receive halves are woken by events of the device (vlookout.h). */
static int make_epoll(struct vlink *l, uint32_t events, struct ibv_comp_channel *channel, struct zerr *err)
{
	const bool receiver = channel == l->rx.queue.channel;
	int ep = epoll_create1(EPOLL_CLOEXEC), rc = ep < 0 ? -errno : 0;
	if (rc == 0)
		rc = watch(ep, l->life.sock, events);
	if (rc == 0)
		rc = watch(ep, channel->fd, EPOLLIN);
	if (rc == 0 && receiver)
		rc = watch(ep, l->tx.queue.channel->fd, VWATCH_SENDER);
	if (rc == 0 && receiver)
		rc = look_out(l, ep);
	if (rc == 0)
		return ep;
	if (ep >= 0)
		close(ep);
	return zerr_set(err, rc, "cannot set up a connection: %s", strerror(-rc));
}

/* Makes queues and buffers. VHALVES_NONE: there is no memory for them. */
static int make_queues(struct vlink *l, struct zendpoint *rx, struct zendpoint *tx, struct vframe *us, struct zerr *err)
{
	int rc = vshare_join(&l->share[ZLINK_RX], rx, l->dev, err);
	if (rc == 0)
		rc = vshare_join(&l->share[ZLINK_TX], tx, l->dev, err);
	if (rc == 0)
		rc = vhalves_make(l, err);
	if (rc != 0)
		return rc;
	atomic_store(&l->life.qp, l->rx.queue.qp);
	atomic_store(&l->life.sender, l->tx.queue.qp);
	rc = vpath_open(l, err);
	if (rc == 0)
		rc = vtx_queue_init(l, err);
	if (rc == 0)
		rc = vrx_init(l, err);
	if (rc == 0)
		rc = l->tx.epoll = make_epoll(l, EPOLLRDHUP, l->tx.queue.channel, err);
	if (rc >= 0)
		rc = l->rx.epoll = make_epoll(l, EPOLLIN | EPOLLRDHUP, l->rx.queue.channel, err);
	if (rc < 0)
		return rc;
	uint32_t psn[2] = {0, 0};
	if (getrandom(psn, sizeof(psn), 0) != sizeof(psn))
		psn[0] = (uint32_t)(uintptr_t)l >> 4; /* any number will do */
	us->ethernet = l->address.ethernet;
	us->v1 = l->address.v1;
	us->grh = l->address.grh;
	us->mtu = l->address.mtu;
	us->lid = l->address.lid;
	us->pkey = l->address.pkey;
	us->reads = vpath_reads(l);
	memcpy(us->gid, l->address.gid, 16);
	us->tx_qpn = l->tx.queue.qp->qp_num;
	us->rx_qpn = l->rx.queue.qp->qp_num;
	us->tx_psn = psn[0] & 0xffffff;
	us->rx_psn = psn[1] & 0xffffff;
	us->send_bytes = (uint32_t)voptions->buffer_bytes;
	vshare_spread(l->share[ZLINK_RX]);
	vshare_spread(l->share[ZLINK_TX]);
	return 0;
}

void vsetup_undo(struct vlink *l)
{
	if (l->dev)
		vlife_del(l->dev, &l->life);
	vrx_fini(l);
	vobject_queue_destroy(&l->rx.queue);
	vobject_queue_destroy(&l->tx.queue);
	vshare_renew(l->share[ZLINK_RX]);
	vexpose_fini(l);
	vtx_queue_fini(l);
	vlookout_del(&l->lookout);
	if (l->rx.epoll >= 0)
		close(l->rx.epoll);
	if (l->tx.epoll >= 0)
		close(l->tx.epoll);
	vshare_leave(l->share[ZLINK_RX]);
	vshare_leave(l->share[ZLINK_TX]);
	vdevice_close(l->dev);
	/* pinned memory keeps it, for the next link */
	if (!l->own || --l->own->links > 0 || vendpoint_has_regions(l->own))
		return;
	if (own == l->own)
		own = NULL;
	vendpoint_close(l->own);
}

/* Both directions stay with TCP for ever: the peer hears of no queue pairs. */
static int stay_with_tcp(struct vlink *l)
{
	vsetup_undo(l);
	l->dev = NULL;
	l->own = NULL;
	l->share[ZLINK_RX] = l->share[ZLINK_TX] = NULL;
	return 0;
}

static int tell_setup(struct vlink *l, const struct vframe *us, struct zerr *err)
{
	int rc = vlink_post_frame(l, us);
	if (rc == 0)
		rc = l->stream->ops->flush(l->stream);
	/* A part that TCP has no room for goes with the first messages, which follow it. */
	return rc == 0 || rc == -EAGAIN ? 0 : zerr_set(err, rc, "%s: %s", l->base.peer, strerror(-rc));
}

/* --- the accepting end --- */

static int begin_accepted(struct vlink *l, struct zendpoint *rx, struct zendpoint *tx, struct zerr *err)
{
	char device[VDEVICE_NAME_MAX];
	l->answer = (struct vframe){.type = VFRAME_ANSWER};
	if (strcmp(l->peer.port, l->port) != 0)
		return zerr_set(err, -EINVAL, "%s wants %.70s, but this is %.70s", l->base.peer, l->peer.port, l->port);
	snprintf(device, sizeof(device), "%.*s", (int)strcspn(l->port, ":"), l->port);
	int rc = vdevice_open(&l->dev, device, err);
	if (rc < 0)
		return rc;
	vlife_add(l->dev, &l->life);
	rx->accepts = tx->accepts = true;
	rc = vaddress_find(&l->address, l->dev, l->life.port, vlink_local(l, &(struct sockaddr_storage){0}),
		&(struct vaddress_peer){.gid = l->peer.gid, .v1 = l->peer.v1}, &l->net, err);
	if (rc == 0)
		rc = vpath_check(l, err);
	if (rc == 0)
		rc = make_queues(l, rx, tx, &l->answer, err);
	if (rc == VHALVES_NONE)
		return stay_with_tcp(l);
	l->connected = -EINPROGRESS;
	return rc == 0 ? ZSETTLE_WAITS : rc;
}

void vsetup_wait(struct zlink *base, struct zerr *err)
{
	struct vlink *l = (struct vlink *)base;
	l->connected = vpath_connect(l, &l->answer, err);
}

int vsetup_end(struct zlink *base, struct zerr *err)
{
	struct vlink *l = (struct vlink *)base;
	int rc = l->connected;
	if (rc == VPATH_NONE)
		return 0; /* as at a connecting end that gets no answer: the queue pairs are not used */
	if (rc == 0)
		rc = tell_setup(l, &l->answer, err);
	if (rc == 0)
		atomic_store_explicit(&l->state, VSTATE_READY, memory_order_release);
	return rc;
}

/* --- the connecting end --- */

/* The port of ours to use. NULL: to be found. */
static const char *wanted_port(const struct vlink *l)
{
	return l->own_port[0] ? l->own_port : voptions->device;
}

static int choose_port(struct vlink *l, const struct sockaddr *local, struct zerr *err)
{
	char device[VDEVICE_NAME_MAX];
	uint8_t port;
	struct zaddr a;
	int rc;
	const char *wanted = wanted_port(l);
	if (wanted) {
		rc = zaddr_parse(&a, wanted, err);
		if (rc == 0 && !zaddr_lacks_host(&a))
			rc = zerr_set(err, -EINVAL, "\"%s\" is not of the form DEVICE:PORT", wanted);
		if (rc < 0)
			return zerr_prefix(err, rc, "ZIPPER_DEVICE");
		vaddress_override_net(&l->net, &a);
		snprintf(device, sizeof(device), "%.63s", a.host);
		port = (uint8_t)a.port;
	} else {
		rc = vport_choose(device, &port, local, err);
		if (rc < 0)
			return rc;
	}
	rc = vdevice_open(&l->dev, device, err);
	if (rc < 0)
		return rc;
	l->life.port = port;
	vlife_add(l->dev, &l->life);
	return vaddress_find(&l->address, l->dev, port, local, NULL, &l->net, err);
}

/* The facts behind an earlier choice may have changed: chooses once more. */
static int choose_port_again(struct vlink *l, const struct sockaddr *local, struct zerr *err)
{
	int rc = choose_port(l, local, err);
	if (rc == 0 || wanted_port(l) || !l->dev)
		return rc;
	vport_forget();
	vlife_del(l->dev, &l->life);
	vdevice_close(l->dev);
	l->dev = NULL;
	return choose_port(l, local, err);
}

/* Tells the other end our queue pairs; then it settles its own side. */
static int offer(struct vlink *l, struct zendpoint *rx, struct zendpoint *tx, struct zerr *err)
{
	struct sockaddr_storage local;
	struct vframe us = {.type = VFRAME_OFFER};
	int rc = choose_port_again(l, vlink_local(l, &local), err);
	if (rc == 0 &&
		!atomic_exchange(&l->dev->told_limits, true)) /* the first link of the device, of whatever endpoint */
		vaddress_warn(&l->address, l->dev, l->life.port, voptions);
	if (rc == 0)
		rc = make_queues(l, rx, tx, &us, err);
	if (rc != 0)
		return rc == VHALVES_NONE ? stay_with_tcp(l) : rc;
	memcpy(us.port, l->port, sizeof(us.port));
	l->offered_rx_psn = us.rx_psn;
	l->offered_tx_psn = us.tx_psn;
	atomic_store(&l->state, VSTATE_OFFERED);
	return tell_setup(l, &us, err);
}

int vsetup_connecting(struct vlink *l, struct zerr *err)
{
	int rc = 0;
	if (own && own->pid != getpid())
		own = NULL; /* the parent's */
	if (!own)
		rc = vendpoint_open(&own, err);
	if (rc < 0)
		return rc;
	own->connects = true;
	own->links++;
	l->own = own;
	return offer(l, own, own, err);
}

/* --- either end --- */

int vsetup_begin(struct zlink *base, struct zendpoint *rx, struct zendpoint *tx, struct zerr *err)
{
	struct vlink *l = (struct vlink *)base;
	if (atomic_load(&l->state) == VSTATE_PLAIN)
		return l->connecting ? offer(l, rx, tx, err) : 1;
	return l->connecting ? 0 : begin_accepted(l, rx, tx, err);
}

int vsetup_settle(struct zlink *base, struct zendpoint *rx, struct zendpoint *tx, struct zerr *err)
{
	const int rc = vsetup_begin(base, rx, tx, err);
	if (rc != ZSETTLE_WAITS)
		return rc;
	vsetup_wait(base, err);
	return vsetup_end(base, err);
}

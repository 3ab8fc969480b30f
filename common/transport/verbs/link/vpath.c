/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a link's queue pairs, see vpath.h. */
#include "common/transport/verbs/link/vpath.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/transport/verbs/device/vgid.h"
#include "common/transport/verbs/device/voptions.h"

/* How often a packet is sent again that is not acknowledged. Not 7, the largest number: Soft-RoCE takes it for "without
 * end" (rxe_comp.c), and a dead far end would never break the connection. */
#define RETRIES 6
/*
 * How often a packet is sent again that finds no receive. 7 means "without end" in the InfiniBand specification. Credit
 * is given for receives that are posted, so a peer that lacks receives has broken its promise. Six times 492 ms are for
 * a device that has no room at the moment for reasons of its own, and for a shared queue that a link with more sends
 * than its credit has emptied, which ends when the peer's thread looks next. A shorter time would spare the other links
 * a part of the half second, for each connection that is broken in this way. But six times this time is how long a busy
 * host may keep the thread from looking before good connections end, and they are worth more than some speed beside an
 * attack.
 */
#define RNR_RETRIES 6
#define RNR_TIMER 31
#define HOP_LIMIT 64

static int to_init(struct ibv_qp *qp, const struct vlink *l, int access)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
		.pkey_index = l->address.pkey_index,
		.port_num = l->life.port,
		.qp_access_flags = (unsigned)access};
	return ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int vpath_open(struct vlink *l, struct zerr *err)
{
	int rc = to_init(l->tx.queue.qp, l, IBV_ACCESS_REMOTE_READ);
	if (rc == 0)
		rc = to_init(l->rx.queue.qp, l, IBV_ACCESS_REMOTE_WRITE);
	return rc == 0 ? 0
		       : zerr_set(err, -rc, "%s:%u: cannot set up a queue pair: %s", l->dev->name, l->life.port,
				 strerror(rc));
}

/* The first half of a GID. */
static uint64_t subnet_of(const uint8_t gid[16])
{
	uint64_t prefix = 0;
	for (int i = 0; i < 8; i++)
		prefix = prefix << 8 | gid[i];
	return prefix;
}

/* Refuses partitions between which packets would be lost silently. */
static int check_partitions(const struct vlink *l, struct zerr *err)
{
	const uint16_t us = l->address.pkey, peer = l->peer.pkey;
	const unsigned ours = us & VADDRESS_PARTITION, its = peer & VADDRESS_PARTITION;
	if (ours != its)
		return zerr_set(err, -EHOSTUNREACH,
			"%s:%u is in partition 0x%04x and %s in 0x%04x: ZIPPER_VERBS_PARTITION, for zipperd "
			"verbs_partition, "
			"names one that both are in",
			l->dev->name, l->life.port, ours, l->base.peer, its);
	if (!vaddress_is_full(us) && !vaddress_is_full(peer))
		return zerr_set(err, -EHOSTUNREACH,
			"%s:%u and %s are both limited members of partition 0x%04x, who do not hear each other",
			l->dev->name, l->life.port, l->base.peer, ours);
	return 0;
}

int vpath_check(const struct vlink *l, struct zerr *err)
{
	const struct vaddress *us = &l->address;
	const struct vframe *peer = &l->peer;
	if (us->ethernet != peer->ethernet)
		return zerr_set(err, -EPROTONOSUPPORT,
			"%s:%u is on %s and %s on %s: if its host has another port, ZIPPER_DEVICE or, in the hostfile, "
			"device= names it",
			l->dev->name, l->life.port, us->ethernet ? "RoCE" : "InfiniBand", l->base.peer,
			peer->ethernet ? "RoCE" : "InfiniBand");
	if (us->ethernet && us->v1 != peer->v1)
		return zerr_set(err, -EPROTONOSUPPORT,
			"%s:%u has an address of RoCE version %d and %s one of version %d: if the latter has both, "
			"ZIPPER_VERBS_GID_INDEX chooses",
			l->dev->name, l->life.port, us->v1 ? 1 : 2, l->base.peer, peer->v1 ? 1 : 2);
	/* The peer's LID means nothing in another subnet, and only the subnet manager knows the LID of the router. */
	if (!us->ethernet && subnet_of(us->gid) != subnet_of(peer->gid))
		return zerr_set(err, -EHOSTUNREACH,
			"%s:%u is in the InfiniBand subnet %016" PRIx64 " and %s in %016" PRIx64
			": connections between subnets are not supported",
			l->dev->name, l->life.port, subnet_of(us->gid), l->base.peer, subnet_of(peer->gid));
	return us->ethernet ? 0 : check_partitions(l, err);
}

static int to_receive(struct ibv_qp *qp, const struct vlink *l, uint32_t peer_qpn, uint32_t peer_psn)
{
	const struct vaddress *us = &l->address;
	const struct vframe *peer = &l->peer;
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
		.dest_qp_num = peer_qpn,
		.rq_psn = peer_psn,
		.path_mtu = (enum ibv_mtu)(peer->mtu < us->mtu ? peer->mtu : us->mtu),
		.max_dest_rd_atomic = (uint8_t)l->reads,
		.min_rnr_timer = RNR_TIMER};
	a.ah_attr = (struct ibv_ah_attr){.port_num = l->life.port, .sl = l->net.service_level, .dlid = peer->lid};
	/* InfiniBand within a subnet needs no global address, unless a port says so. */
	if (us->ethernet || us->grh || peer->grh) {
		a.ah_attr.is_global = 1;
		a.ah_attr.grh = (struct ibv_global_route){.sgid_index = us->gid_index,
			.hop_limit = HOP_LIMIT,
			.traffic_class = l->net.traffic_class};
		memcpy(a.ah_attr.grh.dgid.raw, peer->gid, 16);
	}
	return ibv_modify_qp(qp, &a,
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int to_send(struct ibv_qp *qp, const struct vlink *l, uint32_t psn)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS,
		.sq_psn = psn,
		.timeout = (uint8_t)voptions->ack_timeout,
		.retry_cnt = RETRIES,
		.rnr_retry = RNR_RETRIES,
		.max_rd_atomic = (uint8_t)l->reads};
	return ibv_modify_qp(qp, &a,
		IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC);
}

uint16_t vpath_reads(const struct vlink *l)
{
	const struct ibv_device_attr *a = &l->dev->attr;
	int n = a->max_qp_rd_atom < a->max_qp_init_rd_atom ? a->max_qp_rd_atom : a->max_qp_init_rd_atom;
	return (uint16_t)(n < 0 ? 0 : n < VRMA_MAX ? n : VRMA_MAX);
}

/* RoCE: the peer's GID is looked up in the network, for a second or so, and by the routes and addresses of this host
 * (Linux, ib_resolve_eth_dmac). These errors mean that there is no way to it, not that our queue pair or anything else
 * is at fault. */
static bool is_out_of_reach(const struct vlink *l, int code)
{
	return l->address.ethernet && (code == ETIMEDOUT || code == EHOSTUNREACH || code == ENETUNREACH ||
					      code == EINVAL || code == EAFNOSUPPORT || code == ENODATA);
}

static void tell_gids(struct vlink *l, int code)
{
	char text[480], ours[VGID_TEXT], its[VGID_TEXT];
	if (atomic_exchange(&l->told_path, true) || !voptions->warn)
		return;
	snprintf(text, sizeof(text),
		"%s:%u: there is no way from our GID %s to %s of %.160s (%s), messages go by TCP: both must be of one "
		"network, or routed (ZIPPER_VERBS_GID_INDEX, for zipperd verbs_gid_index)",
		l->dev->name, l->life.port, vgid_format(ours, l->address.gid), vgid_format(its, l->peer.gid),
		l->base.peer, strerror(code));
	voptions->warn(text);
}

int vpath_connect(struct vlink *l, const struct vframe *us, struct zerr *err)
{
	const struct vframe *peer = &l->peer;
	l->reads = vpath_reads(l);
	if (peer->reads < l->reads)
		l->reads = peer->reads;
	int rc = to_receive(l->tx.queue.qp, l, peer->rx_qpn, peer->rx_psn);
	if (rc == 0)
		rc = to_receive(l->rx.queue.qp, l, peer->tx_qpn, peer->tx_psn);
	if (is_out_of_reach(l, rc)) {
		tell_gids(l, rc);
		return VPATH_NONE;
	}
	if (rc == 0)
		rc = to_send(l->tx.queue.qp, l, us->tx_psn);
	if (rc == 0)
		rc = to_send(l->rx.queue.qp, l, us->rx_psn);
	if (rc != 0)
		return zerr_set(err, -rc, "%s:%u: cannot connect a queue pair: %s", l->dev->name, l->life.port,
			strerror(rc));
	l->tx.send_bytes = l->rx.send_bytes = peer->send_bytes < us->send_bytes ? peer->send_bytes : us->send_bytes;
	return 0;
}

void vpath_give_up(struct ibv_qp *qp)
{
	struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
	ibv_modify_qp(qp, &error, IBV_QP_STATE);
}

int vpath_answer(struct vlink *l)
{
	struct vframe us = {.tx_psn = l->offered_tx_psn,
		.rx_psn = l->offered_rx_psn,
		.send_bytes = (uint32_t)voptions->buffer_bytes};
	if (vpath_check(l, NULL) < 0)
		return -EPROTO;
	int rc = vpath_connect(l, &us, NULL);
	if (rc != 0)
		return rc; /* VPATH_NONE: without READY the peer sends nothing to our queue pairs either */
	vpool_collect(l->rx.pool);
	atomic_store_explicit(&l->state, VSTATE_READY, memory_order_release);
	return 0;
}

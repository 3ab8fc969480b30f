/* SPDX-License-Identifier: BSD-3-Clause */
/* One port of one device, see port.h. */
#include "zipbench/endpoints/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#define READS_MAX 16 /* RDMA reads under way on a queue pair */

/* Prefers RoCE version 2 of an IPv4 address, which works everywhere. */
static int find_gid(struct port *p, struct ibv_context *ctx, int entries, struct zerr *err)
{
	int best = 0;
	for (int i = 0; i < entries; i++) {
		struct ibv_gid_entry e;
		if (ibv_query_gid_ex(ctx, p->number, (uint32_t)i, &e, 0) != 0)
			continue;
		int rank = e.gid_type != IBV_GID_TYPE_ROCE_V2				 ? 1
			   : !IN6_IS_ADDR_V4MAPPED((struct in6_addr *)(void *)e.gid.raw) ? 2
											 : 3;
		if (rank > best) {
			best = rank;
			p->gid = e.gid;
			p->gid_index = i;
		}
	}
	return best ? 0 : zerr_set(err, -EADDRNOTAVAIL, "%s:%u has no address (GID)", p->device, p->number);
}

static int query(struct port *p, struct ibv_context *ctx, int gid_index, struct zerr *err)
{
	struct ibv_port_attr attr;
	struct ibv_device_attr device;
	if (ibv_query_device(ctx, &device) != 0 || ibv_query_port(ctx, p->number, &attr) != 0)
		return zerr_set(err, -ENODEV, "%s has no port %u", p->device, p->number);
	if (attr.state != IBV_PORT_ACTIVE)
		return zerr_set(err, -ENETDOWN, "%s:%u is not active", p->device, p->number);
	p->lid = attr.lid;
	p->mtu = attr.active_mtu;
	p->ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	p->max_send_wr = (unsigned)device.max_qp_wr;
	p->max_reads = (unsigned)(device.max_qp_rd_atom < READS_MAX ? device.max_qp_rd_atom : READS_MAX);
	if (gid_index < 0 && p->ethernet)
		return find_gid(p, ctx, attr.gid_tbl_len, err);
	p->gid_index = gid_index < 0 ? 0 : gid_index;
	if (ibv_query_gid(ctx, p->number, p->gid_index, &p->gid) != 0)
		return zerr_set(err, -EADDRNOTAVAIL, "%s:%u has no GID %d", p->device, p->number, p->gid_index);
	return 0;
}

int port_find(struct port *p, const struct bench_options *o, struct zerr *err)
{
	struct ibv_device **list = ibv_get_device_list(NULL), *found = NULL;
	int rc;
	*p = (struct port){.number = (uint8_t)o->port};
	for (int i = 0; list && list[i] && !found; i++)
		if (!o->device || strcmp(ibv_get_device_name(list[i]), o->device) == 0)
			found = list[i];
	snprintf(p->device, sizeof(p->device), "%s", found ? ibv_get_device_name(found) : "");
	struct ibv_context *ctx = found ? ibv_open_device(found) : NULL;
	if (!found)
		rc = zerr_set(err, -ENODEV, "there is no RDMA device%s%s", o->device ? " " : " here",
			o->device ? o->device : "");
	else if (!ctx)
		rc = zerr_set(err, -ENODEV, "%s cannot be opened: %s", p->device, strerror(errno));
	else
		rc = query(p, ctx, o->gid_index, err);
	if (ctx)
		ibv_close_device(ctx);
	if (list)
		ibv_free_device_list(list);
	return rc;
}

static int change(const struct port *p, struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct zerr *err)
{
	int rc = ibv_modify_qp(qp, attr, mask);
	return rc == 0 ? 0 : zerr_set(err, -rc, "%s: cannot connect a queue pair: %s", p->device, strerror(rc));
}

int port_connect(const struct port *p, struct ibv_qp *qp, uint32_t far_qpn, struct zerr *err)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
		.port_num = p->number,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
		.path_mtu = p->mtu,
		.dest_qp_num = far_qpn,
		.max_dest_rd_atomic = (uint8_t)p->max_reads,
		.min_rnr_timer = 12,
		.ah_attr = {.dlid = p->lid,
			.port_num = p->number,
			.is_global = p->ethernet,
			.grh = {.dgid = p->gid, .sgid_index = (uint8_t)p->gid_index, .hop_limit = 1}}};
	/* 4.096 us * 2^18: about a second, for slow emulations */
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = (uint8_t)p->max_reads};
	int rc = change(p, qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, err);
	if (rc == 0)
		rc = change(p, qp, &rtr,
			IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
			err);
	if (rc == 0)
		rc = change(p, qp, &rts,
			IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				IBV_QP_MAX_QP_RD_ATOMIC,
			err);
	return rc;
}

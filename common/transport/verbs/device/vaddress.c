/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of ports in their network, see vaddress.h. */
#include "common/transport/verbs/device/vaddress.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/transport/verbs/device/vgid.h"
#include "common/transport/verbs/device/vport.h"

#define PKEY_DEFAULT 0x7fff

/* How well an entry suits: 0: not at all. An entry of a full member comes before an entry of a limited member, which
 * only full members hear. wanted 0: any partition, the default partition before others. But where the default partition
 * is for management alone all are limited members of it (Omni-Path; and the subnet managers of InfiniBand may be set up
 * that way). */
static int rate_pkey(uint16_t key, uint16_t wanted)
{
	const uint16_t partition = key & VADDRESS_PARTITION;
	if (partition == 0 || (wanted && partition != wanted))
		return 0;
	return 1 + (partition == PKEY_DEFAULT) + 2 * ((key & VADDRESS_FULL) != 0);
}

/* The best entry of the port's partition table, or -1. */
static int find_pkey(const struct vdevice *d, uint8_t port, const struct ibv_port_attr *attr, uint16_t wanted,
	uint16_t *out)
{
	int best = -1, rating = 0;
	for (int i = 0; i < attr->pkey_tbl_len; i++) {
		__be16 key;
		if (ibv_query_pkey(d->ctx, port, i, &key) != 0 || rate_pkey(ntohs(key), wanted) <= rating)
			continue;
		rating = rate_pkey(ntohs(key), wanted);
		*out = ntohs(key);
		best = i;
	}
	return best;
}

void vaddress_override_net(struct vnet *net, const struct zaddr *a)
{
	if (a->net[ZADDR_PARTITION])
		net->partition = (uint16_t)((a->net[ZADDR_PARTITION] - 1) & VADDRESS_PARTITION);
	if (a->net[ZADDR_SERVICE_LEVEL])
		net->service_level = (uint8_t)(a->net[ZADDR_SERVICE_LEVEL] - 1);
	if (a->net[ZADDR_TRAFFIC_CLASS])
		net->traffic_class = (uint8_t)(a->net[ZADDR_TRAFFIC_CLASS] - 1);
	if (a->net[ZADDR_MTU])
		net->mtu = (uint8_t)(__builtin_ctz(a->net[ZADDR_MTU] - 1) - 7); /* enum ibv_mtu: 256 is 1 */
	if (a->net[ZADDR_GID_INDEX])
		net->gid_index = (int)a->net[ZADDR_GID_INDEX] - 1;
}

int vaddress_find(struct vaddress *a, struct vdevice *d, uint8_t port, const struct sockaddr *local,
	const struct vaddress_peer *peer, const struct vnet *net, struct zerr *err)
{
	struct ibv_port_attr attr;
	struct ibv_gid_entry entry = {.gid_type = IBV_GID_TYPE_IB};
	union ibv_gid gid;
	uint8_t tcp[16];
	const struct vgid_wish wish = {.local = vgid_of(tcp, local) ? tcp : NULL,
		.peer = peer ? peer->gid : NULL,
		.version = !peer      ? 0
			   : peer->v1 ? 1
				      : 2};
	int rc = vport_query(&attr, d, port, err), index = net->gid_index;
	if (rc < 0)
		return rc;
	if (attr.state != IBV_PORT_ACTIVE)
		return zerr_set(err, -ENETDOWN, "%s:%u is not active (%s)", d->name, port,
			ibv_port_state_str(attr.state));
	*a = (struct vaddress){.ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET,
		.grh = attr.flags & IBV_QPF_GRH_REQUIRED,
		.lid = attr.lid,
		.mtu = (uint8_t)(net->mtu && net->mtu < attr.active_mtu ? net->mtu : attr.active_mtu),
		.max_bytes = attr.max_msg_sz};
	if (!a->ethernet) {
		index = index < 0 ? 0 : index;
		rc = find_pkey(d, port, &attr, net->partition, &a->pkey);
		if (rc < 0 && net->partition == 0)
			return zerr_set(err, -ENOENT, "%s:%u is in no partition", d->name, port);
		if (rc < 0)
			return zerr_set(err, -ENOENT, "%s:%u is not in partition 0x%04x", d->name, port,
				net->partition);
		a->pkey_index = (uint16_t)rc;
	} else if (index < 0) {
		index = vgid_find(&gid, d, port, &attr, &wish);
	}
	bool there = index >= 0 && index <= UINT8_MAX && ibv_query_gid(d->ctx, port, index, &gid) == 0 &&
		     (a->lid || memcmp(gid.raw, (uint8_t[16]){0}, 16) != 0);
	if (!there && net->gid_index >= 0)
		return zerr_set(err, -EADDRNOTAVAIL,
			"%s:%u has no address in entry %d of its table (verbs_gid_index, ZIPPER_VERBS_GID_INDEX)",
			d->name, port, index);
	if (!there)
		return zerr_set(err, -EADDRNOTAVAIL, "%s:%u has no address (GID): has its interface an IP address?",
			d->name, port);
	if (a->ethernet && ibv_query_gid_ex(d->ctx, port, (uint32_t)index, &entry, 0) == 0)
		a->v1 = entry.gid_type == IBV_GID_TYPE_ROCE_V1;
	a->gid_index = (uint8_t)index;
	memcpy(a->gid, gid.raw, 16);
	return 0;
}

void vaddress_warn(const struct vaddress *a, const struct vdevice *d, uint8_t port, const struct zverbs_options *o)
{
	char text[160];
	if (a->ethernet || vaddress_is_full(a->pkey) || !o->warn)
		return;
	snprintf(text, sizeof(text), "%s:%u is a limited member of partition 0x%04x: it reaches full members only",
		d->name, port, a->pkey & VADDRESS_PARTITION);
	o->warn(text);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* GIDs of RoCE ports, which are IP addresses: which one of a port's table is ours. Set-up; any thread. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_GID_H
#define ZIP_COMMON_TRANSPORT_VERBS_GID_H

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/transport/verbs/device/vdevice.h"

#define VGID_TEXT INET6_ADDRSTRLEN

struct vgid_wish {
	const uint8_t *local; /* [16]: that our TCP connection starts from, or NULL */
	const uint8_t *peer;  /* [16]: whom it is to reach; NULL: not known yet */
	int version;	      /* of RoCE that the peer has; 0: not known yet */
};

/* As a GID. false: it is no IP address. */
bool vgid_of(uint8_t gid[16], const struct sockaddr *);
/* IPv4, as the mapped IPv6 address that such a GID is. */
bool vgid_is_ipv4(const uint8_t gid[16]);
/* IPv6 that is not link-local. */
bool vgid_is_global(const uint8_t gid[16]);
const char *vgid_format(char text[VGID_TEXT], const uint8_t gid[16]);

/* The entry of the port's table that suits best. Its index; -1: there is none. */
int vgid_find(union ibv_gid *, const struct vdevice *, uint8_t port, const struct ibv_port_attr *,
	const struct vgid_wish *);
bool vgid_has(const struct vdevice *, uint8_t port, const struct ibv_port_attr *, const uint8_t gid[16]);

#endif

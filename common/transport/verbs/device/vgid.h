/* SPDX-License-Identifier: BSD-3-Clause */
/* GIDs of RoCE ports, which are IP addresses: choosing ours from the table of a port. Set-up; any thread. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_GID_H
#define ZIP_COMMON_TRANSPORT_VERBS_GID_H

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/transport/verbs/device/vdevice.h"

#define VGID_TEXT INET6_ADDRSTRLEN

struct vgid_wish {
	const uint8_t *local; /* [16]: our end of the TCP connection, or NULL */
	const uint8_t *peer;  /* [16]: the peer's GID; NULL: not known yet */
	int version;	      /* the peer's version of RoCE; 0: not known yet */
};

/* Turns an IP address into a GID. false: it is no IP address. */
bool vgid_of(uint8_t gid[16], const struct sockaddr *);
/* Is it IPv4, as a mapped IPv6 address? */
bool vgid_is_ipv4(const uint8_t gid[16]);
/* Is it IPv6, and not link-local? */
bool vgid_is_global(const uint8_t gid[16]);
const char *vgid_format(char text[VGID_TEXT], const uint8_t gid[16]);

/* Finds the entry of the port's table that suits best. In this order: it has the peer's version of RoCE, or version 2;
 * it has the peer's kind of address (IPv4, IPv6, link-local); it is the address from which this host's route to the
 * peer starts, or else `local`; it has the most leading bits in common with the peer, or, without a peer, is IPv4, or
 * at least not link-local. Returns its index, or -1. */
int vgid_find(union ibv_gid *, const struct vdevice *, uint8_t port, const struct ibv_port_attr *,
	const struct vgid_wish *);
bool vgid_has(const struct vdevice *, uint8_t port, const struct ibv_port_attr *, const uint8_t gid[16]);

#endif

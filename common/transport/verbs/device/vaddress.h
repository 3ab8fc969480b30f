/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of ports in their network: LID, GID, partition, MTU. Set-up; any thread. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VADDRESS_H
#define ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VADDRESS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "common/base/err.h"
#include "common/transport/base/addr.h"
#include "common/transport/verbs/device/vdevice.h"
#include "common/transport/verbs/device/verbs_options.h"

struct vaddress {      /* of one port, as a peer needs it */
	bool ethernet; /* RoCE: only the GID counts */
	bool v1;       /* RoCE version 1, which version 2 does not reach */
	bool grh;      /* InfiniBand: packets must have a global address all the same */
	uint16_t lid;
	uint8_t mtu;	    /* enum ibv_mtu */
	uint32_t max_bytes; /* of one operation */
	uint8_t gid[16];
	uint8_t gid_index; /* in our own table */
	uint16_t pkey_index;
	uint16_t pkey; /* InfiniBand: partition and membership, as below */
};

/* Bits of a partition key (InfiniBand specification 1.3, 10.9.1.1). */
#define VADDRESS_PARTITION 0x7fff
#define VADDRESS_FULL 0x8000 /* two limited members do not hear each other */
static inline bool vaddress_is_full(uint16_t pkey)
{
	return pkey & VADDRESS_FULL;
}

struct vnet {		    /* what a port's network wants: the options, or what the port's address says instead */
	uint16_t partition; /* 0: to be found */
	uint8_t service_level, traffic_class;
	uint8_t mtu;   /* enum ibv_mtu; 0: the port's */
	int gid_index; /* -1: to be found */
};
/* Takes the settings that stand in a port's address. */
void vaddress_override_net(struct vnet *, const struct zaddr *);

struct vaddress_peer {	    /* the peer's address, as far as the choice of our GID needs it */
	const uint8_t *gid; /* [16] */
	bool v1;	    /* RoCE version 1 */
};

/* Finds the address of a port. local: our end of the TCP connection, or NULL; peer: NULL if the peer has told nothing
 * yet. Returns 0 or a negative errno with text; -ENETDOWN: the port is not active. */
int vaddress_find(struct vaddress *, struct vdevice *, uint8_t port, const struct sockaddr *local,
	const struct vaddress_peer *peer, const struct vnet *, struct zerr *);

/* Warns if the port reaches some peers only. Once is enough. */
void vaddress_warn(const struct vaddress *, const struct vdevice *, uint8_t port, const struct zverbs_options *);

#endif

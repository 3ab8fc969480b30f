/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports and their addresses: which GID is ours, which port has which IP address. Set-up; any thread. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_ADDRESS_H
#define ZIP_COMMON_TRANSPORT_VERBS_ADDRESS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "common/base/err.h"
#include "common/transport/base/addr.h"
#include "common/transport/verbs/device.h"
#include "common/transport/verbs/device/verbs_options.h"
#include "common/transport/verbs/frame.h"

struct vaddress {      /* of one port, as a peer needs it */
	bool ethernet; /* RoCE: only the GID counts */
	bool v1;       /* RoCE version 1, which version 2 does not reach */
	bool grh;      /* InfiniBand: packets must have a global address all the same */
	uint16_t lid;
	uint8_t mtu;	    /* enum ibv_mtu */
	uint32_t max_bytes; /* of one operation */
	uint8_t gid[16];
	uint8_t gid_index; /* ours alone */
	uint16_t pkey_index;
	uint16_t pkey; /* InfiniBand: partition and membership, as below */
};

/* Of a partition key (InfiniBand specification 1.3, 10.9.1.1). */
#define VADDRESS_PARTITION 0x7fff
#define VADDRESS_FULL 0x8000 /* a limited member and another one do not hear each other */
static inline bool vaddress_is_full(uint16_t pkey)
{
	return pkey & VADDRESS_FULL;
}

/* What a port's network wants: the options, or what its address has instead. */
struct vnet {
	uint16_t partition; /* 0: found */
	uint8_t service_level, traffic_class;
	uint8_t mtu;   /* enum ibv_mtu; 0: the port's */
	int gid_index; /* -1: found */
};
/* By what the address of a port says. */
void vnet_override(struct vnet *, const struct zaddr *);

/* local: our end of the TCP connection, or NULL; peer: what it has told of its address, NULL: nothing yet. -ENETDOWN:
 * the port is not active; and others, with text. */
int vaddress_find(struct vaddress *, struct vdevice *, uint8_t port, const struct sockaddr *local,
	const struct vframe *peer, const struct vnet *, struct zerr *);

/* Warns of what works with some peers only. Once is enough. */
void vaddress_warn(const struct vaddress *, const struct vdevice *, uint8_t port, const struct zverbs_options *);

/* The IP address of a port's own network interface, as text. -EADDRNOTAVAIL with text. */
int vaddress_ip(char *buf, size_t cap, struct vdevice *, uint8_t port, struct zerr *);

/* Of the adapters that there are only those: reliable connections over InfiniBand or RoCE. -EPROTONOSUPPORT with text.
 */
int vaddress_check_kind(const struct vdevice *, struct zerr *);

/* The port that has this IP address; or else, where only one port of this host is active, that one. -ENODEV with text.
 * Kept for as long as the device is open; forget: it is to be looked for again. */
void vaddress_forget(void);
int vaddress_choose(char device[VDEVICE_NAME_MAX], uint8_t *port, const struct sockaddr *local, struct zerr *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of devices: their IP addresses, and the choice of a port for connecting. Set-up; any thread. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VPORT_H
#define ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VPORT_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "common/base/err.h"
#include "common/transport/verbs/device/vdevice.h"

/* Asks for a port's attributes. -ENODEV with text: the device has no such port. */
int vport_query(struct ibv_port_attr *, const struct vdevice *, uint8_t port, struct zerr *);

/* The IP address of a port's own network interface, as text. -EADDRNOTAVAIL with text. */
int vport_ip(char *buf, size_t cap, struct vdevice *, uint8_t port, struct zerr *);

/* Chooses the port that has this IP address. If no port has it, and only one port of this host is active, chooses that
 * port. -ENODEV with text. The choice is kept for as long as the device is open. */
int vport_choose(char device[VDEVICE_NAME_MAX], uint8_t *port, const struct sockaddr *local, struct zerr *);
/* Drops the last choice, so that the next call looks at all ports again. */
void vport_forget(void);

#endif

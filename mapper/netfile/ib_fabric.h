/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Switches, adapters and cables of an InfiniBand fabric, as ibnetdiscover(8) lists them, and the network that they are:
 * a router for each switch, a link for each cable between two switches, and a node for each host. A host is known by
 * the first word of the description of its adapters ("node01 mlx5_0"), and is at the switch of one of its cables. An
 * adapter whose description is no host's ("MT4123 ConnectX6 Mellanox Technologies") is a host of its own, with its
 * GUID for a name. Adapters inside switches (aggregation nodes) and InfiniBand routers are left out.
 */
#ifndef ZIP_MAPPER_IB_FABRIC_H
#define ZIP_MAPPER_IB_FABRIC_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"
#include "mapper/base/names.h"
#include "mapper/netfile/cabling.h"

#define IB_PORT_MAX 254u /* ports are numbers of 8 bits; 255 is no port */
#define IB_UNKNOWN 0.0	 /* a bandwidth that the file does not say */

enum ib_kind { IB_SWITCH, IB_ADAPTER, IB_ROUTER };

struct ib_device {
	enum ib_kind kind;
	char *description;
	unsigned line; /* of its own block or first port; 0: it stands behind cables of others only */
};

struct ib_end {
	uint32_t device, port;
};

struct ib_cable {
	struct ib_end end[2]; /* the one in whose line it stands, the other */
	double bandwidth;     /* bytes a second each way, or IB_UNKNOWN */
	unsigned line;
};

/* Zeroed, it is empty. */
struct ib_fabric {
	struct names names;	  /* of devices: S-GUID, H-GUID, R-GUID, or what a format has */
	struct ib_device *device; /* [names.n] */
	struct ib_cable *cable;	  /* [cables]; each cable stands there from either end */
	size_t cables, room;
};

struct ib_wishes {
	double bandwidth; /* of cables that do not say theirs */
	uint32_t rail;	  /* hosts are at the switch of this one of their cables, from 1 on; or of their last one */
};

/* Finds or adds a device. device becomes its number. 0, -EINVAL (another kind under this name), -E2BIG, -ENOMEM. */
int ib_fabric_device(struct ib_fabric *, const char *name, enum ib_kind, uint32_t *device, struct zerr *);
/* Sets the description of a device whose own line this is, unless it has one. 0 or -ENOMEM. */
int ib_fabric_describe(struct ib_fabric *, uint32_t device, const char *description, unsigned line, struct zerr *);
/* Adds a cable as one end sees it. 0, -E2BIG, -ENOMEM. */
int ib_fabric_cable(struct ib_fabric *, const struct ib_cable *, struct zerr *);
/* Bandwidth by the names of ibnetdiscover, as "4x" and "HDR". IB_UNKNOWN for names that are not known. */
double ib_fabric_bandwidth(const char *width, const char *speed);
/* Adds the network to the cabling, once all is read. 0, or a negative errno with "path:line: reason". */
int ib_fabric_lay(struct ib_fabric *, const char *path, const struct ib_wishes *, struct cabling *, struct zerr *);
void ib_fabric_free(struct ib_fabric *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The RDMA ports of this host as the kernel shows them (sysfs), without libibverbs. Any thread. */
#ifndef ZIP_COMMON_DOCTOR_RDMA_H
#define ZIP_COMMON_DOCTOR_RDMA_H

#include <stdbool.h>

#define ZRDMA_SYSFS "/sys/class/infiniband"
#define ZRDMA_NAME_BYTES 64

struct zrdma_port {
	char device[ZRDMA_NAME_BYTES];
	int port;		  /* from 1 */
	char state[32], rate[48]; /* in the kernel's words: "ACTIVE", "100 Gb/sec (4X EDR)" */
	bool active, ethernet;	  /* ethernet: RoCE */
	int mtu;		  /* of its network interface in bytes; 0: it has none that is known */
	const char *keys;	  /* all its partitions: "0x7fff 0x8001"; "": none; only there while it is visited */
};

/* Calls visit for each port, in the order of devices and ports. sysfs: ZRDMA_SYSFS. Returns the number of ports. */
int zrdma_visit(const char *sysfs, void (*visit)(void *ctx, const struct zrdma_port *), void *ctx);
/* The MTU that RoCE has over an interface with this MTU: 256 to 4096, or 0 if the interface's is too small. */
int zrdma_roce_mtu(int mtu);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The device's port that is looped back, and connecting queue pairs over it. Set-up; one thread. */
#ifndef ZIPBENCH_ENDPOINTS_PORT_H
#define ZIPBENCH_ENDPOINTS_PORT_H

#include <infiniband/verbs.h>

#include "zipbench/endpoints/options.h"

#define PORT_NAME_MAX 64

struct port {
	char device[PORT_NAME_MAX];
	uint8_t number;
	uint16_t lid;
	bool ethernet;
	enum ibv_mtu mtu;
	int gid_index;
	union ibv_gid gid;
	unsigned max_send_wr, max_reads; /* limits of the device for a queue pair: its depth, and its reads under way */
};

/* Finds the port that the options name. 0 or a negative errno with text. */
int port_find(struct port *, const struct bench_options *, struct zerr *);
/* Connects qp to the queue pair of that number on the same port, which must be connected to qp likewise. */
int port_connect(const struct port *, struct ibv_qp *qp, uint32_t peer_qpn, struct zerr *);

#endif

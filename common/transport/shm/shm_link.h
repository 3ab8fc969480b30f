/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a link of the shm transport, for transport_shm.c, shm_setup.c, shm_pass.c and shm_rma.c. */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_LINK_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_LINK_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/transport/base/transport.h"
#include "common/transport/shm/shm_consumer.h"
#include "common/transport/shm/shm_map.h"
#include "common/transport/shm/shm_pass.h"
#include "common/transport/shm/shm_producer.h"
#include "common/transport/shm/shm_rma.h"

#define SHM_LINE 128 /* pairs of cache lines are fetched together */

struct shm_tx {
	struct shm_producer ring;
	int sock;
	int watch;	/* accepting side: epoll descriptor around sock, which comes with the offer; otherwise -1 */
	bool watch_new; /* it reports sock as writable, to wake a sender that waited for the offer */
	bool armed;
	unsigned refused; /* posts in a row */
	size_t need;	  /* bytes that the last post found no room for; 0: there was room */
	int error;
	struct shm_rma_half rma;
	struct shm_slots slots; /* our own, at the connecting side */
	/* Numbers of the links whose slots the peer knows, in the order in which it was told. */
	uint32_t *senders; /* [SHM_SENDERS_MAX]; NULL before the first */
	unsigned nsenders;
	bool no_more_senders;
};

struct shm_rx {
	struct shm_consumer ring;
	int sock;
	bool armed;
	bool gone;     /* the peer has gone; messages in the ring are still delivered */
	unsigned vain; /* polls in a row */
	int error;
	struct shm_rma_half rma;
	struct shm_slots slots; /* the peer's own, at the accepting side */
	int slots_fd;		/* descriptor, to be passed on; -1 */
	/* Slots of other links that the peer has passed on. */
	struct shm_slots *senders; /* [SHM_SENDERS_MAX]; NULL before the first */
	unsigned nsenders;
};

enum { SHM_WAITING, SHM_READY }; /* or the negative errno with which the offer failed */

struct shm_link {
	struct zlink base;
	struct shm_map map;
	uint32_t number; /* of all links of this process, never used again */
	uid_t uid;	 /* of the peer */
	bool accepted;
	_Atomic int state;
	atomic_flag joining; /* taken by the half that takes the offer */
	_Atomic bool dead;   /* one of the halves saw the peer's end */
	struct shm_rma rma;
	alignas(SHM_LINE) struct shm_tx tx;
	alignas(SHM_LINE) struct shm_rx rx;
};

#endif

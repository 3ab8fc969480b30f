/* SPDX-License-Identifier: BSD-3-Clause */
/* A link of the shm transport. Inner header: transport_shm.c, shm_setup.c, shm_pass.c and shm_rma.c know what is
 * inside. */
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
	int watch;	/* accepted: epoll descriptor around sock, which comes with the offer; else -1 */
	bool watch_new; /* it reports sock as writable, to wake a sender that waited for the offer */
	bool armed;
	unsigned refused; /* posts in a row */
	size_t need;	  /* bytes that the last post had no room for; 0: it had */
	int error;
	struct shm_rma_half rma;
	struct shm_slots slots; /* our own, if we have connected */
	/* Numbers of the links whose slots the peer knows, in the order in which it got to know them. */
	uint32_t *senders; /* [SHM_SENDERS_MAX]; NULL before the first */
	unsigned nsenders;
	bool no_more_senders;
};

struct shm_rx {
	struct shm_consumer ring;
	int sock;
	bool armed;
	bool gone;     /* the peer is; what is in the ring is still delivered */
	unsigned vain; /* polls in a row */
	int error;
	struct shm_rma_half rma;
	struct shm_slots slots; /* the peer's own, if it has connected */
	int slots_fd;		/* to be passed on; -1 */
	/* Those of others that the peer has passed on. */
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
	atomic_flag joining; /* one half takes the offer */
	_Atomic bool dead;   /* either half saw the peer's end */
	struct shm_rma rma;
	alignas(SHM_LINE) struct shm_tx tx;
	alignas(SHM_LINE) struct shm_rx rx;
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * References to payloads in slots (shm_slots.h). A reference stands in the ring in front of its envelope. The
 * descriptors of slots travel to the processes that read there.
 *
 * The connecting side offers its own slots with its memory. The accepting side (zipperd) passes them on to other
 * processes that have connected to it, where both are of the same user. It passes each descriptor once, over the link's
 * socket, and the receiver numbers the descriptors in the order in which they come. Payloads of all other senders are
 * copied into the ring.
 */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_PASS_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/transport/shm/shm_slots.h"

#define SHM_SENDERS_MAX 256u	/* senders whose slots one link passes on */
#define SHM_REF_MARK 0xffu	/* stands where an envelope has its version */
#define SHM_REF_MINE UINT32_MAX /* the slots belong to the process that wrote the reference */

struct shm_link;

/* Takes SHM_RING_ALIGN bytes in a ring. */
struct shm_ref {
	uint8_t mark, unused[3];
	uint32_t sender, slot;
};

/* Receive half. */

/* Finds the slots of a reference to len bytes. NULL: the link may not refer to them. */
struct shm_slots *shm_pass_find(struct shm_link *, const struct shm_ref *, uint32_t len);
/* Between these two calls a post to another link passes on the reference instead of the payload. Same thread. */
void shm_pass_begin(struct shm_link *, struct shm_slots *, uint32_t slot);
void shm_pass_end(void);
/* Takes bytes that wake, and descriptors, from the half's socket. false: nothing was there. */
bool shm_pass_look(struct shm_link *);

/* Send half. */

/* Is this payload being delivered by reference, and may the link's peer have it that way? Then the slot gets one more
 * user, and *ref is the reference. */
bool shm_pass_on(struct shm_link *, const void *payload, size_t len, struct shm_ref *ref);

#endif

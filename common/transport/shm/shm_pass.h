/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * References to payloads in slots (shm_slots.h), in the ring in front of their envelope; and the descriptors of slots
 * on their way to those who read there. Inner header of the shm transport.
 *
 * The connecting side offers its own slots with its memory. The accepting side (zipperd) passes them on to others that
 * have connected to it, where both are the same user: once, over the link's socket, where they count in their order.
 * Payloads of all others are copied into the ring.
 */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_PASS_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/transport/shm/shm_slots.h"

#define SHM_SENDERS_MAX 256u	/* whose slots one link passes on */
#define SHM_REF_MARK 0xffu	/* where an envelope has its version */
#define SHM_REF_MINE UINT32_MAX /* the slots belong to who wrote the reference */

struct shm_link;

/* In a ring, SHM_RING_ALIGN bytes with it. */
struct shm_ref {
	uint8_t mark, unused[3];
	uint32_t sender, slot;
};

/* Receive half. */

/* What a reference refers to, for len bytes; NULL: nothing that this link may refer to. */
struct shm_slots *shm_pass_find(struct shm_link *, const struct shm_ref *, uint32_t len);
/* Between these two a post to another link passes on the reference in place of the payload. Same thread. */
void shm_pass_begin(struct shm_link *, struct shm_slots *, uint32_t slot);
void shm_pass_end(void);
/* Takes what is on the half's socket: bytes that wake, and descriptors. False: nothing was there. */
bool shm_pass_look(struct shm_link *);

/* Send half. */

/* Is this payload being delivered by reference, and may the link's peer have it so? Then *ref is one user more of its
 * slot. */
bool shm_pass_on(struct shm_link *, const void *payload, size_t len, struct shm_ref *ref);

#endif

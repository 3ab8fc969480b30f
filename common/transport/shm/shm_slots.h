/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for large payloads beside the rings of the shm transport. A message that is forwarded to another shm link need
 * not be copied in between.
 *
 * A sender puts a large payload into a free slot, and only a reference into its ring. A process that forwards the
 * message puts a reference into the ring of the other link, and has given that link's receiver the descriptor of the
 * slots. So the sender writes the payload once and the receiver reads it once, whatever is between them.
 *
 * The users of a slot are the references to it that are not done with. The sender takes only a slot without users.
 * Slots do not lie in a queue, so a slow receiver keeps its own payloads only. Where no slot is free, payloads go
 * through the ring.
 *
 * Trust: the receivers of one sender's messages can read and write all its slots, and so also messages for other
 * receivers. They are ranks of one job and of one user (shm_pass.h). Nonsense in this memory costs its users their
 * data, and nobody else.
 */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_SLOTS_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* A slot holds a fragment of a large message. All slots together hold the bytes that may by default be on their way to
 * one rank. Only the used part becomes memory. With slots of 256 KiB a stream has 0.97 of the bandwidth, and a
 * ping-pong of 1 MiB 0.9 to 0.95. */
#define SHM_SLOTS 16u
#define SHM_SLOT_BYTES ((size_t)128 << 10)
/* For a smaller payload a second copy out of the cache costs less than a reference. */
#define SHM_SLOT_MIN_BYTES ((size_t)16 << 10)

struct shm_slot_ctl;

struct shm_slots {
	struct shm_slot_ctl *ctl; /* NULL: there are none */
	uint8_t *data;
	uint32_t next; /* owner: where to look first */
};

/* Makes sealed memory and maps it. Returns its descriptor, which is the caller's, or a negative errno with text. */
int shm_slots_create(struct shm_slots *, struct zerr *);
/* Maps slots that a peer has made; fd stays the caller's. Returns 0, or -EPROTO: the memory has not the size or the
 * seals of shm_slots_create. */
int shm_slots_open(struct shm_slots *, int fd);
void shm_slots_close(struct shm_slots *);

/* The owner's thread: takes a slot without users, which has one user from now on. Returns -1 if there is none. */
int shm_slots_take(struct shm_slots *);
static inline uint8_t *shm_slots_at(const struct shm_slots *s, uint32_t slot)
{
	return s->data + slot * SHM_SLOT_BYTES;
}
/* Adds a user, for a process that is a user itself; removes a user that is done reading or writing. Any thread, any
 * process. */
void shm_slots_hold(struct shm_slots *, uint32_t slot);
void shm_slots_drop(struct shm_slots *, uint32_t slot);

#endif

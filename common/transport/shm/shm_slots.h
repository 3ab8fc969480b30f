/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for large payloads beside the rings of the shm transport, so that a message that is forwarded to another shm
 * link need not be copied in between. Inner header.
 *
 * A sender puts a large payload into a free slot, and into its ring only a reference. Who forwards the message to
 * another link puts a reference into that link's ring, too, and has given its receiver the descriptor of the slots. So
 * the payload is written once by its sender and read once by its receiver, whoever is between them.
 *
 * A slot has as many users as there are references to it that nobody has finished with: the sender takes only one that
 * has none. Slots do not lie in a queue, so a receiver that is slow keeps its own payloads only; with no slot free
 * payloads go through the ring.
 *
 * Trust: receivers of one sender's messages can read and write all its slots, that is, what it sends to others, too.
 * They are ranks of one job, and of one user (shm_pass.h). Nonsense in this memory costs its users their data, nobody
 * else.
 */
#ifndef ZIP_COMMON_TRANSPORT_SHM_SHM_SLOTS_H
#define ZIP_COMMON_TRANSPORT_SHM_SHM_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "common/base/err.h"

/* A slot holds a fragment of a large message, and all of them what may by default be on its way to one rank. Memory
 * only as far as it is used. With 256 KiB a stream has 0.97, and a ping-pong of 1 MiB 0.9 to 0.95 of what it has with
 * these. */
#define SHM_SLOTS 16u
#define SHM_SLOT_BYTES ((size_t)128 << 10)
/* Below this a second copy out of the cache costs less than what a reference takes. */
#define SHM_SLOT_MIN_BYTES ((size_t)16 << 10)

struct shm_slot_ctl;

struct shm_slots {
	struct shm_slot_ctl *ctl; /* NULL: there are none */
	uint8_t *data;
	uint32_t next; /* owner: where to look first */
};

/* Makes sealed memory and maps it: its descriptor (the caller's), or a negative errno with text. */
int shm_slots_create(struct shm_slots *, struct zerr *);
/* Maps what a peer made; fd stays the caller's. -EPROTO: its size or seals are not those of create. */
int shm_slots_open(struct shm_slots *, int fd);
void shm_slots_close(struct shm_slots *);

/* The owner's thread: a slot that nobody uses, with one user from now on; or -1. */
int shm_slots_take(struct shm_slots *);
static inline uint8_t *shm_slots_at(const struct shm_slots *s, uint32_t slot)
{
	return s->data + slot * SHM_SLOT_BYTES;
}
/* One user more: by one that is a user itself. One less: what it has read or written is done. Any thread, any process.
 */
void shm_slots_hold(struct shm_slots *, uint32_t slot);
void shm_slots_drop(struct shm_slots *, uint32_t slot);

#endif

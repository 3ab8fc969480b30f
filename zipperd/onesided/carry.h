/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations of one-sided transfers on links: a piece is read from a source and written to a receiver. Worker's
 * thread. */
#ifndef ZIPPERD_CARRY_H
#define ZIPPERD_CARRY_H

#include "zipperd/lane/half.h"
#include "zipperd/memory/staging.h"

/* Reads piece->len bytes at piece->offset. 0: under way; -EAGAIN: not now; other errors: the source is lost. */
int carry_read(struct worker *, struct source *, const uint8_t key[ZRMA_KEY_BYTES], struct piece *);
/* Writes a piece of its transfer, now or as soon as the link has room. The transfer is RUNNING, its tx is there, and
 * the piece is counted. */
void carry_write(struct worker *, struct carry *);
/* As carry_write, for a piece of a fan-out: counts it in the transfer. */
void carry_start(struct worker *, struct carry *);
/* Goes on with the pieces that wait for the link. Returns the number that left. */
int carry_write_waiting(struct worker *, struct tx *);

#endif

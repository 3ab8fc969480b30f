/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is there room for a message at its destination? The queue of a destination grows to dest_share bytes of sequenced
 * messages. From then on they are refused (refusal.h). Other kinds are never refused: they are few, or bounded by
 * what receivers grant. Beyond that bound (rdv_window and dest_share), and without memory, the source stalls. The queue
 * itself is in dest.h. Worker's thread.
 */
#ifndef ZIPPERD_ROOM_H
#define ZIPPERD_ROOM_H

#include "common/wire/wire.h"

struct dest;
struct worker;

enum { ROOM_THERE, ROOM_REFUSED };

/* ROOM_THERE: the message may pass. ROOM_REFUSED: drop it; its source is told, or nobody waits for it. -EAGAIN: no
 * memory for the refusal. -ENOBUFS: the message would exceed the bound, so its sender goes beyond the receiver's
 * grants. */
int room_check(struct worker *, struct dest *, const struct zwire_env *);

#endif

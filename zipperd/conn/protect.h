/* SPDX-License-Identifier: BSD-3-Clause */
/* The protection of connections (ctl.h, Seals): what comes of the wishes of both ends, and the change to sealed
 * records. Control thread. */
#ifndef ZIPPERD_PROTECT_H
#define ZIPPERD_PROTECT_H

#include "zipperd/conn/conn.h"

/* Is this the protection that the connection may have? wanted: by the other end, as in HELLO. *level becomes what both
 * ends want. false: the connection is refused, with a line that says what to do. */
bool protect_agree(struct conn *, uint8_t wanted, uint8_t *level);
/* The same for the protection that an ATTACH says, which needs no answer. */
bool protect_accept(struct conn *, uint8_t said, uint8_t *level);
/* From now on the connection is sealed, unless level is ZSEAL_NONE. key, salt: as seal in auth.h. All that was sent
 * must have gone to the link. false: it was refused or is closed. */
bool protect_begin(struct conn *, uint8_t level, const uint8_t *key, const uint8_t *salt);

#endif

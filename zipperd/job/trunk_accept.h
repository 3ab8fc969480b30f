/* SPDX-License-Identifier: BSD-3-Clause */
/* Accepting a trunk. Control thread. */
#ifndef ZIPPERD_TRUNK_ACCEPT_H
#define ZIPPERD_TRUNK_ACCEPT_H

#include "zipperd/conn/conn.h"

/* TRUNK of a connection: it becomes a trunk, or is refused. */
void trunk_accept(struct conn *, const struct zctl_trunk *);

#endif

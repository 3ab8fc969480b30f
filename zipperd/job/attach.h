/* SPDX-License-Identifier: BSD-3-Clause */
/* Data channels of ranks. Control thread. */
#ifndef ZIPPERD_ATTACH_H
#define ZIPPERD_ATTACH_H

#include "zipperd/conn/conn.h"

/* ATTACH: makes the connection a channel, or refuses it. */
void attach_channel(struct daemon *, struct conn *, const struct zctl_attach *);

#endif

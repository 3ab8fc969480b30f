/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers STATUS: what zipperd does and for whom. An administrator hears of all jobs, another user of the own ones.
 * Control thread. */
#ifndef ZIPPERD_STATUS_H
#define ZIPPERD_STATUS_H

#include "zipperd/conn/conn.h"

/* Sends a STATUS_REPLY with as many records behind that place as a message holds. */
void status_reply(struct conn *, const struct zctl_place *);

#endif

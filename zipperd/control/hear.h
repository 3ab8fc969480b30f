/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads connections: their messages, their ends, and their time limits. A fault costs that connection alone. Control
 * thread. */
#ifndef ZIPPERD_HEAR_H
#define ZIPPERD_HEAR_H

#include "zipperd/conn/conn.h"

/* The watch.ready of connections. */
void hear_ready(struct watch *);
/* Goes on with the connections of daemon.again. */
void hear_continue_all(struct daemon *);
/* Ends connections whose time is over. */
void hear_expire_all(struct daemon *);
/* At the end: closes all connections. */
void hear_close_all(struct daemon *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the transports need of sockets beside the data path: accepting, connecting within a time. Inner header of the
 * transports. Any thread; all sockets are non-blocking and close-on-exec. */
#ifndef ZIP_COMMON_TRANSPORT_BASE_SOCKET_H
#define ZIP_COMMON_TRANSPORT_BASE_SOCKET_H

#include <stdint.h>
#include <sys/socket.h>

#include "common/base/err.h"

/* Monotonic milliseconds, to compute deadlines with. */

/* Connects fd, waiting until deadline_ms at most. 0 or a negative errno (-ETIMEDOUT). The backlog of a Unix socket
 * that is full is waited for, too. */
int zsocket_connect(int fd, const struct sockaddr *, socklen_t len, int64_t deadline_ms);

/* Accepts one connection: its descriptor, -EAGAIN (nobody waits), or a negative errno with text. *spare is a
 * descriptor that the listener holds (zsocket_spare) so that, where none is left, a peer can be refused at once
 * instead of the listener staying readable for ever. */
int zsocket_accept(int listener, int *spare, struct zerr *);
int zsocket_spare(void);

#endif

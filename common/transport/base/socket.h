/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets of the transports beside the data path: accepting, and connecting within a time. Any thread; all sockets are
 * non-blocking and close-on-exec. */
#ifndef ZIP_COMMON_TRANSPORT_BASE_SOCKET_H
#define ZIP_COMMON_TRANSPORT_BASE_SOCKET_H

#include <stdint.h>
#include <sys/socket.h>

#include "common/base/err.h"

/* Connects fd, and waits for that until deadline_ms (zclock_ms) at most; also where the backlog of a Unix socket is
 * full. Returns 0 or a negative errno (-ETIMEDOUT). */
int zsocket_connect(int fd, const struct sockaddr *, socklen_t len, int64_t deadline_ms);

/* Accepts one connection. Returns its descriptor, -EAGAIN (no connection waits), or a negative errno with text. *spare
 * is a descriptor that the listener holds (zsocket_spare): where no other is left, it lets a peer be refused at once,
 * so that the listener does not stay readable for ever. */
int zsocket_accept(int listener, int *spare, struct zerr *);
int zsocket_spare(void);

#endif

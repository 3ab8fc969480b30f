/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP sockets for the tcp transport: names to addresses, listening, connecting, options. Any thread. */
#ifndef ZIP_COMMON_TRANSPORT_TCP_TCP_SOCKET_H
#define ZIP_COMMON_TRANSPORT_TCP_TCP_SOCKET_H

#include <stddef.h>

#include "common/transport/base/addr.h"

/* Listens. Returns a descriptor, or a negative errno with text. */
int tcp_socket_listen(const struct zaddr *, struct zerr *);
/* Has the host of this address an IP address? Returns 0 or a negative errno with text. */
int tcp_socket_resolve(const struct zaddr *, struct zerr *);
/* Connects, and sets the connection's options. Tries every IP address of the name. Returns a descriptor, or a negative
 * errno with text. */
int tcp_socket_connect(const struct zaddr *, int timeout_ms, struct zerr *);
/* Sets options of a connection: no delay, keepalive. Returns 0 or a negative errno. */
int tcp_socket_tune(int fd);
/* From now on, bytes that are not acknowledged for as long as keepalive takes break the connection. */
void tcp_socket_guard(int fd);
/* Writes the other end as "10.1.0.2:5123" or "[::1]:5123". */
void tcp_socket_peer(int fd, char *buf, size_t cap);
/* The local port, 0 on failure. */
uint16_t tcp_socket_port(int fd);

#endif

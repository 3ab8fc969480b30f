/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP sockets for the tcp transport: names to addresses, listening, connecting, options. Inner header. Any thread. */
#ifndef ZIP_COMMON_TRANSPORT_TCP_TCP_SOCKET_H
#define ZIP_COMMON_TRANSPORT_TCP_TCP_SOCKET_H

#include <stddef.h>

#include "common/transport/base/addr.h"

/* A listening descriptor, or a negative errno with text. */
int tcp_socket_listen(const struct zaddr *, struct zerr *);
/* Has its host an address? 0 or a negative errno with text. */
int tcp_socket_resolve(const struct zaddr *, struct zerr *);
/* A connected descriptor with its options set, or a negative errno with text. Tries every address of the name. */
int tcp_socket_connect(const struct zaddr *, int timeout_ms, struct zerr *);
/* Options of a connection: no delay, keepalive. 0 or a negative errno. */
int tcp_socket_tune(int fd);
/* What is sent and not acknowledged for as long as keepalive takes breaks the connection. */
void tcp_socket_guard(int fd);
/* "10.1.0.2:5123", "[::1]:5123" of the other end. */
void tcp_socket_peer(int fd, char *buf, size_t cap);
/* The local port, 0 on failure. */
uint16_t tcp_socket_port(int fd);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to a connection, and the queue of those that wait while its link is full. Control thread. */
#ifndef ZIPPERD_CONN_SEND_H
#define ZIPPERD_CONN_SEND_H

#include "zipperd/conn/conn.h"

/* Queues the message where the link is full. A connection that does not read is dropped in the end. */
void conn_send(struct conn *, const struct zctl_msg *);
/* The same with an encoded message. */
void conn_send_bytes(struct conn *, const uint8_t *msg, size_t len);
/* Sends the queue, as far as the link takes it. A broken link is noticed by the reader: no call makes the connection
 * go. */
void conn_send_queue(struct conn *);
/* Frees the queue. */
void conn_send_drop(struct conn *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number of connections that zipperd can have: max_connections, and the descriptors that connections take. A
 * connection that comes when there is no room waits in the kernel's queue for a moment, and longer while some others
 * are about to go. After that a few at a time are let in all the same, to hear why they cannot stay. So no connection
 * waits without end and without a word, not even connections that wait for each other. Control thread.
 */
#ifndef ZIPPERD_CAPACITY_H
#define ZIPPERD_CAPACITY_H

#include "common/base/err.h"
#include "zipperd/conn/daemon.h"

struct conn;

/* Asks for all descriptors that the process may have, and lowers max_connections where they do not suffice. */
void capacity_init(struct daemon *);
/* Logs that max_connections is lower than configured, if so. */
void capacity_log(const struct daemon *);
/* May one more connection be accepted now? */
bool capacity_allows(struct daemon *);
/* To be called in every turn: gives memory back to the system when most of many connections have gone. malloc would
 * keep it. */
void capacity_trim(struct daemon *);
/* true, and why: the connection was let in to hear that there is no room, and there still is none. */
bool capacity_lacks(const struct conn *, struct zerr *);

#endif

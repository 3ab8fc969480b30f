/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Circuits: two connections, of peers on different fabrics, between which everything is handed on as it is. Each is a
 * lane for either direction with one source and one destination, moved by the workers as those of jobs are. What one
 * end has sent before it closed still reaches the other one, whichever of its halves zipperd finds closed first.
 * Control thread.
 */
#ifndef ZIPPERD_CIRCUIT_H
#define ZIPPERD_CIRCUIT_H

#include "zipperd/control/daemon.h"
#include "zipperd/control/peer.h"
#include "zipperd/worker/worker_pair.h"

struct channel;
struct circuit;
struct zctl_stats_reply;

/* MEET of a peer: it waits for the other end, or both are connected, or it is refused. */
void circuit_meet(struct daemon *, struct peer *, const struct zctl_meet *);
/* The peer that waits goes. */
void circuit_forget(struct circuit *);
/* What workers report, but of halves that are back (channel.c). */
void circuit_event(const struct event *);
/* The link of this end was closed: frees it. */
void circuit_closed(struct channel *);
/* One of its links cannot be settled. */
void circuit_break(struct circuit *, const struct zerr *);
void circuits_expire(struct daemon *); /* those that an end has left whose last words have come */
bool circuits_timed(const struct daemon *);
void circuits_end_all(struct daemon *);
/* Adds what has crossed on those of that user and, unless it is "", that job. */
void circuits_count(const struct daemon *, const char *user, const char *job,
	void (*add)(void *arg, const char *from, const char *to, const struct lane *), void *arg);

#endif

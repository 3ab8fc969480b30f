/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers of all directions, made when a job first needs them, and the ways to and from them. Control thread. */
#ifndef ZIPPERD_CREW_H
#define ZIPPERD_CREW_H

#include "zipperd/control/daemon.h"
#include "zipperd/lane/relay.h"
#include "zipperd/worker/worker_pair.h"

int crew_create(struct daemon *, struct zerr *);
void crew_destroy(struct daemon *); /* all lanes must be back */
/* The worker from fabric to fabric, and its opposite with it. NULL with text. */
struct worker *crew_worker(struct daemon *, int from, int to, struct zerr *);
/* The relay from one worker to another with the same first fabric, made when it is first asked for. NULL: out of
 * memory. */
struct relay *crew_relay(struct daemon *, struct worker *from, struct worker *to);
/* Never fails and never waits; commands keep their order, whichever workers they are to. */
void crew_send(struct daemon *, struct worker *, const struct command *);
/* Handles what workers have reported. */
void crew_poll(struct daemon *);
/* Milliseconds until crew_poll must be called though nothing is reported, -1: never. */
int crew_timeout(const struct daemon *);

#endif

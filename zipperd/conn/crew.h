/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers of all directions, made when a job first needs them, and the rings to and from them. Control thread. */
#ifndef ZIPPERD_CREW_H
#define ZIPPERD_CREW_H

#include "zipperd/conn/daemon.h"
#include "zipperd/lane/ports.h"
#include "zipperd/lane/worker.h"

int crew_create(struct daemon *, struct zerr *);
void crew_destroy(struct daemon *); /* all lanes must be back */
/* The worker from fabric to fabric, made together with its opposite. NULL with text. */
struct worker *crew_worker(struct daemon *, int from, int to, struct zerr *);
/* The relay from one worker to another with the same first fabric, made at its first use. NULL: out of memory. */
struct relay *crew_relay(struct daemon *, struct worker *from, struct worker *to);
/* Never fails and never waits. Commands keep their order, whichever workers they are to. */
void crew_send(struct daemon *, struct worker *, const struct command *);
/* Sends CMD_PING to all workers, and returns how many these are. */
int crew_ping(struct daemon *);
/* Tells of each worker there is: fabrics, whether its thread does the other direction, too, and its processor time. */
void crew_each(const struct daemon *,
	void (*tell)(void *arg, const char *from, const char *to, bool shares, uint64_t cpu_ns), void *arg);
/* Hands the events of all workers to handle. */
void crew_poll(struct daemon *, void (*handle)(struct daemon *, const struct event *));
/* Milliseconds until crew_poll must be called even if no event comes, -1: never. */
int crew_timeout(const struct daemon *);

#endif

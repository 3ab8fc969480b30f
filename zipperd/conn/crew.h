/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers of all directions, made when a job first needs them, and the rings to and from them. Control thread. */
#ifndef ZIPPERD_CREW_H
#define ZIPPERD_CREW_H

#include "zipperd/conn/daemon.h"
#include "zipperd/lane/ports.h"
#include "zipperd/lane/worker.h"

int crew_create(struct daemon *, struct zerr *);
void crew_destroy(struct daemon *); /* all lanes must be back */
/* One of the workers from fabric to fabric, made together with its opposite, which has the same number. number: any; it
 * is taken modulo the number of workers for that direction. NULL with text. */
struct worker *crew_worker(struct daemon *, int from, int to, uint32_t number, struct zerr *);
/* The number of workers for each direction. */
uint32_t crew_width(const struct daemon *);
/* A number for the next circuit's worker: they take turns. */
uint32_t crew_turn(struct daemon *);
/* The relay from one worker to another with the same first fabric, made at its first use. NULL: out of memory. */
struct relay *crew_relay(struct daemon *, struct worker *from, struct worker *to);
/* Never fails and never waits. Commands keep their order, whichever workers they are to. */
void crew_send(struct daemon *, struct worker *, const struct command *);
/* Sends CMD_PING to all workers, and returns how many these are. */
int crew_ping(struct daemon *);
/* Fills a list with all workers there are, the two of a pair one after the other. list: room for ZCTL_WORKERS_MAX.
 * Returns their number. */
uint32_t crew_list(const struct daemon *, struct zctl_worker_status *list);
/* Hands the events of all workers to handle. */
void crew_poll(struct daemon *, void (*handle)(struct daemon *, const struct event *));
/* Milliseconds until crew_poll must be called even if no event comes, -1: never. */
int crew_timeout(const struct daemon *);

#endif

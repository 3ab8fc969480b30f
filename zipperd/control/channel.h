/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data channels: the connection of a rank's endpoint for one pair of fabrics. The control thread owns the struct, its
 * halves are lent to the two workers of that pair. Both are told to drop their half when either is broken or the job is
 * over; when both have, the link is closed, once what it has sent has arrived or will not. Control thread.
 */
#ifndef ZIPPERD_CHANNEL_H
#define ZIPPERD_CHANNEL_H

#include "zipperd/lane/lane.h"
#include "zipperd/control/peer.h"
#include "zipperd/worker/worker_pair.h"

struct circuit;
struct dial;
struct rank;

struct channel {
	struct list of_rank, draining;
	struct rank *rank;	 /* NULL: the end of a circuit (circuit.h), which owns it */
	struct circuit *circuit; /* that one */
	struct zlink *zlink;
	struct dial *settling; /* the network is asked for the peer, or is to be; NULL: not so */
	uint32_t to;	       /* part */
	uint32_t endpoint;
	char over[80]; /* the port of an RDMA device that it came to, for messages; "": none */
	uint32_t dest; /* in the lane to it */
	bool waits;    /* settling is to begin */
	bool ready;    /* it is settled */
	bool lent;     /* the halves are the workers' */
	bool bye;
	bool dropping;
	int halves; /* that workers still have */
	alignas(CACHE_LINE) struct source source;
	alignas(CACHE_LINE) struct tx tx;
};

/* Of tokens and passes: every byte is looked at, whatever differs. */
bool channel_same_token(const uint8_t *a, const uint8_t *b);
/* ATTACH of a peer: makes its connection a channel, or refuses it. */
void channel_attach(struct daemon *, struct peer *, const struct zctl_attach *);
/* Takes it back from the workers; it goes when they have answered. */
void channel_drop(struct channel *);
/* The link has come to stay: gives it what belongs to the workers that it goes to, where its transport wants that. As
 * settle_begin in transport.h. */
int channel_settle(struct zlink *, struct worker *rx, struct worker *tx, struct zerr *);
/* Its halves go to the workers of source.lane and tx.lane: at once, or when the network has been asked (waits). */
void channel_begin(struct channel *, const char *user);
/* It is dropping: closes it now if it is still to be settled, and nobody is at it. */
void channel_stop_settling(struct channel *);
/* One that no worker has, nor will: closes it, once what it has sent has arrived or will not. */
void channel_close(struct channel *);
/* What workers report. */
void channel_event(struct daemon *, const struct event *);
/* Closes those of daemon.draining that have nothing to wait for any more; to be called every CHANNEL_DRAIN_MS. */
#define CHANNEL_DRAIN_MS 10
void channels_drain(struct daemon *);

#endif

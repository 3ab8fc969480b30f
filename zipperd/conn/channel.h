/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A channel is a data connection: that of a rank's station for one pair of fabrics and one track, or one end of a
 * circuit. The control thread owns the struct and lends its halves to the two workers of that pair. Both are told to
 * drop their half when either half is broken or the job is over. When both have done so the link is closed, once all
 * that it has sent has arrived or will not. Control thread.
 */
#ifndef ZIPPERD_CHANNEL_H
#define ZIPPERD_CHANNEL_H

#include <stdalign.h>

#include "zipperd/conn/daemon.h"
#include "zipperd/lane/half.h"
#include "zipperd/lane/ports.h"

struct channel;
struct circuit;
struct dial;
struct rank;
struct trunk;
struct user;

/* The kinds of owner: a rank (attach.c), a circuit (circuit.c) and a trunk (trunk.c). */
struct channel_owner {
	/* The network cannot be settled. The channel closes afterwards. */
	void (*failed)(struct channel *, const struct zerr *why);
	/* Workers have the halves. NULL: nobody waits for that. */
	void (*lent)(struct channel *);
	/* The link is closed: frees the channel. */
	void (*closed)(struct channel *);
};

struct channel {
	const struct channel_owner *owner;
	struct daemon *daemon;
	struct list of_rank, draining;
	struct rank *rank;	 /* NULL: it is no rank's */
	struct circuit *circuit; /* NULL: it is no circuit's */
	struct trunk *trunk;	 /* it is a trunk; NULL: it is none */
	struct channel *other;	 /* the other end of the circuit; NULL: a rank's, or that end is closed */
	struct zlink *zlink;
	struct user *user;     /* whose account counts it */
	struct dial *settling; /* the network is being asked for the other end, or is to be; NULL: it is not */
	uint32_t to;	       /* part */
	uint32_t endpoint;     /* index of the station in its rank */
	uint32_t track;	       /* of the job */
	char over[80];	       /* the port of an RDMA device that the channel came to, for messages; "": none */
	uint32_t dest;	       /* index in the lane to it */
	bool inner;	       /* a stream of a trunk: no connection that counts */
	bool waits;	       /* settling is to begin */
	bool ready;	       /* settled */
	bool lent;	       /* workers have the halves */
	bool bye;
	bool dropping;
	int halves; /* that workers still have */
	alignas(CACHE_LINE) struct source source;
	alignas(CACHE_LINE) struct tx tx;
};

/* A zeroed channel with two halves. NULL: out of memory. */
struct channel *channel_create(struct daemon *, const struct channel_owner *);
/* The link is to become a channel: binds it to the resources of its two workers, where its transport wants that. As
 * settle_begin in transport.h. */
int channel_settle(struct zlink *, struct worker *rx, struct worker *tx, struct zerr *);
/* Gives the halves to the workers of source.lane and tx.lane: at once, or when the network has been asked (waits). */
void channel_begin(struct channel *, const char *user);
/* Takes the channel back from the workers. It goes when they have answered. */
void channel_drop(struct channel *);
/* The channel is dropping: closes it now if it is still to be settled and no thread is at it. */
void channel_stop_settling(struct channel *);
/* No worker has the channel, nor will: closes it, once all that it has sent has arrived or will not. */
void channel_close(struct channel *);
/* A worker has given a half back. */
void channel_half_gone(struct channel *);
/* Closes the channels of daemon.draining that have nothing to wait for any more; to be called every CHANNEL_DRAIN_MS.
 */
#define CHANNEL_DRAIN_MS 10
void channel_drain_all(struct daemon *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rails of this rank: the zippers of its job, with the control session that it has with each. All ranks have the
 * same ones in the same order. Every zipper knows the whole job; the first one alone knows of direct links. While the
 * job runs it may lose all but one of them (failover.h). MPI_Init's thread fills it; then under the shim's lock.
 */
#ifndef ZIP_LIBZIP_RAILS_H
#define ZIP_LIBZIP_RAILS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "addr.h"
#include "control.h"
#include "err.h"
#include "session.h"

struct zrail {
	struct zhops way; /* to its zipper, as seen from here */
	uint8_t passes[ZCTL_HOPS_MAX][ZCTL_TOKEN_BYTES];
	struct zsession *session;	 /* zipperd speaks to us there (OPEN, DEAD, DIRECT); NULL: it is lost */
	uint8_t token[ZCTL_TOKEN_BYTES]; /* for data channels */
	_Atomic uint64_t sending;	 /* bytes of our large messages that are on their way by it; of all endpoints */
};

struct zrails {
	int n;		    /* 0: we have not joined, or have left */
	int64_t timeout_ms; /* who does not answer for so long is lost; 0: nobody is */
	uint32_t failing;   /* a bit each: lost, but nothing has been done about it yet */
	uint32_t lost;	    /* a bit each: nothing goes by them any more */
	struct zrail rail[ZCTL_RAILS_MAX];
};
extern struct zrails zrails;

/* Opens the sessions with all of n zippers: the rest is as in params. 0 or a negative errno with text;
 * then none is open. */
int zrails_open(const struct zhops *ways, int n, const struct zsession_params *, struct zerr *);
/* Joins the job at each, and waits for each to have all ranks. Fills world (zctl_world_free), which has the least of
 * their limits. 0 or a negative errno with text: -EPROTO if the zippers do not agree on the world. */
int zrails_join(const struct zctl_join *, struct zctl_world *world, struct zerr *);
/* For data channels. */
static inline struct zsession_way zrails_way(int rail)
{
	struct zrail *r = &zrails.rail[rail];
	return (struct zsession_way){.zipper = &r->way.first,
		.hops = r->way.hop,
		.nhops = r->way.n,
		.passes = r->passes};
}
static inline void zrails_sending(int rail, uint64_t bytes)
{
	atomic_fetch_add_explicit(&zrails.rail[rail].sending, bytes, memory_order_relaxed);
}
static inline void zrails_sent(int rail, uint64_t bytes)
{
	atomic_fetch_sub_explicit(&zrails.rail[rail].sending, bytes, memory_order_relaxed);
}
/* Can it be used? */
static inline bool zrails_is_good(int rail)
{
	return !((zrails.lost | zrails.failing) >> rail & 1);
}
/* Is there any but this one? */
bool zrails_has_another(int rail);
/* The first one that is not lost, for what is told to one alone. There always is one. */
int zrails_first(void);
/* Ends the session with one, telling it why. */
void zrails_quit(int rail, const char *why);
/* Tells all that the job ends with this code. */
void zrails_abort(int code, const char *text);
/* BYE, and everything freed. */
void zrails_leave(void);

/*
 * The rail of what goes between us and that rank, both ways, but large messages (zrails_choose). Neighbours in rank
 * take different ones on the side of the larger part: so leaders of one collective, ranks that talk to their like in
 * the other part, and a master with his workers spread over all rails. Instead of a lost one the next one. Needs
 * zworld.
 */
int zrails_of(uint32_t vrank);
/* The rail for a large message: the one by which we are sending the least, this one if it is among them. All of the
 * transfer goes by it, so that offer and answer meet in one zipperd. */
int zrails_choose(int home);
/* Which of its rails a rank uses for messages to several. */
int zrails_of_carrier(void);

#endif

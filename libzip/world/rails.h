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

#include "common/transport/base/addr.h"
#include "common/control/ctl.h"
#include "common/base/err.h"
#include "common/session/session.h"
#include "common/session/session_attach.h"

struct zrail {
	struct zhops way; /* to its zipper, as seen from here */
	uint8_t passes[ZCTL_HOPS_MAX][ZCTL_TOKEN_BYTES];
	struct zsession *session;	 /* zipperd speaks to us there (OPEN, DEAD, DIRECT); NULL: it is lost */
	uint8_t token[ZCTL_TOKEN_BYTES]; /* for data channels */
	_Atomic uint64_t sending;	 /* bytes of our large messages that are on their way by it; of all stations */
};

struct zrails {
	int n;		    /* 0: we have not joined, or have left */
	int64_t timeout_ms; /* who does not answer for so long is lost; 0: nobody is */
	uint32_t failing;   /* a bit each: lost, but nothing has been done about it yet */
	uint32_t lost;	    /* a bit each: nothing goes by them any more */
	/* By part, a bit each, lost or not: carry what goes between it and ours (entries.h). */
	uint32_t carry[ZCTL_PARTS_MAX];
	uint8_t carriers[ZCTL_RAILS_MAX]; /* of our messages to several: the first of these that is not lost */
	struct zrail rail[ZCTL_RAILS_MAX];
};
extern struct zrails zrails;

/* Opens the sessions with all of n zippers: the rest is as in params. 0 or a negative errno with text;
 * then none is open. */
int zrails_open(const struct zhops *ways, int n, const struct zsession_params *, struct zerr *);
/* Joins the job at each, with what that one is told of our entries, and waits for each to have all ranks. Fills world
 * (zctl_world_free), which has the least of their limits. 0 or a negative errno with text: -EPROTO if the zippers do
 * not agree on the world. */
int zrails_join(const struct zctl_join *, const char (*entries)[ZCTL_ENTRIES_MAX], struct zctl_world *world,
	struct zerr *);
/* Which of them carry what: needs zworld, whose parts these are. 0 or a negative errno with text. */
int zrails_share(const char (*entries)[ZCTL_ENTRIES_MAX], const char *parts, struct zerr *);
/* For data channels. */
static inline struct zsession_way zrails_way(int rail)
{
	struct zrail *r = &zrails.rail[rail];
	return (struct zsession_way){.zipper = &r->way.first,
		.hops = r->way.hop,
		.nhops = r->way.n,
		.passes = r->passes};
}
/* Do our links to its zipper lead through others? */
static inline bool zrails_has_hops(int rail)
{
	return zrails.rail[rail].way.n > 0;
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
/* How many can be used? */
int zrails_count_good(void);
/* Can we do without this one: is there another, also for each part that it carries to? */
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
 * The rail of what goes between us and that rank, both ways, but large messages (zrails_choose): one of those that
 * carry it. Neighbours in rank take different ones on the side of the larger part: so leaders of one collective, ranks
 * that talk to their like in the other part, and a master with his workers spread over all rails. Instead of a lost one
 * the next one. Needs zworld.
 */
int zrails_of(uint32_t vrank);
/* The rail for a large message to that part: the one by which we are sending the least, this one if it is among them.
 * All of the transfer goes by it, so that offer and answer meet in one zipperd. */
int zrails_choose(int home, int part);
/* How many carry what goes between us and that part, lost ones too: so both ends say the same. */
int zrails_count(int part);
/* Which of its rails a rank uses for messages to several: one that carries to as many parts as any. It is another one
 * only when that one is lost. */
int zrails_of_carrier(void);
static inline bool zrails_carries(int rail, int part)
{
	return zrails.carry[part] >> rail & 1;
}
/* The first part that it carries to. There must be one. */
int zrails_first_part(int rail);

#endif

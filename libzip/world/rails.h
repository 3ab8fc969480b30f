/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rails of this rank: the zippers of its job, each with its control session. All ranks have the same rails in the
 * same order. Every zipper knows the whole job; only the first one knows of direct links. While the job runs it may
 * lose rails, which may come back (failover.h, rejoin.h). The thread of MPI_Init fills it; then it is under the shim's
 * lock.
 *
 * Incarnations. The first incarnation of a rail, number 0, is the one that MPI_Init joins. When all ranks have lost a
 * rail and have joined again at its zipper, this is a new incarnation. All ranks know it by the same number, which
 * zipperd tells in WORLD. A later incarnation has a higher number; a number may be left out.
 *
 * Tracks. A zipperd may have several workers for each direction. Then a rail has several tracks, each by another worker
 * (ctl.h): each has channels of its own. All rails of a job have the same number of tracks, which are lost together and
 * come back together.
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
	struct zhops way; /* the way to its zipper, as seen from here */
	struct zsession_pass passes[ZCTL_HOPS_MAX];
	struct zsession *session;		   /* control session: zipperd sends OPEN, DEAD, DIRECT; NULL: lost */
	uint8_t key[ZAUTH_KEY_BYTES];		   /* of the session: for data channels and direct links */
	enum zseal_level seal;			   /* of its connection, and of data channels */
	uint32_t protocol;			   /* the same */
	_Atomic uint64_t sending[ZCTL_TRACKS_MAX]; /* bytes of our large messages under way by each track; of all
						      stations */
	uint64_t run;				   /* of the job there, as in WORLD; 0: not known */
	uint32_t incarnation;			   /* that this rank joined last */
	uint32_t least; /* all incarnations before this one are lost: to us, or to a rank that said so */
};

struct zrails_track {
	int rail, track;
};

struct zrails {
	int n;			     /* 0: this rank has not joined, or has left */
	int tracks;		     /* of each rail; at least 1 once this rank has joined */
	int64_t timeout_ms;	     /* see zrails_patience */
	int64_t reconnect_ms;	     /* so long the job waits for a zipper where it has no other; 0: it ends at once */
	uint32_t failing;	     /* a bit for each rail: lost, but not acted on yet */
	uint32_t lost;		     /* a bit for each rail: out of use */
	uint32_t returning;	     /* a bit for each rail: joined again, but not acted on yet. It counts as lost */
	uint32_t losses;	     /* number of times that rails were lost */
	struct zrails_track carrier; /* see zrails_of_carrier */
	/* By part, a bit for each rail, lost or not: it carries messages between that part and ours (entries.h). */
	uint32_t carry[ZCTL_PARTS_MAX];
	uint8_t carriers[ZCTL_RAILS_MAX]; /* carriers of our messages to several ranks: the first one that is not lost
					     counts */
	const struct zauth_ops *auth;	  /* stays loaded for data channels and direct links */
	char user[ZCTL_NAME_MAX + 1], job[ZCTL_NAME_MAX + 1];
	struct zrail rail[ZCTL_RAILS_MAX];
};
extern struct zrails zrails;

/* Opens the sessions with all n zippers, with params for each, whose auth must stay. 0 or a negative errno with text;
 * then none is open. */
int zrails_open(const struct zhops *ways, int n, const struct zsession_params *, struct zerr *);
/* Joins the job at each zipper, which is told its entries, and waits for each to have all ranks. Fills world with the
 * smallest of their limits; the caller calls zctl_world_free. 0 or a negative errno with text: -EPROTO if the zippers
 * do not agree on the world. */
int zrails_join(const struct zctl_join *, const char (*entries)[ZCTL_ENTRIES_MAX], struct zctl_world *world,
	struct zerr *);
uint32_t zrails_age_ms(void); /* of this process, for JOIN */
/* Finds which rails carry messages between which parts. Needs zworld. 0 or a negative errno with text. */
int zrails_share(const char (*entries)[ZCTL_ENTRIES_MAX], const char *parts, struct zerr *);
/* For data channels. */
static inline struct zsession_way zrails_way(int rail)
{
	struct zrail *r = &zrails.rail[rail];
	return (struct zsession_way){.zipper = &r->way.first,
		.hops = r->way.hop,
		.nhops = r->way.n,
		.passes = r->passes,
		.user = zrails.user,
		.job = zrails.job,
		.key = r->key,
		.seal = r->seal,
		.protocol = r->protocol,
		.auth = zrails.auth};
}
/* Do our links to its zipper lead through other zippers? */
static inline bool zrails_has_hops(int rail)
{
	return zrails.rail[rail].way.n > 0;
}
static inline void zrails_sending(struct zrails_track t, uint64_t bytes)
{
	atomic_fetch_add_explicit(&zrails.rail[t.rail].sending[t.track], bytes, memory_order_relaxed);
}
static inline void zrails_sent(struct zrails_track t, uint64_t bytes)
{
	atomic_fetch_sub_explicit(&zrails.rail[t.rail].sending[t.track], bytes, memory_order_relaxed);
}
static inline bool zrails_same(struct zrails_track a, struct zrails_track b)
{
	return a.rail == b.rail && a.track == b.track;
}
/* Is there one way only? Then all that two ranks send to each other by zippers keeps its order. */
static inline bool zrails_is_one(void)
{
	return zrails.n * zrails.tracks == 1;
}
/* Can the rail be used? */
static inline bool zrails_is_good(int rail)
{
	return !((zrails.lost | zrails.failing) >> rail & 1);
}
/* Has it always been there? Then its zipper knows what the job has told to all zippers. */
static inline bool zrails_is_unbroken(int rail)
{
	return zrails_is_good(rail) && zrails.rail[rail].least == 0;
}
/* The number of rails that can be used. */
int zrails_count_good(void);
/* Can the job go on without this rail? There must be another one, also for each part that it carries to. */
bool zrails_has_another(int rail);
/* Is there a part to which no good rail carries? Then the job waits for one to come back. */
bool zrails_is_stranded(void);
/* Would there be no such part if these rails were good, a bit for each? */
bool zrails_suffice(uint32_t rails);
/* How long its zipper may say nothing while this rank waits for it, in ms; 0: there is no limit. A false alarm would
 * end the job if there is no other zipper, so then it is longer. */
int64_t zrails_patience(int rail);
/* The first rail that is not lost, for news that one zipper alone gets. -1: all are lost. */
int zrails_first(void);
/* Ends the session with one zipper, and tells it why. From now on the rail is lost, with its present incarnation. */
void zrails_lose(int rail, const char *why);
/* The carrier has another rail from now on if its own is lost, and another one is not. Returns whether it has. */
bool zrails_change_carrier(void);
/* Tells all zippers that the job ends with this code. False: none of them is there, as far as its connection tells. */
bool zrails_abort(int code, const char *text);
/* Says BYE to all and frees everything. */
void zrails_leave(void);

/*
 * The track for messages between us and that rank, in both directions, except large ones (zrails_choose). Its rail is
 * one of those that carry to its part. With n such rails, in their order, and m tracks of them all, track t of the rail
 * with index r has the number t n + r. Two ranks take the track with the number
 *     (lrank in the larger part + lrank in the other part / m) mod m.
 * Of two equal parts the one with the lower index counts as the larger. Neighbours in rank on the side of the larger
 * part take different rails, and then different tracks. So these spread over all of them: leaders of one collective,
 * ranks that talk to their like in the other part, and a master with its workers. The next rail in order replaces a
 * lost one. If all are lost it is the first choice, whose channels take nothing until it comes back. Needs zworld.
 */
struct zrails_track zrails_of(uint32_t vrank);
/* The track for a large message to that part: the one with the fewest bytes of our large messages under way. Of several
 * such tracks `home` (of the receiver's channel) if it is among them, or else the first. The whole transfer uses it, so
 * that offer and answer meet in one pair of workers. */
struct zrails_track zrails_choose(struct zrails_track home, int part);
/* The number of tracks that carry messages between us and that part, those of lost rails included, so that both ends
 * have the same number. */
int zrails_count(int part);
/* The track that a rank uses for messages to several ranks: its rail carries to as many parts as any. It changes only
 * by zrails_change_carrier. */
static inline struct zrails_track zrails_of_carrier(void)
{
	return zrails.carrier;
}
static inline bool zrails_carries(int rail, int part)
{
	return zrails.carry[part] >> rail & 1;
}
/* The first part that the rail carries to. There must be one. */
int zrails_first_part(int rail);

#endif

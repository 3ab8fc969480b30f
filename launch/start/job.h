/* SPDX-License-Identifier: BSD-3-Clause */
/* The job at its zippers, as its launcher sees it: registered at each before any rank starts, then followed by the
 * events of all. */
#ifndef ZIP_LAUNCH_JOB_H
#define ZIP_LAUNCH_JOB_H

#include "launch/base/argv.h"
#include "launch/plan/plan.h"
#include "launch/plan/route.h"
#include "common/session/session.h"

struct zjob_rail { /* the job at one of them */
	struct zsession *session;
	const char *name;      /* of the zipper */
	uint32_t joined, done; /* ranks that have reported, and that have left in order */
	bool world;	       /* all have reported */
	bool dead;	       /* its zipperd says that the job is over; dead_code and text say why */
	bool lost;	       /* its zipperd is gone; text says how */
	int order;	       /* 1: the first one that was dead or lost, and so on; 0: it is neither */
	int64_t down_ms;       /* since when */
	bool told;	       /* the user knows, and the job went on */
	int dead_code;
	char text[ZCTL_TEXT_MAX + 1];
};

struct zjob {
	struct zjob_rail rails[ZCTL_RAILS_MAX];
	int n;		    /* 0: no zipperd in this job */
	bool hops;	    /* ranks come to some by others */
	int64_t timeout_ms; /* which does not answer for so long is lost, if there are others; 0: none is */
	char id[ZCTL_NAME_MAX + 1];
	int ndown; /* how many are dead or lost */
	/* What they say together (tally.h). Ranks report to one after the other: so joined is that of the first one
	 * without a world. */
	uint32_t joined, done;
	bool world;
	/* The job is over because of what this one says. */
	bool dead, lost;
	int rail;
	int dead_code;
	char text[ZCTL_TEXT_MAX + 144]; /* with its name where that matters */
};

/* A unique, readable job id: program-pid-random. */
void zjob_name(struct zjob *, const char *program, const struct zauth_ops *);
/* Registers the job at one more zipper, by the first of its addresses that can be reached. params.job and zipper are
 * filled in here; the route's name is kept. entries: as in CREATE. 0 or a negative errno with text, and then all is as
 * before. */
int zjob_add(struct zjob *, struct zsession_params *, const struct zplan *, const struct zroute *, const char *entries,
	int join_timeout_s, struct zerr *);
/* Would that zipper's zipperd talk to us? 0 or a negative errno with text. */
int zjob_probe(const struct zjob *, struct zsession_params *, const struct zroute *, struct zerr *);
/* ZIPPER_TIMEOUT as the ranks will see it. 0 or a negative errno with text. */
int zjob_set_timeout(struct zjob *, const struct zargv *globals, struct zerr *);
/* How long one may wait before zjob_poll, in ms; -1: for ever. */
int zjob_timeout(const struct zjob *);
/* Takes the events that have come; never blocks. */
void zjob_poll(struct zjob *);
/* A zipper's zipperd is gone, for the reason `why`. This reason replaces what its connection told, but not what the
 * zipperd said itself: then nothing changes, and false is returned. */
bool zjob_lose(struct zjob *, int rail, const char *why);
/* The number of zippers that are neither dead nor lost. */
int zjob_left(const struct zjob *);
/* Is the job over at this one? */
static inline bool zjob_is_down(const struct zjob_rail *rail)
{
	return rail->dead || rail->lost;
}
/* Is there anything to come from this one? */
static inline bool zjob_listens(const struct zjob *job, int rail)
{
	return rail < job->n && !zjob_is_down(&job->rails[rail]);
}
void zjob_close(struct zjob *);

#endif

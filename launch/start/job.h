/* SPDX-License-Identifier: BSD-3-Clause */
/* The job at its zippers, as its launcher sees it. It is registered at each zipper before any rank starts. Afterwards
 * the launcher follows the events of all zippers. */
#ifndef ZIP_LAUNCH_JOB_H
#define ZIP_LAUNCH_JOB_H

#include "launch/base/argv.h"
#include "launch/plan/plan.h"
#include "launch/plan/route.h"
#include "common/session/session.h"

struct zjob_rail { /* the job at one zipper */
	struct zsession *session;
	const char *name;      /* of the zipper */
	uint32_t joined, done; /* ranks that have reported; ranks that have left in order */
	bool world;	       /* all have reported */
	bool dead;	       /* its zipperd says that the job is over; dead_code and text say why */
	bool lost;	       /* its zipperd is gone; text says how */
	bool said;	       /* lost, and text is its zipperd's own word */
	int order;	       /* 1 for the first zipper that was dead or lost, then 2, ...; 0: the zipper is neither */
	int64_t down_ms;       /* time at which it became dead or lost */
	bool told;	       /* the user knows of it, and the job went on */
	bool back;	       /* it has come back, and the user knows of the loss alone */
	/* For coming back (again.h): */
	const struct zroute *route;
	char *entries;		  /* as in CREATE; owned */
	struct zsession *again;	  /* the job is registered anew, and ranks are awaited; or NULL */
	int64_t try_ms, pause_ms; /* time of the next try; what comes behind it */
	int64_t gone_ms;	  /* since when its zipperd is away, without `again` */
	int64_t again_ms;	  /* since when there is `again` */
	int dead_code;
	char text[ZCTL_TEXT_MAX + 1];
	bool asked;		       /* for its statistics, without an answer yet */
	struct zctl_stats_reply stats; /* its last answer; owned */
	char ended[ZCTL_TEXT_MAX + 1]; /* the first rank that ends without MPI_Finalize, in words; "": none does */
};

struct zjob {
	struct zjob_rail rails[ZCTL_RAILS_MAX];
	int n;		      /* 0: no zipperd in this job */
	bool hops;	      /* ranks reach some zippers through other zippers */
	int64_t timeout_ms;   /* a zipper that is silent for so long is lost, if there are others; 0: no limit */
	int64_t node;	      /* ZIPPER_NODE of its ranks: enum zsession_node */
	int64_t reconnect_ms; /* so long the job's last zipper may be away; 0: none comes back */
	struct zsession_params params; /* for that; its key is wiped by zjob_close */
	const struct zplan *plan;
	int join_timeout_s;
	char id[ZCTL_NAME_MAX + 1];
	int ndown; /* number of zippers that are dead or lost */
	/* The words of all zippers together (tally.h). Ranks report to one zipper after the other: joined is therefore
	 * the number at the first zipper without a world. */
	uint32_t joined, done;
	bool world;
	const char *ended; /* as in zjob_rail; NULL: no rank does */
	/* The job is over because of what this zipper says (cause.h). */
	bool dead, lost;
	int rail;
	int dead_code;
	char text[ZCTL_TEXT_MAX + 144]; /* with the zipper's name where it matters */
};

/* A unique, readable job id: program-pid-random. */
void zjob_name(struct zjob *, const char *program, const struct zauth_ops *);
/* Registers the job at one more zipper, at the first of its addresses that can be reached. Fills in params.job and
 * params.zipper. Keeps a pointer to the route's name. entries: as in CREATE. 0; or a negative errno with text, and then
 * nothing has changed. */
int zjob_add(struct zjob *, struct zsession_params *, const struct zplan *, const struct zroute *, const char *entries,
	int join_timeout_s, struct zerr *);
/* Opens a session with a zipper, for params.job, at the first of its addresses that can be reached. Fills in
 * params.zipper. 0 or a negative errno with text. */
int zjob_connect(struct zsession **, struct zsession_params *, const struct zroute *, enum zctl_service, struct zerr *);
/* Does that zipper's zipperd talk to us, and take new jobs? 0 or a negative errno with text; -ESHUTDOWN: it drains. */
int zjob_probe(struct zsession_params *, const struct zroute *, struct zerr *);
/* Reads ZIPPER_TIMEOUT and ZIPPER_RECONNECT as the ranks will see them. reconnect: from the command line, or NULL. 0 or
 * a negative errno with text. */
int zjob_set_times(struct zjob *, const struct zargv *globals, const char *reconnect, struct zerr *);
/* Registers the job at a zipper; again: at one that was lost. 0 with its session, or a negative errno with text. */
int zjob_register(struct zjob *, struct zsession **, struct zsession_params *, const struct zroute *,
	const char *entries, bool again, struct zerr *);
/* Asks all zippers for their statistics that have answered the last time. zjob_poll takes the answers. */
void zjob_ask_stats(struct zjob *);
/* Takes an event of this zipper. */
void zjob_take_event(struct zjob_rail *, const struct zctl_event *);
/* May it come back, now that it is down? */
static inline bool zjob_may_return(const struct zjob *job, const struct zjob_rail *rail)
{
	return job->reconnect_ms > 0 && job->world && !rail->route->start && (rail->dead || rail->lost);
}
/* All zippers are lost, and one of them may come back soon enough, or is there and waits for ranks that compute. */
bool zjob_waits(const struct zjob *);
/* The longest time in ms until the next zjob_poll; -1: no limit. */
int zjob_timeout(const struct zjob *);
/* Takes the events that have come; never blocks. */
void zjob_poll(struct zjob *);
/* Asks all zippers whether they are there. Those that say nothing for so long become lost. To be called again and again
 * with zjob_poll, for twice that time. */
void zjob_ask(struct zjob *, int64_t limit_ms);
/* A zipper's zipperd is gone, for the reason `why`. This reason replaces what its connection told, but not what the
 * zipperd said itself: then nothing changes, and false is returned. */
bool zjob_lose(struct zjob *, int rail, const char *why);
/* The number of zippers that are neither dead nor lost. */
int zjob_left(const struct zjob *);
/* Is the job over at this zipper? */
static inline bool zjob_is_down(const struct zjob_rail *rail)
{
	return rail->dead || rail->lost;
}
/* May this zipper still send events? */
static inline bool zjob_listens(const struct zjob *job, int rail)
{
	return rail < job->n && !zjob_is_down(&job->rails[rail]);
}
void zjob_close(struct zjob *);

#endif

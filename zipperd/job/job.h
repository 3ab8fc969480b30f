/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs. A job is known by (user, id). A launcher's CREATE or the first rank's JOIN makes it. It forms until every rank
 * has joined, runs, and is over when all ranks have said BYE, or at once for all ranks when one is lost. After a
 * failure while it formed it is remembered for a time, so that late ranks learn the reason. Ranks that have been
 * started since then belong to another job of that name. Control thread.
 */
#ifndef ZIPPERD_JOB_H
#define ZIPPERD_JOB_H

#include <uthash.h>

#include "zipperd/conn/daemon.h"
#include "zipperd/job/rank.h"
#include "zipperd/lane/lane.h"

enum job_state { JOB_FORMING, JOB_RUNNING, JOB_OVER };

struct job_part {
	char name[ZCTL_NAME_MAX + 1];
	int fabric;    /* by which its ranks come */
	uint32_t size; /* 0: not known yet */
	uint32_t joined;
	uint32_t direct;      /* of the joined: ranks with connections of their own */
	bool shares;	      /* its ranks come by trunks, which are counted when they come */
	struct rank *rank;    /* [size]; NULL while size is unknown, and in mixed jobs */
	uint32_t *station_of; /* [endpoints * size], once the job runs: of the destinations in lanes to this part */
};

struct job {
	UT_hash_handle hh;
	char key[2 * (ZCTL_NAME_MAX + 1)]; /* user, '/', id: the job's name in messages, too */
	const char *id;			   /* in key */
	struct daemon *daemon;
	struct user *user;
	uint64_t promise; /* connections that the user's account keeps for the job */
	struct list link; /* in daemon.all_jobs */
	uint32_t number;
	enum job_state state;
	bool hashed;
	struct conn *launcher;
	bool had_launcher;
	bool again;	     /* the launcher says that its ranks come back */
	int64_t deadline_ms; /* forming: join timeout, or 0 (job_return.h); over: when it is forgotten; 0: none */
	int64_t timeout_ms;  /* of joining, for the message */
	int64_t started_ms, over_ms;  /* over_ms 0: it has not ended, or was refused before it began */
	char text[ZCTL_TEXT_MAX + 1]; /* why it is over */

	char part_names[ZCTL_PARTS_MAX * 8];
	char entries[ZCTL_ENTRIES_MAX]; /* as in ctl.h */
	struct job_part part[ZCTL_PARTS_MAX];
	uint32_t nparts;
	bool mixed, mixed_known; /* mixed: one mpirun has started all parts */
	struct rank *world;	 /* [total]: in mixed jobs, by native rank */
	uint32_t total;		 /* ranks; 0: not known yet */
	uint32_t njoined, ndone;
	/* The joined ranks agree on these. */
	uint64_t tuning;	/* digest of the tuning table */
	uint32_t endpoints;	/* stations of each rank */
	bool records;		/* all record a graph, or none */
	uint32_t rail, nrails;	/* index of this zipper among those of the job, and their number */
	uint64_t run;		/* as in ctl.h; 0: not known yet */
	uint32_t incarnation;	/* of that rail: the highest one that a rank has told; 0: they do not come back */
	struct rank **by_vrank; /* [total], once the job runs */
	struct place *place;	/* [endpoints * total]: of all stations */
	uint64_t *opened; /* [tracks * endpoints * total]: a bit for each part to which a station has had a channel */

	uint64_t window_bytes;	     /* of memory that its ranks may have on their way: rdv_window for each station */
	uint32_t rdv_window;	     /* of one station */
	uint32_t tracks;	     /* of the job here, once it runs; before: 0 */
	uint32_t had_tracks;	     /* its ranks have come back for so many; 0: it begins */
	struct lane **lane;	     /* [tracks * nparts * nparts]: job_lane */
	struct zctl_to_part *direct; /* [nparts * nparts] as lane: traffic of direct links, told by ranks; or NULL */
	uint32_t nlanes;	     /* that workers have */
	uint32_t nchannels;
	struct rank *suspect; /* lost a channel without BYE */
	int64_t suspect_ms;   /* when that becomes its death */
	char suspect_how[96];
	bool released;			   /* all ranks are at the end: they may go without BYE */
	bool unfinished;		   /* a rank has ended without MPI_Finalize */
	uint32_t doing[ZCTL_STATE_OVER];   /* ranks that are not done, by what they do; those that never said it are not
					      counted */
	int64_t vain_ms;		   /* if no rank goes on until then, all wait in vain; 0: some rank may go on */
	uint32_t ender;			   /* part of the rank that ended the job; ZWIRE_NOBODY: no rank did */
	uint32_t expected[ZCTL_PARTS_MAX]; /* sizes, told by the launcher; 0: not told */
	struct zctl_run *runs;		   /* the launcher's placement map, until the job runs; NULL: none */
	uint32_t nruns;
	struct job_name *names;		 /* hash: names that its ranks have published */
	bool has_secret;		 /* its launcher has no key, but MUNGE: */
	uint8_t secret[ZAUTH_KEY_BYTES]; /* the key in its place, of which the ranks' credential is made */
};

/* NULL: there is none of that name. */
struct job *job_find(struct daemon *, const char *user, const char *id);
/* NULL with code and text in err: parts unknown to this zipperd, too many jobs, ... */
struct job *job_create(struct daemon *, const char *user, const char *id, const char *parts, const char *entries,
	struct zerr *);
/* May a job begin that has not run here before? 0 or -ESHUTDOWN with text: zipperd drains. */
int job_may_begin(const struct daemon *, struct zerr *);
/* Takes the job's name away, so that another job can have it. */
void job_unname(struct job *);
/* The same for a job that is over, which is then freed if it is unused. */
void job_forget(struct job *);
/* Would job_forget free it? Such a job keeps no other one from beginning. */
bool job_gives_way(const struct job *);
/* Frees a job that is over, when no launcher, lane, channel or name needs it. */
void job_free_if_unused(struct job *);
/* The connections that the job may open with so many endpoints and tracks, as far as the sizes of its parts are known.
 */
uint64_t job_needs(const struct job *, uint32_t endpoints, uint32_t tracks);
/* The connections that may be promised to this job: neither other jobs here nor the user's others have them. */
uint64_t job_room(const struct job *);
/* Promises the job all connections that it may open with so many endpoints and tracks, as far as the sizes of its parts
 * are known. 0 or a negative errno with text: max_connections or user_connections does not suffice. */
int job_fits(struct job *, uint32_t endpoints, uint32_t tracks, struct zerr *);
/* 0 or -E2BIG with text: total is more than max_ranks. */
int job_check_ranks(const struct daemon *, uint64_t total, struct zerr *);
/* The rank whose station it is, in a running job. */
struct rank *job_rank_of(const struct job *, uint32_t station);
/* The index of a rank's station among the destinations in lanes to its part; endpoint: its index in the rank. */
uint32_t job_dest_of(const struct rank *, uint32_t endpoint);
/* The rank does something else from now on; 0: it is done. */
void job_count_state(struct rank *, uint8_t state);
void job_tell_launcher(struct job *, enum zctl_event_kind, uint32_t number, const char *text);

/* Does this zipperd carry messages between these parts? */
static inline bool job_carries(const struct job *j, uint32_t a, uint32_t b)
{
	return j->part[a].fabric != j->part[b].fabric;
}

/* Where the job's lane from part to part on that track is noted; NULL there: it has none yet. */
static inline struct lane **job_lane(const struct job *j, uint32_t track, uint32_t from, uint32_t to)
{
	return &j->lane[(track * j->nparts + from) * j->nparts + to];
}

/* Where the channels are noted that the station has had on that track: a bit for each part. */
static inline uint64_t *job_opened(const struct job *j, uint32_t track, uint32_t endpoint, uint32_t vrank)
{
	return &j->opened[((size_t)track * j->endpoints + endpoint) * j->total + vrank];
}

#endif

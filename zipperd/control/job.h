/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs: who takes part, in which state. A job is known by (user, id); it is made by a launcher's CREATE or by the first
 * rank's JOIN, forms until every rank has joined, runs, and is over when all ranks have said BYE, or at once for all
 * when one is lost. It is remembered for a moment after a failure, so that late ranks learn the reason; those that have
 * been started since then are of another job of that name. Control thread.
 */
#ifndef ZIPPERD_JOB_H
#define ZIPPERD_JOB_H

#include <uthash.h>

#include "zipperd/control/channel.h"
#include "zipperd/control/daemon.h"
#include "zipperd/lane/lane.h"
#include "zipperd/control/peer.h"

enum job_state { JOB_FORMING, JOB_RUNNING, JOB_OVER };

struct rank {
	struct job *job;
	struct peer *peer; /* NULL: not joined, or gone */
	struct list channels;
	bool joined;
	bool done;		     /* said BYE */
	uint32_t vrank, part, lrank; /* vrank and lrank: once the job runs; before: number in the group */
	uint32_t wish;		     /* the vrank that its map gives it, or ZCTL_VRANK_ANY */
	uint64_t abi;
	char *host;
	bool direct; /* takes direct links */
	uint64_t node;
	uint64_t fabrics;		      /* it has ports on, bit by part; its own is always among them */
	char *ports, *local;		      /* where it listens for other ranks; NULL: nowhere */
	uint8_t credential[ZCTL_TOKEN_BYTES]; /* that those show who connect to it */
};

struct job_part {
	char name[ZCTL_NAME_MAX + 1];
	int fabric;    /* by which its ranks come */
	uint32_t size; /* 0: not known yet */
	uint32_t joined;
	struct rank *rank;    /* [size]; NULL while size is unknown, and in mixed jobs */
	uint32_t *station_of; /* [endpoints * size], once the job runs: of the destinations in lanes to it */
};

struct job {
	UT_hash_handle hh;
	char key[2 * (ZCTL_NAME_MAX + 1)]; /* user, '/', id: how it is called in messages, too */
	const char *id;			   /* in key */
	struct daemon *daemon;
	struct list link; /* in daemon.all_jobs */
	uint32_t number;
	enum job_state state;
	bool hashed;
	struct peer *launcher;
	bool had_launcher;
	int64_t deadline_ms; /* forming: join timeout; over: when it is forgotten; 0: none */
	int64_t timeout_ms;  /* of joining, for the message */
	int64_t started_ms, over_ms;
	char text[ZCTL_TEXT_MAX + 1]; /* why it is over */

	char part_names[ZCTL_PARTS_MAX * 8];
	char entries[ZCTL_ENTRIES_MAX]; /* as in ctl.h */
	struct job_part part[ZCTL_PARTS_MAX];
	uint32_t nparts;
	bool mixed, mixed_known;
	struct rank *world; /* [total]: in mixed jobs, by native rank */
	uint32_t total;	    /* ranks; 0: not known yet */
	uint32_t njoined, ndone;
	uint64_t tuning;	/* digest of the tuning table of those who have joined */
	uint32_t endpoints;	/* of each rank, as those say who have joined */
	bool records;		/* the same: all record a graph, or none */
	uint32_t rail, nrails;	/* which of its zippers this one is, and of how many, as those say */
	struct rank **by_vrank; /* [total], once it runs */
	struct place *place;	/* [endpoints * total]: of all stations */

	uint8_t token[ZCTL_TOKEN_BYTES];
	uint64_t window_bytes; /* of memory that its ranks may have on their way: rdv_window for each station */
	uint32_t rdv_window;   /* of one endpoint */
	struct lane *lane[ZCTL_PARTS_MAX * ZCTL_PARTS_MAX]; /* from * nparts + to */
	struct zctl_to_part
		*direct; /* [nparts * nparts] as lane: what ranks have told of their direct links; or NULL */
	uint32_t nlanes; /* that workers have */
	uint32_t nchannels;
	struct rank *suspect; /* lost a channel without BYE */
	int64_t suspect_ms;   /* when that becomes its death */
	char suspect_how[96];
	uint32_t ender;			   /* part of the rank that ended the job; ZWIRE_NOBODY: none did */
	uint32_t expected[ZCTL_PARTS_MAX]; /* sizes as the launcher told them; 0: it did not */
	struct zctl_run *runs;		   /* the launcher's placement map, until the job runs; NULL: none */
	uint32_t nruns;
};

/* --- job.c --- */
struct job *job_find(struct daemon *, const char *user, const char *id);
/* NULL with code and text in err: parts unknown to this zipperd, too many jobs, ... */
struct job *job_create(struct daemon *, const char *user, const char *id, const char *parts, const char *entries,
	struct zerr *);
/* Are messages between these parts for this zipperd to carry? */
static inline bool job_carries(const struct job *j, uint32_t a, uint32_t b)
{
	return j->part[a].fabric != j->part[b].fabric;
}
/* The end for all: ranks get DEAD (ERROR while forming), the launcher an event. code: exit code. */
void job_end(struct job *, uint32_t code, const char *text);
void job_free_if_unused(struct job *);
/* One that is over and remembered, for another of the same name. */
void job_forget(struct job *);
void jobs_expire(struct daemon *);
bool jobs_timed(const struct daemon *); /* is there any whose time runs? */
void jobs_end_all(struct daemon *, const char *text);
/* Whose endpoint a station of a running job is. */
struct rank *job_rank_of(const struct job *, uint32_t station);
/* Which of the destinations in lanes to its part one of its endpoints is. */
uint32_t job_dest_of(const struct rank *, uint32_t endpoint);
/* "rank 3 (das4 rank 1 on node101)" */
const char *rank_describe(const struct rank *, char *buf, size_t cap);
void job_tell_launcher(struct job *, enum zctl_event_kind, uint32_t number, const char *text);

/* What peers do. */
void job_rank_bye(struct rank *);
void job_rank_lost(struct rank *, const char *how);
void job_suspect(struct rank *, const char *how); /* lost a channel: dead, unless its BYE comes soon */
void job_rank_abort(struct rank *, const struct zctl_dead *);
void job_rank_quit(struct rank *, const struct zctl_dead *); /* goes on by other zippers: then so must all */
void job_launcher_gone(struct job *, const char *how);
void job_launcher_create(struct daemon *, struct peer *, struct zctl_create *); /* takes its runs */
void job_launcher_abort(struct job *, const struct zctl_dead *);

/* --- join.c --- */
void job_join(struct daemon *, struct peer *, const struct zctl_join *);
/* Names what is missing; for the join timeout. */
void job_missing(const struct job *, char *buf, size_t cap);

/* --- world.c --- */
/* All ranks are there: numbers them and sends WORLD. */
void job_start(struct job *);

/* --- direct.c --- */
/* Where a rank that joins listens for others. 0 or -EINVAL. */
int direct_join(struct rank *, const struct zctl_join *, struct zerr *);
/* The ranks that others cannot tell from their part alone; *list is the caller's. 0 or -ENOMEM. */
int direct_list(const struct job *, struct zctl_attached **list, uint32_t *n);
/* A rank asks for a link to another one, or says that there is none. false: that makes no sense. */
bool direct_request(struct rank *, const struct zctl_direct *);
/* What a rank has sent over direct links. false: that makes no sense. */
bool direct_traffic(struct rank *, const struct zctl_traffic *);

/* --- stats.c --- */
/* For a launcher its job, for an admin all of the user's jobs (or the one it named). */
void stats_reply(struct peer *);
void stats_log(const struct job *);

#endif

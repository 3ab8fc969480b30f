/* SPDX-License-Identifier: BSD-3-Clause */
/* Supervises a job whose parts have been planned: starts them, moves their input and output, and ends all when one
 * fails. */
#ifndef ZIP_LAUNCH_RUN_H
#define ZIP_LAUNCH_RUN_H

#include "launch/io/input.h"
#include "launch/start/job.h"
#include "launch/start/part.h"
#include "launch/start/railset.h"

/* How far the end of a failed or interrupted job has come. */
enum zrun_phase {
	ZRUN_GOING,
	ZRUN_ENDING, /* the parts end by themselves: zipperd, or a signal, has told the ranks */
	ZRUN_TERM,   /* SIGTERM was sent */
	ZRUN_KILL,   /* SIGKILL was sent */
};

struct zprogress { /* see progress.h */
	bool on, terminal;
	bool asked;		  /* the zippers that have not answered yet have been asked for this line */
	bool over;		  /* the terminal shows a line that the next text replaces */
	int64_t next_ms, told_ms; /* when the zippers are asked next; of the last line; 0: none yet */
	uint64_t bytes[ZCTL_PARTS_MAX][ZCTL_PARTS_MAX], before[ZCTL_PARTS_MAX][ZCTL_PARTS_MAX]; /* [from][to] */
};

struct zrun {
	const struct zoptions *options;
	const struct zplan *plan;
	struct zjob *job; /* its n is 0 where there is no zipperd */
	struct zrailset *rails;
	struct zpart parts[ZCTL_PARTS_MAX];
	struct zoutput out, err;
	struct zpump logs[ZCTL_RAILS_MAX]; /* output of our zipperds */
	struct zinput input;
	int signals; /* signalfd */
	enum zrun_phase phase;
	int64_t phase_ms;	      /* when the next phase begins */
	int64_t start_ms, suspect_ms; /* suspect: a part ended before all its ranks had left; 0: none did */
	bool suspect_world;	      /* the world had been made when the suspicion began */
	int64_t unfinished_ms;	      /* when a rank was first known to end without MPI_Finalize; 0: none was */
	bool unfinished_told;
	char verdict[512]; /* the line that says why the job ends early; "": it does not */
	bool verdict_shown;
	bool hush;	    /* the failure has been told, or will be, by zmpirun alone */
	int verdict_status; /* exit status that goes with the verdict */
	int caught;	    /* signal that interrupted zmpirun, or 0 */
	struct zprogress progress;
	int64_t taken_ms; /* when our reader last took some output, or there was none for it */
};

/* Blocks the signals that zrun_wait takes. 0 or a negative errno. */
int zrun_init(struct zrun *, const struct zoptions *, const struct zplan *, struct zjob *, struct zrailset *,
	struct zerr *);
/* Starts all parts. On an error the parts that were started are ended. */
int zrun_start(struct zrun *, struct zpart_params *, struct zerr *);
/* Runs until every part is over. Returns the exit status of the job. */
int zrun_wait(struct zrun *);
/* Writes the rest of the output. 0; or a negative errno with text if some output could not be written. */
int zrun_fini(struct zrun *, struct zerr *);

#endif

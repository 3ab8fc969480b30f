/* SPDX-License-Identifier: BSD-3-Clause */
/* One part of the job: an mpiexec, with Open MPI an mpirun, or in a Slurm allocation an srun, and its output. Where
 * mpiexec is named here, these are meant, too. */
#ifndef ZIP_LAUNCH_PART_H
#define ZIP_LAUNCH_PART_H

#include <stdbool.h>
#include <sys/types.h>

#include "launch/io/chatter.h"
#include "launch/base/environ.h"
#include "launch/plan/options.h"
#include "launch/io/output.h"
#include "launch/plan/plan.h"
#include "launch/io/pump.h"
#include "launch/start/preload.h"
#include "launch/start/reach.h"
#include "launch/base/scratch.h"

struct zpart {
	const struct zplan_part *plan;
	pid_t pid; /* of mpiexec; 0: not started, or ended */
	bool started;
	int wait_status; /* of mpiexec, once it has ended */
	int64_t ended_ms;
	struct zreach reach;
	bool by_itself; /* it ended before we sent SIGTERM */
	struct zpump out, err;
	struct zchatter chatter;
	struct zhelptext help;
};

struct zpart_params {
	const struct zoptions *options;
	const char *mpiexec, *ompirun;
	struct zpreload libzippers;
	const struct zscratch *scratch;
	struct zenviron environ;
	struct zoutput *out, *err;
	const bool *hush; /* for stderr, see pump.h */
};

/* Makes the command line of the part's mpiexec, and its hostfile in scratch. 0 or a negative errno with text. The
 * caller frees argv in any case. */
int zpart_command(struct zargv *, const struct zplan_part *, const struct zpart_params *, struct zerr *);
/* Starts the part's mpiexec. input: the read end of a pipe, or -1. 0 or a negative errno with text. */
int zpart_start(struct zpart *, const struct zplan_part *, const struct zpart_params *, int input, struct zerr *);
/* Do ranks count that were killed by SIGKILL? mpiexec kills the others when a rank fails, or ends without
 * MPI_Finalize. */
enum zpart_killed {
	ZPART_KILLED_COUNT,
	ZPART_KILLED_IF_ALONE, /* if no other rank has a status: the job has failed */
	ZPART_KILLED_NOT       /* the job is over, and nothing was left to do for them */
};
/* The highest status of a rank once the part has ended, or mpiexec's own status if mpiexec did not tell. */
int zpart_status(const struct zpart *, enum zpart_killed);
/* The signal that killed a rank of the part, or 0. */
int zpart_killer(const struct zpart *);
/* "mpiexec", "mpirun" or "srun", for messages. */
const char *zpart_launcher(const struct zpart *);
/* Sends a signal to mpiexec, which passes it on to the ranks where it can; or to the whole process group of mpiexec. */
void zpart_signal(const struct zpart *, int signal, bool group);
/* Has the part ended, with all its output handed on? */
bool zpart_is_over(const struct zpart *);

#endif

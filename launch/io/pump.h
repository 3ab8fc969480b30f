/* SPDX-License-Identifier: BSD-3-Clause */
/* One output stream of a child: read as it comes, handed on in whole lines, so that lines of different parts never
 * mix. A line that stays unfinished for a moment (a prompt) is handed on as it is. */
#ifndef ZIP_LAUNCH_PUMP_H
#define ZIP_LAUNCH_PUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "launch/io/chatter.h"
#include "launch/io/output.h"
#include "launch/plan/plan.h"

#define ZPUMP_QUIET_MS 100 /* an unfinished line is shown after this time without more of it */

struct zpump {
	int fd; /* -1: closed */
	struct zoutput *out;
	struct zchatter *chatter; /* mpiexec's lines are taken out; NULL: there are none */
	const bool *hush;	  /* once true, complaints about the failed job are dropped; NULL: nothing is */
	bool holds; /* those of MPI_Abort, which may be here before zipperd has told of it, are held back until then */
	const struct zplan_part *label; /* "[lrank] " at the beginning of a line becomes "[vrank] "; NULL: not */
	const char *zipper;		/* whose name stands in front of every line; NULL: none */
	bool mid_line;			/* the beginning of this line has been handed on */
	char *buf;
	size_t len, cap;
	int64_t last_ms; /* when something came */
	char *held;	 /* complaints that are held back, whole lines */
	size_t held_len;
};

/* Takes over fd. */
void zpump_init(struct zpump *, int fd, struct zoutput *out, struct zchatter *chatter, const struct zplan_part *label);
/* Reads once; call when poll says so. The end of the stream closes fd. */
void zpump_read(struct zpump *);
/* Milliseconds until there is something to show without further input, or -1. */
int zpump_timeout(const struct zpump *, int64_t now_ms);
/* Shows an unfinished line whose time has come. */
void zpump_tick(struct zpump *, int64_t now_ms);
/* Shows everything that is left and closes; but for what is held back. */
void zpump_close(struct zpump *);
/* After that, when the job is over: shows what was held back for nothing. */
void zpump_fini(struct zpump *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* One output stream of a child. It is read as it comes and handed on in whole lines, so that lines of different parts
 * never mix. A line that stays unfinished for a moment (a prompt) is handed on as it is. */
#ifndef ZIP_LAUNCH_PUMP_H
#define ZIP_LAUNCH_PUMP_H

#include <stdbool.h>
#include <stdint.h>

#include "launch/io/chatter.h"
#include "launch/io/helptext.h"
#include "launch/io/label.h"
#include "launch/io/output.h"
#include "launch/plan/plan.h"

#define ZPUMP_QUIET_MS 100 /* an unfinished line is shown when nothing was added to it for so long */

struct zpump {
	int fd; /* -1: closed */
	struct zoutput *out;
	struct zchatter *chatter; /* takes out mpiexec's lines; NULL: there are none */
	struct zhelptext *help;	  /* takes out help texts of Open MPI's mpirun; NULL: there are none */
	const bool *hush;	  /* once true, complaints about the failed job are dropped; NULL: none is */
	bool holds;  /* complaints of MPI_Abort may come before zipperd has told of it: they are held back until then */
	bool broken; /* mpiexec or a proxy has said that it breaks down; that is held back, too */
	bool slow_reader; /* ... because a rank reads its standard input too slowly */
	bool unstarted;	  /* a proxy has said that it cannot start the program, and the user knows */
	bool unreached; /* mpiexec has complained that a program that starts a proxy has failed: it has more to complain
			   of, which is dropped */
	const struct zplan_part
		*label; /* the launcher's label at the beginning of a line becomes that of the vrank; NULL: it stays */
	enum zlabel label_kind;
	const char *prepend; /* the label for that, in which %r is the vrank; NULL: "[%r] " */
	const char *zipper;  /* a zipper's name to put in front of every line; NULL: none */
	bool mid_line;	     /* the beginning of the current line has been handed on */
	char *buf;
	size_t len, cap;
	int64_t last_ms; /* time of the last bytes */
	char *held;	 /* complaints that are held back; whole lines */
	size_t held_len;
};

/* Takes over fd. */
void zpump_init(struct zpump *, int fd, struct zoutput *out, struct zchatter *chatter, const struct zplan_part *label);
/* Reads once. To be called when poll says so. At the end of the stream fd is closed. */
void zpump_read(struct zpump *);
/* Reads what is there, without waiting. */
void zpump_read_all(struct zpump *);
/* Milliseconds until a line is to be shown without further input, or -1. */
int zpump_timeout(const struct zpump *, int64_t now_ms);
/* Shows an unfinished line, or a line that is held back, whose time has come. */
void zpump_tick(struct zpump *, int64_t now_ms);
/* Shows the rest, except for complaints that are held back, and closes. */
void zpump_close(struct zpump *);
/* To be called after zpump_close, when the job is over: shows the complaints that were held back if the job did not
 * fail. */
void zpump_fini(struct zpump *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The job at zipperd, as its launcher sees it: registered before any rank starts, then followed by events. */
#ifndef ZIP_LAUNCH_JOB_H
#define ZIP_LAUNCH_JOB_H

#include "plan.h"
#include "session.h"

struct zjob {
	struct zsession *session; /* NULL: no zipperd in this job */
	char id[ZCTL_NAME_MAX + 1];
	uint32_t joined, done; /* ranks that have reported, and that have left in order */
	bool world;	       /* all have reported */
	bool dead;	       /* zipperd says that the job is over; dead_code and text say why */
	int dead_code;
	char text[ZCTL_TEXT_MAX + 1];
	bool lost; /* zipperd is gone; text says how */
};

/* A unique, readable job id: program-pid-random. */
void zjob_name(struct zjob *, const char *program, const struct zauth_ops *);
/* Connects to the first of the plan's zipperd addresses that can be reached and registers the job. params.job and
 * zipper are filled in here. 0 or a negative errno with text. */
int zjob_open(struct zjob *, struct zsession_params *, const struct zplan *, const struct zaddr *addrs,
	int join_timeout_s, struct zerr *);
/* Takes the events that have come; never blocks. */
void zjob_poll(struct zjob *);
/* Prints what went over the bridge, a line per direction. */
int zjob_print_stats(struct zjob *, FILE *, struct zerr *);
void zjob_close(struct zjob *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A session with a zipperd, to ask it something as one user. */
#ifndef ZIPSTAT_ASK_H
#define ZIPSTAT_ASK_H

#include "common/base/err.h"
#include "common/session/session.h"

struct ask_options {
	const char *address; /* where zipperd listens */
	const char *user;    /* NULL: the user of this process */
	const char *job;     /* NULL: all */
	int timeout_ms;	     /* for each answer; 0: 10 s */
};

/* Connects and proves who the user is. 0, or a negative errno with text; zsession_close ends it. */
int ask_open(struct zsession **, const struct ask_options *, struct zerr *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Zippers that are asked for their status again and again. One thread. */
#ifndef ZIPSTAT_ZIPPERS_H
#define ZIPSTAT_ZIPPERS_H

#include "zipstat/ask.h"
#include "zipstat/snapshot.h"

struct zipper {
	struct ask_options as;
	struct zsession *session; /* NULL: not connected */
	struct snapshot snapshot; /* empty where rc < 0 */
	int rc;			  /* of the last question; -EPROTONOSUPPORT: it only tells traffic, by this session */
	struct zerr err;
};

struct zippers {
	struct zipper *zipper; /* [count] */
	int count;
};

/* as.address is not used. 0 or -ENOMEM with text. */
int zippers_init(struct zippers *, const char *const *address, int count, const struct ask_options *as, struct zerr *);
void zippers_fini(struct zippers *);
/* Asks all of them, one after the other. A zipperd that did not answer is asked by a new connection the next time. */
void zippers_ask(struct zippers *);

#endif

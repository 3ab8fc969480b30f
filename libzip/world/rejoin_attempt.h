/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread that comes back to one zipper, for rejoin.c alone. It connects and joins the job again, now and then,
 * until the zipper sends WORLD, or until the rank has left. The thread and the rank share an attempt: the atomic fields
 * are orders to the thread, or news of it. The one that changes the state last frees the attempt.
 */
#ifndef ZIP_LIBZIP_REJOIN_ATTEMPT_H
#define ZIP_LIBZIP_REJOIN_ATTEMPT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/control/ctl.h"
#include "common/session/session.h"

#define ZREJOIN_AGAIN_MS 500 /* between tries, growing */

enum zrejoin_state { ZREJOIN_TRIES, ZREJOIN_JOINED, ZREJOIN_ABANDONED };

struct zrejoin_attempt {
	atomic_int state;
	atomic_uint least; /* the incarnation that is proposed */
	atomic_bool stranded;
	atomic_bool finalizes;
	atomic_bool aborts, has_aborted; /* with abort; and its zipper has been told */
	struct zctl_dead abort;
	atomic_llong gone_ms; /* since when the zipper has been away; 0: it is there */
	int64_t first_ms;
	struct zsession_params params;
	struct zhops way;
	struct zctl_join join;
	pthread_mutex_t lock; /* of these three */
	struct zerr err;
	struct zctl_dead dead; /* the last word of a zipper, if over */
	bool over;
	/* with ZREJOIN_JOINED: */
	struct zsession *session;
	struct zsession_pass passes[ZCTL_HOPS_MAX];
	struct zctl_world world;
};

/* Begins to try after first_ms. The rank has filled the fields that come before `lock`, and made `lock`. 0, or the
 * positive errno of pthread_create; the attempt stays the caller's then. */
int zrejoin_attempt_start(struct zrejoin_attempt *);
/* The rank is done with an attempt that has begun. Never blocks. A session that nobody has taken is closed. */
void zrejoin_attempt_abandon(struct zrejoin_attempt *);
/* Frees an attempt without a thread: one that never began, or has joined. Its session, if it is still there, tells the
 * zipper why it ends. */
void zrejoin_attempt_destroy(struct zrejoin_attempt *, const char *why);
/* Has the zipper been told that the rank ends the job? WORLD may have come, and nobody has taken the session: then its
 * thread has ended, and the rank's own call tells it. */
bool zrejoin_attempt_has_aborted(struct zrejoin_attempt *);

#endif

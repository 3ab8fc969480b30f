/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Coming back to a zipper that was lost. For each lost rail a thread connects and joins the job again, now and then,
 * until all ranks have done so and the zipper sends WORLD. So a program that computes after it has noticed the loss
 * comes back, too, and no message of other rails waits for a connection. The thread has a session of its own and
 * touches nothing else; a rank that leaves does not wait for it. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_REJOIN_H
#define ZIP_LIBZIP_REJOIN_H

#include <stdbool.h>
#include <stddef.h>

#include "common/control/ctl.h"
#include "common/session/session.h"

/* Keeps copies of what MPI_Init has joined with, and of a job credential: the one in params, or one that is made of the
 * user's key for this job. params.auth must stay. entries: [zrails.n]. Needs zrails and zworld. */
void zrejoin_init(const struct zsession_params *, const struct zctl_join *, const char (*entries)[ZCTL_ENTRIES_MAX]);
void zrejoin_fini(void);

/* A step for a lost rail: begins to try, or looks what has become of that. Never blocks. True: all ranks have joined
 * again, and the rail's session, incarnation, key and passes are new. A zipper that is refused, as its world is
 * another one, is not tried again; one line says so. */
bool zrejoin_turn(int rail);
/* How long its zipper has been away, in ms. 0: it is there, and the ranks that have come wait for the others. A zipper
 * that refuses this rank is away. INT64_MAX: it is not tried again. */
int64_t zrejoin_away_ms(int rail);
/* Has its zipper said, since the rank joined again, that the job is over? Then what it said. */
bool zrejoin_is_over(int rail, struct zctl_dead *);
/* This rank is in MPI_Finalize. Zippers that wait for other ranks are told: some of these may have left. */
void zrejoin_finalize(void);
/* This rank ends the job while no zipper can be told. Tries for a moment to tell one that has come back, so that the
 * other parts hear it. A zipper that stays away hears nothing. The rank then ends itself. */
void zrejoin_abort(int code, const char *text);
/* Why the last try has failed; "": no try has. */
const char *zrejoin_why(int rail, char *buf, size_t cap);

#endif

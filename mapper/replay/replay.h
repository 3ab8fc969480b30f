/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a program takes on a network: its operations are replayed as a simulation of discrete events. Ends are those
 * of the LogGP model (Alexandrov, Ionescu, Schauser, Scheiman, "LogGP: Incorporating Long Messages into the LogP
 * Model", SPAA 1995). A message moves at the rate that its share of links gives it (transfer.h). Rates are found anew
 * when messages begin or end. A message that is to end within `tolerance` of its own time ends at once, so that many
 * can end together. Rates stay as they are for that share of the time of a message that began or ended, so that they
 * are found once for many. The times of the program are wrong by about that share at most; with 0 they are exact.
 *
 * Short messages (up to `eager`) move when they are sent. For a long one, a request goes to the receiver, which
 * answers when it is ready to receive; each costs a latency. The sender of a short message does not wait. Messages
 * from one rank to another one move one after the other, as over one connection.
 *
 * One thread.
 */
#ifndef ZIP_MAPPER_REPLAY_H
#define ZIP_MAPPER_REPLAY_H

#include "common/base/err.h"
#include "mapper/net/net.h"
#include "mapper/program/program.h"
#include "mapper/replay/replay_opts.h"
#include "mapper/replay/replay_result.h"
#include "mapper/replay/transfer.h"

/* place[program->ranks]. 0; -EDEADLK: a rank waits for ever, with the file and the line; -ENOMEM. On 0 the result is to
 * be freed. */
int replay_run(const struct program *, const struct net *, const struct replay_place *place, const struct replay_opts *,
	struct replay_result *, struct zerr *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The time of a replayed program as text: phase by phase, and what decides it. */
#ifndef ZIP_MAPPER_REPLAY_REPORT_H
#define ZIP_MAPPER_REPLAY_REPORT_H

#include <stdio.h>

#include "mapper/net/net.h"
#include "mapper/program/program.h"
#include "mapper/replay/replay_result.h"

/* Prints a table of the phases, and under it for each phase the `top` causes that take most of its time. */
void replay_report_print(FILE *, const struct program *, const struct net *, const struct replay_result *,
	unsigned top);
/* The same phases as CSV, in seconds, with a line of names. */
void replay_report_csv(FILE *, const struct program *, const struct net *, const struct replay_result *);

#endif

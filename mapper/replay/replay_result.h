/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of a replay: the time of a program and of its phases, with the causes. */
#ifndef ZIP_MAPPER_REPLAY_RESULT_H
#define ZIP_MAPPER_REPLAY_RESULT_H

#include "mapper/replay/why.h"

/* The part of one cause in the critical path of one phase. */
struct replay_piece {
	uint32_t phase, id; /* id: as in struct why */
	enum why_cause cause;
	double seconds;
};

struct replay_phase {
	double seconds;		 /* of the critical path; the phases add up to the program's time */
	double part[WHY_CAUSES]; /* the same, by cause */
	double mean, longest;	 /* time of a rank in this phase */
	uint32_t slowest;	 /* the rank with the longest */
};

struct replay_result {
	double seconds; /* until the last rank ends */
	uint32_t last;	/* that rank */
	uint64_t messages, bytes;
	uint64_t local_messages; /* of them, inside a node */
	uint64_t unreceived;	 /* messages that no rank received */
	uint32_t phases, pieces;
	struct replay_phase *phase; /* [phases], as program.phases */
	struct replay_piece *piece; /* [pieces], by phase, the largest first */
};

/* Fills in phase and piece. in_phase[ranks][phases]: times of ranks. 0 or -ENOMEM. Free in any case. */
int replay_result_make(struct replay_result *, const struct why *path, const double *in_phase, uint32_t ranks,
	uint32_t phases);
void replay_result_free(struct replay_result *);

#endif

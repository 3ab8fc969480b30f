/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of what can be tuned, see tune_targets.h. */
#include "zipbench/tune/tune_targets.h"

const struct tune_target tune_targets[TUNE_TARGETS] = {
	{"bcast", ZTUNING_BCAST, .op = {"bcast"}},
	{"reduce", ZTUNING_REDUCE, .op = {"reduce"}},
	{"allreduce", ZTUNING_ALLREDUCE, .op = {"allreduce"}},
	{"alltoall", ZTUNING_ALLTOALL, .op = {"alltoall"}},
	{"allgather", ZTUNING_ALLGATHER, .times_ranks = true, .op = {"allgather"}},
	{"reduce_scatter", ZTUNING_REDUCE_SCATTER, .times_ranks = true, .op = {"reduce_scatter"}},
	{"scan", ZTUNING_SCAN, .op = {"scan"}},
	{"gather", ZTUNING_GATHER, .whole = true, .op = {"gather", "gatherv"}},
	{"scatter", ZTUNING_SCATTER, .whole = true, .op = {"scatter", "scatterv"}},
};

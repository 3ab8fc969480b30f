/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators with topologies. See topo.c. */
#ifndef ZIP_RANDOM_COMMS_H
#define ZIP_RANDOM_COMMS_H

#include "topics.h"

/* kind: 0 grid, 1 part of a grid, 2 graph, 3 distributed graph by neighbours, 4 distributed graph by edges */
void topo_make(struct op *op, int kind, struct draw *d);
void topo_run(const struct op *op, int kind, MPI_Comm parent, MPI_Comm *made);
/* Traces what the topology says of itself; sets the neighbours of this rank. */
void topo_look(struct model_comm *c);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks of any form, from a file that lists them (mapper/netfile): a graph, a topology of Slurm, an InfiniBand
 * fabric. All are routers joined in any way (routers.h). */
#ifndef ZIP_MAPPER_FILENET_H
#define ZIP_MAPPER_FILENET_H

#include "mapper/net/net.h"

extern const struct net_ops filenet_graph_ops, filenet_slurm_ops, filenet_ibnet_ops;

#endif

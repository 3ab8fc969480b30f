/* SPDX-License-Identifier: BSD-3-Clause */
/* Fat trees with any number of levels and any oversubscription.
 *
 * Deterministic routing is D-mod-K: the ways up from level l that lead to node d are taken in turn, number
 * floor(d / (up[1] x .. x up[l])) mod up[l + 1]. Nodes that are apart by less than the number of ways use different
 * ones. (Zahavi, Johnson, Kerbyson, Lang: "Optimized InfiniBand fat-tree routing for shift all-to-all communication
 * patterns", Concurrency and Computation 22, 2010.) */
#ifndef ZIP_MAPPER_FATTREE_H
#define ZIP_MAPPER_FATTREE_H

#include "mapper/net/net.h"

extern const struct net_ops fattree_ops;

#endif

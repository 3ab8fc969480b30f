/* SPDX-License-Identifier: BSD-3-Clause */
/* Fat trees with any number of levels and any oversubscription. */
#ifndef ZIP_MAPPER_FATTREE_H
#define ZIP_MAPPER_FATTREE_H

#include "mapper/net/net.h"

extern const struct net_ops fattree_ops;

#endif

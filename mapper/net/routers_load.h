/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads of routers joined in any way: operations of net_ops for networks that begin with struct routers_net. */
#ifndef ZIP_MAPPER_ROUTERS_LOAD_H
#define ZIP_MAPPER_ROUTERS_LOAD_H

#include "mapper/net/routers.h"

int routers_load_direct(const struct net *, const struct traffic *, unsigned threads, struct net_load *);
int routers_load_ecmp(const struct net *, const struct traffic *, unsigned threads, struct net_load *);
int routers_load_indirect(const struct net *, const struct traffic *, unsigned threads, struct net_load *);

#endif

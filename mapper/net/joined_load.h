/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads of a joined network: the operations load_direct and load_indirect of net_ops. */
#ifndef ZIP_MAPPER_JOINED_LOAD_H
#define ZIP_MAPPER_JOINED_LOAD_H

#include "mapper/net/joined.h"

int joined_load_direct(const struct net *, const struct traffic *, unsigned threads, struct net_load *);
int joined_load_indirect(const struct net *, const struct traffic *, unsigned threads, struct net_load *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads of a dragonfly in closed form: the operations load_direct and load_indirect of net_ops. */
#ifndef ZIP_MAPPER_DRAGONFLY_LOAD_H
#define ZIP_MAPPER_DRAGONFLY_LOAD_H

#include "mapper/net/dragonfly.h"

int dragonfly_load_direct(const struct net *, const struct traffic *, unsigned threads, struct net_load *);
int dragonfly_load_indirect(const struct net *, const struct traffic *, unsigned threads, struct net_load *);

#endif

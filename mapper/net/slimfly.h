/* SPDX-License-Identifier: BSD-3-Clause */
/* Slim Fly: as many routers as nearly possible for their ports, with paths of two hops. */
#ifndef ZIP_MAPPER_SLIMFLY_H
#define ZIP_MAPPER_SLIMFLY_H

#include "mapper/net/net.h"

extern const struct net_ops slimfly_ops;

#endif

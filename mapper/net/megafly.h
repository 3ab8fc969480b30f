/* SPDX-License-Identifier: BSD-3-Clause */
/* Megafly networks, also called dragonfly+. */
#ifndef ZIP_MAPPER_MEGAFLY_H
#define ZIP_MAPPER_MEGAFLY_H

#include "mapper/net/net.h"

extern const struct net_ops megafly_ops;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A crossbar: one switch without limits. Every node has one link up and one down. */
#ifndef ZIP_MAPPER_CROSSBAR_H
#define ZIP_MAPPER_CROSSBAR_H

#include "mapper/net/net.h"

extern const struct net_ops crossbar_ops;

#endif

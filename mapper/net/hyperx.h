/* SPDX-License-Identifier: BSD-3-Clause */
/* HyperX networks of up to five dimensions. */
#ifndef ZIP_MAPPER_HYPERX_H
#define ZIP_MAPPER_HYPERX_H

#include "mapper/net/net.h"

extern const struct net_ops hyperx_ops;

#endif

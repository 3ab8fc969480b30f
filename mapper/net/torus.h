/* SPDX-License-Identifier: BSD-3-Clause */
/* Tori, and rings, of up to eight dimensions. */
#ifndef ZIP_MAPPER_TORUS_H
#define ZIP_MAPPER_TORUS_H

#include "mapper/net/net.h"

extern const struct net_ops torus_ops;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A network of any form, from a file that lists its routers and its links. */
#ifndef ZIP_MAPPER_FILENET_H
#define ZIP_MAPPER_FILENET_H

#include "mapper/net/net.h"

#define FILENET_NAME_MAX 24 /* characters of a router's name, so that the name of a link fits into 64 */

extern const struct net_ops filenet_ops;

#endif

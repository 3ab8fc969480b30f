/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses DEVICE:PORT[/WORD=NUMBER...][@HOST[:PORT]]. */
#ifndef ZIP_COMMON_TRANSPORT_BASE_ADDR_VERBS_H
#define ZIP_COMMON_TRANSPORT_BASE_ADDR_VERBS_H

#include "common/transport/base/addr_kind.h"

#define ZADDR_VERBS_NET_TEXT 112 /* bytes that all words of a network with their numbers take, with the zero */

extern const struct zaddr_ops zaddr_verbs_ops;

#endif

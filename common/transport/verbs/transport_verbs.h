/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of operations of the verbs transport, see struct ztransport in transport.h. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_TRANSPORT_VERBS_H
#define ZIP_COMMON_TRANSPORT_VERBS_TRANSPORT_VERBS_H

#include "common/transport/base/transport.h"

extern const struct ztransport ztransport_verbs;

#endif

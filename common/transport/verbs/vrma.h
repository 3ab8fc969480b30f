/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of one-sided operations over verbs, see struct zrma in transport.h. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_VRMA_H
#define ZIP_COMMON_TRANSPORT_VERBS_VRMA_H

#include "common/transport/base/transport.h"

extern const struct zrma vrma;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The send half of a link: post and flush, as in transport.h. The send half's thread. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_LINK_VTX_H
#define ZIP_COMMON_TRANSPORT_VERBS_LINK_VTX_H

#include <stddef.h>
#include <stdint.h>

#include "common/transport/verbs/link/vlink.h"

int vtx_post(struct zlink *, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len);
int vtx_flush(struct zlink *);

#endif

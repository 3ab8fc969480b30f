/* SPDX-License-Identifier: BSD-3-Clause */
/* Sealed links of the tcp transport. Set-up; then as transport.h says. */
#ifndef ZIP_COMMON_TRANSPORT_TCP_TCP_SEALED_H
#define ZIP_COMMON_TRANSPORT_TCP_TCP_SEALED_H

#include "common/transport/base/transport.h"

/* As seal in transport.h. */
int tcp_sealed_begin(struct zlink *, const struct zseal *, struct zerr *);

#endif

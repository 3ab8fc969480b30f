/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that come in over the data channels: checked, taken in sequence, and given by the kind of their envelope to
 * the module that they are for. These are the sink's functions of all channels (transport.h); ctx is the struct
 * zchannel. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_DISPATCH_H
#define ZIP_LIBZIP_DISPATCH_H

#include "common/wire/wire.h"

/* The memory for the payload of a fragment; NULL: the link keeps it. */
void *zdispatch_place(void *ctx, const struct zwire_env *);
/* 0; -EAGAIN: no memory now, to be shown again; -EPROTO. */
int zdispatch_take(void *ctx, const struct zwire_env *, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What transfers consist of: shared by the files of rendezvous.h, nobody else's business. Under the shim's lock. */
#ifndef ZIP_LIBZIP_RENDEZVOUS_PARTS_H
#define ZIP_LIBZIP_RENDEZVOUS_PARTS_H

#include "libzip/bridge/bridge.h"
#include "libzip/bridge/op.h"

/* --- rendezvous.c: the table, and the sender --- */
extern struct zbridge_params ztransfer_params;
struct zchannel *ztransfer_way(const struct zop *);
/* Takes it out of the account of its rail. */
void ztransfer_uncount(struct zop *);
/* Of this kind, with that rank; NULL: there is none. */
struct zop *ztransfer_find(uint64_t xfer, enum zop_kind, const struct zremote *peer);
/* What to return for a message about none. */
int ztransfer_refuse_stale(void);

/* --- rendezvous_recv.c: the receiver, and what it grants --- */
void zgrants_fini(void);

#endif

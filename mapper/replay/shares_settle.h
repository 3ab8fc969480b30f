/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the rates of flows that share links (shares.h). One thread. */
#ifndef ZIP_MAPPER_SHARES_SETTLE_H
#define ZIP_MAPPER_SHARES_SETTLE_H

#include "mapper/replay/shares.h"

/* Hears of a flow whose rate or limit has changed, by its owner. */
typedef void shares_changed_fn(void *arg, void *owner);
/* Finds the rates for the flows that are there now. 0 or -ENOMEM. */
int shares_settle(struct shares *, shares_changed_fn *, void *arg);

#endif

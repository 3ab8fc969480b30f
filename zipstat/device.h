/* SPDX-License-Identifier: BSD-3-Clause */
/* The resources that endpoints really take on a device of this host; needs libibverbs. */
#ifndef ZIPSTAT_DEVICE_H
#define ZIPSTAT_DEVICE_H

#include "common/endpoint/account.h"

/* Builds the endpoints on the device, counts their resources, and destroys them. who: a name for messages. 0 or a
 * negative errno with text. */
int device_account(struct zaccount *, const struct zep_plan *, const char *device, const char *who, struct zerr *);

#endif

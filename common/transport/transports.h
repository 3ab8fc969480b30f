/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All transports: one table from kinds of addresses to implementations. The transport of verbs lies in a module, which
 * is loaded with the first address of its kind. Set-up only; one thread.
 */
#ifndef ZIP_COMMON_TRANSPORT_TRANSPORTS_H
#define ZIP_COMMON_TRANSPORT_TRANSPORTS_H

#include "common/base/err.h"
#include "common/transport/base/addr.h"
#include "common/transport/base/transport.h"
#include "common/transport/verbs/device/verbs_options.h"

/* Names the folder of modules, and the options of verbs. Both stay the caller's. To be called before the first
 * ztransports_find. A program that does not call it has no verbs. */
void ztransports_configure(const char *module_dir, const struct zverbs_options *);
/* The implementation for a kind of address, or NULL with the reason. */
const struct ztransport *ztransports_find(enum zaddr_kind, struct zerr *);

#endif

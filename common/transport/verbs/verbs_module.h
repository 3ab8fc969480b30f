/* SPDX-License-Identifier: BSD-3-Clause */
/* The module zipverbs.so: what it exports. It is loaded with the first address of the form DEVICE:PORT, so that nothing
 * else depends on RDMA libraries. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_VERBS_MODULE_H
#define ZIP_COMMON_TRANSPORT_VERBS_VERBS_MODULE_H

#include "common/transport/base/transport.h"
#include "common/transport/verbs/device/verbs_options.h"

#define ZVERBS_SYMBOL "zverbs_module"
#define ZVERBS_FILE "zipverbs.so"

struct zverbs_module {
	const char *release; /* see module.h */
	const struct ztransport *transport;
	void (*configure)(const struct zverbs_options *); /* to be called first; the options stay where they are */
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The module zipverbs.so: what it exports. It is loaded with the first address of the form DEVICE:PORT, so that nothing
 * else depends on RDMA libraries. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_VERBS_MODULE_H
#define ZIP_COMMON_TRANSPORT_VERBS_VERBS_MODULE_H

#include <sys/socket.h>

#include "common/transport/base/transport.h"
#include "common/transport/verbs/device/verbs_options.h"

#define ZVERBS_SYMBOL "zverbs_module"
#define ZVERBS_FILE "zipverbs.so"

struct zverbs_module {
	const char *release; /* see module.h */
	const struct ztransport *transport;
	/* To be called first. The options stay where they are. take: zinherited_take of the program; the module has a
	 * copy of inherited.c, to which the service manager has given nothing. */
	void (*configure)(const struct zverbs_options *, int (*take)(const struct sockaddr *, socklen_t len));
};

#endif

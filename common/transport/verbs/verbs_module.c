/* SPDX-License-Identifier: BSD-3-Clause */
/* The table that the module exports, see verbs_module.h. */
#include "common/transport/verbs/verbs_module.h"

#include "common/base/module.h"
#include "common/transport/base/inherited.h"
#include "common/transport/verbs/device/voptions.h"
#include "common/transport/verbs/transport_verbs.h"

static void configure(const struct zverbs_options *options, int (*take)(const struct sockaddr *, socklen_t len))
{
	voptions = options;
	zinherited_borrow(take);
}

extern const struct zverbs_module zverbs_module;
__attribute__((visibility("default"))) const struct zverbs_module zverbs_module = {
	.release = ZMODULE_RELEASE,
	.transport = &ztransport_verbs,
	.configure = configure,
};

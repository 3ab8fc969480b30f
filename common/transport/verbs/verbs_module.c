/* SPDX-License-Identifier: BSD-3-Clause */
/* The table that the module exports, see verbs_module.h. */
#include "common/transport/verbs/verbs_module.h"

#include "common/base/module.h"
#include "common/transport/verbs/device/voptions.h"
#include "common/transport/verbs/transport_verbs.h"

static void configure(const struct zverbs_options *options)
{
	voptions = options;
}

extern const struct zverbs_module zverbs_module;
__attribute__((visibility("default"))) const struct zverbs_module zverbs_module = {
	.release = ZMODULE_RELEASE,
	.transport = &ztransport_verbs,
	.configure = configure,
};

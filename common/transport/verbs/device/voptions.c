/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the transport, see voptions.h. */
#include "common/transport/verbs/device/voptions.h"

const struct zverbs_options *voptions;

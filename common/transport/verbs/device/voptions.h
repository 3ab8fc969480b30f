/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of the transport (verbs_options.h), as the program that loaded the module has set them. */
#ifndef ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VOPTIONS_H
#define ZIP_COMMON_TRANSPORT_VERBS_DEVICE_VOPTIONS_H

#include "common/transport/verbs/device/verbs_options.h"

extern const struct zverbs_options *voptions; /* the program's; constant after the start */

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether the contents of a control message fit together. ctl.c calls it for each message that it decodes. */
#ifndef ZIP_COMMON_CONTROL_CTL_CHECK_H
#define ZIP_COMMON_CONTROL_CTL_CHECK_H

#include "common/control/ctl.h"

/* Checks a well-formed message. Returns NULL, or a text that says what is wrong with it. */
const char *zctl_check(const struct zctl_msg *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What control messages may say. Inner header of control.c. */
#ifndef ZIP_COMMON_CONTROL_CHECK_H
#define ZIP_COMMON_CONTROL_CHECK_H

#include <stdbool.h>

#include "common/control/control.h"

static inline bool control_name_char(unsigned char c)
{
	return c > ' ' && c < 0x7f && c != ',';
}

/* Of one that is well formed: what is wrong with it, or NULL. */
const char *control_check(const struct zctl_msg *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Options that may change while zipperd runs. Control thread. */
#ifndef ZIPPERD_LIVE_H
#define ZIPPERD_LIVE_H

#include "zipperd/conn/daemon.h"

/* Sets the option until the next start. 0; -EINVAL with text: there is no such option, it needs a new start, or the
 * value is wrong. */
int live_set(struct daemon *, const char *name, const char *value, struct zerr *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers CONTROL: an administrator drains zipperd, ends a job or sets an option; a user ends an own job. Control
 * thread. */
#ifndef ZIPPERD_ADMIN_H
#define ZIPPERD_ADMIN_H

#include "zipperd/conn/conn.h"

/* Does it and sends CONTROLLED, or refuses with one line. Each is logged with the user's name. */
void admin_control(struct conn *, const struct zctl_control *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands of the control thread. Worker's thread. */
#ifndef ZIPPERD_COMMAND_H
#define ZIPPERD_COMMAND_H

#include <stdbool.h>

struct worker;

/* Obeys all commands that have come. true: there were some. */
bool command_run_all(struct worker *);

#endif

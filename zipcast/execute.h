/* SPDX-License-Identifier: BSD-3-Clause */
/* Carrying out the commands of the application's threads (command.h). The context's thread. */
#ifndef ZIPCAST_EXECUTE_H
#define ZIPCAST_EXECUTE_H

#include "zipcast/context.h"

/* All commands that are queued. True: there were some. */
bool zexecute_all(struct zipcast *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking the messages of windows (win_message.h): a kind goes to the module that acts on it. */
#ifndef ZIP_LIBZIP_WIN_DISPATCH_H
#define ZIP_LIBZIP_WIN_DISPATCH_H

#include <stdbool.h>

/* A part of progress while there are windows (zprogress_add): takes messages that have come, and goes on with the
 * operations that others have started here. True: something has moved. */
bool zwin_dispatch_turn(void);

#endif

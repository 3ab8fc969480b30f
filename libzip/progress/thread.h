/* SPDX-License-Identifier: BSD-3-Clause */
/* The optional progress thread (ZIPPER_PROGRESS=thread): moves bridged messages while the program computes. */
#ifndef ZIP_LIBZIP_THREAD_H
#define ZIP_LIBZIP_THREAD_H

/* Starts the thread. The bridge is set up, and zshim_threaded true. 0 or a negative errno. Under the shim's lock. */
int zthread_start(void);
/* Ends the thread and waits for that; no effect if there is none. Gives the shim's lock up meanwhile. */
void zthread_stop(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The messages of the zippers on the control links (ctl.h): who has died, which links are to be opened, and
 * answers about published names. By a thread
 * that has the whole library, under the shim's lock.
 */
#ifndef ZIP_LIBZIP_HEAR_H
#define ZIP_LIBZIP_HEAR_H

#include <stdbool.h>

struct pollfd;

/* Takes one message of that rail's zipper, or of each zipper, and acts on it. Returns whether there was any. */
bool zhear(int rail);
bool zhear_all(void);
/* For sleeping: arms the control links and appends their descriptors, one for each rail, to the n that are in fds.
 * Returns the new number, or -1: do not sleep. */
int zhear_arm(struct pollfd *fds, int n);

#endif

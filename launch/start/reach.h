/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out that an mpiexec does not reach one of its hosts: the program that starts its proxies, as ssh, has failed.
 * mpiexec itself does not look, and waits for the proxy without end. */
#ifndef ZIP_LAUNCH_REACH_H
#define ZIP_LAUNCH_REACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct zreach {
	int64_t looked_ms; /* last time; 0: never */
	int64_t failed_ms; /* when the failure was first seen; 0: nothing has failed */
	int64_t all_ms;	   /* since when all proxies have a connection; 0: not all have one */
	bool reached;	   /* all proxies have a connection and will keep it: nothing more to look for */
};

/* Time until the next look, in ms. */
int zreach_timeout(const struct zreach *, int64_t now_ms);
/*
 * Has a child of mpiexec failed so long ago that mpiexec would have ended by now because of it? Looks no more often
 * than it must. text: the child, and how it failed.
 *
 * report: the ranks of this mpiexec have not all reported; then one failed child is enough. Otherwise mpiexec must also
 * have fewer connections than proxies, because a connected proxy does not need its ssh any more.
 */
bool zreach_has_failed(struct zreach *, pid_t mpiexec, bool report, int64_t now_ms, char *text, size_t cap);

#endif

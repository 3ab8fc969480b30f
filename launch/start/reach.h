/* SPDX-License-Identifier: BSD-3-Clause */
/* Sees that an mpiexec does not reach one of its hosts: what it starts its proxies by, as ssh, has failed. mpiexec
 * itself does not look, and waits for the proxy without end. */
#ifndef ZIP_LAUNCH_REACH_H
#define ZIP_LAUNCH_REACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct zreach {
	int64_t looked_ms; /* last time; 0: never */
	int64_t failed_ms; /* first seen; 0: nothing has failed */
	int64_t all_ms;	   /* since then all proxies have a connection; 0: not all */
	bool reached;	   /* and will have: there is nothing to look for any more */
};

/* When to look next, in ms from now. */
int zreach_timeout(const struct zreach *, int64_t now_ms);
/* True if a child of mpiexec has failed for so long that mpiexec would have ended by now if it were to. report: its
 * ranks have not all reported, and that one has failed is enough. Else mpiexec must also have fewer connections than
 * proxies: one that has connected does not need its ssh any more. text: which, and how. Looks no more often than it
 * must. */
bool zreach_has_failed(struct zreach *, pid_t mpiexec, bool report, int64_t now_ms, char *text, size_t cap);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Child processes. Each has a process group of its own, and is gone when zmpirun goes. */
#ifndef ZIP_LAUNCH_PROCESS_H
#define ZIP_LAUNCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/err.h"

struct zspawn {
	char *const *argv; /* argv[0] is looked up in PATH unless it has a '/' */
	char *const *envp;
	int fd[4]; /* descriptors that become 0..3 of the child; -1: /dev/null for 0..2, none for 3 */
};

/* Makes us the parent of orphaned descendants, so that none can escape. Raises our limit of descriptors as far as the
 * system allows; children get the old limit. To be called once, before the first child. */
int zprocess_init(struct zerr *);
/* Starts a child. Returns its process id, or a negative errno with text, also when the program cannot be executed. */
pid_t zprocess_spawn(const struct zspawn *, struct zerr *);
/* Makes a pipe whose ends do not reach other children. 0 or a negative errno with text. */
int zprocess_pipe(int fd[2], struct zerr *);
/* Calls visit for each child of a process, in no order. Children that start or end meanwhile may be missed. */
void zprocess_for_children(pid_t, void (*visit)(pid_t child, void *arg), void *arg);
/* Sends SIGKILL to every descendant, and takes the status of those that have ended. Returns whether any child is left.
 */
bool zprocess_kill_all(void);

#endif

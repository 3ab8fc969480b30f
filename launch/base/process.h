/* SPDX-License-Identifier: BSD-3-Clause */
/* Child processes: each in a process group of its own, gone when zmpirun goes. */
#ifndef ZIP_LAUNCH_PROCESS_H
#define ZIP_LAUNCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/base/err.h"

struct zspawn {
	char *const *argv; /* argv[0] is looked up in PATH unless it has a '/' */
	char *const *envp;
	int fd[4]; /* become 0..3 of the child; -1: /dev/null for 0..2, nothing for 3 */
};

/* Makes us the parent of orphaned descendants too, so that none can escape, and takes all descriptors that we may have;
 * children have as many as we had. Call once, before the first child. */
int zprocess_init(struct zerr *);
/* Starts a child. Its id, or a negative errno (also when the program cannot be executed) with text. */
pid_t zprocess_spawn(const struct zspawn *, struct zerr *);
/* A pipe whose ends do not reach other children. 0 or a negative errno with text. */
int zprocess_pipe(int fd[2], struct zerr *);
/* Sends SIGKILL to every descendant, and takes their leave. Returns whether any child of ours is left. */
bool zprocess_kill_all(void);

#endif

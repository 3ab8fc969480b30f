/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that keeps changing a byte of shared memory, as a peer over shm can while it is read. */
#ifndef ZIP_TEST_FLIPPER_H
#define ZIP_TEST_FLIPPER_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Memory that both processes see; NULL: there is none. */
static inline uint8_t *flipper_memory(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

static inline pid_t flipper_start(volatile uint8_t *at, uint8_t a, uint8_t b)
{
	pid_t pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		*at = a;
		*at = b;
	}
}

static inline void flipper_stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#endif

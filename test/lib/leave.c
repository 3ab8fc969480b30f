/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded if one native job spans hosts that only TCP connects: keeps MPICH's MPI_Finalize from waiting for ever.
 * MPICH over UCX (before 4.2; pmodels/mpich pull request 6596) disconnects its UCX endpoints and then reads the answer
 * of the process manager's barrier without making progress. A rank that comes later waits in its own disconnect for a
 * rank that sits there (two ranks on each of two hosts, plain mpiexec: 0 to 16 of 30 runs). Here the read makes
 * progress while it waits (0 of 180).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define SYMBOL __attribute__((visibility("default")))

typedef void *disconnect_fn(void *);
typedef unsigned progress_fn(void *);
typedef ssize_t read_fn(int, void *, size_t);

static disconnect_fn *disconnect;
static progress_fn *progress;
static read_fn *read_real;
static void *worker; /* the UCX worker that made progress last; MPICH has one */
static int leaves;   /* MPICH has begun to disconnect */

disconnect_fn ucp_disconnect_nb;
progress_fn ucp_worker_progress;
void ucp_worker_destroy(void *);

SYMBOL void *ucp_disconnect_nb(void *endpoint)
{
	if (!disconnect)
		*(void **)&disconnect = dlsym(RTLD_NEXT, "ucp_disconnect_nb");
	leaves = 1;
	return disconnect(endpoint);
}

SYMBOL unsigned ucp_worker_progress(void *w)
{
	if (!progress)
		*(void **)&progress = dlsym(RTLD_NEXT, "ucp_worker_progress");
	worker = w;
	return progress(w);
}

SYMBOL void ucp_worker_destroy(void *w)
{
	void (*destroy)(void *);

	*(void **)&destroy = dlsym(RTLD_NEXT, "ucp_worker_destroy");
	worker = NULL;
	destroy(w);
}

SYMBOL ssize_t read(int fd, void *buf, size_t len)
{
	const char *manager = leaves && worker ? getenv("PMI_FD") : NULL;

	if (!read_real)
		*(void **)&read_real = dlsym(RTLD_NEXT, "read");
	if (manager && atoi(manager) == fd) {
		struct pollfd p = {.fd = fd, .events = POLLIN};

		while (poll(&p, 1, 1) == 0)
			while (progress(worker))
				;
	}
	return read_real(fd, buf, len);
}

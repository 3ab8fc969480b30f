/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for native requests with a limit. See patience.h. */
#include "libzip/shim/patience.h"

#include <errno.h>
#include <time.h>

#include "common/base/clock.h"
#include "libzip/shim/shim.h"

#define PAUSE_NS 100000

int zpatience_wait(MPI_Request *request, int limit_ms)
{
	for (const int64_t end = zclock_ms() + limit_ms;;) {
		int done = 0;

		if (zn.Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return -EIO;
		if (done)
			return 0;
		if (zclock_ms() >= end)
			return -ETIMEDOUT;
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
}

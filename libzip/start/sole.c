/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the parts of all ranks of a native job. See sole.h. */
#include "libzip/start/sole.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/base/hash.h"
#include "libzip/shim/shim.h"

#define WAIT_MS 5000
#define PAUSE_NS 100000

int zsole_check(const char *part, struct zerr *err)
{
	static uint64_t mine[2], highest[2]; /* may be in use after we have given up */
	MPI_Request request;
	int size, done = 0;

	zn.Comm_size(MPI_COMM_WORLD, &size);
	if (size == 1)
		return 0;
	/* the highest hash, and the complement of the lowest one */
	mine[0] = zhash64(ZHASH64, part, strlen(part));
	mine[1] = ~mine[0];
	if (zn.Iallreduce(mine, highest, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
		return zerr_set(err, -EIO, "cannot compare the parts of all ranks");
	for (const int64_t end = zclock_ms() + WAIT_MS; zclock_ms() < end;) {
		if (zn.Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return zerr_set(err, -EIO, "cannot compare the parts of all ranks");
		if (done)
			break;
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
	if (!done || highest[0] == ~highest[1])
		return 0;
	return zerr_set(err, -EINVAL,
		"ZIPPER_PART differs among the ranks of one launcher: start each part by itself, as with srun "
		"--het-group=N for each, or all of them with ZIPPER_HOSTFILE");
}

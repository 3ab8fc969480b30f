/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the parts of all ranks of a native job. See sole.h. */
#include "libzip/start/sole.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "common/base/hash.h"
#include "libzip/shim/patience.h"
#include "libzip/shim/shim.h"

#define WAIT_MS 5000

int zsole_check(const char *part, struct zerr *err)
{
	static uint64_t mine[2], highest[2]; /* may be in use after we have given up */
	MPI_Request request;
	int size;

	zn.Comm_size(MPI_COMM_WORLD, &size);
	if (size == 1)
		return 0;
	/* the highest hash, and the complement of the lowest one */
	mine[0] = zhash64(ZHASH64, part, strlen(part));
	mine[1] = ~mine[0];
	int rc = zn.Iallreduce(mine, highest, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD, &request);
	rc = rc == MPI_SUCCESS ? zpatience_wait(&request, WAIT_MS) : -EIO;
	if (rc == -EIO)
		return zerr_set(err, rc, "cannot compare the parts of all ranks");
	if (rc == -ETIMEDOUT || highest[0] == ~highest[1])
		return 0;
	return zerr_set(err, -EINVAL,
		"ZIPPER_PART differs among the ranks of one launcher: start each part by itself, as with srun "
		"--het-group=N for each, or all of them with ZIPPER_HOSTFILE");
}

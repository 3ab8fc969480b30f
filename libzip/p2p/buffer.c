/* SPDX-License-Identifier: BSD-3-Clause */
/* The attached buffer. See buffer.h. */
#include "libzip/p2p/buffer.h"

#include <stdlib.h>

#include "libzip/progress/service.h"
#include "libzip/progress/progress.h"
#include "libzip/stream/attached.h"
#include "libzip/type/data.h"
#include "libzip/bridge/bridge.h"
#include "libzip/shim/shim.h"

_Atomic bool zbuffer_used;

static struct { /* for messages of this rank to itself */
	MPI_Comm comm;
	int tag;
} own = {.comm = MPI_COMM_NULL};

void zbuffer_init(MPI_Comm comm, int tag)
{
	own.comm = comm;
	own.tag = tag;
}

int zbuffer_attach(int rc, MPI_Count size)
{
	if (rc == MPI_SUCCESS)
		zattached_bytes = size;
	return rc;
}

/* MPICH 4.0.2 counts the bytes of a buffered message in an int, so a message of 2 GiB never fits. */
#define PIECE_MAX ((MPI_Count)1 << 30)

struct filling {
	void *bytes; /* of one message */
	int me;
};

/* Native MPI does not tell whether its buffer is empty, and detaching blocks until it is, without a turn of the
 * bridge. But messages that fill the whole buffer fit only when nothing else is in it. So this rank sends such
 * messages to itself. That writes to all of the buffer. */
static bool fits(void *ctx)
{
	const struct filling *f = ctx;
	MPI_Count left = zattached_bytes;
	int sent = 0;
	bool all = true;

	for (; all && left >= MPI_BSEND_OVERHEAD; sent += all) {
		MPI_Count piece = left < PIECE_MAX ? left : PIECE_MAX;
		all = zn.Bsend_c(f->bytes, piece - MPI_BSEND_OVERHEAD, MPI_BYTE, f->me, own.tag, own.comm) ==
		      MPI_SUCCESS;
		left -= piece;
	}
	/* received without their bytes */
	for (; sent > 0; sent--)
		zn.Recv(NULL, 0, MPI_BYTE, f->me, own.tag, own.comm, MPI_STATUS_IGNORE);
	return all;
}

static void wait_native(void)
{
	struct filling f = {.bytes = NULL};

	if (!zbuffer_used || zattached_bytes < MPI_BSEND_OVERHEAD)
		return;
	/* never written, so a large one takes no memory */
	f.bytes = calloc(1, (size_t)(zattached_bytes < PIECE_MAX ? zattached_bytes : PIECE_MAX));
	if (!f.bytes)
		return;
	zn.Comm_rank(own.comm, &f.me);
	zprogress_wait(fits, &f);
	free(f.bytes);
}

void zbuffer_empty(void)
{
	zservice_wait_buffered();
	wait_native();
	zattached_bytes = 0;
}

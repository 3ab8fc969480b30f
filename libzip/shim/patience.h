/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for a native request with a time limit, where other ranks may never come. Outside the lock, before the world is
 * in use. */
#ifndef ZIP_LIBZIP_PATIENCE_H
#define ZIP_LIBZIP_PATIENCE_H

#include <mpi.h>

/*
 * Tests the request until it is complete, and sleeps between. 0; -ETIMEDOUT: it is not complete after that many
 * milliseconds; -EIO: native MPI says that it has failed. The limit is that of our waiting: a call to native MPI may
 * take longer. After a call that took long the request counts if it is complete.
 *
 * A request that was given up stays with native MPI, and so do its buffers, which must live for ever.
 */
int zpatience_wait(MPI_Request *, int limit_ms);

#endif

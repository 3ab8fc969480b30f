/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Sendrecv, MPI_Sendrecv_replace and their nonblocking forms: a receive and a send behind one request. Under the
 * shim's lock. */
#ifndef ZIP_LIBZIP_EXCHANGE_H
#define ZIP_LIBZIP_EXCHANGE_H

#include "libzip/p2p/p2p.h"

struct zexchange_args {	 /* of one call */
	struct zcomm *c; /* NULL: local */
	struct zp2p_args send, recv;
	enum zp2p_mode mode;
	void *copy; /* of the send buffer, from the pool; NULL: none */
};

/* All return MPI_SUCCESS or an error code that has been raised. run: waits until the exchange is over. start: gives it
 * a request. */
int zexchange_run(const struct zexchange_args *, MPI_Status *);
int zexchange_start(const struct zexchange_args *, MPI_Request *);
/* The same where one buffer is sent from and received into. */
int zexchange_run_replace(struct zexchange_args *, MPI_Status *);
int zexchange_start_replace(struct zexchange_args *, MPI_Request *);

#endif

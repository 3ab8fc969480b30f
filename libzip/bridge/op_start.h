/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting point-to-point operations (op.h): the functions of their requests. Under the shim's lock. */
#ifndef ZIP_LIBZIP_OP_START_H
#define ZIP_LIBZIP_OP_START_H

#include "libzip/stream/op.h"
#include "libzip/world/req.h"

extern const struct zreq_ops zop_start_send_ops, zop_start_recv_ops;

/* The immortal request of all sends that were complete at once. */
extern struct zreq zop_start_sent;

/* Makes an operation that is not started, see zop_create. */
static inline int zop_start_make(struct zop **out, enum zop_kind kind, const struct zop_args *a, bool hold_type)
{
	return zop_create(out, kind == ZOP_SEND ? &zop_start_send_ops : &zop_start_recv_ops, kind, a, hold_type);
}
/* Starts it. An MPI error class; errors that are found out later are in the status. */
int zop_start(struct zop *);
/* Makes and starts a receive. An MPI error class. */
int zop_start_recv(const struct zop_args *, struct zreq **);
/* Makes and starts a send, which is a detached one if mode says so: then the request is zop_start_sent. An MPI error
 * class; MPI_ERR_BUFFER: a buffered send for which the attached buffer has no room now. */
int zop_start_send(const struct zop_args *, enum zsend_mode, struct zreq **);

#endif

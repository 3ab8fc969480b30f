/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations that this rank starts on members in other parts. */
#ifndef ZIP_LIBZIP_WIN_ORIGIN_H
#define ZIP_LIBZIP_WIN_ORIGIN_H

#include "libzip/win/win_message.h"

struct zwin_call { /* the application's arguments of an operation; a kind uses some of them */
	const char *name;
	enum zwin_kind kind;
	const void *origin;
	MPI_Count origin_count;
	MPI_Datatype origin_type;
	const void *compare; /* ZWIN_SWAP */
	void *result;
	MPI_Count result_count;
	MPI_Datatype result_type;
	int target;
	MPI_Aint disp;
	MPI_Count target_count;
	MPI_Datatype target_type;
	MPI_Op op;
	bool fetch; /* ZWIN_GET_ACCUMULATE: the call is MPI_Fetch_and_op */
};

/* Starts the operation on a target in another part. request: receives a request of the operation; NULL: the caller
 * wants none. MPI_SUCCESS or an error class. */
int zwin_origin_start(struct zwin *, struct zwin_peer *, const struct zwin_call *, MPI_Request *request);
/* Are all operations on the peer complete at this end? */
bool zwin_origin_is_done(struct zwin_peer *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ZIPPER_PROFILE: records how much each rank sends to each other rank, for zipmap.graph(5).
 *
 * The generated wrappers call a hook when a call of the program has succeeded. functions.tab names the hook, and
 * mpigen.py fills its arguments by their names in the header. Calls by the library or native MPI itself (depth above
 * 0) have no hook. Hooks take a lock where MPI_THREAD_MULTIPLE was provided.
 */
#ifndef ZIP_LIBZIP_RECORD_H
#define ZIP_LIBZIP_RECORD_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/graph/graph.h"
#include "common/base/err.h"
#include "libzip/record/record_time.h" /* the generated wrappers call it, too */

/* Starts recording and sets ZSHIM_RECORD, and ZSHIM_TIME where there is a file. Collective over the world, after it has
 * been joined. Rank 0 makes sure that the file can be written, and removes an older graph of that name. file NULL: only
 * counts, for zrecord_native. 0 or a negative errno. In MPI_Init, inside the shim. */
int zrecord_start(const char *file, bool threaded, struct zerr *);
/* Ends recording; rank 0 writes the file. Collective over the world. An error is reported on standard error and is no
 * error of MPI_Finalize. Does nothing where nothing was started. In MPI_Finalize, inside the shim. */
void zrecord_finish(void);
/* After zrecord_finish: the program's point-to-point messages to ranks of its own part. 0 where nothing was recorded.
 */
void zrecord_native(uint64_t *msgs, uint64_t *bytes);

/* The arguments of a collective call; a field that the function does not have is 0. */
struct zrecord_args {
	enum zgraph_kind kind;
	MPI_Comm comm;
	int root;
	bool large; /* arrays of counts are MPI_Count, not int */
	const void *sendbuf;
	MPI_Count sendcount, recvcount; /* sendcount is also the only count of a function */
	MPI_Datatype sendtype, recvtype;
	const void *sendcounts, *recvcounts;
	const MPI_Datatype *sendtypes, *recvtypes;
};

void zrecord_send(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm);
void zrecord_coll(const struct zrecord_args *);
/* Persistent requests: noted now, counted with each start. */
void zrecord_send_init(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm, MPI_Request request);
void zrecord_coll_init(const struct zrecord_args *, MPI_Request request);
void zrecord_starts(int n, const MPI_Request *requests);
/* One-sided operations, recorded by the origin. */
void zrecord_put(MPI_Count count, MPI_Datatype type, int target, MPI_Win win);
void zrecord_get(MPI_Count count, MPI_Datatype type, int target, MPI_Win win);
/* Before the native call that frees the handle, because another thread's new object may get the handle at once. */
void zrecord_request_gone(MPI_Request request);
void zrecord_comm_gone(MPI_Comm comm);
void zrecord_win_gone(MPI_Win win);
/* MPI_Pcontrol. Returns the level before the call. */
int zrecord_phase(int level);

#endif

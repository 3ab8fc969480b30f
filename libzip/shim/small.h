/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large counts with a native library of MPI-3.1, which has none. gen/small.py makes a small form for each MPI_X_c: a
 * function with the same parameters that calls MPI_X. Where the library has no MPI_X_c, zn.X_c is that form
 * (resolve.c). So the library calls zn.X_c wherever it has large counts, and the choice costs nothing. A value that
 * does not fit is an error of class MPI_ERR_COUNT, raised on the object of the call.
 *
 * An array of a nonblocking collective must stay until the operation is complete, and so must its converted copy. The
 * caller of such a form says where the copy lives (struct zsmall_keeper). Without that the form is an error.
 *
 * Any thread.
 */
#ifndef ZIP_LIBZIP_SMALL_H
#define ZIP_LIBZIP_SMALL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef void (*zsmall_form)(void);
/* The form for each entry of struct znative, in its order; NULL: none (generated). */
extern const zsmall_form zsmall_forms[];
int zsmall_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype, void *outbuf, MPI_Count outsize,
	MPI_Count *position, MPI_Comm);
int zsmall_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
	MPI_Datatype, MPI_Comm);
int zsmall_Pack_size_c(MPI_Count incount, MPI_Datatype, MPI_Comm, MPI_Count *size);
int zsmall_Comm_idup_with_info(MPI_Comm, MPI_Info, MPI_Comm *newcomm, MPI_Request *request);

/* The largest count that the native library takes. */
extern MPI_Count zsmall_limit;

/* --- errors --- */

/* The object of a call, on which an error is raised. */
struct zsmall_object {
	enum { ZSMALL_IS_COMM, ZSMALL_IS_WIN, ZSMALL_IS_FILE } kind;
	MPI_Comm comm;
	MPI_Win win;
	MPI_File file;
};
#define ZSMALL_COMM(c) (&(const struct zsmall_object){.kind = ZSMALL_IS_COMM, .comm = (c)})
#define ZSMALL_WIN(w) (&(const struct zsmall_object){.kind = ZSMALL_IS_WIN, .win = (w)})
#define ZSMALL_FILE(f) (&(const struct zsmall_object){.kind = ZSMALL_IS_FILE, .file = (f)})

/* Raises an error of that class on the object, and returns its code. With or without the shim's lock. NULL, as long as
 * the world is not merged: native MPI raises the class, without the text. */
extern int (*zsmall_raise)(const struct zsmall_object *, int class, const char *function, const char *text);
/* Raises MPI_ERR_COUNT, as the parameter has that value. Returns the code. */
int zsmall_refuse(const struct zsmall_object *, const char *function, const char *parameter, long long value);

/* --- arrays --- */

/* Where copies of arrays live until a nonblocking operation is complete. Set around its start by the thread that
 * starts it. alloc returns NULL if there is no memory. */
struct zsmall_keeper {
	void *(*alloc)(void *arg, size_t bytes);
	void *arg;
};
extern __thread const struct zsmall_keeper *zsmall_keeper __attribute__((tls_model("initial-exec")));

#define ZSMALL_ARRAYS_MAX 4
struct zsmall_arrays {	       /* of one call */
	bool lasting;	       /* the operation does not end with the call */
	int error;	       /* MPI_SUCCESS or a class */
	const char *parameter; /* the one whose element does not fit */
	long long value;       /* of that element */
	int n;		       /* copies to free */
	void *mine[ZSMALL_ARRAYS_MAX];
};
/* Copies of arrays of that length; of NULL, NULL. On an error they set a->error and return NULL. */
const int *zsmall_counts(struct zsmall_arrays *a, const char *parameter, const MPI_Count *from, MPI_Count length);
const int *zsmall_displs(struct zsmall_arrays *a, const char *parameter, const MPI_Aint *from, MPI_Count length);
const MPI_Aint *zsmall_addresses(struct zsmall_arrays *a, const char *parameter, const MPI_Count *from,
	MPI_Count length);
/* Raises the error of the arrays. Returns the code. */
int zsmall_refuse_arrays(const struct zsmall_object *, const char *function, const struct zsmall_arrays *);
void zsmall_arrays_done(struct zsmall_arrays *);

/* How long the arrays of a collective are; 0 for a null communicator. partners: ranks that a rank exchanges data with,
 * the remote group of an intercommunicator. at_root: the same, and 0 in ranks where the arrays do not count. members:
 * of the own group. sources, targets: neighbours in the topology. */
int zsmall_partners(MPI_Comm);
int zsmall_at_root(MPI_Comm, int root);
int zsmall_members(MPI_Comm);
int zsmall_sources(MPI_Comm);
int zsmall_targets(MPI_Comm);

#endif

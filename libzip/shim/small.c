/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts that all small forms share. See small.h. */
#include "libzip/shim/small.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libzip/shim/native.h"

__thread const struct zsmall_keeper *zsmall_keeper;
MPI_Count zsmall_limit = LLONG_MAX;
int (*zsmall_raise)(const struct zsmall_object *, int class, const char *function, const char *text);

/* --- errors --- */

static int raise_natively(const struct zsmall_object *o, int class)
{
	switch (o->kind) {
	case ZSMALL_IS_COMM:
		zn.Comm_call_errhandler(o->comm, class);
		break;
	case ZSMALL_IS_WIN:
		zn.Win_call_errhandler(o->win, class);
		break;
	case ZSMALL_IS_FILE:
		zn.File_call_errhandler(o->file, class);
		break;
	}
	return class;
}

/* The first line of what the native library says about itself. */
static void put_library(char *to, size_t bytes)
{
	char text[MPI_MAX_LIBRARY_VERSION_STRING] = "MPI-3.1";
	int len, used = 0;

	zn.Get_library_version(text, &len);
	text[strcspn(text, "\n")] = '\0';
	for (const char *word = text; *word && (size_t)used < bytes; word += strcspn(word, " \t")) {
		word += strspn(word, " \t");
		used += snprintf(to + used, bytes - (size_t)used, "%s%.*s", used > 0 ? " " : "",
			(int)strcspn(word, " \t"), word);
	}
}

/* what: the reason, as the end of a sentence */
static int refuse(const struct zsmall_object *o, int class, const char *function, const char *what)
{
	char text[300], library[120] = "";

	put_library(library, sizeof(library));
	snprintf(text, sizeof(text), "the native library (%s) has no large counts, and %s", library, what);
	return zsmall_raise ? zsmall_raise(o, class, function, text) : raise_natively(o, class);
}

int zsmall_refuse(const struct zsmall_object *o, const char *function, const char *parameter, long long value)
{
	char what[100];

	snprintf(what, sizeof(what), "%s is %lld", parameter, value);
	return refuse(o, MPI_ERR_COUNT, function, what);
}

int zsmall_refuse_arrays(const struct zsmall_object *o, const char *function, const struct zsmall_arrays *a)
{
	if (a->error == MPI_ERR_COUNT)
		return zsmall_refuse(o, function, a->parameter, a->value);
	return refuse(o, a->error, function,
		a->error == MPI_ERR_NO_MEM ? "there is no memory for arrays of int"
					   : "arrays of int could not stay until the operation is complete");
}

/* --- arrays --- */

static void *room(struct zsmall_arrays *a, size_t bytes)
{
	if (a->lasting && !zsmall_keeper) {
		a->error = MPI_ERR_UNSUPPORTED_OPERATION;
		return NULL;
	}
	void *p = a->lasting ? zsmall_keeper->alloc(zsmall_keeper->arg, bytes) : malloc(bytes);
	if (!p)
		a->error = MPI_ERR_NO_MEM;
	else if (!a->lasting)
		a->mine[a->n++] = p;
	return p;
}

/* COUNT to SMALL; the result's variable is `to`. */
#define COPY(SMALL)                                                                                                    \
	SMALL *to = a->error == MPI_SUCCESS && from ? room(a, ((size_t)length + 1) * sizeof *to) : NULL;               \
	for (MPI_Count i = 0; to && i < length; i++) {                                                                 \
		to[i] = (SMALL)from[i];                                                                                \
		if (to[i] != from[i] && a->error == MPI_SUCCESS) {                                                     \
			a->error = MPI_ERR_COUNT;                                                                      \
			a->parameter = parameter;                                                                      \
			a->value = (long long)from[i];                                                                 \
		}                                                                                                      \
	}

const int *zsmall_counts(struct zsmall_arrays *a, const char *parameter, const MPI_Count *from, MPI_Count length)
{
	COPY(int)
	return to;
}

const int *zsmall_displs(struct zsmall_arrays *a, const char *parameter, const MPI_Aint *from, MPI_Count length)
{
	COPY(int)
	return to;
}

const MPI_Aint *zsmall_addresses(struct zsmall_arrays *a, const char *parameter, const MPI_Count *from,
	MPI_Count length)
{
	COPY(MPI_Aint)
	return to;
}

void zsmall_arrays_done(struct zsmall_arrays *a)
{
	while (a->n > 0)
		free(a->mine[--a->n]);
}

static bool is_inter(MPI_Comm comm)
{
	int inter = 0;

	return comm != MPI_COMM_NULL && zn.Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter;
}

int zsmall_members(MPI_Comm comm)
{
	int n = 0;

	return comm != MPI_COMM_NULL && zn.Comm_size(comm, &n) == MPI_SUCCESS ? n : 0;
}

int zsmall_partners(MPI_Comm comm)
{
	int n = 0;

	if (!is_inter(comm))
		return zsmall_members(comm);
	return zn.Comm_remote_size(comm, &n) == MPI_SUCCESS ? n : 0;
}

int zsmall_at_root(MPI_Comm comm, int root)
{
	int rank = MPI_PROC_NULL;

	if (comm == MPI_COMM_NULL || zn.Comm_rank(comm, &rank) != MPI_SUCCESS)
		return 0;
	return root == (is_inter(comm) ? MPI_ROOT : rank) ? zsmall_partners(comm) : 0;
}

static int degree(MPI_Comm comm, bool out)
{
	int kind = MPI_UNDEFINED, in_n = 0, out_n = 0, weighted, rank;

	if (comm == MPI_COMM_NULL || zn.Topo_test(comm, &kind) != MPI_SUCCESS)
		return 0;
	if (kind == MPI_DIST_GRAPH) {
		zn.Dist_graph_neighbors_count(comm, &in_n, &out_n, &weighted);
	} else if (kind == MPI_GRAPH && zn.Comm_rank(comm, &rank) == MPI_SUCCESS) {
		zn.Graph_neighbors_count(comm, rank, &in_n);
		out_n = in_n;
	} else if (kind == MPI_CART) {
		zn.Cartdim_get(comm, &in_n);
		in_n = out_n = 2 * in_n;
	}
	return out ? out_n : in_n;
}

int zsmall_sources(MPI_Comm comm)
{
	return degree(comm, false);
}

int zsmall_targets(MPI_Comm comm)
{
	return degree(comm, true);
}

/* --- forms that do more --- */

/* As many elements as one call of MPI_Pack or MPI_Unpack takes; 0: not a single one. */
static int elements_at_once(MPI_Datatype type, MPI_Count *extent)
{
	MPI_Count size = 0, lb;

	*extent = 0;
	if (type == MPI_DATATYPE_NULL || zn.Type_size_x(type, &size) != MPI_SUCCESS || size == 0 ||
		zn.Type_get_extent_x(type, &lb, extent) != MPI_SUCCESS)
		return INT_MAX;
	return (int)(INT_MAX / size);
}

static int smaller(MPI_Count a, int b)
{
	return a < b ? (int)a : b;
}

int zsmall_Pack_c(const void *inbuf, MPI_Count incount, MPI_Datatype type, void *outbuf, MPI_Count outsize,
	MPI_Count *position, MPI_Comm comm)
{
	const char *from = inbuf;
	MPI_Count extent, at = *position;
	int most = elements_at_once(type, &extent), rc;

	if (most == 0)
		return zsmall_refuse(ZSMALL_COMM(comm), "MPI_Pack_c", "outsize", outsize);
	do {
		int n = smaller(incount, most), used = 0;
		rc = zn.Pack(from, n, type, (char *)outbuf + at, smaller(outsize - at, INT_MAX), &used, comm);
		from += n * extent;
		incount -= n;
		at += used;
	} while (rc == MPI_SUCCESS && incount > 0);
	if (rc == MPI_SUCCESS)
		*position = at;
	return rc;
}

int zsmall_Unpack_c(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
	MPI_Datatype type, MPI_Comm comm)
{
	char *to = outbuf;
	MPI_Count extent, at = *position;
	int most = elements_at_once(type, &extent), rc;

	if (most == 0)
		return zsmall_refuse(ZSMALL_COMM(comm), "MPI_Unpack_c", "insize", insize);
	do {
		int n = smaller(outcount, most), used = 0;
		rc = zn.Unpack((const char *)inbuf + at, smaller(insize - at, INT_MAX), &used, to, n, type, comm);
		to += n * extent;
		outcount -= n;
		at += used;
	} while (rc == MPI_SUCCESS && outcount > 0);
	if (rc == MPI_SUCCESS)
		*position = at;
	return rc;
}

/* In libraries of the MPICH family the packed size is the size of the data. MPI_Pack_size of MPI-3.1 does not look
 * whether it fits an int. */
int zsmall_Pack_size_c(MPI_Count incount, MPI_Datatype type, MPI_Comm comm, MPI_Count *size)
{
	MPI_Count one = 0, all;
	int small = 0;

	if (type != MPI_DATATYPE_NULL && zn.Type_size_x(type, &one) == MPI_SUCCESS && incount > 0 &&
		(__builtin_mul_overflow(one, incount, &all) || all > INT_MAX || incount > INT_MAX))
		return zsmall_refuse(ZSMALL_COMM(comm), "MPI_Pack_size_c", "incount", incount);
	int rc = zn.Pack_size((int)incount, type, comm, &small);
	if (rc == MPI_SUCCESS && size)
		*size = small;
	return rc;
}

/* MPI_Comm_dup_with_info of MPI-3.0 needs it, because a blocking native call would keep the bridge from being served.
 * In the MPICH family setting hints is local, so the new communicator gets them at once. */
int zsmall_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
	int rc = zn.Comm_idup(comm, newcomm, request);

	return rc == MPI_SUCCESS && info != MPI_INFO_NULL ? zn.Comm_set_info(*newcomm, info) : rc;
}

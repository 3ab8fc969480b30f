/* SPDX-License-Identifier: BSD-3-Clause */
/* Receives that fail when they are started. See early.h. */
#include "libzip/p2p/early.h"

#include <string.h>

#include "libzip/shim/shim.h"
#include "libzip/type/type.h"
#include "libzip/world/comm.h"
#include "libzip/world/error.h"
#include "libzip/world/status.h"

static int (*native_irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

/* The last receive of this thread that has failed so. */
static __thread struct {
	int source, tag;
	MPI_Count bytes;
} last;

static int note_failed(int code, int count, MPI_Datatype type, int source, int tag)
{
	if (zerror_class(code) != MPI_ERR_TRUNCATE)
		return code;
	last.source = source;
	last.tag = tag;
	last.bytes = ztype_find(type)->size * count;
	return code;
}

static int irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	int rc = native_irecv(buf, count, type, source, tag, comm, request);

	return __builtin_expect(rc == MPI_SUCCESS, 1) ? rc : note_failed(rc, count, type, source, tag);
}

void zearly_init(void)
{
	char library[MPI_MAX_LIBRARY_VERSION_STRING];
	int len;

	if (native_irecv || zn.Get_library_version(library, &len) != MPI_SUCCESS || !strstr(library, "ch3"))
		return;
	native_irecv = zn.Irecv;
	zn.Irecv = irecv;
}

int __attribute__((cold)) zearly_failed(int code, MPI_Comm comm, MPI_Status *status)
{
	const struct zcomm *c = zcomm_find(comm);

	/* No other receive fails in this way when it starts. */
	if (status == MPI_STATUS_IGNORE || !native_irecv || zerror_class(code) != MPI_ERR_TRUNCATE)
		return code;
	int source = c && last.source >= 0 ? c->shadow_to_rank[last.source] : last.source;
	zstatus_set(status, source, last.tag, status->MPI_ERROR, last.bytes, false);
	return code;
}

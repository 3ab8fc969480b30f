/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages between the processes and the forwarder of MMPI, and the communicators that carry them. */
#ifndef ZIPBENCH_MMPI_PROTOCOL_H
#define ZIPBENCH_MMPI_PROTOCOL_H

#include <mpi.h>

enum request_kind {
	REQUEST_SEND,
	REQUEST_RECV,
	REQUEST_BARRIER,
	REQUEST_BCAST,
	REQUEST_REDUCE,
	REQUEST_ALLREDUCE,
	REQUEST_END
};

/* The seven integers (section 3.2). Handles of predefined types and operations are the same integers everywhere in a
 * job. */
enum request_field {
	FIELD_KIND,
	FIELD_VRANK, /* destination, source or root */
	FIELD_TAG,
	FIELD_BYTES, /* of the payload */
	FIELD_COUNT, /* of elements of the type */
	FIELD_TYPE,  /* MPI_Type_c2f */
	FIELD_OP,    /* MPI_Op_c2f */
	REQUEST_FIELDS
};

#define FORWARDER 0   /* its rank in all communicators here */
#define TAG_REQUEST 1 /* of requests */
#define TAG_ID 2      /* of the answer, one integer */
#define ID_FIRST 16   /* identifiers are tags of transfers; after ID_LAST they start again here */
#define ID_LAST 32000 /* every MPI takes tags to 32767 */

struct mmpi {
	MPI_Comm wire;	   /* the world: requests, identifiers, transfers; rank = virtual rank + 1 */
	MPI_Comm group[2]; /* low, high: the forwarder and that group; MPI_COMM_NULL in processes of the other group */
	int nlow, size;	   /* virtual ranks in the low group, and altogether */
};

#endif

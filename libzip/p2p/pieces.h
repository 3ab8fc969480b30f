/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of a partitioned send or receive across clusters (partitioned.c): how both ends meet, and the pieces.
 * At station 0, by a thread that has the library as a whole. */
#ifndef ZIP_LIBZIP_PIECES_H
#define ZIP_LIBZIP_PIECES_H

#include "libzip/world/req.h"
#include "libzip/type/data.h"

/* The words of the message that MPI_Psend_init sends (hello). */
enum { ZPIECES_NUMBER, ZPIECES_PIECES, ZPIECES_BYTES, ZPIECES_HELLO };

enum zpieces_stage { ZPIECES_WAITING, ZPIECES_UNDER_WAY, ZPIECES_OVER };

struct zpieces_piece { /* a partition of the sender */
	enum zpieces_stage stage;
	struct zreq *message; /* ZPIECES_UNDER_WAY */
};

struct zpieces {
	struct zreq req; /* first */
	int rank, tag, partitions;
	void *buf;
	MPI_Count count;   /* of a partition */
	MPI_Datatype type; /* a datatype that is held */
	MPI_Aint extent;
	struct zdata data;	     /* of all partitions */
	uint32_t number;	     /* of the first piece */
	int npieces;		     /* 0: not known yet */
	uint64_t bytes;		     /* of a piece, on the wire */
	struct zpieces_piece *piece; /* [npieces] */
	int first, error;	     /* first: all pieces before it are over; error: the first error */
	struct zreq *hello;	     /* receive: the hello of MPI_Psend_init, until it has come */
	uint64_t word[ZPIECES_HELLO];
	uint8_t *packed;      /* receive: the bytes of all pieces, where they cannot lie in the buffer */
	struct zpieces *next; /* receive: next request that was started before its hello has come */
	MPI_Request native;   /* receive within this part: the native request does all the work; or MPI_REQUEST_NULL */
};

extern const struct zreq_ops zpieces_send_ops, zpieces_recv_ops;

/* Begin the work of MPI_Psend_init and MPI_Precv_init. MPI_SUCCESS or an error class. */
int zpieces_init_send(struct zpieces *);
int zpieces_init_recv(struct zpieces *);
/* MPI_Pready on a started request. MPI_SUCCESS or a code that has been raised. */
int zpieces_ready(struct zpieces *, int partition, const char *name);
/* MPI_Parrived on a started request. */
bool zpieces_has_arrived(struct zpieces *, int partition);

/* For all kinds of partitioned requests: prepares another start; and frees what the request owns. */
void zpieces_rewind(struct zpieces *);
void zpieces_destroy(struct zreq *);

#endif

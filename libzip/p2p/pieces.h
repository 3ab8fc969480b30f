/* SPDX-License-Identifier: BSD-3-Clause */
/* A partitioned send or receive across clusters, see partitioned.c. By who has the library as a whole, at station 0.
 */
#ifndef ZIP_LIBZIP_PIECES_H
#define ZIP_LIBZIP_PIECES_H

#include "libzip/world/req.h"
#include "libzip/type/data.h"

/* What MPI_Psend_init tells. */
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
	MPI_Datatype type; /* one of ours */
	MPI_Aint extent;
	struct zdata data;	     /* of all partitions */
	uint32_t number;	     /* of the first piece */
	int npieces;		     /* 0: not known yet */
	uint64_t bytes;		     /* of a piece, on the wire */
	struct zpieces_piece *piece; /* [npieces] */
	int first, error;	     /* all before it are over; what went wrong first */
	struct zreq *hello;	     /* receive: what comes from MPI_Psend_init, until it has */
	uint64_t word[ZPIECES_HELLO];
	uint8_t *packed;      /* receive: all pieces, where they cannot lie in the buffer */
	struct zpieces *next; /* receive: of those that have been started before hello has come */
	MPI_Request native;   /* receive from this part, which is all there is to it; or MPI_REQUEST_NULL */
};

extern const struct zreq_ops zpieces_send_ops, zpieces_recv_ops;

/* What MPI_Psend_init and MPI_Precv_init begin. An MPI error class. */
int zpieces_init_send(struct zpieces *);
int zpieces_init_recv(struct zpieces *);
/* MPI_Pready of one that is started: an error is raised. */
int zpieces_ready(struct zpieces *, int partition, const char *name);
/* MPI_Parrived of one that is started. */
bool zpieces_has_arrived(struct zpieces *, int partition);

/* For all kinds: another start; and what is left of it. */
void zpieces_rewind(struct zpieces *);
void zpieces_destroy(struct zreq *);

#endif

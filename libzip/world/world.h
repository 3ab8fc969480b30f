/* SPDX-License-Identifier: BSD-3-Clause */
/* The merged world: who is where. Filled once in MPI_Init, read-only afterwards; any thread. */
#ifndef ZIP_LIBZIP_WORLD_H
#define ZIP_LIBZIP_WORLD_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/control/control.h"
#include "common/base/err.h"

struct zplace {
	uint32_t part;	/* index into zworld.part_name and part_size */
	uint32_t lrank; /* rank in that part's base communicator, where vranks ascend */
};

struct zworld {
	bool merged; /* more than one part: only then anything here does anything */
	int nparts, nranks;
	int vrank, part; /* mine */
	MPI_Comm base;	/* my part's base communicator: MPI_COMM_WORLD, or made by create_group, or (reordered) split */
	bool reordered; /* a map has placed the ranks of my part in another order than their native one */
	char **part_name;     /* [nparts] */
	int *part_size;	      /* [nparts] */
	struct zplace *place; /* [nranks], by vrank */
	int *my_vrank;	      /* [part_size[part]]: lrank of my part -> vrank */
	/* [nranks], by vrank: bit p: has a port on part p's; 0: no direct links. NULL: nobody has more than its own */
	uint64_t *fabrics;
	uint8_t credential[ZCTL_TOKEN_BYTES];	      /* that those show who connect to us */
	bool external32;			      /* the parts differ in representation */
	uint32_t eager_bytes, frag_bytes, rdv_window; /* see zctl_world */
};
extern struct zworld zworld;

/* Fills everything but base from what zipperd answered; checks it. 0, -EPROTO or -ENOMEM, then zworld is clear. */
int zworld_fill(const struct zctl_world *, struct zerr *);
/* Back to the state of a program that has not joined. */
void zworld_clear(void);

static inline bool zworld_is_local(int vrank)
{
	return zworld.place[vrank].part == (uint32_t)zworld.part;
}

#endif

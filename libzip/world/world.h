/* SPDX-License-Identifier: BSD-3-Clause */
/* The merged world: its parts, and the place of every rank. Filled once in MPI_Init, read-only afterwards; any thread.
 */
#ifndef ZIP_LIBZIP_WORLD_H
#define ZIP_LIBZIP_WORLD_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/control/ctl.h"
#include "common/base/err.h"
#include "common/wire/wire.h"
#include "libzip/abi/abi.h"
#include "libzip/shim/station.h"

struct zplace {		     /* packed: there is one for each rank of the world in each process */
	uint32_t part : 8;   /* index into zworld.part_name and part_size */
	uint32_t lrank : 24; /* rank in that part's base communicator, where vranks ascend */
};

struct zworld {
	bool merged; /* more than one part; else the library does nothing */
	int nparts, nranks;
	int vrank, part; /* mine */
	MPI_Comm base;	/* my part's base communicator: MPI_COMM_WORLD, or made by create_group, or (reordered) split */
	bool reordered; /* a map has placed the ranks of my part in another order than their native one */
	char **part_name;     /* [nparts] */
	int *part_size;	      /* [nparts] */
	struct zplace *place; /* [nranks], by vrank */
	int *number;	      /* [nranks]: 0, 1, 2, ...; for tables that would hold just that (comm.h) */
	int *my_vrank;	   /* [part_size[part]]: lrank of my part -> vrank; in number where these follow one another */
	bool own_my_vrank; /* it does not lie in number */
	/* [nattached], by vrank: the ranks that have ports on other fabrics than that of their part. zworld_fabrics */
	struct zctl_attached *attached;
	uint32_t nattached;
	bool external32;			      /* the parts differ in representation */
	uint32_t eager_bytes, frag_bytes, rdv_window; /* see zctl_world */
	uint32_t universe, tag_ub;		      /* see zctl_world */
};
extern struct zworld zworld;

/* The job's name, which stays when zworld is cleared. set: copies at most ZCTL_NAME_MAX characters; the caller has
 * checked the name. */
void zworld_set_job(const char *name);
const char *zworld_job(void); /* "" where there is none */

/* Checks zipperd's answer and fills everything except base. 0; -EPROTO or -ENOMEM, then zworld is clear. */
int zworld_fill(const struct zctl_world *, struct zerr *);
/* Back to the state of a program that has not joined. */
void zworld_clear(void);

/* Bit p: the rank has a port on part p's fabric. 0: no direct links. */
uint64_t zworld_fabrics(int vrank);

static inline bool zworld_is_local(int vrank)
{
	return zworld.place[vrank].part == (uint32_t)zworld.part;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spanning communicators. A communicator that is not in this table is local: native calls are right for it.
 * Reference counted: pending requests keep it after MPI_Comm_free. Under the shim's lock.
 *
 * An intercommunicator is a communicator with a second group: size, vrank and all that is derived from them describe
 * the remote group, whose ranks are what calls name; the local group is a communicator of its own (`local`), which the
 * application never sees. A native communicator over my part's members of both groups is handle and shadow.
 */
#ifndef ZIP_LIBZIP_COMM_H
#define ZIP_LIBZIP_COMM_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/world/world.h"

struct zboard;
struct zsched;
struct ztopo;

struct zcomm_part {  /* the members of one part, parts in the order of their lowest rank */
	int part;    /* index in zworld */
	int leader;  /* rank in this communicator: the lowest of that part */
	int count;   /* members */
	int *member; /* [count]: their ranks, ascending */
};

/* What a probe from anywhere has told: of a message with tag `found`, when asked for `asked`. */
#define ZCOMM_PROBED_MAX 4
struct zcomm_probed {
	int asked, found;
	bool native;
};

struct zcomm {
	MPI_Comm handle; /* what the application holds */
	MPI_Comm shadow; /* native communicator of my part's members ordered by rank; equal to handle except for
			  * MPI_COMM_WORLD under one stock mpirun */
	uint64_t id;	 /* the same in every member, unique in the job: vrank of the maker << 32 | counter << 2;
			  * the low two bits are the kind of traffic (enum zcomm_context) */
	int station;	 /* of its point-to-point messages (station.h) */
	int size, rank;
	int *vrank;		  /* [size]: rank -> vrank */
	int *shadow_rank;	  /* [size]: rank -> rank in the shadow, -1 if remote */
	int *shadow_to_rank;	  /* [nlocal]; intercommunicators: MPI_UNDEFINED for members of the local group */
	int nlocal;		  /* members of my part: size of the shadow */
	struct zcomm_part *parts; /* [nparts] */
	int *members;		  /* [size]: what the parts' member point into */
	int nparts;
	int my_part;		      /* index into parts */
	int members_min, members_max; /* of the smallest and the largest part's counts */
	bool blocked;		      /* the ranks of each part are consecutive */
	struct zboard *board;	      /* memory that the local members share; NULL: none. Left with the entry */
	struct ztopo *topo;	      /* NULL: none. A reference; then the shadow has the graph of local neighbours */
	struct zcomm_probed probed[ZCOMM_PROBED_MAX]; /* [nprobed], for the receives that follow; the last one is new */
	int nprobed;
	bool fatal;			      /* the application has set MPI_ERRORS_ARE_FATAL on it or on its parent */
	_Atomic int refs;		      /* counted at its station, too */
	uint32_t coll_seq;		      /* number of the next collective: tag of its bridged messages */
	struct zsched *coll_head, *coll_tail; /* collectives not finished, in order; only the first one runs */
	bool dropped;			      /* MPI_Comm_free was called, or the application never had it */

	struct zcomm *seed; /* of twins (comm_twin.h), which are its duplicates; NULL before the first; a reference */

	/* Intercommunicators; rank and my_part are then MPI_UNDEFINED. */
	struct zcomm *local; /* NULL: not one */
	MPI_Comm near;	     /* as shadow, for what collectives send to remote ranks of my part; MPI_COMM_NULL: none */
	bool first;	     /* the group whose rank 0 has the lower vrank is mine: the other one says the opposite */

	struct zcomm *next; /* hash chain by handle; list of the dead */
};

/* Kinds of traffic, which never match each other. What the library says to itself has tags of the program in INTERNAL
 * and LEADERS; negative ones are of partitioned.c. */
enum zcomm_context { ZCOMM_PT2PT = 0, ZCOMM_COLL = 1, ZCOMM_INTERNAL = 2, ZCOMM_LEADERS = 3 };

/* Makes the entry for a new spanning communicator over vrank[size] (copied), with native handle and shadow, which it
 * then owns (frees with the last reference, except the world's). The caller has the first reference, which
 * MPI_Comm_free gives back. NULL: out of memory. */
struct zcomm *zcomm_create(MPI_Comm handle, MPI_Comm shadow, uint64_t id, const int *vrank, int size);
/* The same over all ranks of the job, whose ranks are vranks. */
struct zcomm *zcomm_create_whole(MPI_Comm handle, MPI_Comm shadow, uint64_t id);
/* The same for an intercommunicator: shadow (and handle) is ordered by group, that of `first` in front, and rank in it;
 * local_shadow is a native communicator of the local group's members alone, or the same one where my part has no
 * others. It owns all three. The groups may be in one part. */
struct zcomm_inter {
	MPI_Comm shadow, near, local_shadow;
	uint64_t id;
	const int *local, *remote; /* vranks; copied */
	int nlocal, nremote;
	bool fatal;
};
struct zcomm *zcomm_create_inter(const struct zcomm_inter *);
/* unref never runs anything of the application: the last one only puts the communicator aside for zcomm_reap. */
void zcomm_ref(struct zcomm *);
void zcomm_unref(struct zcomm *);
/* MPI_Comm_free: the handle is no longer found (the id is, until the last reference goes). */
void zcomm_drop(struct zcomm *);
/* Frees the communicators whose last reference is gone. That runs attribute callbacks of the application, so only
 * implementations of MPI functions call it, with nothing half done. What native MPI said of the first that it did not
 * free, as where such a callback fails; that one is gone all the same. */
int zcomm_reap(void);

/* A fresh id, unique in the job (this process as maker). */
uint64_t zcomm_new_id(void);

/* vrank -> rank in the communicator, or MPI_UNDEFINED. */
int zcomm_rank_of(const struct zcomm *, int vrank);

static inline bool zcomm_is_local_rank(const struct zcomm *c, int rank)
{
	return c->shadow_rank[rank] >= 0;
}

/* The group that I am in. */
static inline struct zcomm *zcomm_own(struct zcomm *c)
{
	return c->local ? c->local : c;
}

extern struct zcomm *zcomm_world; /* MPI_COMM_WORLD, or NULL when not merged */

/* comm.c's own: what the look-up goes through where the answer is not plain. */
extern unsigned zcomm_others; /* spanning communicators besides the world */
extern __thread struct zcomm *zcomm_dying __attribute__((tls_model("initial-exec")));
struct zcomm *zcomm_find_other(MPI_Comm handle);

/* For who has no lock: the station of a communicator that is there, or 0. Who has that station's lock finds it, or it
 * was not there. */
#define ZCOMM_HINTS 1024u			  /* MPICH numbers handles from the low bits on */
extern _Atomic uint64_t zcomm_hints[ZCOMM_HINTS]; /* handle << 8 | station */
static inline int zcomm_hint(MPI_Comm handle)
{
	uint64_t hint = atomic_load_explicit(&zcomm_hints[(uint32_t)handle % ZCOMM_HINTS], memory_order_relaxed);

	return hint >> 8 == (uint32_t)handle ? (int)(hint & 0xff) : 0;
}

/* NULL: local. Every call of the application begins with it, so the common case (no spanning communicator but the
 * world) costs a compare or two. */
static inline struct zcomm *zcomm_find(MPI_Comm handle)
{
	if (zcomm_world && (handle == zcomm_world->handle || handle == zcomm_world->shadow))
		return zcomm_world;
	if (zcomm_others == 0 && __builtin_expect(!zcomm_dying, 1))
		return NULL;
	return zcomm_find_other(handle);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spanning communicators. A communicator that is not in this table is local; native calls serve it. An entry counts
 * references: pending requests keep it after MPI_Comm_free. Under the shim's lock.
 *
 * An intercommunicator is a communicator with a second group. size, vrank and everything derived from them describe
 * the remote group, whose ranks calls name. The local group is a communicator of its own (`local`), which the
 * application never sees. A native communicator over my part's members of both groups is handle and shadow.
 */
#ifndef ZIP_LIBZIP_COMM_H
#define ZIP_LIBZIP_COMM_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libzip/abi/abi.h"
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

/* The answer of a probe from any source: a message with tag `found`; the probe wanted `asked`. */
#define ZCOMM_PROBED_MAX 4
struct zcomm_probed {
	int asked, found;
	bool native;
};

struct zcomm {
	MPI_Comm handle; /* the application's handle */
	MPI_Comm shadow; /* native communicator of my part's members ordered by rank; equal to handle except for
			  * MPI_COMM_WORLD under one stock mpirun */
	uint64_t id;	 /* the same in every member, unique in the job: vrank of the maker << 32 | counter << 2;
			  * the low two bits are the kind of traffic (enum zcomm_context) */
	int station;	 /* station of its point-to-point messages (station.h) */
	int size, rank;
	/* Tables whose numbers follow one another lie in zworld.number: of the world those of all ranks, unless a map
	 * mixes its parts. tables is the memory of the others. */
	int *vrank;	     /* [size]: rank -> vrank */
	int *shadow_rank;    /* zcomm_shadow_rank: [size]; NULL: the members of my part begin at first_local */
	int *shadow_to_rank; /* [nlocal]; intercommunicators: MPI_UNDEFINED for members of the local group */
	int *tables;
	int first_local;
	int nlocal;		  /* members of my part: size of the shadow */
	struct zcomm_part *parts; /* [nparts] */
	int nparts;
	int my_part;		      /* index into parts */
	int members_min, members_max; /* counts of the smallest and the largest part */
	bool blocked;		      /* the ranks of each part are consecutive */
	struct zboard *board;	      /* memory that the local members share; NULL: none. Left when the entry ends */
	struct zattached *attached;   /* NULL: never had a buffer of its own. Owned; see attached.h */
	struct zattached *session;    /* the buffer of its session; NULL: none, or MPICH has no such buffers */
	struct ztopo *topo;	      /* NULL: none. A reference; then the shadow has the graph of local neighbours */
	struct zcomm_probed probed[ZCOMM_PROBED_MAX]; /* [nprobed], for the receives that follow; the last one is new */
	int nprobed;
	bool numbered;	   /* its native communicator has MPICH's number (libzip/comm/internal/comm_unnumber.h) */
	bool fatal;	   /* the application has set MPI_ERRORS_ARE_FATAL on it or on its parent */
	_Atomic int refs;  /* also changed at its station */
	uint32_t coll_seq; /* number of the next collective: tag of its bridged messages */
	struct zsched *coll_head, *coll_tail; /* unfinished collectives in order; only the first one runs */
	bool dropped;			      /* MPI_Comm_free was called, or the application never had it */

	struct zcomm *seed; /* that twins duplicate (comm_twin.h); NULL before the first twin; a reference */

	/* Intercommunicators; rank and my_part are then MPI_UNDEFINED. */
	struct zcomm *local; /* NULL: no intercommunicator */
	MPI_Comm near; /* like shadow, for messages of collectives to remote ranks of my part; MPI_COMM_NULL: none */
	bool first;    /* the rank 0 of my group has the lower vrank; the opposite in the other group */

	struct zcomm *next; /* hash chain by handle; list of the dead */
};

/* Kinds of traffic, which never match each other. In INTERNAL and LEADERS the library's own messages have tags of the
 * program; negative tags are partitioned.c's. */
enum zcomm_context { ZCOMM_PT2PT = 0, ZCOMM_COLL = 1, ZCOMM_INTERNAL = 2, ZCOMM_LEADERS = 3 };

/* Makes the entry for a new spanning communicator over vrank[size] (copied). It owns the native handle and shadow, and
 * frees them with the last reference, except the world's. The caller has the first reference, which MPI_Comm_free
 * gives back. NULL: out of memory. */
struct zcomm *zcomm_create(MPI_Comm handle, MPI_Comm shadow, uint64_t id, const int *vrank, int size);
/* The same over all ranks of the job; ranks are vranks. */
struct zcomm *zcomm_create_whole(MPI_Comm handle, MPI_Comm shadow, uint64_t id);
/* The same for an intercommunicator. shadow (and handle) is ordered by group, with the group of `first` in front, and
 * by rank within. local_shadow is a native communicator of the local group's members alone, or shadow itself where my
 * part has no others. The entry owns all three. Both groups may be in one part. */
struct zcomm_inter {
	MPI_Comm shadow, near, local_shadow;
	uint64_t id;
	const int *local, *remote; /* vranks; copied */
	int nlocal, nremote;
	struct zattached *session; /* of the local group */
	bool fatal;
};
struct zcomm *zcomm_create_inter(const struct zcomm_inter *);
/* unref never runs code of the application: the last one only puts the communicator aside for zcomm_reap. */
void zcomm_ref(struct zcomm *);
void zcomm_unref(struct zcomm *);
/* For MPI_Comm_free: the handle is no longer found. The id is found until the last reference goes. */
void zcomm_drop(struct zcomm *);
/* Frees the communicators whose last reference is gone. That runs attribute callbacks of the application, so only
 * implementations of MPI functions call it, with nothing half done. Returns the error of the first communicator that
 * native MPI did not free, as where such a callback fails; it is gone all the same. */
int zcomm_reap(void);

/* A new id, unique in the job, with this process as maker. */
uint64_t zcomm_new_id(void);

/* vrank -> rank in the communicator, or MPI_UNDEFINED. */
int zcomm_rank_of(const struct zcomm *, int vrank);

/* The rank in the shadow, -1 if remote. */
static inline int zcomm_shadow_rank(const struct zcomm *c, int rank)
{
	if (c->shadow_rank)
		return c->shadow_rank[rank];
	const int at = rank - c->first_local;

	return at >= 0 && at < c->nlocal ? at : -1;
}

static inline bool zcomm_is_local_rank(const struct zcomm *c, int rank)
{
	return zcomm_shadow_rank(c, rank) >= 0;
}

/* The group of this rank. */
static inline struct zcomm *zcomm_own(struct zcomm *c)
{
	return c->local ? c->local : c;
}

extern struct zcomm *zcomm_world; /* MPI_COMM_WORLD, or NULL when not merged */

/* For zcomm_find below: the table, for a handle without a plain answer. */
extern unsigned zcomm_others; /* spanning communicators besides the world */
extern __thread struct zcomm *zcomm_dying __attribute__((tls_model("initial-exec")));
struct zcomm *zcomm_find_other(MPI_Comm handle);

/* The station of a communicator in the table, or 0. For callers without the lock. A thread with that station's lock
 * finds the communicator, unless it was not there. */
#define ZCOMM_HINTS 1024u			  /* by the hash of a handle */
extern _Atomic uint64_t zcomm_hints[ZCOMM_HINTS]; /* zabi_bits << 8 | station */
static inline int zcomm_hint(MPI_Comm handle)
{
	uint64_t hint = atomic_load_explicit(&zcomm_hints[zabi_hash(handle) % ZCOMM_HINTS], memory_order_relaxed);

	return hint >> 8 == zabi_bits(handle) ? (int)(hint & 0xff) : 0;
}

/* The entry of a communicator; NULL: local. Every call of the application begins with it, so the common case (no
 * spanning communicator but the world) costs a compare or two. */
static inline struct zcomm *zcomm_find(MPI_Comm handle)
{
	if (zcomm_world && (handle == zcomm_world->handle || handle == zcomm_world->shadow))
		return zcomm_world;
	if (zcomm_others == 0 && __builtin_expect(!zcomm_dying, 1))
		return NULL;
	return zcomm_find_other(handle);
}

#endif

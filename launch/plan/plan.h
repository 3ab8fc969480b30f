/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ranks run on which cluster. */
#ifndef ZIP_LAUNCH_PLAN_H
#define ZIP_LAUNCH_PLAN_H

#include "common/control/ctl.h"
#include "common/hosts/hostfile.h"
#include "launch/plan/options.h"

struct zplan_host {
	const struct zhost *host; /* NULL: this machine (--clusters) */
	const char *name; /* name for mpiexec: of the host; of a zipper node the address on the part's network */
	int nranks;	  /* slots for mpiexec; with a map the number of ranks on the host */
	char *binding;	  /* cores of these ranks, for mpiexec's "user:"; NULL: none; owned */
};

struct zallocation_group;

struct zplan_part {
	char name[ZCTL_NAME_MAX + 1];
	const struct zcluster *cluster; /* NULL: this machine (--clusters) */
	/* of the Slurm allocation, whose srun starts the part (allocation.h); NULL: mpiexec does */
	const struct zallocation_group *group;
	enum zmpi mpi; /* set by zmpi_choose */
	bool standard; /* programs of unknown MPI, as scripts, use the standard ABI; set by zmpi_choose */
	int nranks;
	int universe;	  /* its share of -usize; 0: not given */
	int first;	  /* vrank of its rank 0 */
	uint32_t *vranks; /* [nranks], by lrank; NULL: first, first + 1, ...; owned */
	struct zplan_host
		*hosts; /* [nhosts], in the order of mpiexec; with --clusters only where there is a map; owned */
	int nhosts;
	char *ports; /* ZIPPER_PORTS: the ranks that run on zipper nodes; NULL: none; owned */
};

struct zplan {
	struct zplan_part parts[ZCTL_PARTS_MAX]; /* only parts with ranks */
	int nparts, nranks;
	bool mapped;			/* the ranks are placed by a map, and the parts have vranks */
	char names[ZCTL_PARTS_MAX * 8]; /* of the parts, comma-separated */
	char **kept; /* [nkept]: the cores of each zipper of the hostfile that the map keeps for zipperd; NULL: none; */
	int nkept;   /* owned. With --clusters there is one zipper */
};

static inline int zplan_vrank(const struct zplan_part *part, int lrank)
{
	return part->vranks ? (int)part->vranks[lrank] : part->first + lrank;
}

/* The cores that the map keeps for the zipperd of this zipper; -1 is ours with --clusters. NULL: none. */
static inline const char *zplan_kept(const struct zplan *plan, int zipper)
{
	int at = zipper < 0 ? 0 : zipper;
	return at < plan->nkept ? plan->kept[at] : NULL;
}

/*
 * Ranks fill the clusters as Hydra fills the hosts of one hostfile: slot by slot in the order of the file, and again
 * from the first cluster when all slots are taken. The vranks of a part are consecutive, and the parts stand in the
 * order of the file. With --map the map places the ranks (mapping.h).
 *
 * hosts is NULL with --clusters; it is used as long as the plan. 0, or a negative errno with the reason. Free with
 * zplan_free in any case.
 */
int zplan_make(struct zplan *, const struct zoptions *, const struct zhostfile *hosts, struct zerr *);
void zplan_free(struct zplan *);
/* The section of a rank of the part. Consecutive ranks of one section stand together on a command line: *end is the
 * rank behind the last of them. */
int zplan_find_section(const struct zplan_part *, const struct zoptions *, int lrank, int *end);
/* Makes the placement map in zipperd's form; none without --map. *runs is the caller's to free. 0 or -ENOMEM. */
int zplan_make_runs(const struct zplan *, struct zctl_run **runs, uint32_t *nruns, struct zerr *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Slurm allocation that zmpirun runs in: its hosts, and the tasks on each, as the variables SLURM_* tell. In a
 * heterogeneous job it has several groups of hosts. A part whose hosts are in the allocation is started by srun instead
 * of mpiexec (launch/start/srun.h). Start-up only; one thread.
 */
#ifndef ZIP_LAUNCH_ALLOCATION_H
#define ZIP_LAUNCH_ALLOCATION_H

#include <stdbool.h>

#include "common/control/ctl.h"
#include "common/hosts/hostfile.h"
#include "common/hosts/hostlist.h"
#include "launch/plan/options.h"
#include "launch/plan/plan.h"

struct zallocation_group {
	int number; /* for srun --het-group; -1: the job is not heterogeneous */
	struct zhostlist hosts;
	int *tasks;	   /* [hosts.n]; owned */
	int cpus_per_task; /* 0: not given */
};

struct zallocation {
	int ngroups; /* 0: we are in no allocation */
	struct zallocation_group groups[ZCTL_PARTS_MAX];
	int of_cluster[ZCTL_PARTS_MAX]; /* index of the group, by index of the hostfile's cluster */
};

/*
 * Reads the allocation from the environment. There is none outside of Slurm, with --clusters, and where the user names
 * a launcher for mpiexec: by an option or by HYDRA_LAUNCHER and its kin. Returns the number of groups, 0 for none, or a
 * negative errno with text. Free with zallocation_free in any case.
 */
int zallocation_read(struct zallocation *, const struct zoptions *, struct zerr *);
void zallocation_free(struct zallocation *);
/* Makes a hostfile of the allocation: a cluster for each group. 0 or a negative errno with text. */
int zallocation_make_hosts(const struct zallocation *, struct zhostfile *, struct zerr *);
/*
 * Finds the hosts of the file in the allocation. The file was read with zhostfile_read_bare. If it has no host at all,
 * its clusters get the hosts of the groups, in order. Otherwise hosts outside the allocation are taken out. The slots
 * are the tasks of Slurm then, and n= does not count. Returns 1 if srun starts the parts. Returns 0 and changes nothing
 * if the file and the allocation have no host in common, or the file names a launcher; mpiexec starts the parts then.
 * Refuses with text: a cluster without a host beside others, or with a launcher; hosts of the allocation in no cluster,
 * while the file has others; a cluster in two groups; bare clusters that are not as many as the groups.
 */
int zallocation_match(struct zallocation *, struct zhostfile *, struct zerr *);
/* srun understands less than mpiexec. Refuses options that it cannot serve. 0 or -EINVAL with text. */
int zallocation_check(const struct zoptions *, const struct zplan *, struct zerr *);
/* Notes in the plan that srun starts its parts. hosts: those of the plan. The plan keeps pointers to the groups. 0 or
 * -EINVAL with text: a part has a host that is not in its group. */
int zallocation_note(const struct zallocation *, const struct zhostfile *hosts, struct zplan *, struct zerr *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of ZIPPER_* variables. See env.h and libzipper(7). */
#include "libzip/start/env.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/installed.h"
#include "common/control/ctl.h"
#include "common/session/session.h"
#include "common/transport/verbs/verbs_module.h"
#include "libzip/start/member.h"

static const char *const log_choices[] = {"error", "warn", "info", "debug", NULL};
static const char *const direct_choices[] = {"yes", "no", NULL};
static const char *const shared_choices[] = {"yes", "no", NULL};
static const char *const stats_choices[] = {"no", "yes", NULL};
static const char *const wait_choices[] = {"auto", "spin", "yield", "sleep", NULL};
static const char *const progress_choices[] = {"none", "thread", NULL};
static const char *const one_sided_choices[] = {"auto", "yes", "no", NULL};
static const char *const representation_choices[] = {"auto", "native", "external32", NULL};

#define FIELD(name) .offset = offsetof(struct zenv, name)

const struct zconf_row zenv_rows[] = {
	{.name = "job",
		.type = ZCONF_STRING,
		FIELD(job),
		.help = "Name of the job, the same in every rank. Without it the library only does what profile "
			"says."},
	{.name = "parts",
		.type = ZCONF_STRING,
		FIELD(parts),
		.help = "Names of all parts (clusters) of the job, separated by commas, in the order of their "
			"ranks in the merged MPI_COMM_WORLD. With hostfile the default is all its clusters."},
	{.name = "part",
		.type = ZCONF_STRING,
		FIELD(part),
		.help = "Name of the part of this rank. With hostfile the default is the cluster that lists "
			"this host."},
	{.name = "zipperd",
		.type = ZCONF_STRING,
		FIELD(zipperd),
		.help = "Address where zipperd listens, seen from this rank: tcp:HOST[:PORT], shm[:PATH] or "
			"DEVICE:PORT@HOST[:PORT]. >FROM>TO>ADDRESS behind it, once or several times: that "
			"zipperd is only on the way. It reaches the next one, at ADDRESS, by fabric TO; we come "
			"by fabric FROM. Several zippers, each a rail of the job, are separated by commas, in "
			"the same order for all parts. With hostfile the default comes from there."},
	{.name = "entries",
		.type = ZCONF_STRING,
		FIELD(entries),
		.help = "Fabrics by which all parts come to each zipper, where ranks reach zippers through "
			"other zippers. One word for each of zipperd, separated by blanks. A word lists a "
			"fabric for each part, separated by commas, in the order of parts; +N behind a fabric: "
			"N hops from there. The same in every rank. Default: every part comes by its own "
			"fabric, without hops. With hostfile the default comes from there."},
	{.name = "launcher",
		.type = ZCONF_STRING,
		FIELD(launcher),
		.help = "The launcher that has started the job and reports lost zippers; no rank reports them "
			"then. Set by zmpirun."},
	{.name = "appnum",
		.type = ZCONF_INT,
		.preset = "-1",
		.min = -1,
		.max = INT32_MAX,
		FIELD(appnum),
		.help = "MPI_APPNUM of this rank. Default: as its native job has it. zmpirun sets the variable for "
			"each "
			"program of its command line."},
	{.name = "rails",
		.type = ZCONF_INT,
		.preset = "16",
		.min = 1,
		.max = ZCTL_RAILS_MAX,
		FIELD(rails),
		.help = "With hostfile: the largest number of the zippers between its clusters that the job "
			"uses. The same in every rank."},
	{.name = "hostfile",
		.type = ZCONF_STRING,
		FIELD(hostfile),
		.help = "zipper.hosts(5) file, where one mpirun starts the hosts of all clusters. Every rank "
			"finds its own part and zipperd there by the name of its host."},
	{.name = "map",
		.type = ZCONF_STRING,
		FIELD(map),
		.help = "zipper.map(5) file, the same for all parts. It gives numbers of the merged world to "
			"each host of each part; the ranks of the part on that host get them in their own "
			"order. Not with hostfile, where mpirun has numbered the ranks."},
	{.name = "ports",
		.type = ZCONF_STRING,
		FIELD(ports),
		.help = "The ranks of this part that run on zipper nodes, and the ports of these nodes: \"RANKS "
			"FABRIC=ADDRESS ...; ...\", or without RANKS for every rank. Such ranks reach the ranks "
			"on these fabrics without zipperd. With hostfile the default comes from there."},
	{.name = "direct",
		.type = ZCONF_ENUM,
		.preset = "yes",
		.choices = direct_choices,
		FIELD(direct),
		.help = "no: this rank takes no part in direct links; all its messages to other parts go by "
			"zipperd."},
	{.name = "log",
		.type = ZCONF_ENUM,
		.preset = "warn",
		.choices = log_choices,
		FIELD(log),
		.help = "The reports that appear on standard error: error, warn, info or debug."},
	{.name = "wait",
		.type = ZCONF_ENUM,
		.preset = "auto",
		.choices = wait_choices,
		FIELD(wait),
		.help = "The way in which a blocked call waits: spin (needs a core for every rank), yield, "
			"sleep, or auto: spin a little where there are cores enough, then yield, then sleep."},
	{.name = "progress",
		.type = ZCONF_ENUM,
		.preset = "none",
		.choices = progress_choices,
		FIELD(progress),
		.help = "thread: a thread moves bridged messages while the program computes. none: messages "
			"move within MPI calls only."},
	{.name = "representation",
		.type = ZCONF_ENUM,
		.preset = "auto",
		.choices = representation_choices,
		FIELD(representation),
		.help = "Representation of data that cross the bridge. auto: external32 where the parts' "
			"machines differ, else native. Both can be forced: native must then be set for every "
			"part, external32 for one."},
	{.name = "profile",
		.type = ZCONF_STRING,
		FIELD(profile),
		.help = "File for the communication graph of the run, see zipmap.graph(5). Set in every rank; "
			"works without a job, too. Rank 0 writes it in MPI_Finalize, and removes an older one "
			"in MPI_Init."},
	{.name = "stats",
		.type = ZCONF_ENUM,
		.preset = "no",
		.choices = stats_choices,
		FIELD(stats),
		.help = "yes: the program's native point-to-point messages are counted, too, which costs as "
			"much as profile. zmpirun \\-\\-stats sets it."},
	{.name = "tuning",
		.type = ZCONF_STRING,
		FIELD(tuning),
		.help = "zipper.tuning(5) file: the algorithms of collectives. The same in every rank."},
	{.name = "tune",
		.type = ZCONF_STRING,
		FIELD(tune),
		.help = "Single rules of such a file, separated by semicolons; they count more than those of "
			"the file. The same in every rank."},
	{.name = "shared",
		.type = ZCONF_ENUM,
		.preset = "yes",
		.choices = shared_choices,
		FIELD(shared),
		.help = "yes: where all ranks of this part are on one host, they pass small pieces of "
			"collectives over the merged world through shared memory. no, in any of them: they use "
			"native collectives, as ranks on several hosts do."},
	{.name = "node",
		.type = ZCONF_ENUM,
		.preset = "auto",
		.choices = zsession_node_choices,
		FIELD(node),
		.help = "yes: the ranks of the job on this node share their connections to zippers on other hosts. A "
			"zipperd of their own, which the first of them starts, has these connections, and they come "
			"to it over shared memory. So zippers have some connections for each node and not for each "
			"rank; each message takes one more step on the way. no: each rank has its own connections. "
			"auto: yes where the launcher tells of 32 ranks or more on the node, and zipperd is installed "
			"there."},
	{.name = "node_program",
		.type = ZCONF_STRING,
		FIELD(node_program),
		.help = "The program zipperd for the node; default: the installed one."},
	{.name = "endpoints",
		.type = ZCONF_INT,
		.preset = "1",
		.min = 1,
		.max = ZCTL_ENDPOINTS_MAX,
		FIELD(endpoints),
		.help = "Number of endpoints of every rank, for programs whose threads communicate at the same "
			"time (MPI_THREAD_MULTIPLE), each on communicators of its own. An endpoint is a set of "
			"connections with a lock of its own. The first one serves MPI_COMM_WORLD and all "
			"collectives. The program's communicators take the others in turn for their "
			"point-to-point messages. So use one more than there are threads. The same in every "
			"rank."},
	ZSESSION_TIMEOUT_ROW(struct zenv, timeout_ms),
	ZSESSION_RECONNECT_ROW(struct zenv, reconnect_ms),
	{.name = "one_sided",
		.type = ZCONF_ENUM,
		.preset = "auto",
		.choices = one_sided_choices,
		FIELD(one_sided),
		.help = "May zipperd read large messages from the memory of this rank and write them there, "
			"where the transport can? auto (where it is faster: verbs, not shm), yes or no. Over "
			"shm zipperd then copies instead of the ranks, which may compute meanwhile."},
	{.name = "module_dir",
		.type = ZCONF_STRING,
		.preset = PKGLIBDIR,
		FIELD(module_dir),
		.help = "Folder of zipauth.so, which is loaded while joining, and of " ZVERBS_FILE
			", which is loaded where zipperd's address is a port of an RDMA device."},
	{.name = "device",
		.type = ZCONF_STRING,
		FIELD(verbs.device),
		.help = "DEVICE:PORT: the port of an RDMA device of this host that leads to zipperd. With "
			"hostfile the default is the device of the cluster's line. Else it is the port with the "
			"IP address from which connections to zipperd's host start, or the only active port."},
	ZVERBS_RANK_ENDPOINTS_ROW(struct zenv),
	ZVERBS_ROWS(struct zenv),
	ZVERBS_MEMORY_ROWS(struct zenv),
	{.name = NULL},
};

/* Variables that common/session/credentials.h and libzip/start/member.h read. */
static const char *const others[] = {"ZIPPER_CREDENTIAL", "ZIPPER_KEY", "ZIPPER_KEY_FILE", "ZIPPER_USER",
	"ZIPPER_MUNGE", "ZIPPER_MUNGE_USER", ZMEMBER_VARIABLE, NULL};

static int check(const struct zenv *env, struct zerr *err)
{
	if (!env->job) {
		/* The user wants a merged job, but the name is missing or misspelt. So do not run the parts apart. */
		const char *set = env->parts	  ? "ZIPPER_PARTS"
				  : env->part	  ? "ZIPPER_PART"
				  : env->zipperd  ? "ZIPPER_ZIPPERD"
				  : env->hostfile ? "ZIPPER_HOSTFILE"
						  : NULL;
		return set ? zerr_set(err, -EINVAL, "%s is set, but ZIPPER_JOB is not", set) : 0;
	}
	if (env->map && env->map[0] && env->hostfile)
		return zerr_set(err, -EINVAL,
			"ZIPPER_MAP: one mpirun for all hosts (ZIPPER_HOSTFILE) has numbered the ranks");
	if (env->entries && env->entries[0] && !env->zipperd)
		return zerr_set(err, -EINVAL, "ZIPPER_ENTRIES is set, but ZIPPER_ZIPPERD is not");
	if (!env->hostfile) {
		const char *missing = !env->parts     ? "ZIPPER_PARTS"
				      : !env->part    ? "ZIPPER_PART"
				      : !env->zipperd ? "ZIPPER_ZIPPERD"
						      : NULL;
		if (missing)
			return zerr_set(err, -EINVAL, "ZIPPER_JOB is set, but %s is not (nor ZIPPER_HOSTFILE)",
				missing);
	}
	return 1;
}

int zenv_read(struct zenv *env, struct zerr *err)
{
	char modules[PATH_MAX];
	memset(env, 0, sizeof(*env));
	int rc = zconf_defaults(zenv_rows, env, err);
	/* beside libzipper.so */
	if (rc == 0 && zinstalled_find(modules, zenv_rows, PKGLIBDIR, PKGLIBDIR, ZINSTALLED_MODULE))
		rc = zconf_set(zenv_rows, env, "module_dir", modules, NULL, err);
	if (rc == 0)
		rc = zconf_environ(zenv_rows, env, "ZIPPER", others, err);
	/* A process has a context of its own in any case, with the resources that the provider gives. */
	if (env->verbs.endpoints == ZEP_MPI_EVERYWHERE && env->endpoints == 1)
		env->verbs.endpoints = ZEP_STATIC;
	return rc != 0 ? rc : check(env, err);
}

void zenv_free(struct zenv *env)
{
	zconf_free(zenv_rows, env);
}

const char *zenv_profile(const struct zenv *env)
{
	return env->profile && *env->profile ? env->profile : NULL;
}

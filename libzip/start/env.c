/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of ZIPPER_* variables. See env.h and libzipper(7). */
#include "libzip/start/env.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/control/ctl.h"
#include "common/session/session.h"
#include "common/transport/verbs/verbs_module.h"

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
		.help = "Name of the job, the same in every rank. Without it the library does nothing but what profile "
			"says."},
	{.name = "parts",
		.type = ZCONF_STRING,
		FIELD(parts),
		.help = "Names of all parts (clusters) of the job, separated by commas, in the order of their ranks in "
			"the merged MPI_COMM_WORLD. With hostfile: default all its clusters."},
	{.name = "part",
		.type = ZCONF_STRING,
		FIELD(part),
		.help = "Name of the part that this rank belongs to. With hostfile: looked up there."},
	{.name = "zipperd",
		.type = ZCONF_STRING,
		FIELD(zipperd),
		.help = "Where zipperd listens, seen from this rank: tcp:HOST[:PORT], shm[:PATH] or "
			"DEVICE:PORT@HOST[:PORT]; >FROM>TO>ADDRESS behind it, once or several times: that zipperd is "
			"only on the way, and reaches the next one, at ADDRESS, by fabric TO, as we come by FROM. "
			"Several zippers, each a rail of the job, are separated by commas, in the same order for all "
			"parts. With hostfile: looked up there."},
	{.name = "entries",
		.type = ZCONF_STRING,
		FIELD(entries),
		.help = "Where ranks reach zippers by others: for each of zipperd, separated by blanks, the fabrics by "
			"which the ranks of all parts come to it, separated by commas, in the order of parts, and +N "
			"behind one from which it is N hops. The same in every rank. Default: all parts come by their "
			"own, without hops. With hostfile: as it says there."},
	{.name = "launcher",
		.type = ZCONF_STRING,
		FIELD(launcher),
		.help = "Who has started the job and tells of its zippers that are lost, so that no rank does: set by "
			"zmpirun."},
	{.name = "rails",
		.type = ZCONF_INT,
		.preset = "16",
		.min = 1,
		.max = ZCTL_RAILS_MAX,
		FIELD(rails),
		.help = "With hostfile: the job uses at most so many of the zippers that join its clusters. The same "
			"in "
			"every rank."},
	{.name = "hostfile",
		.type = ZCONF_STRING,
		FIELD(hostfile),
		.help = "zipper.hosts(5) file, where one mpirun starts the hosts of all clusters: every rank finds its "
			"own part and zipperd there by the name of its host."},
	{.name = "map",
		.type = ZCONF_STRING,
		FIELD(map),
		.help = "zipper.map(5) file, the same for all parts: the ranks of a part on one host get, in their "
			"order, "
			"the numbers in the merged world that it gives to that host and part. Not with hostfile, where "
			"mpirun has numbered the ranks."},
	{.name = "ports",
		.type = ZCONF_STRING,
		FIELD(ports),
		.help = "Which ranks of this part run on zipper nodes, and the ports of these: \"RANKS FABRIC=ADDRESS "
			"...; "
			"...\", or without RANKS for every rank. Such ranks reach the ranks on these fabrics without "
			"zipperd. With hostfile: looked up there."},
	{.name = "direct",
		.type = ZCONF_ENUM,
		.preset = "yes",
		.choices = direct_choices,
		FIELD(direct),
		.help = "no: this rank takes no part in direct links, all its messages to other parts go by zipperd."},
	{.name = "log",
		.type = ZCONF_ENUM,
		.preset = "warn",
		.choices = log_choices,
		FIELD(log),
		.help = "What is reported on standard error: error, warn, info or debug."},
	{.name = "wait",
		.type = ZCONF_ENUM,
		.preset = "auto",
		.choices = wait_choices,
		FIELD(wait),
		.help = "How a blocked call waits: spin (needs a core for every rank), yield, sleep, or auto: spin a "
			"little where there are cores enough, then yield, then sleep."},
	{.name = "progress",
		.type = ZCONF_ENUM,
		.preset = "none",
		.choices = progress_choices,
		FIELD(progress),
		.help = "thread: a thread moves bridged messages while the program computes. none: messages move "
			"within "
			"MPI calls only."},
	{.name = "representation",
		.type = ZCONF_ENUM,
		.preset = "auto",
		.choices = representation_choices,
		FIELD(representation),
		.help = "How data cross the bridge: external32 where the parts' machines differ, native where they do "
			"not (auto). Both can be forced: native must then be set for every part, external32 for one."},
	{.name = "profile",
		.type = ZCONF_STRING,
		FIELD(profile),
		.help = "File for the communication graph of the run, see zipmap.graph(5). In every rank; also without "
			"a "
			"job. Rank 0 writes it in MPI_Finalize, and removes an older one in MPI_Init."},
	{.name = "stats",
		.type = ZCONF_ENUM,
		.preset = "no",
		.choices = stats_choices,
		FIELD(stats),
		.help = "yes: what the program sends natively, point-to-point, is counted too, which costs as much as "
			"profile. zmpirun \\-\\-stats sets it."},
	{.name = "tuning",
		.type = ZCONF_STRING,
		FIELD(tuning),
		.help = "zipper.tuning(5) file: which algorithms collectives take. The same in every rank."},
	{.name = "tune",
		.type = ZCONF_STRING,
		FIELD(tune),
		.help = "Single rules of such a file, separated by semicolons; they count more than those of the file. "
			"The "
			"same in every rank."},
	{.name = "shared",
		.type = ZCONF_ENUM,
		.preset = "yes",
		.choices = shared_choices,
		FIELD(shared),
		.help = "Whether the ranks of this part, where all of them are on one host, pass small pieces of "
			"collectives over the merged world through memory that they share. no, in any of them: by "
			"native collectives, as ranks on several hosts do."},
	{.name = "endpoints",
		.type = ZCONF_INT,
		.preset = "1",
		.min = 1,
		.max = ZCTL_ENDPOINTS_MAX,
		FIELD(endpoints),
		.help = "For programs whose threads communicate at the same time (MPI_THREAD_MULTIPLE), each on "
			"communicators of its own: how many sets of connections every rank has. The first serves "
			"MPI_COMM_WORLD and all collectives; the communicators that the program makes take the others "
			"in turn for their point-to-point messages, each with a lock of its own. So one more than "
			"there are threads. The same in every rank."},
	ZSESSION_TIMEOUT_ROW(struct zenv, timeout_ms),
	{.name = "one_sided",
		.type = ZCONF_ENUM,
		.preset = "auto",
		.choices = one_sided_choices,
		FIELD(one_sided),
		.help = "Whether zipperd may read large messages from the memory of this rank and write them there, "
			"where the transport can: auto, where it is faster (verbs, not shm), yes or no. Over shm "
			"zipperd then "
			"copies, and not the ranks, which may compute meanwhile."},
	{.name = "module_dir",
		.type = ZCONF_STRING,
		.preset = PKGLIBDIR,
		FIELD(module_dir),
		.help = "Where zipauth.so lies, which is loaded while joining, and " ZVERBS_FILE
			", which is loaded where "
			"zipperd's address is a port of an RDMA device."},
	{.name = "device",
		.type = ZCONF_STRING,
		FIELD(verbs.device),
		.help = "DEVICE:PORT: the port of an RDMA device of this host that leads to zipperd. With hostfile: "
			"default what the cluster's line says there. Default: the one that has the IP address which "
			"connections to zipperd's host start from, or the only active one."},
	ZVERBS_RANK_ENDPOINTS_ROW(struct zenv),
	ZVERBS_ROWS(struct zenv),
	ZVERBS_MEMORY_ROWS(struct zenv),
	{.name = NULL},
};

/* Those that common/session/credentials.h reads. */
static const char *const others[] = {"ZIPPER_KEY", "ZIPPER_KEY_FILE", "ZIPPER_USER", NULL};

static int check(const struct zenv *env, struct zerr *err)
{
	if (!env->job) {
		/* Somebody wanted a merged job and misspelt or forgot its name: do not run the parts apart. */
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
	memset(env, 0, sizeof(*env));
	int rc = zconf_defaults(zenv_rows, env, err);
	if (rc == 0)
		rc = zconf_environ(zenv_rows, env, "ZIPPER", others, err);
	/* A process of its own has a context of its own in any case, and in it what the provider gives. */
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

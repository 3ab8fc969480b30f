/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining the world. See join.h. */
#include "libzip/start/join.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/session/credentials.h"
#include "libzip/bridge/direct.h"
#include "libzip/shim/station.h"
#include "libzip/world/entries.h"
#include "libzip/start/env.h"
#include "common/base/hash.h"
#include "common/hosts/hostfile.h"
#include "common/hosts/hostfile_find.h"
#include "common/hosts/hostways.h"
#include "common/base/log.h"
#include "common/base/module.h"
#include "libzip/start/launcher.h"
#include "libzip/start/node.h"
#include "libzip/start/placement.h"
#include "libzip/start/sole.h"
#include "common/hosts/ports.h"
#include "common/control/ctl_name.h"
#include "common/transport/transports.h"
#include "libzip/world/rails.h"
#include "libzip/world/rejoin.h"
#include "libzip/shim/shim.h"
#include "libzip/coll/base/tune.h"
#include "libzip/world/world.h"

#define CONNECT_TIMEOUT_MS 10000 /* also for each answer except WORLD */
#define BASE_TAG 7474		 /* of MPI_Comm_create_group on MPI_COMM_WORLD, before the application can use a tag */

static struct {
	char module_dir[PATH_MAX];
	struct zverbs_options verbs;
	char device[128];
} joined;

static int copy_name(char out[ZCTL_NAME_MAX + 1], const char *name, const char *what, struct zerr *err)
{
	if (!zctl_name_ok(name))
		return zerr_set(err, -EINVAL, "%s is no name of 1 to %d printable characters without space and comma",
			what, ZCTL_NAME_MAX);
	strcpy(out, name);
	return 0;
}

struct zippers { /* the job's zippers, seen from here */
	int n;
	struct zhops way[ZCTL_RAILS_MAX];
	char entries[ZCTL_RAILS_MAX][ZCTL_ENTRIES_MAX]; /* entries in the JOIN to each */
};

static int append_part(char *parts, size_t cap, const char *name, struct zerr *err)
{
	size_t used = strlen(parts), len = strlen(name);

	if (used + 1 + len >= cap)
		return zerr_set(err, -EINVAL, "the names of all parts are longer than %zu characters", cap - 1);
	sprintf(parts + used, "%s%s", used ? "," : "", name);
	return 0;
}

/* Copies the ports of this node if it is a zipper node. */
static void copy_ports(struct zports *ports, const struct zhostfile *hosts, const char *host)
{
	int z = zhostfile_find_zipper(hosts, host);

	ports->n = 0;
	for (int p = 0; z >= 0 && p < hosts->zippers[z].nports && ports->n < ZCTL_PARTS_MAX; p++) {
		const struct zport *from = &hosts->zippers[z].ports[p];

		if (zhostfile_find_cluster(hosts, from->fabric) < 0)
			continue; /* no rank is on that fabric */
		snprintf(ports->port[ports->n].fabric, sizeof(ports->port[0].fabric), "%s", from->fabric);
		ports->port[ports->n++].addr = from->addr;
	}
}

static const struct zaddr *port_address(const void *hosts, int zipper, const char *fabric)
{
	return &zhostfile_find_port(hosts, zipper, fabric)->addr;
}

/* Finds the ways of this part, and the entries of all parts, to the zippers that carry the job. The zippers are the
 * same in every rank. */
static int find_zippers(const struct zhostfile *hosts, const struct zctl_join *join, int64_t max,
	struct zippers *zippers, struct zerr *err)
{
	char part[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1];
	int n = zctl_name_split_parts(join->parts, part, ZCTL_PARTS_MAX), own = 0;
	struct zhostways ways;

	if (n < 0)
		return zerr_set(err, -EINVAL, "ZIPPER_PARTS=%s: not a list of different names", join->parts);
	while (own < n && strcmp(part[own], join->part) != 0)
		own++;
	if (own == n)
		return zerr_set(err, -EINVAL, "ZIPPER_PARTS=%s: our part %s is not among them", join->parts,
			join->part);
	int rc = zhostways_find(&ways, hosts, part, n, (int)max, NULL, err);
	for (int r = 0; rc == 0 && r < ways.nzippers; r++) {
		zhostways_hops(&ways, r, own, &zippers->way[r], port_address, hosts);
		rc = zhostways_entries(&ways, r, zippers->entries[r], err);
	}
	zippers->n = rc == 0 ? ways.nzippers : 0;
	zhostways_free(&ways);
	return rc;
}

/* Sets the port that our connections start from. Copies the name. */
static int name_device(const char *name, struct zerr *err)
{
	int n = snprintf(joined.device, sizeof(joined.device), "%s", name);

	if (n >= (int)sizeof(joined.device))
		return zerr_set(err, -ENAMETOOLONG, "%.32s...: a device with a name that is too long", name);
	joined.verbs.device = joined.device;
	return 0;
}

/* On a zipper node our connections start from its own port on the cluster's network, whatever device the cluster's
 * nodes have. */
static int name_own_port(const struct zports *ports, const char *part, struct zerr *err)
{
	char name[sizeof(ports->port[0].addr.host) + 8];

	for (int p = 0; p < ports->n; p++) {
		const struct zaddr *a = &ports->port[p].addr;

		if (!zaddr_traits(a)->by_device || strcmp(ports->port[p].fabric, part) != 0)
			continue;
		snprintf(name, sizeof(name), "%s:%u", a->host, a->port);
		return name_device(name, err);
	}
	return 0;
}

/* Takes from the hostfile what the environment does not name: part, all parts, the zippers' addresses, device and
 * ports. */
static int look_up(const struct zenv *env, struct zctl_join *join, struct zippers *zippers, struct zports *ports,
	struct zerr *err)
{
	struct zhostfile hosts;
	int rc = zhostfile_read(&hosts, env->hostfile, err);

	if (rc != 0)
		return rc;
	int at = zhostfile_find_host(&hosts, join->host);
	if (at < 0 && !env->part)
		rc = zerr_set(err, -ENOENT, "%s: no cluster has host %s", env->hostfile, join->host);
	if (rc == 0 && !env->part)
		rc = copy_name(join->part, hosts.clusters[at].name, "the cluster's name", err);
	for (int i = 0; i < hosts.nclusters && rc == 0 && !env->parts; i++)
		rc = append_part(join->parts, sizeof(join->parts), hosts.clusters[i].name, err);
	if (rc == 0 && zippers->n == 0)
		rc = find_zippers(&hosts, join, env->rails, zippers, err);
	if (!env->ports)
		copy_ports(ports, &hosts, join->host);
	int c = rc == 0 && !env->verbs.device ? zhostfile_find_cluster(&hosts, join->part) : -1;
	if (c >= 0 && hosts.clusters[c].device)
		rc = name_device(hosts.clusters[c].device, err);
	zhostfile_free(&hosts);
	return rc;
}

/* A hash of byte order and sizes. Where the hashes of two parts are equal, data cross as they are. */
static uint64_t abi_fingerprint(const struct zenv *env, const char *part)
{
	const uint16_t order = 0x0102;
	const uint8_t facts[] = {*(const uint8_t *)&order, sizeof(short), sizeof(int), sizeof(long), sizeof(long long),
		sizeof(void *), sizeof(float), sizeof(double), sizeof(long double), sizeof(wchar_t), sizeof(MPI_Aint),
		sizeof(MPI_Offset), sizeof(MPI_Count), sizeof(MPI_Fint),
		4 /* a handle in MPICH; no data depend on it */, __LDBL_MANT_DIG__ % 256};

	if (env->representation == ZENV_REPRESENTATION_NATIVE)
		return 1; /* equal in all ranks with this setting */
	uint64_t hash = zhash64(ZHASH64, facts, sizeof(facts));

	if (env->representation == ZENV_REPRESENTATION_EXTERNAL32)
		hash = zhash64(hash, part, strlen(part)); /* different in each part */
	return hash;
}

/* Finds a zipper that is named twice in the same words. zipperd notices other words for one zipper. */
static int check_different(const struct zippers *zippers, struct zerr *err)
{
	char one[ZHOPS_TEXT_BYTES], other[ZHOPS_TEXT_BYTES];

	for (int i = 0; i < zippers->n; i++) {
		zhops_format(&zippers->way[i], one, sizeof(one));
		for (int k = 0; k < i; k++) {
			zhops_format(&zippers->way[k], other, sizeof(other));
			if (strcmp(one, other) == 0)
				return zerr_set(err, -EEXIST, "ZIPPER_ZIPPERD: %s is named twice", one);
		}
	}
	return 0;
}

/* Reads the zippers from the environment. */
static int read_zippers(const struct zenv *env, struct zippers *zippers, struct zerr *err)
{
	int n = zhops_parse_list(zippers->way, ZCTL_RAILS_MAX, env->zipperd, err);

	if (n < 0)
		return zerr_prefix(err, n, "ZIPPER_ZIPPERD");
	zippers->n = n;
	int rc = check_different(zippers, err);
	if (rc != 0 || !env->entries || !env->entries[0])
		return rc;
	rc = zentries_parse(zippers->entries, n, env->entries, err);
	return rc == 0 ? 0 : zerr_prefix(err, rc, "ZIPPER_ENTRIES");
}

/* Asks native MPI for its MPI_UNIVERSE_SIZE; 0: it knows none. A process without a launcher is not asked: MPICH would
 * start an mpiexec for the answer. */
static uint32_t find_universe(int rank, int size)
{
	int *universe, found;

	if (rank != 0 || !zlauncher_has_started_us(rank, size))
		return 0;
	const int rc = zn.Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &found);
	return rc == MPI_SUCCESS && found && *universe > 0 ? (uint32_t)*universe : 0;
}

static uint32_t find_tag_ub(void)
{
	int *tag_ub, found;
	const int rc = zn.Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_ub, &found);

	return rc == MPI_SUCCESS && found && *tag_ub > 0 ? (uint32_t)*tag_ub : 0;
}

static int describe(const struct zenv *env, struct zctl_join *join, struct zippers *zippers, struct zerr *err)
{
	static struct zports ports; /* large */
	int rank, size, rc = 0;

	memset(join, 0, sizeof(*join));
	memset(zippers, 0, sizeof(*zippers));
	zn.Comm_rank(MPI_COMM_WORLD, &rank);
	zn.Comm_size(MPI_COMM_WORLD, &size);
	zlauncher_host(join->host, rank, size);
	if (env->part)
		rc = copy_name(join->part, env->part, "ZIPPER_PART", err);
	if (rc == 0 && env->parts)
		rc = append_part(join->parts, sizeof(join->parts), env->parts, err);
	if (rc == 0 && env->zipperd)
		rc = read_zippers(env, zippers, err);
	if (rc == 0 && env->hostfile)
		rc = look_up(env, join, zippers, &ports, err);
	if (rc != 0)
		return rc;
	if (zctl_name_split_parts(join->parts, NULL, ZCTL_PARTS_MAX) < 0)
		return zerr_set(err, -EINVAL, "ZIPPER_PARTS=%s: not a list of different names", join->parts);
	rc = zentries_check(zippers->entries, zippers->way, zippers->n, join, err);
	if (rc != 0)
		return env->entries ? zerr_prefix(err, rc, "ZIPPER_ENTRIES") : rc;
	join->rank = (uint32_t)rank;
	join->size = (uint32_t)size;
	join->universe = find_universe(rank, size);
	join->tag_ub = find_tag_ub();
	join->mixed = env->hostfile != NULL;
	join->abi = abi_fingerprint(env, join->part);
	join->tuning = ztune_digest();
	join->vrank = ZCTL_VRANK_ANY;
	join->endpoints = (uint32_t)env->endpoints;
	join->records = zenv_profile(env) != NULL;
	zstation_init((int)env->endpoints);
	if (env->map && env->map[0] && (rc = zplacement_find(env->map, join, err)) != 0)
		zerr_prefix(err, rc, "ZIPPER_MAP");
	if (rc == 0 && env->ports) {
		rc = zports_find(&ports, env->ports, join->rank, err);
		if (rc != 0)
			zerr_prefix(err, rc, "ZIPPER_PORTS");
	}
	if (rc == 0)
		rc = name_own_port(&ports, join->part, err);
	if (rc == 0 && env->direct == ZENV_DIRECT_YES)
		rc = zdirect_listen(&ports, join, err);
	return rc;
}

/* Opens the sessions with the zippers. The module with the cryptography stays: data channels and direct links need it
 * later. */
static int open_sessions(const struct zenv *env, struct zippers *zippers, const struct zctl_join *join,
	struct zsession_params *out, struct zerr *err)
{
	struct zsession_params params = {.timeout_ms = CONNECT_TIMEOUT_MS};
	static struct zmunge munge; /* for the sessions, as auth */
	const char *credential = getenv("ZIPPER_CREDENTIAL");
	char path[4096];

	snprintf(path, sizeof(path), "%s/zipauth.so", env->module_dir);
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!module)
		return zerr_set(err, -ENOENT, "%s (ZIPPER_MODULE_DIR says where it lies)", dlerror());
	int rc = -ENOENT;
	params.auth = dlsym(module, ZAUTH_SYMBOL);
	if (!params.auth) {
		zerr_set(err, rc, "%s has no %s", path, ZAUTH_SYMBOL);
		goto out_close;
	}
	rc = zmodule_check(params.auth->release, path, err);
	if (rc != 0)
		goto out_close;
	strcpy(params.job, zworld_job());
	rc = zcredentials_find_user(params.user, err);
	if (rc == 0)
		rc = zcredentials_find_rank(params.auth, params.key, &params.expires_s, params.user, err);
	if (params.user[0] && !(credential && *credential))
		rc = zcredentials_find_munge(&munge, env->module_dir, rc, err);
	if (rc > 0) {
		params.auth->random(params.key, sizeof(params.key));
		params.munge = &munge;
		rc = 0;
	}
	if (rc == 0)
		rc = znode_enter(env, &params, join, zippers->way, zippers->entries, zippers->n, err);
	if (rc == 0)
		rc = zrails_open(zippers->way, zippers->n, &params, err);
	if (rc == 0)
		*out = params;
	params.auth->wipe(params.key, sizeof(params.key));
	if (rc == 0)
		return 0;
out_close:
	dlclose(module);
	return rc;
}

/* Makes the native communicator of my part, in the order of the vranks. Where one native job spans all parts, only the
 * members make it. */
static int make_base(bool mixed, struct zerr *err)
{
	MPI_Group world, part;

	if (!mixed && zworld.reordered)
		return zn.Comm_split(MPI_COMM_WORLD, 0, zworld.vrank, &zworld.base) == MPI_SUCCESS
			       ? 0
			       : zerr_set(err, -EIO, "cannot put the ranks of part %s into the order of the map",
					 zworld.part_name[zworld.part]);
	if (!mixed) {
		zworld.base = MPI_COMM_WORLD;
		return 0;
	}
	int n = zworld.part_size[zworld.part];
	zn.Comm_group(MPI_COMM_WORLD, &world);
	int rc = zn.Group_incl(world, n, zworld.my_vrank, &part);
	if (rc == MPI_SUCCESS) {
		rc = zn.Comm_create_group(MPI_COMM_WORLD, part, BASE_TAG, &zworld.base);
		zn.Group_free(&part);
	}
	zn.Group_free(&world);
	return rc == MPI_SUCCESS
		       ? 0
		       : zerr_set(err, -EIO, "cannot make the communicator of part %s", zworld.part_name[zworld.part]);
}

static void warn_of_device(const char *text)
{
	zlog(ZLOG_WARN, "%s", text);
}

/* Keeps copies of the options: the transport's module may be loaded much later. */
static int configure_transports(const struct zenv *env, struct zerr *err)
{
	int n = snprintf(joined.module_dir, sizeof(joined.module_dir), "%s", env->module_dir);

	if (n >= (int)sizeof(joined.module_dir))
		return zerr_set(err, -ENAMETOOLONG, "ZIPPER_MODULE_DIR: the path is too long");
	joined.verbs = env->verbs;
	joined.verbs.warn = warn_of_device;
	ztransports_configure(joined.module_dir, &joined.verbs);
	return env->verbs.device ? name_device(env->verbs.device, err) : 0;
}

int zjoin(const struct zenv *env, struct zerr *err)
{
	static struct zippers zippers; /* large */
	struct zctl_join join;
	struct zctl_world world;
	struct zsession_params params;
	char job[ZCTL_NAME_MAX + 1];
	int rc = copy_name(job, env->job, "ZIPPER_JOB", err);

	if (rc != 0)
		return rc;
	zworld_set_job(job);
	rc = ztune_init(env->tuning, env->tune, err);
	if (rc == 0)
		rc = configure_transports(env, err);
	if (rc == 0)
		rc = describe(env, &join, &zippers, err);
	if (rc == 0 && !join.mixed)
		rc = zsole_check(join.part, err);
	if (rc == 0)
		rc = open_sessions(env, &zippers, &join, &params, err);
	if (rc != 0)
		return rc;
	zrails.timeout_ms = env->timeout_ms;
	zrails.reconnect_ms = env->reconnect_ms;
	rc = zrails_join(&join, zippers.entries, &world, err);
	if (rc == 0) {
		rc = zworld_fill(&world, err);
		zctl_world_free(&world);
	}
	if (rc == 0)
		rc = zrails_share(zippers.entries, join.parts, err);
	if (rc == 0)
		zrejoin_init(&params, &join, zippers.entries);
	params.auth->wipe(params.key, sizeof(params.key));
	return rc != 0 ? rc : make_base(join.mixed, err);
}

void zjoin_leave(void)
{
	zrejoin_fini();
	zrails_leave();
	znode_leave();
	ztune_fini();
}

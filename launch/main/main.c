/* SPDX-License-Identifier: BSD-3-Clause */
/* zmpirun: one MPI program over several clusters. main() shows in which order things are started and stopped. */
#include "common/base/err.h"
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/control/auth.h"
#include "common/control/ctl_name.h"
#include "common/session/credentials.h"
#include "launch/check/hosts.h"
#include "launch/check/trial.h"
#include "launch/check/zippers.h"
#include "launch/run/early.h"
#include "common/hosts/hostfile.h"
#include "launch/start/job.h"
#include "launch/start/locate.h"
#include "common/base/log.h"
#include "launch/plan/allocation.h"
#include "launch/plan/chosen.h"
#include "launch/plan/mpi.h"
#include "launch/plan/options.h"
#include "launch/plan/plan.h"
#include "launch/plan/program.h"
#include "launch/plan/recording.h"
#include "launch/plan/site.h"
#include "launch/base/process.h"
#include "launch/start/railset.h"
#include "launch/start/resolve.h"
#include "launch/run/run.h"
#include "launch/base/scratch.h"
#include "launch/run/jobstats.h"
#include "common/base/stdfds.h"

#define EXIT_USAGE 2
#define CONTROL_TIMEOUT_MS 10000 /* for each answer of zipperd */

struct launch {
	struct zoptions options;
	struct zallocation allocation; /* of Slurm */
	bool allocated;		       /* the job runs in it: srun starts the parts */
	bool recorded;		       /* the calls of the ranks are. That needs no bridge */
	struct zhostfile hosts;	       /* path NULL: --clusters */
	struct zplan plan;
	struct zlocate locate;
	struct zscratch scratch;
	struct zrailset rails;
	struct zjob job;
	struct zrun run;
	char user[ZCTL_NAME_MAX + 1];
	uint8_t key[ZAUTH_KEY_BYTES];
	char hex[2 * ZAUTH_KEY_BYTES + 1];
	bool has_munge; /* in place of a key of the user, and the key is one for this job */
	struct zmunge munge;
	char credential[ZCREDENTIALS_TEXT_BYTES]; /* for the ranks */
};

static int complain(const struct zerr *err)
{
	zerr_print("zmpirun: %s\n", err->text);
	return 1;
}

static bool is_bridged(const struct launch *l)
{
	return l->plan.nparts > 1 && !l->options.no_mpi;
}

/* Is libzipper.so loaded into the ranks? */
static bool is_preloaded(const struct launch *l)
{
	return is_bridged(l) || l->recorded;
}

/* The user's key, or a key for this job where no zipperd knows the user's. */
static int find_key(struct launch *l, struct zerr *err)
{
	int rc = zcredentials_find_user(l->user, err);
	if (rc < 0)
		return rc;
	const char *running = zrailset_find_running(&l->rails);
	if (running) {
		rc = zcredentials_find_key(&zauth_module, l->key, l->user, err);
		rc = zcredentials_find_munge(&l->munge, *l->locate.module_dir ? l->locate.module_dir : NULL, rc, err);
		if (rc < 0)
			return zerr_prefix(err, rc, "your key for zipperd on %s", running);
		l->has_munge = rc > 0;
	}
	if (!running || l->has_munge)
		zauth_module.random(l->key, sizeof(l->key));
	for (int i = 0; i < ZAUTH_KEY_BYTES; i++)
		snprintf(l->hex + 2 * i, 3, "%02x", l->key[i]);
	return 0;
}

static struct zsession_params describe_session(const struct launch *l)
{
	struct zsession_params session = {.auth = &zauth_module,
		.munge = l->has_munge ? &l->munge : NULL,
		.timeout_ms = CONTROL_TIMEOUT_MS};
	memcpy(session.user, l->user, sizeof(session.user));
	memcpy(session.key, l->key, sizeof(session.key));
	return session;
}

static int open_rails(struct launch *l, struct zerr *err)
{
	struct zdaemon_params daemon = {.path = l->options.zipperd ? l->options.zipperd : l->locate.zipperd,
		.user = l->user,
		.key = l->hex,
		.join_timeout_s = l->options.init_timeout_s,
		.module_dir = *l->locate.module_dir ? l->locate.module_dir : NULL,
		.globals = &l->options.globals,
		.verbose = l->options.verbose};
	struct zsession_params session = describe_session(l);
	zjob_name(&l->job, l->options.check ? "check" : l->options.sections[0].argv[0], &zauth_module);
	int rc = zjob_set_times(&l->job, &l->options.globals, l->options.reconnect, err);
	if (rc == 0)
		rc = zrailset_open(&l->rails, &l->job, &daemon, &session, &l->plan, &l->scratch, err);
	explicit_bzero(&session, sizeof(session));
	return rc;
}

static int prepare_bridge(struct launch *l, struct zerr *err)
{
	int rc = find_key(l, err);
	return rc == 0 ? open_rails(l, err) : rc;
}

static struct zpreload libzippers(const struct launch *l)
{
	return (struct zpreload){.mpich = l->locate.libzipper,
		.open_mpi = l->locate.libzipper_ompi,
		.standard = l->locate.libzipper_abi};
}

/* The libraries that the ranks of a part are to be preloaded with. */
static int check_libraries(const struct launch *l, const struct zplan_part *part, struct zerr *err)
{
	const struct zpreload paths = libzippers(l);
	int rc = 0;
	for (int lrank = 0, end; rc == 0 && lrank < part->nranks; lrank = end) {
		const struct zsection *section =
			&l->options.sections[zplan_find_section(part, &l->options, lrank, &end)];
		rc = zlocate_check_library(zpreload_choose(&paths, part, section), err);
	}
	return rc;
}

/* Prepares all that the ranks need before they start. */
static int prepare(struct launch *l, struct zerr *err)
{
	int rc = 0;
	for (int i = 0; rc == 0 && is_preloaded(l) && i < l->plan.nparts; i++)
		rc = check_libraries(l, &l->plan.parts[i], err);
	if (rc == 0 && is_bridged(l))
		rc = prepare_bridge(l, err);
	return rc == 0 && !l->allocated ? zresolve_hosts(&l->plan, &l->options, l->hosts.path, err) : rc;
}

static uint64_t expiry(const struct zoptions *o)
{
	return (uint64_t)time(NULL) + (uint64_t)o->lifetime_days * 24 * 3600;
}

/* Prints what a start by hand has to export: the ranks need no key then. */
static int print_credential(struct launch *l, struct zerr *err)
{
	const char *job = l->options.credential;
	int rc = zcredentials_find_user(l->user, err);
	if (rc == 0 && !zctl_name_ok(job))
		rc = zerr_set(err, -EINVAL, "--credential: '%.80s' is no name of a job", job);
	if (rc == 0 && (strchr(job, '\'') || strchr(l->user, '\'')))
		rc = zerr_set(err, -EINVAL, "--credential: the shell would not read a name with a quote");
	if (rc == 0 && (rc = zcredentials_find_key(&zauth_module, l->key, l->user, err)) < 0)
		zerr_prefix(err, rc, "your key for zipperd");
	if (rc < 0)
		return rc;
	zcredentials_format(&zauth_module, l->credential, l->key, l->user, job, expiry(&l->options));
	printf("export ZIPPER_JOB='%s' ZIPPER_USER='%s' ZIPPER_CREDENTIAL='%s'\n", job, l->user, l->credential);
	return fflush(stdout) == 0 ? 0 : zerr_set(err, -errno, "standard output: %s", strerror(errno));
}

/* The facts of the job that all ranks get. */
static struct zenviron describe_job(struct launch *l)
{
	zcredentials_format(&zauth_module, l->credential, l->key, l->user, l->job.id, expiry(&l->options));
	return (struct zenviron){.job = l->job.id,
		.parts = l->plan.names,
		.user = l->user,
		.credential = l->credential,
		.module_dir = *l->locate.module_dir ? l->locate.module_dir : NULL,
		.stats = l->options.stats};
}

static int start_parts(struct launch *l, struct zerr *err)
{
	struct zpart_params p = {.options = &l->options,
		.mpiexec = l->locate.mpiexec,
		.ompirun = l->locate.ompirun,
		.libzippers = is_preloaded(l) ? libzippers(l) : (struct zpreload){NULL, NULL, NULL},
		.scratch = &l->scratch};
	if (is_bridged(l))
		p.environ = describe_job(l);
	return zrun_start(&l->run, &p, err);
}

static void print_plan(const struct launch *l)
{
	for (int i = 0; i < l->plan.nparts; i++) {
		const struct zplan_part *part = &l->plan.parts[i];
		char text[ZRAILSET_TEXT_BYTES];
		const char *address = is_bridged(l) ? zrailset_format(&l->rails, i, text) : "no zipperd";
		if (part->vranks)
			zerr_print("zmpirun: part %s: %d ranks by the map, %s\n", part->name, part->nranks, address);
		else
			zerr_print("zmpirun: part %s: ranks %d to %d, %s\n", part->name, part->first,
				part->first + part->nranks - 1, address);
	}
	if (is_bridged(l))
		zerr_print("zmpirun: job %s\n", l->job.id);
}

static void print_stats(struct launch *l)
{
	struct zerr err = {{0}};
	if (!is_bridged(l))
		zerr_print("zmpirun: nothing went over a bridge: one part, or no MPI\n");
	else if (l->job.n == 0 || l->job.lost || l->job.dead)
		zerr_print("zmpirun: no statistics: the job has failed\n");
	else if (zjobstats_print(&l->job, stderr, &err) < 0)
		zerr_print("zmpirun: no statistics: %s\n", err.text);
}

/* Runs the job; returns the exit status. */
static int run(struct launch *l)
{
	struct zerr err = {{0}}, lost = {{0}};
	int status = 1;
	if (zrun_init(&l->run, &l->options, &l->plan, &l->job, &l->rails, &err) < 0)
		return complain(&err);
	int rc = zscratch_create(&l->scratch, &err);
	if (rc == 0) {
		zearly_begin(l->rails.daemons, ZCTL_RAILS_MAX, &l->scratch);
		rc = prepare(l, &err);
		zearly_end();
	}
	if (rc == 0 && l->options.verbose)
		print_plan(l);
	if (rc == 0)
		rc = start_parts(l, &err);
	if (rc == 0)
		status = zrun_wait(&l->run);
	if (zrun_fini(&l->run, &lost) < 0) {
		complain(&lost);
		status = status ? status : 1;
	}
	if (rc < 0)
		complain(&err);
	else if (l->options.stats)
		print_stats(l);
	zjob_close(&l->job);
	zdaemon_stop(l->rails.daemons, ZCTL_RAILS_MAX);
	zscratch_remove(&l->scratch);
	return status;
}

/* mpiexec crashes where there is no current directory. */
static int check_directory(struct zerr *err)
{
	char *path = getcwd(NULL, 0);
	int rc = path ? 0 : zerr_set(err, -errno, "the current directory: %s", strerror(errno));
	free(path);
	return rc;
}

/* Reads the hostfile, or takes the hosts of the Slurm allocation. */
static int find_hosts(struct launch *l, struct zerr *err)
{
	int rc = zallocation_read(&l->allocation, &l->options, err);
	if (rc < 0 || l->options.clusters)
		return rc;
	l->allocated = rc > 0;
	/* Of the jobs of Slurm only a heterogeneous one has clusters. In any other one mpiexec, named as the launcher,
	 * would start ranks on all hosts of the site. */
	if (!l->options.hostfile && (rc > 1 || !getenv("SLURM_JOB_ID")))
		l->options.hostfile = zsite_find_hostfile();
	const char *path = l->options.hostfile;
	if (!path && !l->allocated)
		return zoptions_need_hosts(err);
	if (!path) {
		rc = zallocation_make_hosts(&l->allocation, &l->hosts, err);
		for (int c = 0; rc == 0 && c < l->hosts.nclusters; c++)
			l->allocation.of_cluster[c] = c;
	} else {
		rc = l->allocated ? zhostfile_read_bare(&l->hosts, path, err) : zhostfile_read(&l->hosts, path, err);
		if (rc == 0 && l->allocated) {
			rc = zallocation_match(&l->allocation, &l->hosts, err);
			l->allocated = rc > 0;
		}
	}
	return rc < 0 ? rc : l->options.hosts ? zchosen_keep(&l->hosts, l->options.hosts, err) : 0;
}

static int make_plan(struct launch *l, struct zerr *err)
{
	const struct zhostfile *hosts = l->hosts.path ? &l->hosts : NULL;
	int rc = zrecording_find(&l->options, err);
	if (rc < 0)
		return rc;
	l->recorded = rc > 0;
	rc = zplan_make(&l->plan, &l->options, hosts, err);
	if (rc == 0 && l->allocated)
		rc = zallocation_check(&l->options, &l->plan, err);
	if (rc == 0 && l->allocated)
		rc = zallocation_note(&l->allocation, hosts, &l->plan, err);
	if (rc == 0)
		rc = zprogram_check(&l->plan, &l->options, is_preloaded(l), err);
	if (rc == 0)
		rc = zmpi_choose(&l->plan, &l->options, err);
	if (rc == 0 && is_bridged(l))
		rc = zrailset_find(&l->rails, &l->plan, hosts, l->options.rails, err);
	return rc;
}

/* Plans all that command line and hostfile decide. */
static int plan(struct launch *l, struct zerr *err)
{
	int rc = check_directory(err);
	if (rc == 0)
		rc = zprocess_init(err);
	if (rc == 0)
		rc = zoptions_take_environment(&l->options, err);
	unsetenv("MPIEXEC_TIMEOUT"); /* each mpiexec would end its own part */
	if (rc == 0)
		rc = find_hosts(l, err);
	if (rc == 0)
		rc = make_plan(l, err);
	if (rc == 0)
		rc = zlocate_find(&l->locate, err);
	return rc;
}

/* Checks all on this machine, and the zippers. */
static void check_here(struct launch *l, struct zreport *report)
{
	struct zerr err = {{0}};
	if (!is_bridged(l)) {
		zreport_add(report, ZREPORT_OK, NULL, "zippers: none is needed: %s",
			l->options.no_mpi ? "--no-mpi" : "all ranks are in one cluster");
		return;
	}
	int rc = zlocate_check_library(l->locate.libzipper, &err);
	if (rc == 0)
		rc = find_key(l, &err);
	if (rc < 0) {
		zreport_add(report, ZREPORT_BAD, NULL, "%s", err.text);
		return;
	}
	struct zsession_params session = describe_session(l);
	l->rails.quiet = true;
	if (zzippers_check(report, &l->rails, &session) && open_rails(l, &err) < 0)
		zreport_add(report, ZREPORT_BAD, NULL, "no job can begin: %s", err.text);
	explicit_bzero(&session, sizeof(session));
}

/* Checks the hosts, as ranks would be started there. */
static void check_hosts(struct launch *l, struct zreport *report)
{
	struct zerr err = {{0}};
	struct zhosts_params p = {.options = &l->options,
		.plan = &l->plan,
		.rails = &l->rails,
		.locate = &l->locate,
		.scratch = &l->scratch,
		.hostfile = l->options.hostfile,
		.bridged = is_bridged(l)};
	if (l->rails.n > 0)
		p.environ = describe_job(l);
	if (zhosts_check(report, &p, &err) < 0)
		zreport_add(report, ZREPORT_BAD, NULL, "%s", err.text);
}

/* The probes are started by mpiexec. That says nothing of ranks that srun starts. */
static int refuse_srun(const struct launch *l, struct zerr *err)
{
	for (int i = 0; i < l->plan.nparts; i++)
		if (l->plan.parts[i].group)
			return zerr_set(err, -EOPNOTSUPP,
				"srun would start the ranks of %s, and --check starts its probes with mpiexec: with "
				"-launcher ssh it tries a job that mpiexec starts",
				l->plan.parts[i].name);
	return 0;
}

/* Tries what a job needs; returns the exit status. */
static int check(struct launch *l)
{
	struct zreport report = {.out = stdout};
	struct zerr err = {{0}};
	int rc = plan(l, &err);
	if (rc == 0)
		rc = refuse_srun(l, &err);
	if (rc == 0)
		rc = zscratch_create(&l->scratch, &err);
	if (rc == 0) {
		zearly_begin(l->rails.daemons, ZCTL_RAILS_MAX, &l->scratch);
		check_here(l, &report);
		check_hosts(l, &report);
		zjob_close(&l->job);
		zdaemon_stop(l->rails.daemons, ZCTL_RAILS_MAX);
		if (is_bridged(l) && report.count[ZREPORT_BAD] == 0)
			ztrial_run(&report, &l->options, &l->plan, &l->locate, &l->scratch);
		zearly_end();
		zprocess_kill_all(); /* what a visit that was ended has left */
		zscratch_remove(&l->scratch);
	} else {
		zreport_add(&report, ZREPORT_BAD, NULL, "%s", err.text);
	}
	rc = zreport_end(&report, "A job would run");
	if (fflush(stdout) != 0 || ferror(stdout)) {
		zerr_set(&err, -EIO, "standard output: it cannot be written");
		return complain(&err);
	}
	return rc;
}

static void print_version(void)
{
	printf("zmpirun (%s) %s\n", PACKAGE_NAME, PACKAGE_VERSION);
}

static int print_info(struct launch *l, struct zerr *err)
{
	int rc = zlocate_find(&l->locate, err);
	if (rc < 0)
		return rc;
	print_version();
	const char *hostfile = zsite_find_hostfile();
	printf("mpiexec:   %s\nzipperd:   %s\nlibzipper: %s\nhostfile:  %s\n", l->locate.mpiexec,
		l->options.zipperd ? l->options.zipperd : l->locate.zipperd, l->locate.libzipper,
		hostfile ? hostfile : "none; -f names one");
	return fflush(stdout) == 0 ? 0 : zerr_set(err, -errno, "standard output: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static struct launch l; /* large */
	struct zerr err = {{0}};
	int status = 0;
	zstdfds_take();
	zlog_init("zmpirun", ZLOG_WARN);
	if (zoptions_parse(&l.options, argc, argv, &err) < 0) {
		complain(&err);
		zerr_print("Try 'zmpirun --help'.\n");
		status = EXIT_USAGE;
	} else if (l.options.help) {
		zoptions_print_help(stdout);
	} else if (l.options.version) {
		print_version();
	} else if (l.options.info) {
		status = print_info(&l, &err) < 0 ? complain(&err) : 0;
	} else if (l.options.credential) {
		status = print_credential(&l, &err) < 0 ? complain(&err) : 0;
	} else if (l.options.check) {
		status = check(&l);
	} else if (plan(&l, &err) < 0) {
		complain(&err);
		status = EXIT_USAGE;
	} else {
		status = run(&l);
	}
	explicit_bzero(l.key, sizeof(l.key));
	explicit_bzero(l.hex, sizeof(l.hex));
	explicit_bzero(l.credential, sizeof(l.credential));
	zrailset_free(&l.rails);
	zplan_free(&l.plan);
	zoptions_free(&l.options);
	zhostfile_free(&l.hosts);
	zallocation_free(&l.allocation);
	return status;
}

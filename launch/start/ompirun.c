/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the command line of an mpirun of Open MPI. See ompirun.h. */
#include "launch/start/ompirun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/start/preload.h"

static void add_words(struct zargv *argv, const char *first, const char *second)
{
	zargv_add(argv, first);
	zargv_add(argv, second);
}

static void add_mca(struct zargv *argv, const char *name, const char *value)
{
	zargv_add(argv, "--mca");
	add_words(argv, name, value);
}

/* The part's own hostfile, with ppn slots a host if it is not 0. Words behind a host are for mpiexec of MPICH. */
static int write_hosts(struct zargv *argv, const struct zplan_part *plan, const struct zscratch *scratch, int ppn,
	struct zerr *err)
{
	char *text = NULL, name[ZCTL_NAME_MAX + 8], path[192];
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	if (!out)
		return zerr_set(err, -ENOMEM, "out of memory");
	for (int h = 0; h < plan->nhosts; h++)
		fprintf(out, "%s slots=%d\n", plan->hosts[h].name, ppn ? ppn : plan->hosts[h].nranks);
	snprintf(name, sizeof(name), "hosts.%s", plan->name);
	int rc = fclose(out) == 0 ? zscratch_write(scratch, name, text, len, err)
				  : zerr_set(err, -ENOMEM, "out of memory");
	free(text);
	add_words(argv, "--hostfile", zscratch_path(scratch, name, path, sizeof(path)));
	return rc;
}

static const char *launcher_of(const struct zplan_part *plan, const struct zpart_params *p)
{
	return plan->cluster && plan->cluster->launcher ? plan->cluster->launcher : p->options->launcher;
}

/* Are all ranks on this machine? */
static bool is_here(const struct zplan_part *plan, const struct zpart_params *p)
{
	const char *launcher = launcher_of(plan, p);
	return !plan->cluster || (launcher && strcmp(launcher, "fork") == 0);
}

static int add_place(struct zargv *argv, const struct zplan_part *plan, const struct zpart_params *p, struct zerr *err)
{
	const struct zcluster *cluster = plan->cluster;
	const struct zoptions *o = p->options;
	const char *launcher = launcher_of(plan, p);
	const char *agent = cluster && cluster->launcher_exec ? cluster->launcher_exec : o->launcher_exec;
	const char *iface = cluster && cluster->iface ? cluster->iface : o->iface;
	int rc = 0;
	if (is_here(plan, p)) { /* this machine, under whatever batch system */
		add_mca(argv, "plm", "^slurm,tm,lsf");
		add_mca(argv, "ras", "^slurm,tm,lsf");
		zargv_add(argv, "--host");
		zargv_addf(argv, "localhost:%d", plan->nranks);
	} else {
		rc = write_hosts(argv, plan, p->scratch, o->ppn, err);
		if (agent || launcher)
			add_mca(argv, "plm_rsh_agent", agent ? agent : launcher);
	}
	if (iface) {
		add_mca(argv, "oob_tcp_if_include", iface);
		add_mca(argv, "btl_tcp_if_include", iface);
	}
	return rc;
}

/* mpiruns of one user on one host share a folder, which the first one that ends removes while another one fills it.
 * Where all ranks are on this machine, each has its own. The option would reach daemons on other hosts, too, and leave
 * a folder there. */
static int add_folder(struct zargv *argv, const struct zplan_part *plan, const struct zpart_params *p, struct zerr *err)
{
	char name[ZCTL_NAME_MAX + 8], path[192];
	if (!is_here(plan, p))
		return 0;
	snprintf(name, sizeof(name), "mpi.%s", plan->name);
	zscratch_path(p->scratch, name, path, sizeof(path));
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	add_mca(argv, "orte_tmpdir_base", path);
	return 0;
}

/* Options for mpiexec, in the words of mpirun. */
static int add_options(struct zargv *argv, const struct zargv *words, bool *binds, struct zerr *err)
{
	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->words[i];
		if ((strcmp(word, "-genv") == 0 || strcmp(word, "-env") == 0) && i + 2 < words->count) {
			zargv_add(argv, "-x");
			zargv_addf(argv, "%s=%s", words->words[i + 1], words->words[i + 2]);
			i += 2;
		} else if ((strcmp(word, "-bind-to") == 0 || strcmp(word, "-map-by") == 0 ||
				   strcmp(word, "-wdir") == 0) &&
			   i + 1 < words->count) {
			*binds |= word[1] == 'b';
			zargv_addf(argv, "-%s", word);
			zargv_add(argv, words->words[++i]);
		} else if (strcmp(word, "-genvall") != 0 && strcmp(word, "-envall") != 0) {
			return zerr_set(err, -EOPNOTSUPP, "%.64s: mpirun of Open MPI has no such option", word);
		}
	}
	return 0;
}

/* Hands on the variables of libzipper to other hosts. No value stands on the command line. */
static void add_variables(struct zargv *argv, const struct zargv *envp)
{
	for (size_t i = 0; i < envp->count; i++) {
		const char *variable = envp->words[i];
		if (strncmp(variable, "ZIPPER_", 7) != 0 || !strchr(variable, '='))
			continue;
		zargv_add(argv, "-x");
		zargv_addf(argv, "%.*s", (int)strcspn(variable, "="), variable);
	}
}

/* The variable decides whose library of the standard ABI a program gets, and mpirun does not take it to other hosts by
 * itself. */
static bool needs_library_path(const struct zoptions *o, const struct zsection *section)
{
	static const char name[] = "LD_LIBRARY_PATH";

	return getenv(name) && !zenviron_find_local(&section->locals, "-env", name) &&
	       !zenviron_find_local(&o->globals, "-genv", name);
}

static int add_programs(struct zargv *argv, const struct zplan_part *plan, const struct zpart_params *p,
	struct zerr *err)
{
	const struct zoptions *o = p->options;
	bool unused;
	int rc = 0;
	for (int lrank = 0, end; rc == 0 && lrank < plan->nranks; lrank = end) {
		int number = zplan_find_section(plan, o, lrank, &end);
		const struct zsection *section = &o->sections[number];
		if (lrank > 0)
			zargv_add(argv, ":");
		zargv_add(argv, "-n");
		zargv_addf(argv, "%d", end - lrank);
		rc = add_options(argv, &section->locals, &unused, err);
		if (p->environ.job && o->nsections > 1) { /* this mpirun counts its own programs alone */
			zargv_add(argv, "-x");
			zargv_addf(argv, "ZIPPER_APPNUM=%d", number);
		}
		if (section->standard && needs_library_path(o, section)) {
			zargv_add(argv, "-x");
			zargv_add(argv, "LD_LIBRARY_PATH");
		}
		const char *libzipper = zpreload_choose(&p->libzippers, plan, section);
		if (libzipper || o->preload) { /* mpirun and its daemons are not preloaded */
			zargv_add(argv, "-x");
			zpreload_add(argv, "LD_PRELOAD=", o, libzipper, libzipper ? section->runtimes : NULL);
		}
		zargv_add_all(argv, section->argv, (size_t)section->argc);
	}
	return rc;
}

int zompirun_build(struct zargv *argv, const struct zargv *envp, const struct zplan_part *plan,
	const struct zpart_params *p, struct zerr *err)
{
	bool binds = false;
	zargv_add(argv, plan->cluster && plan->cluster->mpiexec ? plan->cluster->mpiexec : p->ompirun);
	if (geteuid() == 0)
		zargv_add(argv, "--allow-run-as-root");
	int rc = add_place(argv, plan, p, err);
	if (rc == 0)
		rc = add_folder(argv, plan, p, err);
	zargv_add(argv, "--oversubscribe"); /* as mpiexec does */
	if (p->options->label)
		zargv_add(argv, "--tag-output");
	if (rc == 0)
		rc = add_options(argv, &p->options->globals, &binds, err);
	if (!binds) /* each mpirun would take the first cores for its own ranks */
		add_words(argv, "--bind-to", "none");
	add_variables(argv, envp);
	if (rc == 0)
		rc = add_programs(argv, plan, p, err);
	return rc == 0 && argv->failed ? zerr_set(err, -ENOMEM, "out of memory") : rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the command line and hostfile of one mpiexec, and starts it, or the srun of srun.h. */
#include "launch/start/part.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/base/process.h"
#include "launch/start/ompirun.h"
#include "launch/start/outfiles.h"
#include "launch/start/preload.h"
#include "launch/start/srun.h"

static void add_option(struct zargv *argv, const char *option, const char *in_file, const char *on_line)
{
	const char *value = in_file ? in_file : on_line;
	if (!value)
		return;
	zargv_add(argv, option);
	zargv_add(argv, value);
}

/* Prints the words that stand behind the host in the hostfile, without a binding where the map has one. */
static void print_rest(FILE *out, const struct zplan_host *host)
{
	const char *rest = host->host->rest ? host->host->rest : "";
	while (*(rest += strspn(rest, " \t"))) {
		size_t len = strcspn(rest, " \t");
		if (!host->binding || strncmp(rest, "binding=", 8) != 0)
			fprintf(out, " %.*s", (int)len, rest);
		rest += len;
	}
	if (host->binding)
		fprintf(out, " binding=user:%s", host->binding);
}

/* The part's own Hydra hostfile. */
static int write_hosts(const struct zplan_part *plan, const struct zscratch *scratch, struct zargv *argv,
	struct zerr *err)
{
	char *text = NULL, name[ZCTL_NAME_MAX + 8], path[192];
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	if (!out)
		return zerr_set(err, -ENOMEM, "out of memory");
	for (int i = 0; i < plan->nhosts; i++) {
		fprintf(out, "%s:%d", plan->hosts[i].name, plan->hosts[i].nranks);
		print_rest(out, &plan->hosts[i]);
		fputc('\n', out);
	}
	snprintf(name, sizeof(name), "hosts.%s", plan->name);
	int rc = fclose(out) == 0 ? zscratch_write(scratch, name, text, len, err)
				  : zerr_set(err, -ENOMEM, "out of memory");
	free(text);
	zargv_add(argv, "-f");
	zargv_add(argv, zscratch_path(scratch, name, path, sizeof(path)));
	return rc;
}

/* All ranks run here, so one list holds for all of them. */
static void add_binding_here(struct zargv *argv, const struct zplan_part *plan)
{
	char *text = NULL;
	size_t len = 0;
	if (plan->nhosts == 0 || !plan->hosts[0].binding)
		return;
	FILE *out = open_memstream(&text, &len);
	for (int h = 0; out && h < plan->nhosts; h++)
		fprintf(out, "%s%s", h ? "," : "user:", plan->hosts[h].binding);
	if (!out || fclose(out) != 0) {
		argv->failed = true;
		return;
	}
	zargv_add(argv, "-bind-to");
	zargv_add(argv, text);
	free(text);
}

/* Adds the options that say where the ranks run. */
static int add_place(struct zargv *argv, const struct zplan_part *plan, const struct zpart_params *p, struct zerr *err)
{
	const struct zoptions *o = p->options;
	const struct zcluster *cluster = plan->cluster;
	if (!cluster) {
		/* This machine, under whatever batch system, and whether or not its name resolves. */
		static char *const here[] = {"-rmk", "user", "-launcher", "fork", "-hosts", "localhost", "-localhost",
			"localhost"};
		zargv_add_all(argv, here, sizeof(here) / sizeof(here[0]));
		add_binding_here(argv, plan);
		add_option(argv, "-iface", o->iface, NULL);
		return 0;
	}
	int rc = write_hosts(plan, p->scratch, argv, err);
	add_option(argv, "-launcher", cluster->launcher, o->launcher);
	add_option(argv, "-launcher-exec", cluster->launcher_exec, o->launcher_exec);
	add_option(argv, "-iface", cluster->iface, o->iface);
	add_option(argv, "-localhost", cluster->localhost, NULL);
	if (o->ppn) {
		zargv_add(argv, "-ppn");
		zargv_addf(argv, "%d", o->ppn);
	}
	return rc;
}

/* Adds the programs: consecutive ranks of the part that belong to the same section stand together. */
static void add_programs(struct zargv *argv, const struct zplan_part *plan, const struct zpart_params *p)
{
	const struct zoptions *o = p->options;
	for (int lrank = 0, end; lrank < plan->nranks; lrank = end) {
		int number = zplan_find_section(plan, o, lrank, &end);
		const struct zsection *section = &o->sections[number];
		if (lrank > 0)
			zargv_add(argv, ":");
		zargv_add(argv, "-n");
		zargv_addf(argv, "%d", end - lrank);
		zargv_add_all(argv, section->locals.words, section->locals.count);
		if (p->environ.job && o->nsections > 1) { /* this mpiexec counts its own programs alone */
			zargv_add(argv, "-env");
			zargv_add(argv, "ZIPPER_APPNUM");
			zargv_addf(argv, "%d", number);
		}
		const char *libzipper = zpreload_choose(&p->libzippers, plan, section);
		if (libzipper && (section->runtimes || libzipper != zpreload_choose(&p->libzippers, plan, NULL))) {
			zargv_add(argv, "-env");
			zargv_add(argv, "LD_PRELOAD");
			zpreload_add(argv, "", p->options, libzipper, section->runtimes);
		}
		zargv_add_all(argv, section->argv, (size_t)section->argc);
	}
}

static int add_outfiles(struct zargv *argv, const struct zplan_part *plan, const struct zpart_params *p,
	struct zerr *err)
{
	const struct zoptions *o = p->options;
	const struct {
		const char *option, *pattern;
	} files[] = {{"outfile", o->outfile}, {"errfile", o->errfile}};
	char mine[ZOUTFILES_PATTERN_BYTES];
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(files) / sizeof(files[0]); i++) {
		if (!files[i].pattern)
			continue;
		rc = zoutfiles_make(p->scratch, plan, files[i].option, files[i].pattern, mine, err);
		zargv_addf(argv, "-%s-pattern", files[i].option);
		zargv_add(argv, mine);
	}
	return rc;
}

int zpart_command(struct zargv *argv, const struct zplan_part *plan, const struct zpart_params *p, struct zerr *err)
{
	const struct zoptions *o = p->options;
	zargv_add(argv, plan->cluster && plan->cluster->mpiexec ? plan->cluster->mpiexec : p->mpiexec);
	int rc = add_place(argv, plan, p, err);
	zargv_add(argv, "-print-all-exitcodes");
	if (plan->universe) {
		zargv_add(argv, "-usize");
		zargv_addf(argv, "%d", plan->universe);
	}
	if (o->label)
		zargv_add(argv, "-prepend-rank");
	if (rc == 0)
		rc = add_outfiles(argv, plan, p, err);
	zargv_add_all(argv, o->globals.words, o->globals.count);
	/* LD_PRELOAD is an option of mpiexec and not in its environment: only ranks are to be preloaded, not mpiexec,
	 * its proxies and ssh. */
	const char *libzipper = zpreload_choose(&p->libzippers, plan, NULL);
	if (libzipper || o->preload) {
		zargv_add(argv, "-genv");
		zargv_add(argv, "LD_PRELOAD");
		zpreload_add(argv, "", o, libzipper, NULL);
	}
	add_programs(argv, plan, p);
	return rc == 0 && argv->failed ? zerr_set(err, -ENOMEM, "out of memory") : rc;
}

static void print_command(const struct zargv *argv, struct zoutput *out)
{
	zoutput_add(out, "zmpirun:", 8);
	for (size_t i = 0; i < argv->count; i++) {
		zoutput_add(out, " ", 1);
		zoutput_add(out, argv->words[i], strlen(argv->words[i]));
	}
	zoutput_add(out, "\n", 1);
}

static enum zlabel label_kind(const struct zplan_part *plan)
{
	if (plan->group)
		return ZLABEL_SRUN;
	if (plan->mpi != ZMPI_OPEN)
		return ZLABEL_HYDRA;
	return OMPI_MAJOR >= 5 ? ZLABEL_OMPI_BLANK : ZLABEL_OMPI;
}

int zpart_start(struct zpart *part, const struct zplan_part *plan, const struct zpart_params *p, int input,
	struct zerr *err)
{
	struct zargv argv = {0}, envp = {0};
	int out[2] = {-1, -1}, errs[2] = {-1, -1};
	part->plan = plan;
	zenviron_build(&envp, &p->environ);
	int rc = plan->group		  ? zsrun_build(&argv, plan, p, err)
		 : plan->mpi == ZMPI_OPEN ? zompirun_build(&argv, &envp, plan, p, err)
					  : zpart_command(&argv, plan, p, err);
	if (plan->group)
		zsrun_build_environ(&envp, plan, p->scratch);
	if (rc == 0 && envp.failed)
		rc = zerr_set(err, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = zprocess_pipe(out, err);
	if (rc == 0)
		rc = zprocess_pipe(errs, err);
	if (rc == 0) {
		struct zspawn s = {.argv = argv.words, .envp = envp.words, .fd = {input, out[1], errs[1], -1}};
		rc = zprocess_spawn(&s, err);
	}
	if (out[1] >= 0)
		close(out[1]);
	if (errs[1] >= 0)
		close(errs[1]);
	if (rc > 0) {
		if (p->options->verbose)
			print_command(&argv, p->err);
		part->pid = rc;
		part->started = true;
		const struct zplan_part *label = p->options->label ? plan : NULL;
		zpump_init(&part->out, out[0], p->out, plan->group || plan->mpi == ZMPI_OPEN ? NULL : &part->chatter,
			label);
		zpump_init(&part->err, errs[0], p->err, NULL, label);
		part->out.prepend = part->err.prepend = p->options->prepend;
		part->out.label_kind = part->err.label_kind = label_kind(plan);
		part->err.hush = p->hush;
		part->err.help = plan->mpi == ZMPI_OPEN && p->hush && p->environ.job ? &part->help : NULL;
		part->err.holds = p->hush && p->environ.job;
		rc = 0;
	} else {
		if (out[0] >= 0)
			close(out[0]);
		if (errs[0] >= 0)
			close(errs[0]);
	}
	zargv_free(&argv);
	zargv_free(&envp);
	return rc;
}

/* The signal that killed a rank, to which srun and mpirun add 128; 0: none. Higher statuses are those of programs. */
static int signal_of_status(const struct zpart *part)
{
	const int number = WIFEXITED(part->wait_status) ? WEXITSTATUS(part->wait_status) - 128 : 0;
	return number > 0 && number <= SIGRTMAX ? number : 0;
}

int zpart_status(const struct zpart *part, enum zpart_killed counts)
{
	const struct zchatter *c = &part->chatter;
	if (WIFSIGNALED(part->wait_status))
		return 128 + WTERMSIG(part->wait_status);
	int status = WEXITSTATUS(part->wait_status);
	if (part->plan->group) {
		const int number = signal_of_status(part);
		status = number ? number : status; /* as mpiexec has it */
		/* Slurm kills all other ranks with SIGKILL, too, and that hides their status. */
		return status == SIGKILL && counts != ZPART_KILLED_COUNT ? 0 : status;
	}
	/* mpiexec ORs the statuses of the ranks: 1 and 2 make 3. */
	if (!c->have_codes || status == 0)
		return status;
	bool killed =
		c->nkilled > 0 && (counts == ZPART_KILLED_COUNT || (counts == ZPART_KILLED_IF_ALONE && c->status == 0));
	return killed && c->status < SIGKILL ? SIGKILL : c->status;
}

int zpart_killer(const struct zpart *part)
{
	if (part->plan->mpi == ZMPI_OPEN) /* mpirun tells of the first rank that ended, unless zmpirun ends mpirun */
		return part->by_itself ? signal_of_status(part) : 0;
	if (part->plan->group) { /* SIGKILL says nothing, see above */
		const int number = signal_of_status(part);
		return number != SIGKILL ? number : 0;
	}
	return part->chatter.signal || part->chatter.status ? part->chatter.signal
	       : part->chatter.nkilled			    ? SIGKILL
							    : 0;
}

const char *zpart_launcher(const struct zpart *part)
{
	return part->plan->group ? "srun" : part->plan->mpi == ZMPI_OPEN ? "mpirun" : "mpiexec";
}

void zpart_signal(const struct zpart *part, int signal, bool group)
{
	if (part->plan->group && (signal == SIGINT || signal == SIGQUIT))
		signal = SIGTERM; /* of one SIGINT srun only tells how its ranks are */
	if (part->plan->group)
		group = false; /* its child has Slurm end the ranks when srun is killed */
	if (part->pid > 0)
		kill(group ? -part->pid : part->pid, signal);
}

bool zpart_is_over(const struct zpart *part)
{
	return part->pid == 0 && (!part->started || (part->out.fd < 0 && part->err.fd < 0));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the command line of an srun. The ranks get their variables by env(1) behind srun: LD_PRELOAD is for ranks
 * alone, and srun's own --export cannot hold values with commas. Several programs are one step, so that they are one
 * native MPI_COMM_WORLD: a line for the shell chooses by the number that Slurm gives to the task. */
#include "launch/start/srun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launch/plan/allocation.h"
#include "launch/plan/binding.h"
#include "launch/start/preload.h"

static const char *name_list(const struct zplan_part *plan, const struct zscratch *scratch, char path[192])
{
	char name[ZCTL_NAME_MAX + 8];
	snprintf(name, sizeof(name), "hosts.%s", plan->name);
	return zscratch_path(scratch, name, path, 192);
}

/* The index of the host in the group. It is there. */
static int find_host(const struct zallocation_group *group, const char *host)
{
	int h = 0;
	while (h + 1 < group->hosts.n && strcasecmp(group->hosts.names[h], host) != 0)
		h++;
	return h;
}

/* Writes the host of each rank, as -ppn, the slots or the map have it: slot by slot, and again from the first host when
 * all slots are taken. Returns the number of hosts with ranks, or a negative errno. *over: a host has more ranks than
 * Slurm has tasks for. */
static int write_list(const struct zplan_part *plan, const struct zpart_params *p, bool *over, struct zerr *err)
{
	char *text = NULL, name[ZCTL_NAME_MAX + 8];
	size_t len = 0;
	int left = plan->nranks, used = 0;
	FILE *out = open_memstream(&text, &len);
	if (!out)
		return zerr_set(err, -ENOMEM, "out of memory");
	for (int round = 0; left > 0; round++)
		for (int h = 0; h < plan->nhosts && left > 0; h++) {
			int n = p->options->ppn ? p->options->ppn : plan->hosts[h].nranks;
			n = n < left ? n : left;
			const int at = find_host(plan->group, plan->hosts[h].host->name);
			*over |= n > plan->group->tasks[at] || (round > 0 && n > 0);
			used += round == 0 && n > 0;
			for (left -= n; n > 0; n--)
				fprintf(out, "%s\n", plan->group->hosts.names[at]);
		}
	snprintf(name, sizeof(name), "hosts.%s", plan->name);
	int rc = fclose(out) == 0 ? zscratch_write(p->scratch, name, text, len, err)
				  : zerr_set(err, -ENOMEM, "out of memory");
	free(text);
	return rc < 0 ? rc : used;
}

/* The last value of an option with one argument. NULL: it is not there. */
static const char *find_value(const struct zargv *words, const char *option)
{
	const char *value = NULL;
	for (size_t i = 0; i + 1 < words->count; i++) {
		if (strcmp(words->words[i], option) == 0)
			value = words->words[i + 1];
		i += strcmp(words->words[i], "-genv") == 0 || strcmp(words->words[i], "-env") == 0 ? 2 : 0;
	}
	return value;
}

static void add_variables(struct zargv *argv, const struct zargv *words, const char *option)
{
	for (size_t i = 0; i + 2 < words->count; i++)
		if (strcmp(words->words[i], option) == 0) {
			zargv_addf(argv, "%s=%s", words->words[i + 1], words->words[i + 2]);
			i += 2;
		}
}

/* Adds the words that start the program of a section. */
static void add_program(struct zargv *argv, const struct zplan_part *plan, const struct zpart_params *p, int number)
{
	const struct zoptions *o = p->options;
	const struct zsection *section = &o->sections[number];
	const char *libzipper = zpreload_choose(&p->libzippers, plan, section);
	const char *dir = find_value(&section->locals, "-wdir");
	zargv_add(argv, "env");
	if (dir)
		zargv_addf(argv, "--chdir=%s", dir);
	add_variables(argv, &o->globals, "-genv");
	add_variables(argv, &section->locals, "-env");
	if (p->environ.job && o->nsections > 1)
		zargv_addf(argv, "ZIPPER_APPNUM=%d", number);
	if (libzipper || o->preload)
		zpreload_add(argv, "LD_PRELOAD=", o, libzipper, libzipper ? section->runtimes : NULL);
	if (strchr(section->argv[0], '=')) { /* env would take it for a variable */
		static char *const shell[] = {"sh", "-c", "exec \"$@\"", "sh"};
		zargv_add_all(argv, shell, sizeof(shell) / sizeof(shell[0]));
	}
	zargv_add_all(argv, section->argv, (size_t)section->argc);
}

/* Prints the words for the shell, each in quotes. */
static void print_quoted(FILE *out, const struct zargv *words)
{
	for (size_t i = 0; i < words->count; i++) {
		fputs(" '", out);
		for (const char *c = words->words[i]; *c; c++)
			fputs(*c == '\'' ? "'\\''" : (char[]){*c, '\0'}, out);
		fputc('\'', out);
	}
}

/* Adds a line for the shell that starts the program of each rank. */
static void add_programs(struct zargv *argv, const struct zplan_part *plan, const struct zpart_params *p)
{
	const struct zoptions *o = p->options;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	for (int lrank = 0, end; out && lrank < plan->nranks; lrank = end) {
		struct zargv words = {0};
		int number = zplan_find_section(plan, o, lrank, &end);
		add_program(&words, plan, p, number);
		argv->failed |= words.failed;
		fprintf(out, "[ \"$SLURM_PROCID\" -ge %d ] || exec", end);
		print_quoted(out, &words);
		fputc('\n', out);
		zargv_free(&words);
	}
	if (!out || fclose(out) != 0) {
		argv->failed = true;
		return;
	}
	zargv_add(argv, "sh");
	zargv_add(argv, "-c");
	zargv_add(argv, text);
	free(text);
}

static bool has_one_program(const struct zplan_part *plan, const struct zoptions *o)
{
	int end;
	zplan_find_section(plan, o, 0, &end);
	return end == plan->nranks;
}

int zsrun_build(struct zargv *argv, const struct zplan_part *plan, const struct zpart_params *p, struct zerr *err)
{
	const struct zoptions *o = p->options;
	const char *binding = find_value(&o->globals, "-bind-to");
	bool over = false;
	int nhosts = write_list(plan, p, &over, err);
	if (nhosts < 0)
		return nhosts;
	/* Debian's MPICH speaks PMI2 with Slurm. --export: a batch job may have been submitted with --export=NONE. */
	static char *const always[] = {"srun", "--mpi=pmi2", "--distribution=arbitrary", "--export=ALL", "--input=0",
		"--wait=0"};
	zargv_add_all(argv, always, sizeof(always) / sizeof(always[0]));
	/* In a world of several parts zipperd tells zmpirun of a dead rank, and a rank that ends with another status
	 * than 0 behind MPI_Finalize does no harm. */
	zargv_addf(argv, "--kill-on-bad-exit=%d", p->environ.job || o->no_mpi ? 0 : 1);
	if (plan->group->number >= 0)
		zargv_addf(argv, "--het-group=%d", plan->group->number);
	zargv_addf(argv, "--nodes=%d", nhosts);
	zargv_addf(argv, "--ntasks=%d", plan->nranks);
	if (plan->group->cpus_per_task)
		zargv_addf(argv, "--cpus-per-task=%d", plan->group->cpus_per_task);
	if (over)
		zargv_add(argv, "--overcommit");
	if (binding)
		zargv_addf(argv, "--cpu-bind=%s", zbinding_srun(binding));
	if (o->label)
		zargv_add(argv, "--label");
	if (has_one_program(plan, o))
		add_program(argv, plan, p, zoptions_find_section(o, zplan_vrank(plan, 0)));
	else
		add_programs(argv, plan, p);
	return argv->failed ? zerr_set(err, -ENOMEM, "out of memory") : 0;
}

/* These say how the tasks of the job are laid out. The part's own layout is another. */
static bool is_layout(const char *variable)
{
	static const char *const names[] = {"SLURM_HOSTFILE=", "SLURM_NTASKS_PER_", "SLURM_DISTRIBUTION",
		"SLURM_CPU_BIND"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

void zsrun_build_environ(struct zargv *envp, const struct zplan_part *plan, const struct zscratch *scratch)
{
	char path[192];
	size_t n = 0;
	for (size_t i = 0; i < envp->count; i++) {
		if (is_layout(envp->words[i]))
			free(envp->words[i]);
		else
			envp->words[n++] = envp->words[i];
	}
	envp->count = n;
	zargv_addf(envp, "SLURM_HOSTFILE=%s", name_list(plan, scratch, path));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the Slurm allocation, and brings it together with the hostfile. See allocation.h. */
#include "launch/plan/allocation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/hosts/hostfile_find.h"
#include "launch/plan/binding.h"

#define INSTEAD "or have mpiexec start the ranks, with -launcher ssh or -launcher slurm"

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "out of memory");
}

/* --- the environment --- */

/* The value of NAME, or of NAME_HET_GROUP_n in a heterogeneous job. NULL: it is not set. */
static const char *find(const char *name, int group, char full[64])
{
	snprintf(full, 64, group < 0 ? "%s" : "%s_HET_GROUP_%d", name, group);
	return getenv(full);
}

/* Reads "2(x3),1": two tasks on each of three hosts, one on the next. */
static int read_tasks(struct zallocation_group *g, const char *name, const char *text, struct zerr *err)
{
	int done = 0;
	for (const char *p = text; *p;) {
		int tasks, times = 1, used = 0, more = 0;
		if (sscanf(p, "%9d%n", &tasks, &used) != 1 || tasks < 1)
			break;
		p += used;
		if (*p == '(' && sscanf(p, "(x%9d)%n", &times, &more) == 1 && more > 0)
			p += more;
		if ((*p && *p != ',') || times < 1 || times > g->hosts.n - done)
			break;
		p += *p == ',';
		while (times-- > 0)
			g->tasks[done++] = tasks;
		if (!*p && done == g->hosts.n)
			return 0;
	}
	return zerr_set(err, -EINVAL, "%s=%.64s: these are not the tasks of %d hosts, as 2(x3),1", name, text,
		g->hosts.n);
}

static int read_group(struct zallocation_group *g, int number, struct zerr *err)
{
	char name[64];
	const char *list = find("SLURM_JOB_NODELIST", number, name);
	if (!list || !*list)
		return zerr_set(err, -EINVAL, "%s is not set, though this is a job of Slurm", name);
	char *copy = strdup(list), *rest = copy;
	int rc = copy ? 0 : no_memory(err);
	for (char *element; rc == 0 && (element = zhostlist_next(&rest));)
		rc = zhostlist_add(&g->hosts, element, err);
	free(copy);
	if (rc == 0 && g->hosts.n == 0)
		rc = zerr_set(err, -EINVAL, "no host in it");
	if (rc < 0)
		return zerr_prefix(err, rc, "%s", name);
	g->number = number;
	g->tasks = calloc((size_t)g->hosts.n, sizeof(*g->tasks));
	if (!g->tasks)
		return no_memory(err);
	const char *cpus = find("SLURM_CPUS_PER_TASK", number, name);
	if (cpus && zoptions_parse_count(&g->cpus_per_task, cpus, 1 << 16) < 0)
		return zerr_set(err, -EINVAL, "%s=%.32s is no number", name, cpus);
	const char *tasks = find("SLURM_TASKS_PER_NODE", number, name);
	return tasks ? read_tasks(g, name, tasks, err)
		     : zerr_set(err, -EINVAL, "%s is not set, though this is a job of Slurm", name);
}

static bool names_launcher(const struct zoptions *o)
{
	static const char *const variables[] = {"HYDRA_LAUNCHER", "HYDRA_LAUNCHER_EXEC", "HYDRA_BOOTSTRAP",
		"HYDRA_BOOTSTRAP_EXEC"};
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (getenv(variables[i]))
			return true;
	return o->launcher || o->launcher_exec;
}

int zallocation_read(struct zallocation *a, const struct zoptions *o, struct zerr *err)
{
	const char *size = getenv("SLURM_HET_SIZE");
	int n = 0;
	memset(a, 0, sizeof(*a));
	if (o->clusters || names_launcher(o) || !getenv("SLURM_JOB_ID") || (!size && !getenv("SLURM_JOB_NODELIST")))
		return 0;
	if (size && zoptions_parse_count(&n, size, ZCTL_PARTS_MAX) < 0)
		return zerr_set(err, -EINVAL, "SLURM_HET_SIZE=%.32s is not a number from 1 to %d", size,
			ZCTL_PARTS_MAX);
	for (int i = 0; i < (size ? n : 1); i++) {
		int rc = read_group(&a->groups[a->ngroups++], size ? i : -1, err);
		if (rc < 0)
			return rc;
	}
	return a->ngroups;
}

void zallocation_free(struct zallocation *a)
{
	for (int i = 0; i < a->ngroups; i++) {
		zhostlist_free(&a->groups[i].hosts);
		free(a->groups[i].tasks);
	}
	memset(a, 0, sizeof(*a));
}

/* --- the hostfile --- */

int zallocation_make_hosts(const struct zallocation *a, struct zhostfile *hosts, struct zerr *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	for (int i = 0; out && i < a->ngroups; i++) {
		fprintf(out, "#ZIP cluster group%d\n", i);
		for (int h = 0; h < a->groups[i].hosts.n; h++)
			fprintf(out, "%s:%d\n", a->groups[i].hosts.names[h], a->groups[i].tasks[h]);
	}
	if (!out || fclose(out) != 0)
		return no_memory(err);
	FILE *in = fmemopen(text, len, "r");
	int rc = in ? zhostfile_parse(hosts, in, "the Slurm allocation", err) : no_memory(err);
	if (in)
		fclose(in);
	free(text);
	return rc;
}

/* The group that the host belongs to, or -1; *tasks: its tasks there. */
static int find_group(const struct zallocation *a, const char *host, int *tasks)
{
	for (int i = 0; i < a->ngroups; i++)
		for (int h = 0; h < a->groups[i].hosts.n; h++)
			if (strcasecmp(a->groups[i].hosts.names[h], host) == 0) {
				*tasks = a->groups[i].tasks[h];
				return i;
			}
	return -1;
}

/* The clusters of the file have no host: they are the groups, in order. */
static int fill_bare(struct zallocation *a, struct zhostfile *hosts, struct zerr *err)
{
	int rc = 0;
	if (hosts->nclusters != a->ngroups)
		return zerr_set(err, -EINVAL,
			"%s has %d cluster%s without hosts, but the Slurm job has %d group%s of hosts: submit it with "
			"a ':' between the clusters",
			hosts->path, hosts->nclusters, hosts->nclusters == 1 ? "" : "s", a->ngroups,
			a->ngroups == 1 ? "" : "s");
	for (int c = 0; c < hosts->nclusters; c++) {
		const struct zallocation_group *g = &a->groups[c];
		a->of_cluster[c] = c;
		for (int h = 0; rc == 0 && h < g->hosts.n; h++)
			rc = zhostfile_add_host(hosts, c, g->hosts.names[h], g->tasks[h], err);
	}
	return rc;
}

/* Counts the hosts of the file that are in the allocation. */
static int count_common(const struct zallocation *a, const struct zhostfile *hosts, int *all)
{
	int n = 0, tasks;
	*all = 0;
	for (int c = 0; c < hosts->nclusters; c++)
		for (int h = 0; h < hosts->clusters[c].nhosts; h++, (*all)++)
			n += find_group(a, hosts->clusters[c].hosts[h].name, &tasks) >= 0;
	return n;
}

/* Each host of the allocation must be in the file. */
static int check_all_named(const struct zallocation *a, const struct zhostfile *hosts, struct zerr *err)
{
	for (int i = 0; i < a->ngroups; i++)
		for (int h = 0; h < a->groups[i].hosts.n; h++) {
			const char *name = a->groups[i].hosts.names[h];
			if (zhostfile_find_host(hosts, name) < 0)
				return zerr_set(err, -EINVAL, "%s: host %.64s of the Slurm job is in no cluster of it",
					hosts->path, name);
		}
	return 0;
}

/* Finds the group of the cluster's hosts. */
static int find_cluster_group(struct zallocation *a, const struct zhostfile *hosts, int c, struct zerr *err)
{
	const struct zcluster *cluster = &hosts->clusters[c];
	int group = -1, tasks;
	for (int h = 0; h < cluster->nhosts; h++) {
		int at = find_group(a, cluster->hosts[h].name, &tasks);
		if (at >= 0 && group >= 0 && at != group)
			return zerr_set(err, -EINVAL,
				"%s: cluster %s has hosts in groups %d and %d of the Slurm job, but a cluster must be "
				"in one",
				hosts->path, cluster->name, group, at);
		group = at >= 0 ? at : group;
	}
	a->of_cluster[c] = group;
	return 0;
}

static bool is_among(const struct zhost *hosts, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcasecmp(hosts[i].name, name) == 0)
			return true;
	return false;
}

/* Takes the cluster's hosts outside the allocation out. A host that is listed twice counts once, with all its tasks. */
static void reduce(const struct zallocation *a, struct zcluster *cluster)
{
	int n = 0;
	cluster->slots = cluster->nranks = 0;
	for (int h = 0; h < cluster->nhosts; h++) {
		struct zhost host = cluster->hosts[h];
		int tasks = 0;
		if (find_group(a, host.name, &tasks) < 0 || is_among(cluster->hosts, n, host.name)) {
			free(host.name);
			free(host.rest);
			continue;
		}
		host.slots = tasks;
		cluster->slots += tasks;
		cluster->hosts[n++] = host;
	}
	cluster->nhosts = n;
}

static bool file_names_launcher(const struct zhostfile *hosts)
{
	for (int c = 0; c < hosts->nclusters; c++)
		if (hosts->clusters[c].launcher || hosts->clusters[c].launcher_exec || hosts->clusters[c].mpiexec)
			return true;
	return false;
}

int zallocation_match(struct zallocation *a, struct zhostfile *hosts, struct zerr *err)
{
	int all;
	int n = count_common(a, hosts, &all), rc = 0;
	const bool named = file_names_launcher(hosts);
	if (all > 0 || named)
		rc = zhostfile_check_hosts(hosts, err); /* they are to come from the file */
	if (rc < 0 || named)
		return rc;
	if (all == 0) {
		rc = fill_bare(a, hosts, err);
		return rc < 0 ? rc : 1;
	}
	if (n == 0)
		return 0;
	if (n < all)
		rc = check_all_named(a, hosts, err);
	for (int c = 0; rc == 0 && c < hosts->nclusters; c++)
		rc = find_cluster_group(a, hosts, c, err);
	for (int c = 0; rc == 0 && c < hosts->nclusters; c++)
		reduce(a, &hosts->clusters[c]);
	return rc < 0 ? rc : 1;
}

/* --- options --- */

/* The option as the user wrote it: -genvnone comes as a list that has our own variables alone. */
static int refuse_option(const char *word, struct zerr *err)
{
	const char *none = strcmp(word, "-genvlist") == 0  ? " (or -genvnone)"
			   : strcmp(word, "-envlist") == 0 ? " (or -envnone)"
							   : "";
	return zerr_set(err, -EINVAL, "%.32s%s is not for ranks that srun starts: leave it out, " INSTEAD, word, none);
}

static int check_words(const struct zargv *words, struct zerr *err)
{
	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->words[i];
		if (strcmp(word, "-genv") == 0 || strcmp(word, "-env") == 0)
			i += 2;
		else if (strcmp(word, "-wdir") == 0)
			i++;
		else if (strcmp(word, "-bind-to") == 0 && i + 1 < words->count && zbinding_srun(words->words[i + 1]))
			i++;
		else if (strcmp(word, "-genvall") != 0 && strcmp(word, "-envall") != 0)
			return refuse_option(word, err);
	}
	return 0;
}

int zallocation_check(const struct zoptions *o, const struct zplan *plan, struct zerr *err)
{
	const struct {
		const char *name;
		bool given;
	} others[] = {{"-outfile-pattern", o->outfile}, {"-errfile-pattern", o->errfile}, {"-iface", o->iface},
		{"-usize", o->universe}};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].given)
			return refuse_option(others[i].name, err);
	int rc = check_words(&o->globals, err);
	for (int i = 0; rc == 0 && i < o->nsections; i++)
		rc = check_words(&o->sections[i].locals, err);
	for (int i = 0; rc == 0 && i < plan->nparts; i++)
		for (int h = 0; h < plan->parts[i].nhosts; h++)
			if (plan->parts[i].hosts[h].binding)
				return zerr_set(err, -EINVAL,
					"the map binds ranks to cores, and srun binds by itself: leave the cores out "
					"of the map, " INSTEAD);
	return rc;
}

/* A map may place ranks of one cluster on a host of another one (#ZIP node). */
static int check_part(const struct zallocation *a, const struct zplan_part *part, int group, struct zerr *err)
{
	int tasks;
	for (int h = 0; h < part->nhosts; h++)
		if (group < 0 || find_group(a, part->hosts[h].host->name, &tasks) != group)
			return zerr_set(err, -EINVAL,
				"part %s: host %s is not in the part's group of the Slurm job: leave it out of the "
				"map, " INSTEAD,
				part->name, part->hosts[h].host->name);
	return 0;
}

int zallocation_note(const struct zallocation *a, const struct zhostfile *hosts, struct zplan *plan, struct zerr *err)
{
	for (int i = 0; i < plan->nparts; i++) {
		int group = a->of_cluster[plan->parts[i].cluster - hosts->clusters];
		int rc = check_part(a, &plan->parts[i], group, err);
		if (rc < 0)
			return rc;
		plan->parts[i].group = &a->groups[group];
	}
	return 0;
}

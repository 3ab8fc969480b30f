/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributes the ranks over the clusters. */
#include "launch/plan/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/hosts/invent.h"
#include "launch/plan/mapping.h"

static int capacity_of(const struct zcluster *cluster, int ppn)
{
	if (cluster->nranks)
		return cluster->nranks;
	return ppn ? ppn * cluster->nhosts : cluster->slots;
}

/* Shares the ranks out in whole rounds over all clusters. The remainder goes to the clusters in the order of the file.
 */
static void share_hosts(const struct zhostfile *hosts, int ppn, int wanted, int share[])
{
	int total = 0;
	for (int i = 0; i < hosts->nclusters; i++)
		total += capacity_of(&hosts->clusters[i], ppn);
	if (wanted == 0)
		wanted = total;
	int rounds = wanted / total, left = wanted % total;
	for (int i = 0; i < hosts->nclusters; i++) {
		int capacity = capacity_of(&hosts->clusters[i], ppn);
		int more = left < capacity ? left : capacity;
		share[i] = rounds * capacity + more;
		left -= more;
	}
}

static int check_capacity(const struct zhostfile *hosts, int ppn, struct zerr *err)
{
	long total = 0;
	for (int i = 0; i < hosts->nclusters; i++)
		total += ppn && !hosts->clusters[i].nranks ? (long)ppn * hosts->clusters[i].nhosts
							   : capacity_of(&hosts->clusters[i], 0);
	if (total > (long)ZCTL_RANKS_MAX)
		return zerr_set(err, -EINVAL, "%s: more than %u slots", hosts->path, ZCTL_RANKS_MAX);
	return 0;
}

static void add_part(struct zplan *plan, const char *name, const struct zcluster *cluster, int nranks)
{
	if (nranks == 0)
		return;
	struct zplan_part *part = &plan->parts[plan->nparts++];
	snprintf(part->name, sizeof(part->name), "%s", name);
	part->cluster = cluster;
	part->nranks = nranks;
	part->first = plan->nranks;
	plan->nranks += nranks;
}

static int join_names(struct zplan *plan, struct zerr *err)
{
	size_t len = 0;
	for (int i = 0; i < plan->nparts; i++) {
		size_t need = strlen(plan->parts[i].name) + (i > 0);
		if (len + need >= sizeof(plan->names))
			return zerr_set(err, -EINVAL,
				"the names of the clusters are longer than %zu characters together",
				sizeof(plan->names) - 1);
		len += (size_t)sprintf(plan->names + len, "%s%s", i ? "," : "", plan->parts[i].name);
	}
	return 0;
}

static int place_in_order(struct zplan *plan, const struct zoptions *o, const struct zhostfile *hosts, struct zerr *err)
{
	int share[ZCTL_PARTS_MAX] = {0}, n = 0, wanted = 0;
	int rc = zoptions_count_ranks(o, &wanted, err);
	if (rc == 0 && !hosts)
		rc = zinvent_shares(o->clusters, wanted, "-n says", share, &n, err);
	if (rc == 0 && hosts)
		rc = check_capacity(hosts, o->ppn, err);
	if (rc < 0)
		return rc;
	if (hosts) {
		n = hosts->nclusters;
		share_hosts(hosts, o->ppn, wanted, share);
	}
	for (int i = 0; i < n; i++) {
		char name[16];
		snprintf(name, sizeof(name), "c%d", i + 1);
		add_part(plan, hosts ? hosts->clusters[i].name : name, hosts ? &hosts->clusters[i] : NULL, share[i]);
	}
	return hosts ? zmapping_find_ports(plan, o, hosts, err) : 0;
}

/* The shares of all parts add up to the universe. The first part has the processes that do not run yet. */
static int share_universe(struct zplan *plan, int universe, struct zerr *err)
{
	if (universe < plan->nranks)
		return zerr_set(err, -EINVAL, "-usize %d is less than the %d ranks of the job", universe, plan->nranks);
	for (int i = 0; i < plan->nparts; i++)
		plan->parts[i].universe = plan->parts[i].nranks + (i == 0 ? universe - plan->nranks : 0);
	return 0;
}

int zplan_make(struct zplan *plan, const struct zoptions *o, const struct zhostfile *hosts, struct zerr *err)
{
	memset(plan, 0, sizeof(*plan));
	int rc = o->map ? zmapping_make(plan, o, hosts, err) : place_in_order(plan, o, hosts, err);
	if (rc == 0)
		rc = join_names(plan, err);
	if (rc == 0 && o->universe)
		rc = share_universe(plan, o->universe, err);
	for (int i = 0; rc == 0 && o->binds && i < plan->nparts; i++)
		for (int h = 0; h < plan->parts[i].nhosts; h++)
			if (plan->parts[i].hosts[h].binding)
				return zerr_set(err, -EINVAL,
					"the map binds ranks to cores, and so do -bind-to and -map-by");
	return rc;
}

void zplan_free(struct zplan *plan)
{
	for (int i = 0; i < plan->nparts; i++) {
		struct zplan_part *part = &plan->parts[i];
		for (int h = 0; h < part->nhosts; h++)
			free(part->hosts[h].binding);
		free(part->hosts);
		free(part->vranks);
		free(part->ports);
	}
	for (int z = 0; z < plan->nkept; z++)
		free(plan->kept[z]);
	free(plan->kept);
	memset(plan, 0, sizeof(*plan));
}

int zplan_make_runs(const struct zplan *plan, struct zctl_run **runs, uint32_t *nruns, struct zerr *err)
{
	*nruns = 0;
	*runs = NULL;
	if (!plan->mapped)
		return 0;
	struct zctl_run *by_vrank = calloc((size_t)plan->nranks, sizeof(*by_vrank)), *last = NULL;
	if (!by_vrank)
		return zerr_set(err, -ENOMEM, "out of memory");
	for (int i = 0; i < plan->nparts; i++)
		for (int l = 0; l < plan->parts[i].nranks; l++) {
			int v = zplan_vrank(&plan->parts[i], l);
			by_vrank[v] = (struct zctl_run){(uint32_t)v, 1, (uint32_t)i, (uint32_t)l};
		}
	for (int v = 0; v < plan->nranks; v++) { /* joins runs in place */
		if (last && last->part == by_vrank[v].part && last->lrank + last->count == by_vrank[v].lrank)
			last->count++;
		else
			*(last = &by_vrank[(*nruns)++]) = by_vrank[v];
	}
	*runs = by_vrank;
	return 0;
}

int zplan_find_section(const struct zplan_part *part, const struct zoptions *o, int lrank, int *end)
{
	const int number = zoptions_find_section(o, zplan_vrank(part, lrank));
	for (*end = lrank + 1; *end < part->nranks && zoptions_find_section(o, zplan_vrank(part, *end)) == number;)
		++*end;
	return number;
}

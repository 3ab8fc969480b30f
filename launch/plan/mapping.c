/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributes the ranks by a placement map, see mapping.h. */
#include "launch/plan/mapping.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/hosts/invent.h"
#include "common/hosts/map.h"
#include "common/hosts/hostfile_find.h"

#define CPUS_CHARS_MAX 65536 /* the cores of one rank, written out */

/* The ranks of one part on one host, in the order of their lowest vrank. */
struct group {
	uint32_t cluster, of, host;
	uint32_t next; /* another group of that host + 1; 0: none */
	uint32_t count, nbound;
	int part;	/* index into plan.parts */
	uint32_t first; /* lrank of the first rank; while ranks are filled in, lrank of the next one */
	FILE *binding;	/* stream that writes text; NULL: none yet */
	char *text;
	size_t len;
};

struct mapping {
	const struct zoptions *options;
	const struct zhostfile *hosts; /* the user's hosts, or those invented for --clusters */
	bool here;
	struct zmap map;
	struct zmap_target *targets; /* [map.nranks] */
	uint32_t *base;		     /* [nclusters]: index of the cluster's first host among all hosts */
	uint32_t *of_host;	     /* [all hosts]: first group + 1 */
	uint32_t *group_of;	     /* [map.nranks] */
	struct group *groups;
	uint32_t ngroups;
};

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "out of memory");
}

/* Invents the hostfile of --clusters N: a node for each cluster, and a zipper node. The map says how many ranks each of
 * them has. */
static int invent_hosts(struct zhostfile *hosts, const struct zoptions *o, int slots, struct zerr *err)
{
	int n, all[ZCTL_PARTS_MAX];
	if (zoptions_parse_count(&n, o->clusters, ZCTL_PARTS_MAX) < 0)
		return zerr_set(err, -EINVAL, "--clusters %.64s: with --map only the number of clusters", o->clusters);
	for (int i = 0; i < n; i++)
		all[i] = slots;
	return zinvent_hosts(hosts, n, all, slots, err);
}

static int check_count(const struct mapping *m, struct zerr *err)
{
	int wanted, rc = zoptions_count_ranks(m->options, &wanted, err);
	if (rc == 0 && wanted && wanted != (int)m->map.nranks)
		return zerr_set(err, -EINVAL, "%.128s has %u ranks, but -n says %d", m->map.path, m->map.nranks,
			wanted);
	return rc;
}

static int resolve(struct mapping *m, struct zerr *err)
{
	uint32_t total = 0;
	m->targets = calloc(m->map.nranks, sizeof(*m->targets));
	m->base = calloc((size_t)m->hosts->nclusters, sizeof(*m->base));
	m->group_of = calloc(m->map.nranks, sizeof(*m->group_of));
	m->groups = calloc(m->map.nranks, sizeof(*m->groups));
	for (int c = 0; m->base && c < m->hosts->nclusters; c++) {
		m->base[c] = total;
		total += (uint32_t)m->hosts->clusters[c].nhosts;
	}
	m->of_host = calloc(total, sizeof(*m->of_host));
	if (!m->targets || !m->base || !m->group_of || !m->groups || !m->of_host)
		return no_memory(err);
	return zmap_resolve(&m->map, m->hosts, m->options->oversubscribe, m->targets, err);
}

static struct group *find_group(struct mapping *m, const struct zmap_target *t)
{
	uint32_t *at = &m->of_host[m->base[t->of] + t->host];
	while (*at && m->groups[*at - 1].cluster != t->cluster)
		at = &m->groups[*at - 1].next;
	if (*at == 0) {
		m->groups[m->ngroups] = (struct group){.cluster = t->cluster, .of = t->of, .host = t->host};
		*at = ++m->ngroups;
	}
	return &m->groups[*at - 1];
}

static int add_binding(struct group *g, const char *cpus, struct zerr *err)
{
	char *list = malloc(CPUS_CHARS_MAX);
	int rc = 0;
	if (!g->binding)
		g->binding = open_memstream(&g->text, &g->len);
	if (!list || !g->binding)
		rc = no_memory(err);
	else if (zmap_format_cpus(cpus, list, CPUS_CHARS_MAX) >= CPUS_CHARS_MAX)
		rc = zerr_set(err, -E2BIG, "the cores %.64s are too many for mpiexec", cpus);
	else
		fprintf(g->binding, "%s%s", g->nbound ? "," : "", list);
	g->nbound++;
	free(list);
	return rc;
}

/* Counts the ranks of each group and writes down their cores. */
static int make_groups(struct mapping *m, struct zerr *err)
{
	int rc = 0;
	for (uint32_t v = 0; rc == 0 && v < m->map.nranks; v++) {
		struct group *g = find_group(m, &m->targets[v]);
		uint32_t cpus = m->map.places[v].cpus;
		m->group_of[v] = (uint32_t)(g - m->groups);
		g->count++;
		if (cpus != ZMAP_NONE)
			rc = add_binding(g, m->map.names[cpus], err);
		if (rc != 0)
			return zerr_prefix(err, rc, "%s:%u", m->map.path, m->map.places[v].line);
		if (g->nbound != 0 && g->nbound != g->count)
			return zerr_set(err, -EINVAL,
				"%s:%u: of the ranks on %.64s some are bound to cores and some are not", m->map.path,
				m->map.places[v].line, m->map.names[m->map.places[v].node]);
	}
	return 0;
}

static const struct zzipper *zipper_of(const struct zhostfile *hosts, const char *host)
{
	int z = zhostfile_find_zipper(hosts, host);
	return z < 0 ? NULL : &hosts->zippers[z];
}

/* The name by which the cluster's mpiexec knows the host. A zipper node has its address on that cluster's network as
 * its name, except for IPv6 addresses, which Hydra's hostfile cannot write. */
static const char *name_for(const struct zhostfile *hosts, const char *host, const char *cluster)
{
	const struct zzipper *zipper = zipper_of(hosts, host);
	for (int p = 0; zipper && p < zipper->nports; p++)
		if (strcmp(zipper->ports[p].fabric, cluster) == 0 && zaddr_traits(&zipper->ports[p].addr)->by_host &&
			!strchr(zipper->ports[p].addr.host, ':'))
			return zipper->ports[p].addr.host;
	return host;
}

/* Prints "first-last FABRIC=ADDRESS ...;", the form of ZIPPER_PORTS. Ranks choose their port numbers themselves. */
static void print_ports(FILE *out, const struct zhostfile *hosts, const struct zzipper *zipper, uint32_t first,
	uint32_t count)
{
	char text[320];
	fprintf(out, "%" PRIu32 "-%" PRIu32, first, first + count - 1);
	for (int p = 0; p < zipper->nports; p++) {
		struct zaddr addr = zipper->ports[p].addr;
		if (zhostfile_find_cluster(hosts, zipper->ports[p].fabric) < 0)
			continue; /* no rank is on this fabric */
		zaddr_strip_place(&addr);
		zaddr_format(&addr, text, sizeof(text));
		fprintf(out, " %s=%s", zipper->ports[p].fabric, text);
	}
	fputc(';', out);
}

/* Closes the stream of a part's ports. */
static int end_ports(struct zplan_part *part, FILE *out, size_t *len, struct zerr *err)
{
	if (!out || fclose(out) != 0)
		return no_memory(err);
	if (*len == 0) {
		free(part->ports);
		part->ports = NULL;
	}
	return 0;
}

static int find_part_ports(struct mapping *m, const struct zplan *plan, struct zplan_part *part, struct zerr *err)
{
	size_t len = 0;
	FILE *out = open_memstream(&part->ports, &len);
	for (uint32_t g = 0; out && g < m->ngroups; g++) {
		const struct group *group = &m->groups[g];
		const struct zzipper *zipper =
			zipper_of(m->hosts, m->hosts->clusters[group->of].hosts[group->host].name);
		if (&plan->parts[group->part] == part && zipper)
			print_ports(out, m->hosts, zipper, group->first, group->count);
	}
	return end_ports(part, out, &len, err);
}

/* Makes the parts in the order of the clusters, counts their ranks, and puts their hosts in place. */
static int make_parts(struct mapping *m, struct zplan *plan, struct zerr *err)
{
	int part_of[ZCTL_PARTS_MAX];
	memset(part_of, -1, sizeof(part_of));
	for (int c = 0; c < m->hosts->nclusters; c++) {
		uint32_t nranks = 0, nhosts = 0;
		for (uint32_t g = 0; g < m->ngroups; g++)
			if (m->groups[g].cluster == (uint32_t)c) {
				nranks += m->groups[g].count;
				nhosts++;
			}
		if (nranks == 0)
			continue;
		struct zplan_part *part = &plan->parts[plan->nparts];
		part_of[c] = plan->nparts++;
		snprintf(part->name, sizeof(part->name), "%s", m->hosts->clusters[c].name);
		part->cluster = m->here ? NULL : &m->hosts->clusters[c];
		part->vranks = calloc(nranks, sizeof(*part->vranks));
		part->hosts = calloc(nhosts, sizeof(*part->hosts));
		if (!part->vranks || !part->hosts)
			return no_memory(err);
	}
	for (uint32_t g = 0; g < m->ngroups; g++) {
		struct group *group = &m->groups[g];
		struct zplan_part *part = &plan->parts[group->part = part_of[group->cluster]];
		const struct zhost *host = &m->hosts->clusters[group->of].hosts[group->host];
		group->first = (uint32_t)part->nranks;
		part->nranks += (int)group->count;
		struct zplan_host *h = &part->hosts[part->nhosts++];
		h->host = m->here ? NULL : host;
		h->name = m->here ? NULL : name_for(m->hosts, host->name, part->name);
		h->nranks = (int)group->count;
		if (group->binding && fclose(group->binding) != 0)
			return no_memory(err);
		group->binding = NULL;
		h->binding = group->text;
		group->text = NULL;
	}
	return 0;
}

static int fill_vranks(struct mapping *m, struct zplan *plan, struct zerr *err)
{
	for (int i = 0; i < plan->nparts; i++) {
		int rc = find_part_ports(m, plan, &plan->parts[i], err);
		if (rc != 0)
			return rc;
	}
	for (uint32_t v = 0; v < m->map.nranks; v++) {
		struct group *g = &m->groups[m->group_of[v]];
		plan->parts[g->part].vranks[g->first++] = v;
	}
	plan->nranks = (int)m->map.nranks;
	plan->mapped = true;
	for (int i = 0; i < plan->nparts; i++)
		plan->parts[i].first = (int)plan->parts[i].vranks[0];
	return 0;
}

/* mpiexec has one list of cores for all ranks of this machine. */
static int check_bindings_here(const struct mapping *m, const struct zplan *plan, struct zerr *err)
{
	for (int i = 0; m->here && i < plan->nparts; i++)
		for (int h = 1; h < plan->parts[i].nhosts; h++)
			if (!plan->parts[i].hosts[h].binding != !plan->parts[i].hosts[0].binding)
				return zerr_set(err, -EINVAL,
					"%.128s: of the ranks of cluster %s some are bound to cores and some are not",
					m->map.path, plan->parts[i].name);
	return 0;
}

static int keep_cores(const struct mapping *m, struct zplan *plan, struct zerr *err)
{
	if (m->map.nkept == 0)
		return 0;
	plan->kept = calloc((size_t)m->hosts->nzippers + 1, sizeof(*plan->kept));
	if (!plan->kept)
		return no_memory(err);
	plan->nkept = m->hosts->nzippers;
	for (int z = 0; z < plan->nkept; z++) {
		const char *cpus = zmap_find_kept(&m->map, m->hosts->zippers[z].host);
		if (cpus && !(plan->kept[z] = strdup(cpus)))
			return no_memory(err);
	}
	return 0;
}

static void mapping_fini(struct mapping *m)
{
	for (uint32_t g = 0; g < m->ngroups; g++) {
		if (m->groups[g].binding)
			fclose(m->groups[g].binding);
		free(m->groups[g].text);
	}
	free(m->groups);
	free(m->group_of);
	free(m->of_host);
	free(m->base);
	free(m->targets);
	zmap_free(&m->map);
}

int zmapping_make(struct zplan *plan, const struct zoptions *o, const struct zhostfile *hosts, struct zerr *err)
{
	struct zhostfile invented = {0};
	struct mapping m = {.options = o, .hosts = hosts, .here = !hosts};
	int rc = zmap_read(&m.map, o->map, err);
	if (rc == 0)
		rc = check_count(&m, err);
	if (rc == 0 && !hosts) {
		rc = invent_hosts(&invented, o, (int)m.map.nranks, err);
		m.hosts = &invented;
	}
	if (rc == 0)
		rc = resolve(&m, err);
	if (rc == 0)
		rc = make_groups(&m, err);
	if (rc == 0)
		rc = make_parts(&m, plan, err);
	if (rc == 0)
		rc = fill_vranks(&m, plan, err);
	if (rc == 0)
		rc = check_bindings_here(&m, plan, err);
	if (rc == 0)
		rc = keep_cores(&m, plan, err);
	mapping_fini(&m);
	zhostfile_free(&invented);
	return rc;
}

/* Ranks fill the hosts slot by slot, and again from the first host when all slots are taken. */
static void print_filled(FILE *out, const struct zplan_part *part, const struct zoptions *o,
	const struct zhostfile *hosts)
{
	const struct zcluster *cluster = part->cluster;
	for (int lrank = 0; lrank < part->nranks;)
		for (int h = 0; h < cluster->nhosts && lrank < part->nranks; h++) {
			const struct zzipper *zipper = zipper_of(hosts, cluster->hosts[h].name);
			int count = o->ppn ? o->ppn : cluster->hosts[h].slots;
			if (count > part->nranks - lrank)
				count = part->nranks - lrank;
			if (zipper)
				print_ports(out, hosts, zipper, (uint32_t)lrank, (uint32_t)count);
			lrank += count;
		}
}

int zmapping_find_ports(struct zplan *plan, const struct zoptions *o, const struct zhostfile *hosts, struct zerr *err)
{
	int rc = 0;
	for (int i = 0; rc == 0 && i < plan->nparts; i++) {
		struct zplan_part *part = &plan->parts[i];
		size_t len = 0;
		FILE *out = open_memstream(&part->ports, &len);
		if (out)
			print_filled(out, part, o, hosts);
		rc = end_ports(part, out, &len, err);
		part->hosts = calloc((size_t)part->cluster->nhosts, sizeof(*part->hosts));
		if (!part->hosts)
			return no_memory(err);
		for (int h = 0; h < part->cluster->nhosts; h++)
			part->hosts[part->nhosts++] = (struct zplan_host){.host = &part->cluster->hosts[h],
				.name = name_for(hosts, part->cluster->hosts[h].name, part->name),
				.nranks = part->cluster->hosts[h].slots};
	}
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks from files. Routers with nodes are the points, in the order of the file. The other routers have the numbers
 * behind them. Nodes are numbered point by point. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args/value.h"
#include "mapper/net/filenet.h"
#include "mapper/net/routers_load.h"
#include "mapper/netfile/cabling.h"
#include "mapper/netfile/graph_lines.h"
#include "mapper/netfile/ib_file.h"
#include "mapper/netfile/slurm_file.h"

struct filenet {
	struct routers_net begin;
	char **name;	    /* [begin.routers.n] */
	uint32_t *node;	    /* [points + 1]: the first node of each point */
	struct names nodes; /* by their names; empty if they have none */
	uint32_t *number;   /* [nodes.n]: the node of each name */
	uint32_t *named;    /* [net.nodes]: the name of each node; NULL if they have none */
};

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "not enough memory");
}

static void filenet_destroy(struct net *net)
{
	struct filenet *f = (struct filenet *)net;

	for (uint32_t i = 0; f->name && i < f->begin.routers.n; i++)
		free(f->name[i]);
	free(f->name);
	free(f->node);
	free(f->number);
	free(f->named);
	names_free(&f->nodes);
	routers_free(&f->begin.routers);
	net_fini(net);
	free(f);
}

/* --- from a cabling --- */

/* Numbers the routers: those with nodes first. Returns how many these are. */
static uint32_t routers_number(const struct cabling *c, uint32_t *number)
{
	uint32_t ends = 0, others;

	for (uint32_t i = 0; i < c->routers.n; i++)
		ends += c->count[i] > 0;
	others = ends;
	for (uint32_t i = 0, end = 0; i < c->routers.n; i++)
		number[i] = c->count[i] ? end++ : others++;
	return ends;
}

/* Takes over the names, and numbers the nodes point by point. */
static int names_take(struct filenet *f, struct cabling *c, const uint32_t *number, struct zerr *err)
{
	struct net *net = &f->begin.net;
	uint32_t ends = f->begin.routers.ends, hosts;

	f->name = calloc(c->routers.n, sizeof(*f->name));
	f->node = calloc((size_t)ends + 1, sizeof(*f->node));
	if (!f->name || !f->node)
		return no_memory(err);
	for (uint32_t i = 0; i < c->routers.n; i++) {
		f->name[number[i]] = strdup(c->routers.name[i]);
		if (!f->name[number[i]])
			return no_memory(err);
		if (c->count[i])
			f->node[number[i] + 1] = c->count[i];
	}
	hosts = f->node[1];
	for (uint32_t i = 0; i < ends; i++) {
		hosts = f->node[i + 1] == hosts ? hosts : 1; /* blocks only if all are alike */
		f->node[i + 1] += f->node[i];
	}
	net->nodes = f->node[ends];
	net->level[NET_NODE] = 1;
	net->level[NET_ROUTER] = net->level[NET_CHASSIS] = net->level[NET_GROUP] = hosts;
	return 0;
}

/* Takes over the names of nodes. They are numbered in the order of the file at each router. */
static int nodes_take(struct filenet *f, struct cabling *c, const uint32_t *number, struct zerr *err)
{
	uint32_t *next = calloc(c->routers.n, sizeof(*next));
	int rc = 0;

	f->number = malloc(c->nodes.n * sizeof(*f->number));
	f->named = malloc(f->begin.net.nodes * sizeof(*f->named));
	if (!next || !f->number || !f->named)
		rc = no_memory(err);
	for (uint32_t i = 0; i < c->nodes.n && !rc; i++) {
		f->number[i] = f->node[number[c->place[i]]] + next[c->place[i]]++;
		f->named[f->number[i]] = i;
	}
	free(next);
	if (rc)
		return rc;
	f->nodes = c->nodes;
	c->nodes = (struct names){0};
	return 0;
}

/* Both links of each cable. */
static struct routers_link *links_make(const struct cabling *c, const uint32_t *number)
{
	struct routers_link *link = malloc((2 * c->cables + 1) * sizeof(*link));
	size_t n = 0;

	for (size_t i = 0; i < c->links && link; i++)
		for (uint32_t k = 0; k < c->link[i].cables; k++) {
			uint32_t from = number[c->link[i].from], to = number[c->link[i].to];

			link[n++] = (struct routers_link){from, to, c->link[i].bandwidth};
			link[n++] = (struct routers_link){to, from, c->link[i].bandwidth};
		}
	return link;
}

/* Says why two routers have no shortest paths that can be counted. */
static int pair_complain(const struct cabling *c, const uint32_t *number, const char *path, const uint32_t *pair,
	int rc, struct zerr *err)
{
	const char *name[2] = {"", ""};

	for (uint32_t i = 0; i < c->routers.n; i++)
		for (int k = 0; k < 2; k++)
			if (number[i] == pair[k])
				name[k] = c->routers.name[i];
	if (rc == -ENETUNREACH)
		return zerr_set(err, -EINVAL, "%s: no path from \"%s\" to \"%s\"", path, name[0], name[1]);
	return zerr_set(err, -EINVAL,
		"%s: from \"%s\" to \"%s\" are more than %d hops, or more than 2^31 shortest paths", path, name[0],
		name[1], ROUTERS_HOPS_MAX);
}

static int filenet_fill(struct filenet *f, struct cabling *c, const char *path, struct zerr *err)
{
	uint32_t *number = malloc((c->routers.n + 1) * sizeof(*number)), ends, pair[2];
	struct routers_link *link;
	uint64_t nodes = 0;
	int rc;

	if (!number)
		return no_memory(err);
	ends = routers_number(c, number);
	for (uint32_t i = 0; i < c->routers.n; i++)
		nodes += c->count[i];
	if ((uint64_t)c->routers.n * ends > ROUTERS_CELLS_MAX || nodes > UINT32_MAX / 4) {
		free(number);
		return zerr_set(err, -EINVAL, "%s: a network of that size is out of range", path);
	}
	link = links_make(c, number);
	rc = link ? routers_make(&f->begin.routers, c->routers.n, ends, link, (uint32_t)(2 * c->cables), pair)
		  : -ENOMEM;
	if (rc == -ENOMEM)
		rc = zerr_set(err, rc, "not enough memory for %u routers", c->routers.n);
	else if (rc)
		rc = pair_complain(c, number, path, pair, rc, err);
	if (!rc)
		rc = names_take(f, c, number, err);
	if (!rc && c->nodes.n)
		rc = nodes_take(f, c, number, err);
	free(number);
	return rc;
}

/* Makes the network, and empties the cabling. rc: whether the file was read; if not, only tidies up. */
static int filenet_make(struct cabling *c, const struct net_ops *ops, uint32_t cores, const char *path, int rc,
	struct net **out, struct zerr *err)
{
	struct filenet *f = rc ? NULL : calloc(1, sizeof(*f));

	if (!rc && !f)
		rc = no_memory(err);
	if (!rc)
		rc = filenet_fill(f, c, path, err);
	if (!rc)
		rc = routers_init_net(&f->begin, ops, NET_PEER, err);
	cabling_free(c);
	if (f && rc)
		filenet_destroy(&f->begin.net);
	if (rc)
		return rc;
	f->begin.net.cores = cores;
	*out = &f->begin.net;
	return 0;
}

/* --- descriptions --- */

/* The keys of all descriptions. */
struct words {
	const char *path;
	uint32_t cores;
	uint64_t bandwidth;
};

static int words_read(struct spec *spec, struct words *w, struct zerr *err)
{
	int rc = spec_file(spec, "file", &w->path, err);

	if (!rc && !w->path)
		rc = zerr_set(err, -EINVAL, "%s: not \"%s file:PATH\"", spec->where, spec->words[0].key);
	if (!rc)
		rc = spec_u32(spec, "core", 1, 1, 65535, &w->cores, err);
	return rc ? rc : spec_u64(spec, "bandwidth", 5120ull << 20, 1, UINT64_MAX, &w->bandwidth, err);
}

static int graph_create(struct spec_list *list, const struct net_ops *const *table, struct net **out, struct zerr *err)
{
	struct cabling c = {0};
	struct words w;
	int rc = words_read(list->specs, &w, err);

	(void)table;
	*out = NULL;
	if (!rc)
		rc = graph_lines_read(&c, w.path, w.bandwidth, err);
	return filenet_make(&c, &filenet_graph_ops, w.cores, w.path, rc, out, err);
}

/* Opens the file that a description names. */
static int file_open(const char *path, FILE **f, struct zerr *err)
{
	*f = fopen(path, "re");
	return *f ? 0 : zerr_set(err, -errno, "%s: %s", path, strerror(errno));
}

static int taper_read(struct spec *spec, double *taper, struct zerr *err)
{
	const char *text = spec_string(spec, "taper");

	*taper = 1;
	if (text && (zargs_parse_real(text, taper) || !(*taper >= 0.01 && *taper <= 10000)))
		return zerr_set(err, -EINVAL, "%s: taper: \"%s\" is not a number from 0.01 to 10000", spec->where,
			text);
	return 0;
}

static int slurm_create(struct spec_list *list, const struct net_ops *const *table, struct net **out, struct zerr *err)
{
	struct spec *spec = list->specs;
	struct slurm_wishes wishes = {.topology = spec_string(spec, "topology"), .root = spec_string(spec, "root")};
	struct cabling c = {0};
	struct words w;
	uint64_t speed;
	FILE *f;
	int rc = words_read(spec, &w, err);

	(void)table;
	*out = NULL;
	if (!rc)
		rc = spec_u64(spec, "linkspeed", 0, 1, UINT64_C(1) << 60, &speed, err);
	if (!rc)
		rc = taper_read(spec, &wishes.taper, err);
	if (!rc)
		rc = file_open(w.path, &f, err);
	if (!rc) {
		wishes.bandwidth = (double)w.bandwidth;
		wishes.speed = (double)speed;
		rc = slurm_file_read(&c, f, w.path, &wishes, err);
		fclose(f);
	}
	return filenet_make(&c, &filenet_slurm_ops, w.cores, w.path, rc, out, err);
}

static int ibnet_create(struct spec_list *list, const struct net_ops *const *table, struct net **out, struct zerr *err)
{
	struct ib_wishes wishes;
	struct cabling c = {0};
	struct words w;
	FILE *f;
	int rc = words_read(list->specs, &w, err);

	(void)table;
	*out = NULL;
	if (!rc)
		rc = spec_u32(list->specs, "rail", 1, 1, 1024, &wishes.rail, err);
	if (!rc)
		rc = file_open(w.path, &f, err);
	if (!rc) {
		wishes.bandwidth = (double)w.bandwidth;
		rc = ib_file_read(&c, f, w.path, &wishes, err);
		fclose(f);
	}
	return filenet_make(&c, &filenet_ibnet_ops, w.cores, w.path, rc, out, err);
}

/* --- points and names --- */

static uint32_t filenet_point(const struct net *net, uint32_t node)
{
	const struct filenet *f = (const struct filenet *)net;
	uint32_t low = 0, high = net->points;

	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (node < f->node[middle])
			high = middle;
		else
			low = middle;
	}
	return low;
}

static uint32_t filenet_node_find(const struct net *net, const char *name)
{
	const struct filenet *f = (const struct filenet *)net;
	uint32_t found = names_find(&f->nodes, name);

	return found == NAMES_NONE ? NET_NO_NODE : f->number[found];
}

static const char *filenet_node_name(const struct net *net, uint32_t node)
{
	const struct filenet *f = (const struct filenet *)net;

	return f->nodes.name[f->named[node]];
}

/* "a>b"; "a>b:0", "a>b:1" where several cables join the two. */
static void filenet_link_name(const struct net *net, uint32_t link, char *buf, size_t size)
{
	const struct filenet *f = (const struct filenet *)net;
	const struct routers_link *all = f->begin.routers.link, *l = &all[link - 1];
	uint32_t before = 0, behind = 0;

	while (l - before > all && l[-1 - (int64_t)before].from == l->from && l[-1 - (int64_t)before].to == l->to)
		before++;
	while (l + behind + 1 < all + f->begin.routers.links && l[behind + 1].from == l->from &&
		l[behind + 1].to == l->to)
		behind++;
	if (before + behind)
		snprintf(buf, size, "%s>%s:%u", f->name[l->from], f->name[l->to], before);
	else
		snprintf(buf, size, "%s>%s", f->name[l->from], f->name[l->to]);
}

/* --- the topologies --- */

#define FILENET_OPS                                                                                                    \
	.destroy = filenet_destroy, .point = filenet_point, .direct_count = routers_direct_count,                      \
	.direct = routers_direct, .single = routers_single, .indirect = routers_indirect,                              \
	.load_direct = routers_load_direct, .load_ecmp = routers_load_ecmp, .load_indirect = routers_load_indirect,    \
	.link_name = filenet_link_name

const struct net_ops filenet_graph_ops = {
	.name = "graph",
	.help = "file:PATH (lines \"router:NAME node:N\" and \"link:NAME to:NAME cables:1 bandwidth:B\")\n"
		"core:1 bandwidth:5120M (of links without their own, each way)",
	.create = graph_create,
	FILENET_OPS,
};

const struct net_ops filenet_slurm_ops = {
	.name = "slurm",
	.help = "file:PATH (Slurm's topology.conf or topology.yaml) topology:NAME root:SWITCH core:1\n"
		"bandwidth:5120M (of a node, each way) taper:1 linkspeed:B (of LinkSpeed=1)",
	.create = slurm_create,
	.node_find = filenet_node_find,
	.node_name = filenet_node_name,
	FILENET_OPS,
};

const struct net_ops filenet_ibnet_ops = {
	.name = "ibnet",
	.help = "file:PATH (what ibnetdiscover or ibnetdiscover -p writes) rail:1 core:1\n"
		"bandwidth:5120M (of cables of unknown speed, each way)",
	.create = ibnet_create,
	.node_find = filenet_node_find,
	.node_name = filenet_node_name,
	FILENET_OPS,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* A network of any form, from a file of statements "router:NAME node:N" and "link:NAME to:NAME cables:N bandwidth:B".
 * Routers with nodes are the points, in the order of the file. The other routers have the numbers behind them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/net/filenet.h"
#include "mapper/net/routers_load.h"

struct router {
	char *name;
	uint32_t nodes, number; /* number: behind all routers with nodes, if it has none */
	size_t at;		/* index of the statement */
};

struct filenet {
	struct routers_net begin;
	char **name;	/* [begin.routers.n] */
	uint32_t *node; /* [points + 1]: the first node of each point */
};

/* The state of reading a file. */
struct reading {
	const char *path;
	struct spec_list list;
	struct router *router; /* [n]; sorted by name once all are read */
	uint32_t n, ends;
	uint64_t nodes;
	struct routers_link *link;
	size_t links, room;
};

static void reading_free(struct reading *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		free(r->router[i].name);
	free(r->router);
	free(r->link);
	spec_free(&r->list);
}

static void filenet_destroy(struct net *net)
{
	struct filenet *f = (struct filenet *)net;

	for (uint32_t i = 0; f->name && i < f->begin.routers.n; i++)
		free(f->name[i]);
	free(f->name);
	free(f->node);
	routers_free(&f->begin.routers);
	net_fini(net);
	free(f);
}

/* --- routers --- */

static int name_compare(const void *x, const void *y)
{
	const struct router *a = x, *b = y;
	int order = strcmp(a->name, b->name);

	return order ? order : (a->at > b->at) - (a->at < b->at);
}

static int router_read(struct reading *r, size_t at, struct zerr *err)
{
	struct spec *spec = &r->list.specs[at];
	const char *name = spec->words[0].value;
	struct router *router = &r->router[r->n];
	int rc;

	if (!name || !*name || strlen(name) > FILENET_NAME_MAX || strpbrk(name, ":=>\""))
		return zerr_set(err, -EINVAL, "%s: not \"router:NAME node:N\" with a name of at most %d characters",
			spec->where, FILENET_NAME_MAX);
	rc = spec_u32(spec, "node", 0, 0, 65535, &router->nodes, err);
	if (rc)
		return rc;
	router->name = strdup(name);
	if (!router->name)
		return zerr_set(err, -ENOMEM, "not enough memory");
	router->at = at;
	r->n++;
	r->ends += router->nodes > 0;
	r->nodes += router->nodes;
	return spec_finish(spec, err);
}

static int routers_read(struct reading *r, struct zerr *err)
{
	uint32_t ends = 0, others = 0;
	int rc = 0;

	r->router = calloc(r->list.n + 1, sizeof(*r->router));
	if (!r->router)
		return zerr_set(err, -ENOMEM, "not enough memory");
	for (size_t i = 0; i < r->list.n && !rc; i++) {
		const struct spec *spec = &r->list.specs[i];

		if (!strcmp(spec->words[0].key, "router"))
			rc = router_read(r, i, err);
		else if (strcmp(spec->words[0].key, "link"))
			rc = zerr_set(err, -EINVAL, "%s: \"%s\" is neither router nor link", spec->where,
				spec->words[0].key);
	}
	if (rc)
		return rc;
	if (!r->ends)
		return zerr_set(err, -EINVAL, "%s: no router has nodes", r->path);
	if ((uint64_t)r->n * r->ends > ROUTERS_CELLS_MAX || r->nodes > UINT32_MAX / 4)
		return zerr_set(err, -EINVAL, "%s: a network of that size is out of range", r->path);
	for (uint32_t i = 0; i < r->n; i++)
		r->router[i].number = r->router[i].nodes ? ends++ : r->ends + others++;
	qsort(r->router, r->n, sizeof(*r->router), name_compare);
	for (uint32_t i = 1; i < r->n; i++)
		if (!strcmp(r->router[i].name, r->router[i - 1].name))
			return zerr_set(err, -EINVAL, "%s: a second router \"%s\"",
				r->list.specs[r->router[i].at].where, r->router[i].name);
	return 0;
}

static const struct router *router_find(const struct reading *r, const char *name)
{
	for (uint32_t low = 0, high = r->n; low < high;) {
		uint32_t middle = (low + high) / 2;
		int order = strcmp(name, r->router[middle].name);

		if (!order)
			return &r->router[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* --- links --- */

static int link_add(struct reading *r, uint32_t from, uint32_t to, double bandwidth)
{
	if (r->links == r->room) {
		size_t room = r->room ? 2 * r->room : 1024;
		struct routers_link *more = realloc(r->link, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		r->link = more;
		r->room = room;
	}
	r->link[r->links++] = (struct routers_link){from, to, bandwidth};
	return 0;
}

static int link_read(struct reading *r, struct spec *spec, uint64_t preset, struct zerr *err)
{
	const char *name[2] = {spec->words[0].value, spec_string(spec, "to")};
	const struct router *end[2];
	uint64_t bandwidth;
	uint32_t cables;
	int rc;

	for (int i = 0; i < 2; i++) {
		if (!name[i] || !*name[i])
			return zerr_set(err, -EINVAL, "%s: not \"link:NAME to:NAME\"", spec->where);
		end[i] = router_find(r, name[i]);
		if (!end[i])
			return zerr_set(err, -EINVAL, "%s: there is no router \"%s\"", spec->where, name[i]);
	}
	if (end[0] == end[1])
		return zerr_set(err, -EINVAL, "%s: a link from \"%s\" to itself", spec->where, name[0]);
	if ((rc = spec_u32(spec, "cables", 1, 1, 4096, &cables, err)) ||
		(rc = spec_u64(spec, "bandwidth", preset, 1, UINT64_MAX, &bandwidth, err)) ||
		(rc = spec_finish(spec, err)))
		return rc;
	if (r->links + 2ull * cables > UINT32_MAX / 4)
		return zerr_set(err, -EINVAL, "%s: a network of that size is out of range", spec->where);
	while (cables-- && !rc)
		rc = link_add(r, end[0]->number, end[1]->number, (double)bandwidth) ||
		     link_add(r, end[1]->number, end[0]->number, (double)bandwidth);
	return rc ? zerr_set(err, -ENOMEM, "not enough memory") : 0;
}

/* --- creation --- */

/* Takes over the names, and numbers the nodes point by point. */
static int names_take(struct filenet *f, struct reading *r, struct zerr *err)
{
	struct net *net = &f->begin.net;
	uint32_t hosts = 0;

	f->name = calloc(r->n, sizeof(*f->name));
	f->node = calloc((size_t)r->ends + 1, sizeof(*f->node));
	if (!f->name || !f->node)
		return zerr_set(err, -ENOMEM, "not enough memory");
	for (uint32_t i = 0; i < r->n; i++) {
		struct router *router = &r->router[i];

		f->name[router->number] = router->name;
		router->name = NULL;
		if (router->nodes)
			f->node[router->number + 1] = router->nodes;
	}
	hosts = f->node[1];
	for (uint32_t i = 0; i < r->ends; i++) {
		hosts = f->node[i + 1] == hosts ? hosts : 1; /* blocks only if all are alike */
		f->node[i + 1] += f->node[i];
	}
	net->nodes = f->node[r->ends];
	net->level[NET_NODE] = 1;
	net->level[NET_ROUTER] = net->level[NET_CHASSIS] = net->level[NET_GROUP] = hosts;
	return 0;
}

/* Says why two routers have no shortest paths that can be counted. */
static int pair_complain(const struct reading *r, const uint32_t *pair, int rc, struct zerr *err)
{
	const char *name[2] = {"", ""};

	for (uint32_t i = 0; i < r->n; i++)
		for (int k = 0; k < 2; k++)
			if (r->router[i].number == pair[k])
				name[k] = r->router[i].name;
	if (rc == -ENETUNREACH)
		return zerr_set(err, -EINVAL, "%s: no path from \"%s\" to \"%s\"", r->path, name[0], name[1]);
	return zerr_set(err, -EINVAL,
		"%s: from \"%s\" to \"%s\" are more than %d hops, or more than 2^31 shortest paths", r->path, name[0],
		name[1], ROUTERS_HOPS_MAX);
}

static int file_read(struct filenet *f, struct reading *r, uint64_t bandwidth, struct zerr *err)
{
	struct routers_link *link;
	uint32_t pair[2];
	int rc = spec_read(&r->list, r->path, err);

	if (!rc)
		rc = routers_read(r, err);
	for (size_t i = 0; i < r->list.n && !rc; i++)
		if (!strcmp(r->list.specs[i].words[0].key, "link"))
			rc = link_read(r, &r->list.specs[i], bandwidth, err);
	if (!rc && !r->links)
		rc = zerr_set(err, -EINVAL, "%s: no link", r->path);
	if (rc)
		return rc;
	link = r->link;
	r->link = NULL; /* taken over */
	rc = routers_make(&f->begin.routers, r->n, r->ends, link, (uint32_t)r->links, pair);
	if (rc == -ENOMEM)
		return zerr_set(err, rc, "not enough memory for %u routers", r->n);
	return rc ? pair_complain(r, pair, rc, err) : names_take(f, r, err);
}

static int filenet_create(struct spec_list *list, const struct net_ops *const *table, struct net **out,
	struct zerr *err)
{
	struct spec *spec = list->specs;
	struct filenet *f = calloc(1, sizeof(*f));
	struct reading r = {0};
	uint64_t bandwidth;
	int rc;

	(void)table;
	*out = NULL;
	if (!f)
		return zerr_set(err, -ENOMEM, "not enough memory");
	rc = spec_file(spec, "file", &r.path, err);
	if (!rc && !r.path)
		rc = zerr_set(err, -EINVAL, "%s: not \"graph file:PATH\"", spec->where);
	if (rc || (rc = spec_u32(spec, "core", 1, 1, 65535, &f->begin.net.cores, err)) ||
		(rc = spec_u64(spec, "bandwidth", 5120ull << 20, 1, UINT64_MAX, &bandwidth, err)) ||
		(rc = file_read(f, &r, bandwidth, err)) ||
		(rc = routers_init_net(&f->begin, &filenet_ops, NET_PEER, err)))
		filenet_destroy(&f->begin.net);
	else
		*out = &f->begin.net;
	reading_free(&r);
	return rc;
}

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

/* --- names --- */

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

const struct net_ops filenet_ops = {
	.name = "graph",
	.help = "file:PATH (lines \"router:NAME node:N\" and \"link:NAME to:NAME cables:1 bandwidth:B\")\n"
		"core:1 bandwidth:5120M (of links without their own, each way)",
	.create = filenet_create,
	.destroy = filenet_destroy,
	.point = filenet_point,
	.direct_count = routers_direct_count,
	.direct = routers_direct,
	.single = routers_single,
	.indirect = routers_indirect,
	.load_direct = routers_load_direct,
	.load_ecmp = routers_load_ecmp,
	.load_indirect = routers_load_indirect,
	.link_name = filenet_link_name,
};

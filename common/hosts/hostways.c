/* SPDX-License-Identifier: BSD-3-Clause */
/* The zippers that carry a job, see hostways.h. */
#include "common/hosts/hostways.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/hosts/hostfile_find.h"
#include "common/hosts/hostgraph.h"

/* The way of a part to the zipper that was measured. Rails take turns where several ways are equally short. */
static int make_way(const struct zhostgraph *g, struct zhostway *way, int rail, int zipper, int part, struct zerr *err)
{
	int fabric = g->part[part];
	if (g->far[fabric] > ZCTL_HOPS_MAX)
		return zerr_set(err, -E2BIG, "%s:%d: zipper %s is more than %d hops away from cluster %s",
			g->hosts->path, g->hosts->zippers[zipper].line, g->hosts->zippers[zipper].host, ZCTL_HOPS_MAX,
			g->parts[part]);
	while (g->far[fabric] > 0) {
		struct zhoststep step = {0};
		zhostgraph_find_step(g, fabric, rail % zhostgraph_find_step(g, fabric, -1, &step), &step);
		way->hop[way->n].zipper = step.zipper;
		way->hop[way->n].from = g->fabric[fabric];
		way->hop[way->n++].to = g->fabric[step.to];
		fabric = step.to;
	}
	way->entry = g->fabric[fabric];
	return 0;
}

/* The useful ports of a zipper. */
static int note_ports(const struct zhostgraph *g, uint64_t *ports, int zipper, struct zerr *err)
{
	const struct zzipper *z = &g->hosts->zippers[zipper];
	if (z->nports > ZCTL_PARTS_MAX)
		return zerr_set(err, -E2BIG, "%s:%d: zipper %s: more than %d fabrics", g->hosts->path, z->line, z->host,
			ZCTL_PARTS_MAX);
	*ports = 0;
	for (int p = 0; p < z->nports; p++)
		*ports |= (uint64_t)g->lead[g->on[g->first[zipper] + p]] << p;
	return 0;
}

/* Some rail must carry the messages between two parts. The first zipper of the shortest way between them always does;
 * this check reports a change of the ways that breaks it. */
static int check_pairs(const struct zhostways *w, const struct zhostgraph *g, struct zerr *err)
{
	for (int p = 0; p < w->nparts; p++)
		for (int q = 0; q < p; q++) {
			bool carried = false;
			for (int r = 0; r < w->nzippers; r++)
				carried |= strcmp(zhostways_at(w, r, p)->entry, zhostways_at(w, r, q)->entry) != 0;
			if (!carried)
				return zerr_set(err, -ENETUNREACH, "%s: no zipper lies between the clusters %s and %s",
					g->hosts->path, g->parts[q], g->parts[p]);
		}
	return 0;
}

static int allocate_ways(struct zhostways *w, struct zerr *err)
{
	w->way = calloc((size_t)(w->nzippers * w->nparts) + 1, sizeof(*w->way));
	return w->way ? 0 : zerr_set(err, -ENOMEM, "out of memory");
}

/* Takes all zippers between the parts. */
static int find_between(struct zhostways *w, struct zhostgraph *g, const bool *left_out, struct zerr *err)
{
	w->hops = true;
	int rc = zhostgraph_find_useful(g, left_out, err);
	for (int f = 0; rc == 0 && f < g->nfabrics; f++)
		if (g->lead[f] && strpbrk(g->fabric[f], "+>"))
			rc = zerr_set(err, -EINVAL, "%s: fabric %s: such a name cannot be part of a way with hops",
				g->hosts->path, g->fabric[f]);
	for (int z = 0; rc == 0 && z < g->hosts->nzippers; z++) {
		if (!g->zipper[z])
			continue;
		if (w->nzippers == ZCTL_RAILS_MAX)
			rc = zerr_set(err, -E2BIG, "%s: more than %d zippers lie between the clusters", g->hosts->path,
				ZCTL_RAILS_MAX);
		else
			w->zipper[w->nzippers++] = z;
	}
	if (rc == 0)
		rc = allocate_ways(w, err);
	for (int r = 0; rc == 0 && r < w->nzippers; r++) {
		zhostgraph_measure(g, w->zipper[r]);
		rc = note_ports(g, &w->ports[r], w->zipper[r], err);
		for (int p = 0; rc == 0 && p < g->nparts; p++)
			rc = make_way(g, &w->way[r * g->nparts + p], r, w->zipper[r], p, err);
	}
	return rc == 0 ? check_pairs(w, g, err) : rc;
}

/* Takes the zippers that join all parts. */
static int find_joining(struct zhostways *w, const struct zhostgraph *g, int max, const bool *left_out,
	struct zerr *err)
{
	uint64_t clusters = 0;
	for (int i = 0; i < g->nparts; i++)
		clusters |= UINT64_C(1) << g->part[i];
	if (max > ZCTL_RAILS_MAX)
		max = ZCTL_RAILS_MAX;
	for (int z = -1; w->nzippers < max && (z = zhostfile_find_joining(g->hosts, clusters, z + 1)) >= 0;)
		if (!left_out || !left_out[z])
			w->zipper[w->nzippers++] = z;
	int rc = allocate_ways(w, err);
	for (int i = 0; rc == 0 && i < w->nzippers * w->nparts; i++)
		w->way[i].entry = g->fabric[g->part[i % w->nparts]];
	return rc;
}

int zhostways_find(struct zhostways *w, const struct zhostfile *hosts, char (*parts)[ZCTL_NAME_MAX + 1], int nparts,
	int max, const bool *left_out, struct zerr *err)
{
	struct zhostgraph g;
	*w = (struct zhostways){.nparts = nparts};
	int rc = zhostgraph_make(&g, hosts, parts, nparts, err);
	if (rc == 0)
		rc = find_joining(w, &g, max, left_out, err);
	if (rc == 0 && w->nzippers == 0) {
		zhostways_free(w);
		rc = find_between(w, &g, left_out, err);
	}
	if (rc < 0)
		zhostways_free(w);
	zhostgraph_free(&g);
	return rc;
}

void zhostways_free(struct zhostways *w)
{
	free(w->way);
	w->way = NULL;
}

int zhostways_entries(const struct zhostways *w, int rail, char *buf, struct zerr *err)
{
	size_t len = 0;
	buf[0] = '\0';
	for (int p = 0; w->hops && p < w->nparts; p++) {
		const struct zhostway *way = zhostways_at(w, rail, p);
		char hops[16] = "";
		if (way->n > 0)
			snprintf(hops, sizeof(hops), "+%d", way->n);
		len += (size_t)snprintf(buf + len, ZCTL_ENTRIES_MAX - len, "%s%s%s", p ? "," : "", way->entry, hops);
		if (len >= ZCTL_ENTRIES_MAX)
			return zerr_set(err, -EMSGSIZE,
				"the names of the fabrics by which %d clusters come to a zipper are longer than %d "
				"characters",
				w->nparts, ZCTL_ENTRIES_MAX - 1);
	}
	return 0;
}

static void copy_name(char out[ZCTL_NAME_MAX + 1], const char *name)
{
	snprintf(out, ZCTL_NAME_MAX + 1, "%s", name);
}

void zhostways_hops(const struct zhostways *w, int rail, int part, struct zhops *hops,
	const struct zaddr *(*addr)(const void *ctx, int zipper, const char *fabric), const void *ctx)
{
	const struct zhostway *way = zhostways_at(w, rail, part);
	int first = way->n > 0 ? way->hop[0].zipper : w->zipper[rail];
	hops->n = way->n;
	hops->first = *addr(ctx, first, way->n > 0 ? way->hop[0].from : way->entry);
	for (int i = 0; i < way->n; i++) {
		int next = i + 1 < way->n ? way->hop[i + 1].zipper : w->zipper[rail];
		copy_name(hops->hop[i].from, way->hop[i].from);
		copy_name(hops->hop[i].to, way->hop[i].to);
		hops->hop[i].addr = *addr(ctx, next, way->hop[i].to);
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Zippers and fabrics as a graph, see hostgraph.h. */
#include "common/hosts/hostfile_find.h"
#include "common/hosts/hostgraph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "out of memory");
}

static int find_fabric(const struct zhostgraph *g, const char *name)
{
	for (int f = 0; f < g->nfabrics; f++)
		if (strcmp(g->fabric[f], name) == 0)
			return f;
	return -ENOENT;
}

void zhostgraph_free(struct zhostgraph *g)
{
	free(g->fabric);
	free(g->first);
	free(g->on);
	free(g->part);
	free(g->ends);
	free(g->zipper);
	free(g->lead);
	free(g->far);
	free(g->near);
}

static int allocate(struct zhostgraph *g, struct zerr *err)
{
	size_t zippers = (size_t)g->hosts->nzippers + 1, fabrics = (size_t)(g->hosts->nclusters + g->nports) + 1;
	g->fabric = calloc(fabrics, sizeof(*g->fabric));
	g->first = calloc(zippers, sizeof(*g->first));
	g->on = calloc((size_t)g->nports + 1, sizeof(*g->on));
	g->part = calloc((size_t)g->nparts + 1, sizeof(*g->part));
	g->ends = calloc(fabrics, sizeof(*g->ends));
	g->zipper = calloc(zippers, sizeof(*g->zipper));
	g->lead = calloc(fabrics, sizeof(*g->lead));
	g->far = calloc(fabrics, sizeof(*g->far));
	g->near = calloc(zippers, sizeof(*g->near));
	return g->fabric && g->first && g->on && g->part && g->ends && g->zipper && g->lead && g->far && g->near
		       ? 0
		       : no_memory(err);
}

int zhostgraph_make(struct zhostgraph *g, const struct zhostfile *hosts, char (*parts)[ZCTL_NAME_MAX + 1], int nparts,
	struct zerr *err)
{
	*g = (struct zhostgraph){.hosts = hosts, .parts = parts, .nparts = nparts};
	for (int z = 0; z < hosts->nzippers; z++)
		g->nports += hosts->zippers[z].nports;
	int rc = allocate(g, err), n = 0;
	if (rc < 0)
		return rc;
	for (int c = 0; c < hosts->nclusters; c++)
		g->fabric[g->nfabrics++] = hosts->clusters[c].name;
	for (int z = 0; z < hosts->nzippers; z++) {
		g->first[z] = n;
		for (int p = 0; p < hosts->zippers[z].nports; p++) {
			int f = find_fabric(g, hosts->zippers[z].ports[p].fabric);
			if (f < 0)
				g->fabric[f = g->nfabrics++] = hosts->zippers[z].ports[p].fabric;
			g->on[n++] = f;
		}
	}
	g->first[hosts->nzippers] = n;
	for (int i = 0; i < nparts; i++) {
		g->part[i] = zhostfile_find_cluster(hosts, parts[i]);
		if (g->part[i] < 0)
			return zerr_set(err, -ENOENT, "%s: there is no cluster %s", hosts->path, parts[i]);
		g->ends[g->part[i]] = true;
	}
	return 0;
}

static bool is_on(const struct zhostgraph *g, int zipper, int fabric)
{
	for (int p = g->first[zipper]; p < g->first[zipper + 1]; p++)
		if (g->on[p] == fabric)
			return true;
	return false;
}

/* Removes zippers and fabrics that lead nowhere, until no more of them do. */
static bool prune(struct zhostgraph *g)
{
	bool changed = false;
	for (int z = 0; z < g->hosts->nzippers; z++) {
		int leads = 0;
		for (int p = g->first[z]; p < g->first[z + 1]; p++)
			leads += g->lead[g->on[p]];
		changed |= g->zipper[z] && leads < 2;
		g->zipper[z] &= leads >= 2;
	}
	for (int f = 0; f < g->nfabrics; f++) {
		int zippers = 0;
		for (int z = 0; z < g->hosts->nzippers; z++)
			zippers += g->zipper[z] && is_on(g, z, f);
		bool leads = g->ends[f] || zippers >= 2;
		changed |= g->lead[f] != leads;
		g->lead[f] = leads;
	}
	return changed;
}

/* Goes one step from the fabrics at this distance to all zippers there, and to their other fabrics. */
static bool spread(struct zhostgraph *g, int far)
{
	bool any = false;
	for (int z = 0; z < g->hosts->nzippers; z++) {
		bool reached = false;
		for (int p = g->first[z]; p < g->first[z + 1]; p++)
			reached |= g->lead[g->on[p]] && g->far[g->on[p]] == far;
		if (!g->zipper[z] || g->near[z] >= 0 || !reached)
			continue;
		g->near[z] = far + 1;
		for (int p = g->first[z]; p < g->first[z + 1]; p++)
			if (g->lead[g->on[p]] && g->far[g->on[p]] < 0) {
				g->far[g->on[p]] = far + 1;
				any = true;
			}
	}
	return any;
}

static void forget(struct zhostgraph *g)
{
	for (int f = 0; f < g->nfabrics; f++)
		g->far[f] = -1;
	for (int z = 0; z < g->hosts->nzippers; z++)
		g->near[z] = -1;
}

void zhostgraph_measure(struct zhostgraph *g, int zipper)
{
	forget(g);
	g->near[zipper] = 0;
	for (int p = g->first[zipper]; p < g->first[zipper + 1]; p++)
		if (g->lead[g->on[p]])
			g->far[g->on[p]] = 0;
	for (int far = 0; spread(g, far); far++)
		;
}

/* Removes zippers that are not in one piece with the parts. All parts must be in one piece. */
static int take_piece(struct zhostgraph *g, struct zerr *err)
{
	char names[ZCTL_PARTS_MAX * (ZCTL_NAME_MAX + 1) + 1] = "";
	forget(g);
	g->far[g->part[0]] = 0;
	for (int far = 0; spread(g, far); far++)
		;
	for (int z = 0; z < g->hosts->nzippers; z++)
		g->zipper[z] &= g->near[z] >= 0;
	for (int i = 0; i < g->nparts; i++)
		sprintf(names + strlen(names), "%s%s", i ? "," : "", g->parts[i]);
	for (int i = 0; i < g->nparts; i++)
		if (g->far[g->part[i]] < 0)
			return zerr_set(err, -ENETUNREACH,
				"%s: no #ZIP zipper line serves all of the clusters %.128s, nor do several lead from "
				"%s to %s",
				g->hosts->path, names, g->parts[0], g->parts[i]);
	return 0;
}

int zhostgraph_find_useful(struct zhostgraph *g, const bool *left_out, struct zerr *err)
{
	for (int z = 0; z < g->hosts->nzippers; z++)
		g->zipper[z] = !left_out || !left_out[z];
	for (int f = 0; f < g->nfabrics; f++)
		g->lead[f] = true;
	while (prune(g))
		;
	return take_piece(g, err);
}

int zhostgraph_find_step(const struct zhostgraph *g, int fabric, int number, struct zhoststep *step)
{
	int n = 0;
	for (int z = 0; z < g->hosts->nzippers; z++) {
		if (!g->zipper[z] || g->near[z] != g->far[fabric] || !is_on(g, z, fabric))
			continue;
		for (int p = g->first[z]; p < g->first[z + 1]; p++) {
			int to = g->on[p];
			if (g->lead[to] && g->far[to] == g->far[fabric] - 1 && n++ == number)
				*step = (struct zhoststep){z, to};
		}
	}
	return n;
}

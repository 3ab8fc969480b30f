/* SPDX-License-Identifier: BSD-3-Clause */
/* Static mapping by Scotch, see map_scotch.h. The classes of nodes are the architecture. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/search/map_scotch.h"

#ifdef HAVE_SCOTCH
#include <scotch/scotch.h>

#define WEIGHT_MAX (UINT64_C(1) << 30) /* of all edges together, because Scotch adds with 32 bits */

/* Arrays that Scotch uses: they must stay as long as the graph. */
struct arrays {
	SCOTCH_Num *off, *adj, *weight;
	SCOTCH_Num arch_off[MAP_CLASSES_MAX + 1], slots[MAP_CLASSES_MAX], *arch_adj, *arch_far;
	SCOTCH_Num *piece;
};

static void arrays_free(struct arrays *a)
{
	free(a->off);
	free(a->adj);
	free(a->weight);
	free(a->arch_adj);
	free(a->arch_far);
	free(a->piece);
}

static int arrays_make(struct arrays *a, const struct map_problem *p)
{
	const struct map_graph *g = p->graph;
	const struct map_site *s = p->site;
	SCOTCH_Num at = 0;

	a->off = malloc(((size_t)g->n + 1) * sizeof(*a->off));
	a->adj = malloc((g->off[g->n] + 1) * sizeof(*a->adj));
	a->weight = malloc((g->off[g->n] + 1) * sizeof(*a->weight));
	a->piece = malloc(g->n * sizeof(*a->piece));
	a->arch_adj = malloc(((size_t)s->nclasses * s->nclasses + 1) * sizeof(*a->arch_adj));
	a->arch_far = malloc(((size_t)s->nclasses * s->nclasses + 1) * sizeof(*a->arch_far));
	if (!a->off || !a->adj || !a->weight || !a->piece || !a->arch_adj || !a->arch_far)
		return -ENOMEM;
	for (uint32_t v = 0; v <= g->n; v++)
		a->off[v] = (SCOTCH_Num)g->off[v];
	for (uint64_t e = 0; e < g->off[g->n]; e++) {
		uint64_t w = g->total > WEIGHT_MAX ? (uint64_t)((unsigned __int128)g->weight[e] * WEIGHT_MAX / g->total)
						   : g->weight[e];

		a->adj[e] = (SCOTCH_Num)g->adj[e];
		a->weight[e] = (SCOTCH_Num)(w ? w : 1);
	}
	for (uint32_t v = 0; v < g->n; v++)
		a->piece[v] = p->rules->pin[v] == MAP_NONE ? -1 : (SCOTCH_Num)s->nodes[p->rules->pin[v]].class;
	/* a class is near the classes that it shares a fabric with; other classes are behind zippers */
	for (uint32_t c = 0; c < s->nclasses; c++) {
		a->arch_off[c] = at;
		a->slots[c] = (SCOTCH_Num)s->classes[c].slots;
		for (uint32_t d = 0; d < s->nclasses; d++)
			if (d != c) {
				a->arch_adj[at] = (SCOTCH_Num)d;
				a->arch_far[at++] = 1 + 8 * s->far[c * s->nclasses + d];
			}
	}
	a->arch_off[s->nclasses] = at;
	return 0;
}

static int scotch_run(const struct map_problem *p, struct arrays *a, unsigned round, SCOTCH_Graph *graph,
	SCOTCH_Graph *machine, SCOTCH_Arch *arch, SCOTCH_Strat *halve, SCOTCH_Strat *strategy)
{
	const SCOTCH_Num n = (SCOTCH_Num)p->graph->n, k = (SCOTCH_Num)p->site->nclasses;

	/* Scotch's threads would race for the ranks that each matches. Every run would give another map, and a worse
	 * one. Scotch reads the variable anew for each graph. A setting of the caller must not change the map either.
	 */
	if (setenv("SCOTCH_PTHREAD_NUMBER", "1", 1))
		return -ENOMEM;
	SCOTCH_randomSeed((SCOTCH_Num)((p->seed + round) % INT32_MAX));
	SCOTCH_randomReset();
	if (SCOTCH_graphBuild(graph, 0, n, a->off, NULL, NULL, NULL, a->off[n], a->adj, a->weight) ||
		SCOTCH_graphBuild(machine, 0, k, a->arch_off, NULL, a->slots, NULL, a->arch_off[k], a->arch_adj,
			a->arch_far) ||
		SCOTCH_archBuild(arch, machine, 0, NULL, halve))
		return -EIO;
	return SCOTCH_graphMapFixed(graph, arch, strategy, a->piece) ? -EIO : 0;
}

int map_scotch_start(const struct map_problem *p, unsigned round, uint8_t *class, struct zerr *err)
{
	SCOTCH_Graph graph, machine;
	SCOTCH_Strat halve, strategy; /* the first use makes a strategy one for partitions, or one for mappings */
	SCOTCH_Arch arch;
	struct arrays a = {0};
	int rc = arrays_make(&a, p);

	if (rc) {
		arrays_free(&a);
		return zerr_set(err, rc, "not enough memory for Scotch");
	}
	SCOTCH_graphInit(&graph);
	SCOTCH_graphInit(&machine);
	SCOTCH_archInit(&arch);
	SCOTCH_stratInit(&halve);
	SCOTCH_stratInit(&strategy);
	rc = scotch_run(p, &a, round, &graph, &machine, &arch, &halve, &strategy);
	for (uint32_t v = 0; v < p->graph->n && !rc; v++)
		class[v] = (uint8_t)a.piece[v];
	SCOTCH_stratExit(&strategy);
	SCOTCH_stratExit(&halve);
	SCOTCH_archExit(&arch);
	SCOTCH_graphExit(&machine);
	SCOTCH_graphExit(&graph);
	arrays_free(&a);
	return rc ? zerr_set(err, rc, "Scotch: it failed") : 0;
}
#else
int map_scotch_start(const struct map_problem *p, unsigned round, uint8_t *class, struct zerr *err)
{
	(void)p;
	(void)round;
	(void)class;
	return zerr_set(err, -ENOTSUP, "built without Scotch");
}
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the least vertex cut of two sides of a graph as a least vertex cover of the edges between them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/search/map_vertexcut.h"

#define FREE UINT32_MAX

struct cover {
	const struct map_graph *g;
	const uint8_t *class;
	uint32_t a, b;
	uint32_t *mate;	 /* [n]: matched partner, or FREE */
	uint32_t *depth; /* [n]: of ranks of side a in a phase; FREE: not reached */
	uint32_t *queue; /* [n] */
	uint64_t *next;	 /* [n]: where the search goes on at this rank */
	uint32_t *stack; /* [n] */
};

/* Makes layers from the free ranks of side a along alternating paths. True if a free rank of side b is in reach. */
static bool layers_make(struct cover *c)
{
	const struct map_graph *g = c->g;
	uint32_t tail = 0;
	bool found = false;

	for (uint32_t v = 0; v < g->n; v++) {
		c->depth[v] = FREE;
		c->next[v] = g->off[v];
		if (c->class[v] == c->a && c->mate[v] == FREE) {
			c->depth[v] = 0;
			c->queue[tail++] = v;
		}
	}
	for (uint32_t head = 0; head < tail; head++) {
		uint32_t v = c->queue[head];

		for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++) {
			uint32_t mate = c->class[g->adj[e]] == c->b ? c->mate[g->adj[e]] : v;

			if (mate == FREE) {
				found = true;
			} else if (c->depth[mate] == FREE) {
				c->depth[mate] = c->depth[v] + 1;
				c->queue[tail++] = mate;
			}
		}
	}
	return found;
}

/* Turns round a path of alternating edges that starts at a free rank, if the layers have one. It does not use
 * recursion, because paths may be long. */
static void path_try(struct cover *c, uint32_t start)
{
	const struct map_graph *g = c->g;
	uint32_t top = 0;

	c->stack[0] = start;
	for (;;) {
		uint32_t v = c->stack[top];
		bool down = false;

		while (c->next[v] < g->off[v + 1] && !down) {
			uint32_t u = g->adj[c->next[v]++];

			if (c->class[u] != c->b)
				continue;
			if (c->mate[u] == FREE) {
				for (;; top--) { /* each rank of the path takes the rank that it looked at last */
					uint32_t w = c->stack[top], x = g->adj[c->next[w] - 1];

					c->mate[w] = x;
					c->mate[x] = w;
					if (!top)
						return;
				}
			}
			if (c->depth[c->mate[u]] == c->depth[v] + 1) {
				c->stack[++top] = c->mate[u];
				down = true;
			}
		}
		if (down)
			continue;
		c->depth[v] = FREE; /* leads nowhere */
		if (!top--)
			return;
	}
}

/* Takes the cover by Koenig's theorem: the ranks of side b that alternating paths from the free ranks of side a reach,
 * and the ranks of side a that they do not reach. */
static void cover_take(struct cover *c, uint32_t between, uint8_t *class)
{
	const struct map_graph *g = c->g;
	uint8_t *take = (uint8_t *)c->stack; /* [n]; the stack is not needed any more */

	layers_make(c);
	memset(take, 0, g->n);
	for (uint32_t v = 0; v < g->n; v++) {
		if (class[v] != c->a)
			continue;
		if (c->depth[v] == FREE)
			take[v] = c->mate[v] != FREE;
		for (uint64_t e = g->off[v]; e < g->off[v + 1] && c->depth[v] != FREE; e++)
			if (class[g->adj[e]] == c->b)
				take[g->adj[e]] = 1;
	}
	for (uint32_t v = 0; v < g->n; v++)
		if (take[v])
			class[v] = (uint8_t)between;
}

int map_vertexcut_make(const struct map_problem *p, uint32_t a, uint32_t b, uint32_t between, uint8_t *class,
	struct zerr *err)
{
	uint32_t n = p->graph->n;
	struct cover c = {.g = p->graph, .class = class, .a = a, .b = b};
	int rc = 0;

	c.mate = malloc(n * sizeof(*c.mate));
	c.depth = malloc(n * sizeof(*c.depth));
	c.queue = malloc(n * sizeof(*c.queue));
	c.stack = malloc(n * sizeof(*c.stack));
	c.next = malloc(n * sizeof(*c.next));
	if (!c.mate || !c.depth || !c.queue || !c.stack || !c.next) {
		rc = zerr_set(err, -ENOMEM, "not enough memory");
	} else {
		memset(c.mate, 0xff, n * sizeof(*c.mate));
		while (layers_make(&c))
			for (uint32_t v = 0; v < n; v++)
				if (class[v] == a && c.mate[v] == FREE)
					path_try(&c, v);
		cover_take(&c, between, class);
	}
	free(c.mate);
	free(c.depth);
	free(c.queue);
	free(c.stack);
	free(c.next);
	return rc;
}

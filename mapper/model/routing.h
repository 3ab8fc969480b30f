/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routings: one table entry and one file for each. A routing says which paths a message asks for in an iteration of
 * the allocation (draw), and how its bytes are spread over links in the end (spread).
 */
#ifndef ZIP_MAPPER_ROUTING_H
#define ZIP_MAPPER_ROUTING_H

#include <stdbool.h>
#include <stdint.h>

#include "mapper/net/net.h"

#define ROUTING_PATHS_MAX 16

struct adapt;
struct model_flow;
struct model_opts;

/* The paths of one message: path 0 is link[0..slots[0]-1], path 1 follows at once, and so on. */
struct path_set {
	uint32_t n;
	uint32_t slots[ROUTING_PATHS_MAX];
	uint32_t link[ROUTING_PATHS_MAX * NET_SLOTS_MAX];
};

/* What spread() gets. */
struct routing_job {
	const struct net *net;
	const struct model_flow *flow;
	unsigned number; /* of the flow */
	const struct model_opts *opts;
	struct adapt *adapt; /* the finished allocation; NULL if no flow is adaptive */
	struct net_load *load;
};

struct routing {
	const char *name;  /* "AD" */
	const char *title; /* "Adaptive Direct" */
	const char *help;
	bool adaptive; /* bytes are split in proportion to the allocated bandwidth: adapt must have been solved */
	bool direct;   /* asks for all shortest paths: draw() need not be called where the network is forked */
	bool fresh;    /* other paths in every iteration: bandwidth is exposed bit by bit */
	/* s != d; `bits` are random and differ for each pair and iteration. */
	void (*draw)(const struct net *, const struct model_opts *, uint32_t s, uint32_t d, uint64_t bits,
		struct path_set *);
	int (*spread)(const struct routing_job *);
};

/* For draw(): appends a path and returns where its links go. */
static inline uint32_t *path_set_add(struct path_set *p, uint32_t slots)
{
	uint32_t *link = p->link;

	for (uint32_t i = 0; i < p->n; i++)
		link += p->slots[i];
	p->slots[p->n++] = slots;
	return link;
}

/* Appends `want` different shortest paths, all if there are no more. */
void routing_draw_direct(const struct net *, uint32_t s, uint32_t d, uint64_t bits, uint32_t want, struct path_set *);
/* Appends random indirect paths until there are `want`. */
void routing_draw_indirect(const struct net *, uint32_t s, uint32_t d, uint64_t bits, uint32_t want, struct path_set *);

#endif

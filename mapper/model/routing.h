/* SPDX-License-Identifier: BSD-3-Clause */
/* Routings. A routing says which paths a message asks for in an iteration of the allocation (draw), and how the bytes
 * are spread over links in the end (spread). All routings stand in one table, routing_table.h. */
#ifndef ZIP_MAPPER_ROUTING_H
#define ZIP_MAPPER_ROUTING_H

#include <stdbool.h>
#include <stdint.h>

#include "mapper/net/net.h"

#define ROUTING_PATHS_MAX 16

struct adapt;
struct model_flow;
struct model_opts;

/* The paths of one message. Path 0 is link[0..slots[0]-1], path 1 follows it, and so on. */
struct path_set {
	uint32_t n;
	uint32_t slots[ROUTING_PATHS_MAX];
	uint32_t link[ROUTING_PATHS_MAX * NET_SLOTS_MAX];
};

/* The arguments of spread(). */
struct routing_job {
	const struct net *net;
	const struct model_flow *flow;
	unsigned number; /* index of the flow */
	const struct model_opts *opts;
	struct adapt *adapt; /* the finished allocation; NULL if no flow is adaptive */
	struct net_load *load;
};

struct routing {
	const char *name;  /* "AD" */
	const char *title; /* "Adaptive Direct" */
	const char *help;
	/* bytes are split in proportion to the allocated bandwidth: the allocation must have been made */
	bool adaptive;
	bool direct;	     /* asks for all shortest paths: draw() is not needed where the network is forked */
	bool local;	     /* the first router of a path looks at its own link on it alone, not at the whole path */
	bool fresh;	     /* other paths in every iteration: bandwidth is exposed step by step */
	const char *unknown; /* said where spread() gives -ENOTSUP */
	/* Adds the paths that the message asks for. s != d. `bits` are random, and differ for each pair and iteration.
	 */
	void (*draw)(const struct net *, const struct model_opts *, uint32_t s, uint32_t d, uint64_t bits,
		struct path_set *);
	int (*spread)(const struct routing_job *);
};

/* For draw(): appends a path. Returns where its links are to be written. */
static inline uint32_t *path_set_add(struct path_set *p, uint32_t slots)
{
	uint32_t *link = p->link;

	for (uint32_t i = 0; i < p->n; i++)
		link += p->slots[i];
	p->slots[p->n++] = slots;
	return link;
}

/* Appends `want` different shortest paths, or all if there are fewer. */
void routing_draw_direct(const struct net *, uint32_t s, uint32_t d, uint64_t bits, uint32_t want, struct path_set *);
/* Appends random indirect paths until there are `want`. */
void routing_draw_indirect(const struct net *, uint32_t s, uint32_t d, uint64_t bits, uint32_t want, struct path_set *);

#endif

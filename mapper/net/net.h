/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network for the model: points that send and receive, directed links, and the paths between points. Each topology
 * has one operations table and files of its own. A struct net does not change once it has been created; any thread may
 * read it.
 *
 * Link 0, and every link of class NET_NONE, is void: it carries nothing, holds any load, and fills up paths, so that
 * all paths of a kind have the same number of entries.
 */
#ifndef ZIP_MAPPER_NET_H
#define ZIP_MAPPER_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "mapper/base/spec.h"

#define NET_VOID 0u
/* entries of a path: 10 and two node links in a dragonfly; more in tori and joined networks */
#define NET_SLOTS_MAX 96
#define NET_LINK_NAME_SIZE 208 /* bytes for any name of a link, with its end */
#define NET_NO_NODE UINT32_MAX
#define NET_OWN_DIFFER UINT8_MAX /* for own_slot: not the same in all parts */

enum net_class {
	NET_NONE,
	NET_ROW,    /* dragonfly, level 1, within a chassis */
	NET_COLUMN, /* dragonfly, level 1, between the chassis of a group */
	NET_GLOBAL, /* dragonfly and megafly, between groups (level 2) */
	NET_UP,	    /* fat tree, megafly and crossbar, towards the roots */
	NET_DOWN,
	NET_INJECT, /* from a node to its router, where that link is limited */
	NET_EJECT,
	NET_PORT,    /* between a zipper node and a fabric */
	NET_FORWARD, /* inside a zipper node, one for each direction */
	NET_TORUS,   /* between neighbours, in any dimension */
	NET_HYPERX,  /* in any dimension */
	NET_PEER,    /* between routers that are all alike */
	NET_CLASSES
};

/* Nodes come in blocks: a node, the nodes of a router, those of a chassis, those of a group. */
enum net_level { NET_NODE, NET_ROUTER, NET_CHASSIS, NET_GROUP, NET_LEVELS };

struct net;
struct traffic;

/* Loads in bytes, one for each link, and their expected sum. */
struct net_load {
	double *bytes;	  /* [net->links]; loads are added */
	double byte_hops; /* bytes x links crossed, found without looking at bytes[]; added, too */
};

/* A leg: two links, of which some may be void, and the other way to make the same step, with as many void links. Where
 * there is one way only, both entries are that way. */
struct net_leg {
	uint32_t link[2][2];
};

/* All shortest paths of a pair as a product: either way of the first leg, the middle, either way of the last leg. */
struct net_fork {
	uint32_t first, last; /* legs, 0..net->legs-1; many pairs share them */
	uint32_t middle[3];   /* links */
};

struct net_ops {
	const char *name;
	const char *help; /* the keys of a description; several lines */
	bool joins; /* a description has several statements: networks, and what joins them. Else it is one statement */
	bool takes_value; /* a value may stand behind the name, as in "torus:8x8x8" */
	/* Makes the network from the statements of a description. table: all topologies, for networks that are joined.
	 */
	int (*create)(struct spec_list *, const struct net_ops *const *table, struct net **, struct zerr *);
	void (*destroy)(struct net *);
	/* The point of a node. */
	uint32_t (*point)(const struct net *, uint32_t node);
	/* The node of a name, or NET_NO_NODE; and the name of a node. NULL in a topology whose nodes have numbers only.
	 */
	uint32_t (*node_find)(const struct net *, const char *name);
	const char *(*node_name)(const struct net *, uint32_t node);
	/* The number of shortest paths from s to d (s != d); and the k-th of them, into net->direct_slots entries. */
	uint32_t (*direct_count)(const struct net *, uint32_t s, uint32_t d);
	void (*direct)(const struct net *, uint32_t s, uint32_t d, uint32_t k, uint32_t *link);
	/* The number of the shortest path that deterministic routing takes. NULL: d modulo the number of shortest
	 * paths. */
	uint32_t (*single)(const struct net *, uint32_t s, uint32_t d);
	/* All shortest paths from s to d at once, if net->forked. May be NULL in a topology that is never forked. Links
	 * are void where nothing is crossed. */
	void (*fork)(const struct net *, uint32_t s, uint32_t d, struct net_fork *);
	/* Legs first..first+n-1, if net->forked. */
	void (*legs_list)(const struct net *, uint32_t first, uint32_t n, struct net_leg *);
	/* An indirect path, chosen by the 64 random bits, into net->indirect_slots entries. */
	void (*indirect)(const struct net *, uint32_t s, uint32_t d, uint64_t bits, uint32_t *link);
	/* Adds the load of traffic: split evenly over all shortest paths; and the exact expectation over all indirect
	 * paths. 0 or -ENOMEM. The result does not depend on the number of threads. */
	int (*load_direct)(const struct net *, const struct traffic *, unsigned threads, struct net_load *);
	int (*load_indirect)(const struct net *, const struct traffic *, unsigned threads, struct net_load *);
	/* Adds the load of traffic that each router splits evenly over the links that lead on. The result -ENOTSUP says
	 * that this is not known, and so does NULL. */
	int (*load_ecmp)(const struct net *, const struct traffic *, unsigned threads, struct net_load *);
	/* A name like "g0.c1.r2>g0.c1.r5", unique among the links that are not void. */
	void (*link_name)(const struct net *, uint32_t link, char *buf, size_t size);
};

struct net {
	const struct net_ops *ops;
	char *where; /* "network", or the file that describes it; stands in front of errors. NULL in a joined member */
	uint32_t nodes, cores; /* cores of each node */
	uint32_t points;
	uint32_t links;			       /* including void links */
	uint32_t direct_slots, indirect_slots; /* indirect_slots >= direct_slots */
	/* The first entry of a path that may be a link of its first router: 1 where a node's own link comes before,
	 * else 0 */
	uint8_t own_slot;
	/* 0: not forked. Else all shortest paths have the form of net_fork, with so many entries of `middle` */
	uint8_t forked;
	uint32_t legs;		    /* if forked */
	uint32_t level[NET_LEVELS]; /* nodes in a block; level[NET_NODE] = 1, and each divides the next one and nodes */
	uint8_t *link_class;	    /* [links], enum net_class */
	float *capacity;	    /* [links], bytes a second; FLT_MAX for void ones */
	uint16_t cables[NET_CLASSES]; /* parallel cables that share a link of this class evenly; >= 1 */
};

/* Makes a network from a description by a table of topologies, which ends with NULL (topology.h has the one of this
 * program). 0 or a negative errno with the reason. */
int net_create_list(struct spec_list *, const struct net_ops *const *table, struct net **, struct zerr *);
void net_destroy(struct net *);

/* For topologies: fills in ops, cables = 1, and link_class and capacity (all links void). 0 or -ENOMEM. */
int net_init(struct net *, const struct net_ops *, uint32_t links, struct zerr *);
void net_fini(struct net *);
static inline void net_set_link(struct net *net, uint32_t link, enum net_class class, double bandwidth)
{
	net->link_class[link] = (uint8_t) class;
	net->capacity[link] = (float)bandwidth;
}

/* The number of the shortest path from s to d (s != d) that deterministic routing takes. */
static inline uint32_t net_single(const struct net *net, uint32_t s, uint32_t d)
{
	return net->ops->single ? net->ops->single(net, s, d) : d % net->ops->direct_count(net, s, d);
}

/* Reads lines "NAME BANDWIDTH" into net->capacity. 0 or a negative errno with the reason. */
int net_read_bandwidths(struct net *, const char *path, struct zerr *);

/* For topologies without a closed form: loads all shortest paths by writing them down. The cost is items x paths. */
int net_load_enumerated(const struct net *, const struct traffic *, unsigned threads, struct net_load *);
/* Loads the path of deterministic routing. */
int net_load_single(const struct net *, const struct traffic *, unsigned threads, struct net_load *);

/* Adds the bytes that each point sends and receives. */
void net_sum_ends(const struct traffic *, double *sent, double *received);

#endif

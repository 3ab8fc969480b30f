/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where ranks may run: the nodes of a hostfile with their slots, and classes of nodes that are alike for messages
 * between clusters. A node is attached to one fabric; a zipper node is attached to the fabrics of its ports. Two ranks
 * reach each other without zipperd if their nodes have a fabric in common. Other messages are forwarded: once in a job
 * whose clusters are joined by one zipper, else as often as the shortest way over fabrics requires.
 *
 * Made once, then read by any thread. The hostfile must stay.
 */
#ifndef ZIP_MAPPER_MAP_SITE_H
#define ZIP_MAPPER_MAP_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/err.h"
#include "common/hosts/hostfile.h"
#include "mapper/site/map_hardware.h"

#define MAP_CLASSES_MAX 256
#define MAP_FEATURES_MAX 8
#define MAP_FAR 64 /* forwards between fabrics that no zippers join: more than any real way has */
#define MAP_NONE UINT32_MAX

struct map_node {
	const char *name;
	uint32_t cluster; /* the cluster above the host's line in the hostfile */
	int line;
	uint64_t fabrics;		  /* bit c: reaches the hosts of cluster c */
	uint64_t ports;			  /* for a zipper node: bits of the networks that it has ports on; else 0 */
	uint32_t listed;		  /* slots as written in the hostfile */
	uint32_t slots;			  /* for ranks: 0 on forbidden nodes, and on nodes too slow to be needed */
	uint32_t limit[MAP_FEATURES_MAX]; /* ranks that may need this feature */
	bool zipper;
	bool shared; /* other jobs run on some of its cores, and it is not known on which */
	double speed;
	uint32_t class;	   /* MAP_NONE for a node without slots */
	uint32_t hardware; /* index into map_site.machines; MAP_NONE: not known */
};

struct map_class {
	uint64_t fabrics;
	uint32_t features;			 /* bit f: some of its nodes have feature f */
	uint32_t slots, limit[MAP_FEATURES_MAX]; /* sums over its nodes */
	bool zipper;				 /* its nodes have more than one fabric */
};

/* The hardware of nodes that are alike. */
struct map_machine {
	int node;   /* index into zhostfile.nodes, or -1 */
	int zipper; /* cores are kept free near the device of this zipper; -1: none */
	struct map_hardware hardware;
};

struct map_site {
	const struct zhostfile *hosts;
	struct map_node *nodes;
	uint32_t nnodes, nclusters;
	struct map_class *classes;
	uint32_t nclasses;
	/* all zippers forward, several in a row where needed; else only those that serve all clusters of the job */
	bool all_zippers;
	uint32_t rails;	     /* of the latter only the first ones, exactly so many; 0: all */
	const char **fabric; /* [nfabrics]: names of the clusters, then of the fabrics between zippers */
	uint32_t nfabrics;
	uint8_t *hops;				/* [nfabrics * nfabrics], see map_ways_hops */
	uint8_t *far;				/* [nclasses * nclasses]: forwards between ranks of two classes */
	const char *features[MAP_FEATURES_MAX]; /* features that some rank needs */
	uint32_t nfeatures;
	struct map_machine *machines;
	uint32_t nmachines;
	uint32_t slots; /* of all nodes */
};

struct map_site_opts {
	int reserve; /* cores kept free on each zipper node whose hardware is known; -1: two for each pair of fabrics */
	const char *const *features; /* features that ranks need */
	uint32_t nfeatures;
	bool all_zippers; /* as in map_site */
	uint32_t rails;
};

/* Makes all nodes, with all their slots. 0, -EINVAL with file and line, -ENOMEM. */
int map_site_create(struct map_site *, const struct zhostfile *, const struct map_site_opts *, struct zerr *);
/* Puts nodes with the same fabrics and features into classes, and finds the distances between classes. To be called
 * again after slots have changed. 0, -E2BIG, -ENOMEM. */
int map_site_classify(struct map_site *, struct zerr *);
/* Index of a node by its name in the hostfile, or MAP_NONE. */
uint32_t map_site_find(const struct map_site *, const char *name);
void map_site_free(struct map_site *);

#endif

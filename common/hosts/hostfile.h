/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The zipper hostfile, zipper.hosts(5): a Hydra hostfile whose "#ZIP" lines say which cluster the hosts below belong
 * to, and where the zippers are. Start-up only; one thread; the struct owns everything it points to.
 *
 *   #ZIP cluster NAME [OPTION=VALUE ...]      hosts below belong to it; options: launcher, launcher-exec, iface,
 *                                             localhost (passed to that cluster's mpiexec), n (ranks, default slots),
 *                                             device (DEVICE:PORT that its ranks use)
 *   #ZIP zipper HOST FABRIC=ADDRESS ...       a zipper node; a fabric is named like the cluster it serves, or
 *                                             is a transit fabric, which joins zippers alone: two or more
 *   #ZIP node HOST[,HOST ...] OPTION ...      what zipmap should know of hosts: speed=X, cores=N, reserve=N,
 *                                             topology=TEXT, hca=NAME; any other word is a feature (gpu, gpu=4)
 *   HOST[:SLOTS] [hydra options]              as Hydra reads them
 */
#ifndef ZIP_COMMON_HOSTS_HOSTFILE_H
#define ZIP_COMMON_HOSTS_HOSTFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/transport/base/addr.h"

struct zhost {
	char *name;
	int slots;  /* 1 if not written */
	char *rest; /* what stood behind, for Hydra; NULL if nothing */
	int line;   /* in the file, for messages */
	int node;   /* index of its "#ZIP node" line in zhostfile.nodes, or -1 */
};

struct zfeature {
	char *name;
	int count; /* of ranks that may use it at a time; -1: as many as the host takes */
};

struct znode {
	char **names; /* hosts; ranges are expanded */
	int nnames;
	double speed;	/* of a core, > 0; 1 if not written */
	int cores;	/* physical ones, or -1 */
	int reserve;	/* cores kept free for zipperd, or -1 */
	char *topology; /* as written, or NULL: a file, hwloc's synthetic description with commas for blanks, "here" */
	char *hca;	/* name of the device in the topology, or index of a NUMA node; or NULL */
	struct zfeature *features;
	int nfeatures;
	int line;
};

struct zcluster {
	char *name;
	struct zhost *hosts;
	int nhosts;
	int slots;					    /* sum */
	char *launcher, *launcher_exec, *iface, *localhost; /* NULL if not given */
	char *device;					    /* DEVICE:PORT; NULL if not given */
	int nranks;					    /* n=, or 0 */
	int line;
};

struct zport {
	char *fabric;
	struct zaddr addr;
	bool fixed; /* port (TCP, also behind the @ of Verbs) or path (shm) is written: a zipperd that runs there.
		     * Without, whoever starts the job may start one. Verbs without @: addr.via is the zipper's host */
};

struct zzipper {
	char *host;
	struct zport *ports;
	int nports;
	int line;
};

struct zhostfile {
	char *path;
	struct zcluster *clusters;
	int nclusters;
	struct zzipper *zippers;
	int nzippers;
	struct znode *nodes;
	int nnodes;
	void *names; /* while it is read: a tree (tsearch(3)) of the first hosts of each name */
};

/* 0, or a negative errno with "path:line: reason". Checked: unknown directive or option, missing name, duplicate
 * cluster, host in two clusters, slots that are no positive number, fabric of one zipper alone without a cluster of
 * that name, zipper with fewer than two fabrics, fabric given twice, bad address, host line before any cluster
 * (allowed: cluster "default"), empty cluster, no host at all, a node line for no host or a second one for a host, a
 * comment that was meant as a directive ("# zip cluster"). On error nothing is owned. */
int zhostfile_read(struct zhostfile *, const char *path, struct zerr *);
/* The same from an open stream; path is only for messages. */
int zhostfile_parse(struct zhostfile *, FILE *, const char *path, struct zerr *);
void zhostfile_free(struct zhostfile *);

#endif

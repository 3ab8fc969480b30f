/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The zipper hostfile, zipper.hosts(5): a Hydra hostfile whose "#ZIP" lines say to which cluster the hosts below
 * belong, and where the zippers are. Start-up only; one thread; the struct owns everything it points to.
 *
 *   #ZIP cluster NAME [OPTION=VALUE ...]      hosts below belong to it; options: launcher, launcher-exec, iface,
 *                                             localhost (passed to that cluster's mpiexec), n (ranks, default slots),
 *                                             device (DEVICE:PORT that its ranks use), mpiexec (the one of its
 *                                             MPI), mpi (mpich or openmpi)
 *   #ZIP zipper HOST FABRIC=ADDRESS ...       a zipper node; a fabric has the name of the cluster that it serves, or
 *                                             is a transit fabric, which only joins zippers: two or more
 *   #ZIP node HOST[,HOST ...] OPTION ...      what zipmap should know of hosts: speed=X, cores=N, reserve=N,
 *                                             topology=TEXT, hca=NAME; any other word is a feature (gpu, gpu=4)
 *   HOST[:SLOTS] [hydra options]              as Hydra reads them; here HOST may also be a list, node[01-04,7], whose
 *                                             hosts have SLOTS each
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
	char *rest; /* the words behind it, for Hydra; NULL: none */
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
	int slots;					    /* sum over its hosts */
	char *launcher, *launcher_exec, *iface, *localhost; /* NULL if not given */
	char *device;					    /* DEVICE:PORT; NULL if not given */
	char *mpiexec, *mpi;				    /* NULL if not given */
	int nranks;					    /* n=, or 0 */
	int line;
};

struct zport {
	char *fabric;
	struct zaddr addr;
	bool fixed; /* a port (TCP, also behind the @ of Verbs) or path (shm) is written: a zipperd runs there. If not,
		       the launcher of the job may start one. Verbs without @: addr.via is the zipper's host */
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
	void *names; /* while the file is read: a tree (tsearch(3)) of the first hosts of each name */
};

/*
 * Reads a hostfile. Returns 0, or a negative errno with "path:line: reason"; on error nothing is owned. It refuses: an
 * unknown directive or option, a missing name, a duplicate cluster, a host in two clusters, slots that are no positive
 * number, a fabric of a single zipper without a cluster of that name, a zipper with fewer than two fabrics, a fabric
 * that is given twice, a bad address, an empty cluster, a file without hosts, a node line for no host or a second one
 * for a host, a comment that was meant as a directive ("# zip cluster"). Host lines before any cluster belong to the
 * cluster "default".
 */
int zhostfile_read(struct zhostfile *, const char *path, struct zerr *);
/* Reads from an open stream. The path only stands in messages. */
int zhostfile_parse(struct zhostfile *, FILE *, const char *path, struct zerr *);
/* As zhostfile_read, but takes a file without any host, too: only clusters and zippers. */
int zhostfile_read_bare(struct zhostfile *, const char *path, struct zerr *);
/* Has each cluster a host? 0, or -EINVAL with text: the first one that has none. */
int zhostfile_check_hosts(const struct zhostfile *, struct zerr *);
/* Adds a host to one of the clusters, as a line of its own would. 0, or a negative errno with text. */
int zhostfile_add_host(struct zhostfile *, int cluster, const char *name, int slots, struct zerr *);
void zhostfile_free(struct zhostfile *);

#endif

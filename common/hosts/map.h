/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement maps, zipper.map(5): which virtual rank runs on which node, in which cluster, on which cores. zipmap writes
 * them, zmpirun and libzipper read them. Start-up only; one thread; the struct owns everything it points to.
 *
 *   RANKS NODE [CLUSTER [CPUS]]      RANKS: 7, 0-3 or 0-3,8; CPUS: as 0-3,8, for each of these ranks;
 *                                    CLUSTER: "-" or nothing where the node belongs to one only
 *   #ZIP NODE: cores CPUS are kept for zipperd       that zmpirun starts there
 *   #ZIP ...                         what else the writer says of the map (predicted cost); like any comment not read
 */
#ifndef ZIP_COMMON_HOSTS_MAP_H
#define ZIP_COMMON_HOSTS_MAP_H

#include <stdint.h>
#include <stdio.h>

#include "common/base/err.h"
#include "common/hosts/hostfile.h"

#define ZMAP_NONE UINT32_MAX

struct zmap_place {
	uint32_t node;	  /* index into zmap.names */
	uint32_t cluster; /* the same; ZMAP_NONE: not written */
	uint32_t cpus;	  /* the same, as written; ZMAP_NONE: not bound */
	uint32_t line;	  /* in the file, for messages */
};

struct zmap_kept {	     /* cores without ranks */
	uint32_t node, cpus; /* as above */
};

struct zmap {
	char *path;
	uint32_t nranks;
	struct zmap_place *places; /* [nranks], by vrank */
	struct zmap_kept *kept;	   /* [nkept] */
	uint32_t nkept;
	char **names; /* [nnames], each text once */
	uint32_t nnames;
};

/* 0, or a negative errno with "path:line: reason". Checked: words, numbers, that the ranks are 0 to n-1 (n at most
 * ZCTL_RANKS_MAX), each once. On error nothing is owned. */
int zmap_read(struct zmap *, const char *path, struct zerr *);
/* The same from an open stream; path is only for messages. */
int zmap_parse(struct zmap *, FILE *, const char *path, struct zerr *);
void zmap_free(struct zmap *);

/* Where a rank runs, in the words of the hostfile. */
struct zmap_target {
	uint32_t cluster;  /* the part that it takes part in: index into clusters */
	uint32_t of, host; /* its host is clusters[of].hosts[host]; of differs from cluster on some zipper nodes */
};

/* Finds every rank's host and cluster: targets is the caller's, [nranks]. Refused with path and line: a node that is
 * not in the hostfile, a cluster that the node does not belong to, a zipper node without a port on the cluster's
 * fabric, more ranks on a node than it has slots (unless oversubscribe). A zipper node's ranks belong to the cluster
 * above its host line where the map does not say. 0 or a negative errno. */
int zmap_resolve(const struct zmap *, const struct zhostfile *, bool oversubscribe, struct zmap_target *targets,
	struct zerr *);

/* The cores kept for zipperd on that node, as written; NULL: none. Case does not matter, as in zhostfile_find_zipper.
 */
const char *zmap_find_kept(const struct zmap *, const char *node);

/* CPUS as written -> "0+1+2+3+8", the form of mpiexec's -bind-to user:. Returns the length, which may be more than fits
 * (snprintf). text must be one that zmap_parse let pass. */
int zmap_format_cpus(const char *text, char *buf, size_t cap);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Placement maps, zipper.map(5): the node, cluster and cores of each virtual rank. zipmap writes them; zmpirun and
 * libzipper read them. Start-up only; one thread; the struct owns everything it points to.
 *
 *   RANKS NODE [CLUSTER [CPUS]]      RANKS: 7, 0-3 or 0-3,8; NODE: one, or a list as node[01-04,7], on which the ranks
 *                                    are divided equally, in order; CPUS: as 0-3,8, for each of these ranks;
 *                                    CLUSTER: "-" or nothing where the node belongs to one cluster only
 *   #ZIP NODE: cores CPUS are kept for zipperd       that zmpirun starts there
 *   #ZIP ...                         other remarks of the writer (predicted cost); not read, as any comment
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
	uint32_t cluster; /* likewise; ZMAP_NONE: not written */
	uint32_t cpus;	  /* likewise, as written; ZMAP_NONE: not bound */
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

/* Reads a map. Returns 0, or a negative errno with "path:line: reason"; on error nothing is owned. It checks words and
 * numbers, and that the ranks are 0 to n-1 (n at most ZCTL_RANKS_MAX), each once. */
int zmap_read(struct zmap *, const char *path, struct zerr *);
/* Reads from an open stream. The path only stands in messages. */
int zmap_parse(struct zmap *, FILE *, const char *path, struct zerr *);
void zmap_free(struct zmap *);

/* The place of a rank in the hostfile. */
struct zmap_target {
	uint32_t cluster;  /* the rank's part: index into clusters */
	uint32_t of, host; /* its host is clusters[of].hosts[host]; of differs from cluster on some zipper nodes */
};

/* Finds every rank's host and cluster: targets is the caller's, [nranks]. It refuses with path and line: a node that is
 * not in the hostfile, a cluster that the node does not belong to, a zipper node without a port on the cluster's
 * fabric, more ranks on a node than it has slots (unless oversubscribe). Where the map names no cluster, the ranks of a
 * zipper node belong to the cluster above its host line. Returns 0 or a negative errno. */
int zmap_resolve(const struct zmap *, const struct zhostfile *, bool oversubscribe, struct zmap_target *targets,
	struct zerr *);

/* The cores kept for zipperd on that node, as written; NULL: none. Case does not matter, as in zhostfile_find_zipper.
 */
const char *zmap_find_kept(const struct zmap *, const char *node);

/* Writes CPUS as "0+1+2+3+8", the form of mpiexec's -bind-to user:. Returns the length, which may be more than fits
 * (snprintf). zmap_parse must have accepted the text. */
int zmap_format_cpus(const char *text, char *buf, size_t cap);

#endif

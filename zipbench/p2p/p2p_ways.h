/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ways between two ranks, each with the command that starts its job: native inside a cluster, bridged by zippers,
 * direct between ranks that share a fabric, and those that the user adds.
 */
#ifndef ZIPBENCH_P2P_P2P_WAYS_H
#define ZIPBENCH_P2P_P2P_WAYS_H

#include <stdbool.h>

#include "common/base/err.h"

#define P2P_WAYS_MAX 16
#define P2P_WORDS_MAX 64
#define P2P_WAY_NAME_MAX 24

struct p2p_way {
	char name[P2P_WAY_NAME_MAX];
	char *word[P2P_WORDS_MAX + 1]; /* the launcher and its options, ended by NULL; owned */
	bool bridged;		       /* direct links are switched off */
	bool direct;		       /* counts only if messages went directly, as --stats tells */
};

struct p2p_added { /* --add NAME=COMMAND */
	const char *text[P2P_WAYS_MAX];
	unsigned n;
};

struct p2p_where {
	const char *zmpirun;
	const char *hostfile; /* or NULL: clusters on this machine */
	const char *clusters; /* their sizes, or NULL: as many ranks each as there are pairs */
	const char *hosts;    /* of the hostfile, as "A,B"; NULL: the first ones of the first and the last cluster */
	const char *ways;     /* names, as "native,bridged"; NULL: all */
	struct p2p_added added;
	unsigned pairs;
};

struct p2p_ways {
	unsigned n;
	struct p2p_way way[P2P_WAYS_MAX];
};

/* Finds the commands. A way that cannot be had is left out, with a line on stderr that begins with `program`. 0, or a
 * negative errno with text: a name or a command is wrong, the hostfile cannot be read, no way is left. */
int p2p_ways_init(struct p2p_ways *, const struct p2p_where *, const char *program, struct zerr *);
void p2p_ways_free(struct p2p_ways *);

#endif

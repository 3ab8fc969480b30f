/* SPDX-License-Identifier: BSD-3-Clause */
/* The topologies that there are: one table above their files. */
#ifndef ZIP_MAPPER_TOPOLOGY_H
#define ZIP_MAPPER_TOPOLOGY_H

#include "mapper/net/net.h"

extern const struct net_ops *const topology_table[]; /* NULL-terminated */

/* Presets, for --help. */
struct topology_preset {
	const char *name, *text, *help;
};
extern const struct topology_preset topology_presets[]; /* ends with a NULL name */

/* Makes a network from a text: the words of a topology, or the path of a file with such words. The name of a preset may
 * stand for the words of a topology; keys behind it replace the preset's. 0 or a negative errno with the reason. Free
 * with net_destroy. */
int topology_create(const char *text, struct net **, struct zerr *);

#endif

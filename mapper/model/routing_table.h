/* SPDX-License-Identifier: BSD-3-Clause */
/* The routings that there are: one table above their files. */
#ifndef ZIP_MAPPER_ROUTING_TABLE_H
#define ZIP_MAPPER_ROUTING_TABLE_H

#include "mapper/model/routing.h"
#include "mapper/model/routing_table.h"

extern const struct routing *const routing_table[]; /* NULL-terminated */

/* Finds a routing by its name, in upper or lower case. NULL: there is none. */
const struct routing *routing_table_find(const char *name);

#endif

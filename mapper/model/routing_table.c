/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of routings. */
#include <strings.h>

#include "mapper/model/route_adaptive.h"
#include "mapper/model/route_deterministic.h"
#include "mapper/model/route_packets.h"
#include "mapper/model/route_static.h"
#include "mapper/model/routing_table.h"

const struct routing *const routing_table[] = {&route_static_direct, &route_adaptive_direct, &route_static_indirect,
	&route_adaptive_indirect, &route_adaptive_hybrid, &route_packets_indirect, &route_deterministic,
	&route_static_ecmp, &route_adaptive_local, NULL};

const struct routing *routing_table_find(const char *name)
{
	for (const struct routing *const *r = routing_table; *r; r++)
		if (!strcasecmp((*r)->name, name))
			return *r;
	return NULL;
}

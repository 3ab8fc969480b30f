/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of a part on one host take the numbers that the map has for that host and part, in their order. */
#include "libzip/start/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/hosts/map.h"
#include "libzip/shim/shim.h"

#define HOST_BYTES (ZCTL_NAME_MAX + 1)

/* How many ranks of the part run on this host, and how many of them come before this one. Every process of a part names
 * its host in the same way; this asks nothing of how the native library sees the machine. */
static int count_here(const struct zctl_join *join, uint32_t *count, uint32_t *before, struct zerr *err)
{
	char *hosts = malloc((size_t)join->size * HOST_BYTES);
	int rc = hosts ? 0 : zerr_set(err, -ENOMEM, "out of memory");

	*count = *before = 0;
	if (rc == 0 && zn.Allgather(join->host, HOST_BYTES, MPI_CHAR, hosts, HOST_BYTES, MPI_CHAR, MPI_COMM_WORLD) !=
			       MPI_SUCCESS)
		rc = zerr_set(err, -EIO, "cannot exchange the names of the hosts");
	for (uint32_t i = 0; rc == 0 && i < join->size; i++) {
		bool here = strncasecmp(hosts + (size_t)i * HOST_BYTES, join->host, HOST_BYTES) == 0;
		*count += here;
		*before += here && i < join->rank;
	}
	free(hosts);
	return rc;
}

static bool is_ours(const struct zmap *map, const struct zmap_place *place, const struct zctl_join *join)
{
	return strcasecmp(map->names[place->node], join->host) == 0 &&
	       (place->cluster == ZMAP_NONE || strcmp(map->names[place->cluster], join->part) == 0);
}

int zplacement_find(const char *path, struct zctl_join *join, struct zerr *err)
{
	struct zmap map;
	uint32_t count, before, found = 0;
	int rc = count_here(join, &count, &before, err);

	if (rc == 0)
		rc = zmap_read(&map, path, err);
	if (rc != 0)
		return rc;
	for (uint32_t v = 0; v < map.nranks; v++)
		if (is_ours(&map, &map.places[v], join) && found++ == before)
			join->vrank = v;
	if (found != count)
		rc = zerr_set(err, -EINVAL, "%s has %u ranks for part %s on %s, but %u run there", path, found,
			join->part, join->host, count);
	zmap_free(&map);
	return rc;
}

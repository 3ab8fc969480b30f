/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank of this process by the placement map. See placement.h. The ranks of a part on one host take the numbers
 * that the map has for this host and part, in their order. */
#include "libzip/start/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/hosts/map.h"
#include "libzip/shim/shim.h"

#define HOST_BYTES (ZCTL_NAME_MAX + 1)

/* Counts the ranks of the part on this host, and those of them before this rank. Every process of a part names its
 * host in the same way, so the native library's view of the machine does not matter. */
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

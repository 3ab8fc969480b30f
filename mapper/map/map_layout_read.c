/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a layout from a map file, see map_layout_read.h. */
#include <errno.h>
#include <stdlib.h>

#include "common/hosts/map.h"
#include "mapper/map/map_layout_read.h"

int map_layout_read(struct map_layout *l, const char *path, const struct zhostfile *hosts, bool oversubscribe,
	struct zerr *err)
{
	struct zmap_target *target;
	uint32_t first[64], at = 0;
	struct zmap map;
	int rc = zmap_read(&map, path, err);

	if (rc)
		return rc;
	target = malloc(((size_t)map.nranks + 1) * sizeof(*target));
	rc = target ? zmap_resolve(&map, hosts, oversubscribe, target, err)
		    : zerr_set(err, -ENOMEM, "not enough memory");
	if (!rc)
		rc = map_layout_create(l, map.nranks, err);
	for (int c = 0; c < hosts->nclusters; c++) {
		first[c] = at;
		at += (uint32_t)hosts->clusters[c].nhosts;
	}
	for (uint32_t v = 0; v < map.nranks && !rc; v++) {
		l->node[v] = first[target[v].of] + target[v].host;
		l->cluster[v] = target[v].cluster;
	}
	free(target);
	zmap_free(&map);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to a zipper hostfile that was read. */
#include "common/hosts/hostfile_find.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Are the names equal up to the first dot, where one of them is written without domain? */
static bool is_short_form(const char *a, const char *b)
{
	size_t alen = strcspn(a, "."), blen = strcspn(b, ".");
	return (a[alen] == '\0' || b[blen] == '\0') && alen == blen && strncasecmp(a, b, alen) == 0;
}

int zhostfile_find_host(const struct zhostfile *file, const char *host)
{
	int found = -ENOENT;
	for (int c = 0; c < file->nclusters; c++) {
		const struct zcluster *cluster = &file->clusters[c];
		for (int h = 0; h < cluster->nhosts; h++) {
			if (strcasecmp(cluster->hosts[h].name, host) == 0)
				return c;
			if (!is_short_form(cluster->hosts[h].name, host) || found == c)
				continue;
			found = found == -ENOENT ? c : -ENOTUNIQ;
		}
	}
	return found == -ENOTUNIQ ? -ENOENT : found;
}

int zhostfile_find_cluster(const struct zhostfile *file, const char *name)
{
	for (int c = 0; c < file->nclusters; c++)
		if (strcmp(file->clusters[c].name, name) == 0)
			return c;
	return -ENOENT;
}

int zhostfile_find_zipper(const struct zhostfile *file, const char *host)
{
	for (int z = 0; z < file->nzippers; z++)
		if (strcasecmp(file->zippers[z].host, host) == 0)
			return z;
	return -ENOENT;
}

uint64_t zhostfile_find_clusters(const struct zhostfile *file, int zipper)
{
	const struct zzipper *z = &file->zippers[zipper];
	uint64_t bits = 0;
	for (int p = 0; p < z->nports; p++) {
		int cluster = zhostfile_find_cluster(file, z->ports[p].fabric);
		bits |= cluster >= 0 ? UINT64_C(1) << cluster : 0; /* otherwise it is a transit fabric */
	}
	return bits;
}

const struct zport *zhostfile_find_port(const struct zhostfile *file, int zipper, const char *fabric)
{
	const struct zzipper *z = &file->zippers[zipper];
	for (int p = 0; p < z->nports; p++)
		if (strcmp(z->ports[p].fabric, fabric) == 0)
			return &z->ports[p];
	return NULL;
}

int zhostfile_find_joining(const struct zhostfile *file, uint64_t clusters, int from)
{
	for (int z = from; z < file->nzippers; z++)
		if (!(clusters & ~zhostfile_find_clusters(file, z)))
			return z;
	return -ENOENT;
}

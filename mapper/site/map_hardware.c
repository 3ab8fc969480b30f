/* SPDX-License-Identifier: BSD-3-Clause */
/* Asks hwloc for cores, sockets, caches and devices of a machine, which need not be this one. */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hwloc.h>

#include "mapper/site/map_hardware.h"

struct core {
	uint32_t pu;		 /* number of its first hardware thread */
	uint32_t socket, cache;	 /* logical index of the package; of the L3 cache (without one, 0) */
	uint32_t in_cache, turn; /* position among the cores of the cache; among those of the socket */
	bool kept;
};

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "not enough memory");
}

/* --- the topology --- */

static int source_set(hwloc_topology_t t, const char *text, const char *folder, struct zerr *err)
{
	char path[4096], synthetic[1024];
	size_t len = strlen(text);

	if (!strcmp(text, "here"))
		return 0;
	if (strchr(text, '/') || (len > 4 && !strcmp(text + len - 4, ".xml"))) {
		if ((size_t)snprintf(path, sizeof(path), "%s%s%s", *text == '/' ? "" : folder, *text == '/' ? "" : "/",
			    text) >= sizeof(path))
			return zerr_set(err, -EINVAL, "topology %.60s...: the path is too long", text);
		if (access(path, R_OK) != 0) /* hwloc would say so on standard error */
			return zerr_set(err, -errno, "topology %.200s: %s", path, strerror(errno));
		return hwloc_topology_set_xml(t, path) ? zerr_set(err, -EINVAL, "topology %.200s: cannot be read", path)
						       : 0;
	}
	if (len >= sizeof(synthetic))
		return zerr_set(err, -EINVAL, "topology %.60s...: too long", text);
	for (size_t i = 0; i <= len; i++)
		synthetic[i] = text[i] == ',' ? ' ' : text[i];
	return hwloc_topology_set_synthetic(t, synthetic) ? zerr_set(err, -EINVAL,
								    "topology %.100s: not what hwloc calls a synthetic "
								    "topology, and no path (with / or .xml)",
								    text)
							  : 0;
}

static int topology_load(hwloc_topology_t *t, const char *text, const char *folder, struct zerr *err)
{
	int rc;

	if (hwloc_topology_init(t))
		return no_memory(err);
	rc = source_set(*t, text, folder, err);
	if (!rc)
		hwloc_topology_set_io_types_filter(*t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
	if (!rc && hwloc_topology_load(*t))
		rc = zerr_set(err, -EINVAL, "topology %.100s: hwloc cannot load it", text);
	if (rc)
		hwloc_topology_destroy(*t);
	return rc;
}

static uint32_t index_above(hwloc_topology_t t, hwloc_obj_type_t type, hwloc_obj_t obj, uint32_t none)
{
	hwloc_obj_t above = hwloc_get_ancestor_obj_by_type(t, type, obj);

	return above ? above->logical_index : none;
}

static struct core *cores_list(hwloc_topology_t t, uint32_t *n)
{
	hwloc_obj_type_t type = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
	int count = hwloc_get_nbobjs_by_type(t, type);
	struct core *cores = calloc(count > 0 ? (size_t)count : 1, sizeof(*cores));

	*n = 0;
	for (int i = 0; cores && i < count; i++) {
		hwloc_obj_t obj = hwloc_get_obj_by_type(t, type, (unsigned)i);
		struct core *c = &cores[(*n)++];

		c->pu = (uint32_t)hwloc_bitmap_first(obj->cpuset);
		c->socket = index_above(t, HWLOC_OBJ_PACKAGE, obj, 0);
		c->cache = index_above(t, HWLOC_OBJ_L3CACHE, obj, 0);
	}
	return cores;
}

/* Counts GPUs and accelerators, without devices that only drive a screen. */
static uint32_t gpus_count(hwloc_topology_t t)
{
	hwloc_obj_t last = NULL;
	uint32_t n = 0;

	for (hwloc_obj_t d = hwloc_get_next_osdev(t, NULL); d; d = hwloc_get_next_osdev(t, d)) {
		hwloc_obj_osdev_type_t type = d->attr->osdev.type;
		bool screen =
			d->name && (!strncmp(d->name, "card", 4) || !strncmp(d->name, "render", 6) || *d->name == ':');

		if ((type != HWLOC_OBJ_OSDEV_COPROC && type != HWLOC_OBJ_OSDEV_GPU) || screen || d->parent == last)
			continue;
		last = d->parent;
		n++;
	}
	return n;
}

/* --- cores that are kept free --- */

/* Finds the place of hca: a device, or a NUMA node by its number. NULL: it is not there. */
static hwloc_obj_t place_find(hwloc_topology_t t, const char *hca)
{
	if (isdigit((unsigned char)*hca))
		return hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, (unsigned)atoi(hca));
	for (hwloc_obj_t d = hwloc_get_next_osdev(t, NULL); d; d = hwloc_get_next_osdev(t, d))
		if (d->name && !strcmp(d->name, hca))
			return hwloc_get_non_io_ancestor_obj(t, d);
	return NULL;
}

/* Keeps the last cores of the place, then the last ones of all. */
static uint32_t cores_keep(struct core *cores, uint32_t n, uint32_t keep, hwloc_const_cpuset_t place)
{
	uint32_t kept = 0;

	for (int anywhere = 0; anywhere < 2; anywhere++)
		for (uint32_t i = n; i-- > 0 && kept < keep;)
			if (!cores[i].kept && (anywhere || (place && hwloc_bitmap_isset(place, cores[i].pu)))) {
				cores[i].kept = true;
				kept++;
			}
	return kept;
}

/* --- the order --- */

static int by_cache_position(const void *a, const void *b)
{
	const struct core *x = a, *y = b;

	if (x->socket != y->socket)
		return x->socket < y->socket ? -1 : 1;
	if (x->in_cache != y->in_cache)
		return x->in_cache < y->in_cache ? -1 : 1;
	return x->cache < y->cache ? -1 : x->cache > y->cache;
}

static int by_turn(const void *a, const void *b)
{
	const struct core *x = a, *y = b;

	if (x->turn != y->turn)
		return x->turn < y->turn ? -1 : 1;
	return x->socket < y->socket ? -1 : x->socket > y->socket;
}

/* Moves the free cores to the front, in the order of use. */
static uint32_t cores_order(struct core *cores, uint32_t n)
{
	uint32_t nfree = 0;

	for (uint32_t i = 0; i < n; i++)
		if (!cores[i].kept)
			cores[nfree++] = cores[i];
	for (uint32_t i = 0; i < nfree; i++)
		for (uint32_t j = 0; j < i; j++)
			cores[i].in_cache += cores[j].cache == cores[i].cache && cores[j].socket == cores[i].socket;
	qsort(cores, nfree, sizeof(*cores), by_cache_position);
	for (uint32_t i = 1; i < nfree; i++)
		cores[i].turn = cores[i].socket == cores[i - 1].socket ? cores[i - 1].turn + 1 : 0;
	qsort(cores, nfree, sizeof(*cores), by_turn);
	return nfree;
}

static int result_fill(struct map_hardware *h, struct core *cores, uint32_t n, uint32_t kept, struct zerr *err)
{
	h->core = calloc(n + 1, sizeof(*h->core));
	h->kept = calloc(kept + 1, sizeof(*h->kept));
	if (!h->core || !h->kept)
		return no_memory(err);
	for (uint32_t i = 0; i < n; i++)
		if (cores[i].kept)
			h->kept[h->nkept++] = cores[i].pu;
	h->ncores = cores_order(cores, n);
	for (uint32_t i = 0; i < h->ncores; i++)
		h->core[i] = cores[i].pu;
	return 0;
}

static int hardware_read(struct map_hardware *h, hwloc_topology_t t, uint32_t keep, bool preset, const char *hca,
	struct zerr *err)
{
	uint32_t n;
	struct core *cores = cores_list(t, &n);
	hwloc_obj_t place = hca ? place_find(t, hca) : NULL;
	int rc = 0;

	if (!cores)
		return no_memory(err);
	if (hca && !place)
		rc = zerr_set(err, -ENOENT, "no device or NUMA node %.32s in the topology", hca);
	if (!rc && hca)
		snprintf(h->near, sizeof(h->near), "%s%s", isdigit((unsigned char)*hca) ? "NUMA node " : "", hca);
	if (!rc && !place && keep)
		place = hwloc_get_obj_by_type(t, HWLOC_OBJ_PACKAGE, 0);
	if (preset && keep >= n)
		keep = n ? n - 1 : 0;
	if (!rc && keep > n)
		rc = zerr_set(err, -EINVAL, "%u cores cannot be kept for zipperd: there are %u", keep, n);
	if (!rc)
		rc = result_fill(h, cores, n, cores_keep(cores, n, keep, place ? place->cpuset : NULL), err);
	h->gpus = gpus_count(t);
	free(cores);
	return rc;
}

int map_hardware_read(struct map_hardware *h, const char *text, const char *folder, uint32_t cores, uint32_t keep,
	bool preset, const char *hca, struct zerr *err)
{
	hwloc_topology_t t;
	char flat[32];
	int rc;

	*h = (struct map_hardware){0};
	if (!text) {
		snprintf(flat, sizeof(flat), "core:%u,pu:1", cores);
		text = flat;
	}
	rc = topology_load(&t, text, folder, err);
	if (rc)
		return rc;
	rc = hardware_read(h, t, keep, preset, hca, err);
	hwloc_topology_destroy(t);
	if (rc)
		map_hardware_free(h);
	return rc;
}

void map_hardware_free(struct map_hardware *h)
{
	free(h->core);
	free(h->kept);
	*h = (struct map_hardware){0};
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills zworld from zipperd's answer. See world.h. */
#include "libzip/world/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct zworld zworld = {.base = MPI_COMM_NULL};

_Static_assert(ZCTL_PARTS_MAX <= 1 << 8 && ZCTL_RANKS_MAX <= 1 << 24, "struct zplace has room for them");

static char job[ZCTL_NAME_MAX + 1];

void zworld_set_job(const char *name)
{
	strcpy(job, name);
}

const char *zworld_job(void)
{
	return job;
}

/* The decoder's caller has checked only the number of runs, so nothing else is trusted. */
static int fill_places(const struct zctl_world *w, struct zerr *err)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < w->nruns; i++) {
		const struct zctl_run *run = &w->runs[i];
		if (run->vrank != next || run->part >= w->nparts || run->count > (uint32_t)zworld.nranks - next ||
			run->lrank > w->parts[run->part].size || run->count > w->parts[run->part].size - run->lrank)
			return zerr_set(err, -EPROTO, "zipperd sent a world that does not add up (run %u)", i);
		for (uint32_t k = 0; k < run->count; k++)
			zworld.place[next++] = (struct zplace){.part = run->part, .lrank = run->lrank + k};
	}
	if (next != (uint32_t)zworld.nranks)
		return zerr_set(err, -EPROTO, "zipperd sent a world of %u ranks with places for %u",
			(unsigned)zworld.nranks, next);
	return 0;
}

static int fill_parts(const struct zctl_world *w, struct zerr *err)
{
	uint64_t nranks = 0;

	zworld.nparts = (int)w->nparts;
	zworld.part_name = calloc(w->nparts, sizeof(*zworld.part_name));
	zworld.part_size = calloc(w->nparts, sizeof(*zworld.part_size));
	if (!zworld.part_name || !zworld.part_size)
		return zerr_set(err, -ENOMEM, "out of memory");
	for (uint32_t p = 0; p < w->nparts; p++) {
		zworld.part_name[p] = strdup(w->parts[p].name);
		if (!zworld.part_name[p])
			return zerr_set(err, -ENOMEM, "out of memory");
		zworld.part_size[p] = (int)w->parts[p].size;
		nranks += w->parts[p].size;
	}
	if (nranks == 0 || nranks > ZCTL_RANKS_MAX || w->vrank >= nranks)
		return zerr_set(err, -EPROTO, "zipperd sent a world of %llu ranks with us as rank %u",
			(unsigned long long)nranks, w->vrank);
	zworld.nranks = (int)nranks;
	return 0;
}

/* The base communicator has the order of the vranks, so that the library and native MPI agree on the order of ranks.
 * From here on lrank is the rank in it; zipperd's lrank is the native one. */
static int order_by_vrank(void)
{
	uint32_t *next = calloc((size_t)zworld.nparts, sizeof(*next));

	if (!next)
		return -ENOMEM;
	for (int v = 0; v < zworld.nranks; v++) {
		struct zplace *place = &zworld.place[v];
		uint32_t lrank = next[place->part]++;
		if (place->part == (uint32_t)zworld.part) {
			zworld.reordered |= place->lrank != lrank;
			zworld.my_vrank[lrank] = v;
		}
		place->lrank = lrank;
	}
	free(next);
	return 0;
}

/* The decoder has checked the runs. */
static int keep_attached(const struct zctl_world *w)
{
	if (w->nattached == 0)
		return 0;
	zworld.attached = malloc(w->nattached * sizeof(*zworld.attached));
	if (!zworld.attached)
		return -ENOMEM;
	memcpy(zworld.attached, w->attached, w->nattached * sizeof(*zworld.attached));
	zworld.nattached = w->nattached;
	return 0;
}

uint64_t zworld_fabrics(int vrank)
{
	uint32_t low = 0, high = zworld.nattached; /* the run, if any, is before high */

	while (low < high) {
		const uint32_t mid = low + (high - low) / 2;
		if (zworld.attached[mid].vrank <= (uint32_t)vrank)
			low = mid + 1;
		else
			high = mid;
	}
	if (high > 0 && (uint32_t)vrank - zworld.attached[high - 1].vrank < zworld.attached[high - 1].count)
		return zworld.attached[high - 1].fabrics;
	return UINT64_C(1) << zworld.place[vrank].part;
}

/* The tables are large in large worlds: every process has them. */
static int make_tables(void)
{
	const size_t n = (size_t)zworld.nranks;

	zworld.place = calloc(n, sizeof(*zworld.place));
	zworld.number = malloc(n * sizeof(*zworld.number));
	if (!zworld.place || !zworld.number)
		return -ENOMEM;
	for (int v = 0; v < zworld.nranks; v++)
		zworld.number[v] = v;
	return 0;
}

/* my_vrank is done: it need not have memory of its own where the ranks of my part follow one another. */
static void share_my_vrank(void)
{
	const int n = zworld.part_size[zworld.part], first = zworld.my_vrank[0];

	for (int l = 0; l < n; l++)
		if (zworld.my_vrank[l] != first + l)
			return;
	free(zworld.my_vrank);
	zworld.my_vrank = zworld.number + first;
	zworld.own_my_vrank = false;
}

int zworld_fill(const struct zctl_world *w, struct zerr *err)
{
	int rc = fill_parts(w, err);

	if (rc != 0)
		goto err_clear;
	rc = make_tables();
	if (rc != 0)
		goto err_clear;
	rc = fill_places(w, err);
	if (rc != 0)
		goto err_clear;

	zworld.vrank = (int)w->vrank;
	zworld.part = (int)zworld.place[zworld.vrank].part;
	zworld.merged = zworld.nparts > 1;
	zworld.external32 = w->external32;
	zworld.eager_bytes = w->eager_bytes;
	zworld.frag_bytes = w->frag_bytes;
	zworld.rdv_window = w->rdv_window;
	zworld.universe = w->universe;
	zworld.tag_ub = w->tag_ub;

	rc = keep_attached(w);
	if (rc != 0)
		goto err_clear;
	rc = -ENOMEM;
	zworld.my_vrank = malloc((size_t)zworld.part_size[zworld.part] * sizeof(*zworld.my_vrank));
	if (!zworld.my_vrank)
		goto err_clear;
	zworld.own_my_vrank = true;
	for (int l = 0; l < zworld.part_size[zworld.part]; l++)
		zworld.my_vrank[l] = -1;
	for (int v = 0; v < zworld.nranks; v++)
		if (zworld_is_local(v))
			zworld.my_vrank[zworld.place[v].lrank] = v;
	for (int l = 0; l < zworld.part_size[zworld.part]; l++)
		if (zworld.my_vrank[l] < 0) {
			rc = zerr_set(err, -EPROTO, "zipperd sent a world without local rank %d of part %s", l,
				zworld.part_name[zworld.part]);
			goto err_clear;
		}
	rc = order_by_vrank();
	if (rc != 0)
		goto err_clear;
	share_my_vrank();
	return 0;

err_clear:
	zworld_clear();
	return rc == -ENOMEM ? zerr_set(err, rc, "out of memory") : rc;
}

void zworld_clear(void)
{
	for (int p = 0; zworld.part_name && p < zworld.nparts; p++)
		free(zworld.part_name[p]);
	free(zworld.part_name);
	free(zworld.part_size);
	free(zworld.place);
	free(zworld.attached);
	if (zworld.own_my_vrank)
		free(zworld.my_vrank);
	free(zworld.number);
	zworld = (struct zworld){.base = MPI_COMM_NULL};
}

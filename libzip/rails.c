/* SPDX-License-Identifier: BSD-3-Clause */
/* The zippers of the job, see rails.h. */
#include "rails.h"

#include <errno.h>
#include <string.h>

#include "world.h"

struct zrails zrails;

int zrails_open(const struct zhops *ways, int n, const struct zsession_params *with, struct zerr *err)
{
	struct zsession_params params = *with;
	int rc = 0;

	/* All of them before any is told who we are: then the others do not wait in vain for a job that cannot be. */
	for (int i = 0; rc == 0 && i < n; i++) {
		struct zrail *r = &zrails.rail[i];
		r->way = ways[i];
		params.zipper = r->way.first;
		params.hops = r->way.hop;
		params.nhops = r->way.n;
		params.passes = r->passes;
		rc = zsession_open(&r->session, &params, ZCTL_SERVICE_RANK, err);
		if (rc == 0)
			zrails.n = i + 1;
	}
	params.auth->wipe(params.key, sizeof(params.key));
	if (rc != 0)
		zrails_leave();
	return rc;
}

/* Is it the same for both who is where? */
static bool agrees(const struct zctl_world *a, const struct zctl_world *b)
{
	bool same = a->vrank == b->vrank && a->external32 == b->external32 && a->nparts == b->nparts &&
		    a->nruns == b->nruns;

	for (uint32_t i = 0; same && i < a->nparts; i++)
		same = strcmp(a->parts[i].name, b->parts[i].name) == 0 && a->parts[i].size == b->parts[i].size;
	for (uint32_t i = 0; same && i < a->nruns; i++)
		same = a->runs[i].vrank == b->runs[i].vrank && a->runs[i].count == b->runs[i].count &&
		       a->runs[i].part == b->runs[i].part && a->runs[i].lrank == b->runs[i].lrank;
	return same;
}

static void lower(uint32_t *limit, uint32_t other)
{
	if (other < *limit)
		*limit = other;
}

/* What goes over either must suit both. */
static void take_limits(struct zctl_world *world, const struct zctl_world *other)
{
	lower(&world->eager_bytes, other->eager_bytes);
	lower(&world->rdv_window, other->rdv_window);
	if (world->frag_bytes == 0)
		world->frag_bytes = other->frag_bytes; /* 0: what the transport likes */
	else if (other->frag_bytes != 0)
		lower(&world->frag_bytes, other->frag_bytes);
}

/* Another rail than the first: no direct links by this one. */
static int join_another(struct zrail *rail, const struct zctl_join *join, struct zctl_world *world, struct zerr *err)
{
	struct zctl_join plain = *join;
	struct zctl_world other;
	char address[512];

	plain.direct = 0;
	plain.ports[0] = plain.local[0] = '\0';
	int rc = zsession_join(rail->session, &plain, &other, err);
	if (rc != 0)
		return rc;
	if (agrees(world, &other)) {
		take_limits(world, &other);
		memcpy(rail->token, other.token, sizeof(rail->token));
	} else {
		zaddr_format(zhops_last(&rail->way), address, sizeof(address));
		rc = zerr_set(err, -EPROTO, "zipperd at %s has another world than the one before", address);
	}
	zctl_world_free(&other);
	return rc;
}

int zrails_join(const struct zctl_join *join, struct zctl_world *world, struct zerr *err)
{
	int rc = zsession_join(zrails.rail[0].session, join, world, err);

	if (rc != 0)
		return rc;
	memcpy(zrails.rail[0].token, world->token, sizeof(zrails.rail[0].token));
	for (int i = 1; rc == 0 && i < zrails.n; i++)
		rc = join_another(&zrails.rail[i], join, world, err);
	if (rc != 0)
		zctl_world_free(world);
	return rc;
}

bool zrails_has_another(int rail)
{
	for (int i = 0; i < zrails.n; i++)
		if (i != rail && zrails_is_good(i))
			return true;
	return false;
}

static int skip_lost(uint32_t rail)
{
	while (zrails.lost >> rail & 1)
		rail = (rail + 1) % (uint32_t)zrails.n;
	return (int)rail;
}

int zrails_first(void)
{
	return skip_lost(0);
}

void zrails_quit(int rail, const char *why)
{
	zsession_quit(zrails.rail[rail].session, why);
	zrails.rail[rail].session = NULL;
}

void zrails_abort(int code, const char *text)
{
	for (int i = 0; i < zrails.n; i++)
		if (zrails.rail[i].session)
			zsession_abort(zrails.rail[i].session, (uint32_t)code, text);
}

void zrails_leave(void)
{
	for (int i = 0; i < zrails.n; i++)
		zsession_close(zrails.rail[i].session);
	memset(&zrails, 0, sizeof(zrails));
}

int zrails_of(uint32_t vrank)
{
	const struct zplace *a = &zworld.place[zworld.vrank], *b = &zworld.place[vrank];
	uint32_t n = (uint32_t)zrails.n;

	/* Both ends must take the same one of the two for a. */
	int more = zworld.part_size[a->part] - zworld.part_size[b->part];
	if (more < 0 || (more == 0 && a->part > b->part)) {
		const struct zplace *swap = a;
		a = b;
		b = swap;
	}
	return skip_lost((a->lrank + b->lrank / n) % n);
}

int zrails_choose(int home)
{
	uint64_t least = atomic_load_explicit(&zrails.rail[home].sending, memory_order_relaxed);
	int best = home;

	for (int i = 0; i < zrails.n; i++) {
		uint64_t sending = atomic_load_explicit(&zrails.rail[i].sending, memory_order_relaxed);
		if (!zrails_is_good(i) || sending >= least)
			continue;
		least = sending;
		best = i;
	}
	return best;
}

int zrails_of_carrier(void)
{
	return skip_lost(zworld.place[zworld.vrank].lrank % (uint32_t)zrails.n);
}

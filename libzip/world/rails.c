/* SPDX-License-Identifier: BSD-3-Clause */
/* The zippers of the job. See rails.h. */
#include "libzip/world/rails.h"

#include <errno.h>
#include <string.h>

#include "common/base/clock.h"
#include "libzip/world/entries.h"
#include "libzip/world/world.h"

#define LAST_SHARE 4 /* the last zipper may be silent so many times as long as others */

struct zrails zrails;

int zrails_open(const struct zhops *ways, int n, const struct zsession_params *with, struct zerr *err)
{
	struct zsession_params params = *with;
	int rc = 0;

	zrails.auth = with->auth;
	memcpy(zrails.user, with->user, sizeof(zrails.user));
	memcpy(zrails.job, with->job, sizeof(zrails.job));
	/* Opens all sessions before any zipper learns who we are. So other ranks do not wait in vain for a job that
	 * cannot begin. */
	for (int i = 0; i < n; i++) {
		struct zrail *r = &zrails.rail[i];
		r->way = ways[i];
		params.zipper = r->way.first;
		params.hops = r->way.hop;
		params.nhops = r->way.n;
		params.passes = r->passes;
		rc = zsession_open(&r->session, &params, ZCTL_SERVICE_RANK, err);
		if (rc != 0)
			break;
		memcpy(r->key, zsession_key(r->session), sizeof(r->key));
		r->seal = zsession_seal(r->session);
		r->protocol = zsession_protocol(r->session);
		zrails.n = i + 1;
	}
	params.auth->wipe(params.key, sizeof(params.key));
	if (rc != 0)
		zrails_leave();
	return rc;
}

/* Do both zippers tell the same places of ranks? */
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

/* Messages over either rail must suit both. */
static void take_limits(struct zctl_world *world, const struct zctl_world *other)
{
	lower(&world->eager_bytes, other->eager_bytes);
	lower(&world->rdv_window, other->rdv_window);
	lower(&world->tracks, other->tracks);
	if (world->frag_bytes == 0)
		world->frag_bytes = other->frag_bytes; /* 0: the transport's choice */
	else if (other->frag_bytes != 0)
		lower(&world->frag_bytes, other->frag_bytes);
}

static int64_t born_ms;

__attribute__((constructor)) static void be_born(void)
{
	born_ms = zclock_ms();
}

uint32_t zrails_age_ms(void)
{
	int64_t age = zclock_ms() - born_ms;

	return age < UINT32_MAX ? (uint32_t)age : UINT32_MAX;
}

static int join_one(struct zrail *rail, const struct zctl_join *join, const char *entries, struct zctl_world *world,
	struct zerr *err)
{
	struct zctl_join own = *join;

	strcpy(own.entries, entries);
	own.rail = (uint32_t)(rail - zrails.rail);
	own.nrails = (uint32_t)zrails.n;
	own.age_ms = zrails_age_ms(); /* now: this rank may have waited for others at the zipper before */
	own.incarnation = 0;
	const int rc = zsession_join(rail->session, &own, world, err);
	rail->run = rc == 0 ? world->run : 0;
	if (rc == 0 && world->tracks == 0)
		world->tracks = 1; /* an earlier protocol */
	return rc;
}

/* Not the first rail: it arranges no direct links. */
static int join_another(struct zrail *rail, const struct zctl_join *join, const char *entries, struct zctl_world *world,
	struct zerr *err)
{
	struct zctl_join plain = *join;
	struct zctl_world other;
	char address[512];

	plain.direct = 0;
	plain.ports[0] = plain.local[0] = '\0';
	int rc = join_one(rail, &plain, entries, &other, err);
	if (rc != 0)
		return rc;
	if (agrees(world, &other)) {
		take_limits(world, &other);
	} else {
		zaddr_format(zhops_last(&rail->way), address, sizeof(address));
		rc = zerr_set(err, -EPROTO, "zipperd at %s has another world than the one before", address);
	}
	zctl_world_free(&other);
	return rc;
}

int zrails_join(const struct zctl_join *join, const char (*entries)[ZCTL_ENTRIES_MAX], struct zctl_world *world,
	struct zerr *err)
{
	int rc = join_one(&zrails.rail[0], join, entries[0], world, err);

	if (rc != 0)
		return rc;
	for (int i = 1; rc == 0 && i < zrails.n; i++)
		rc = join_another(&zrails.rail[i], join, entries[i], world, err);
	zrails.tracks = (int)world->tracks;
	if (rc != 0)
		zctl_world_free(world);
	return rc;
}

static int count_parts(int rail)
{
	int n = 0;

	for (int p = 0; p < zworld.nparts; p++)
		n += p != zworld.part && zrails_carries(rail, p);
	return n;
}

/* The order of a rank's carriers: rails to the most parts come first, and among equals each rank begins with another
 * one. The order does not change. So the carrier changes only when it is lost. */
static void order_carriers(void)
{
	int n = 0;

	for (int parts = zworld.nparts; n < zrails.n; parts--) {
		uint8_t equal[ZCTL_RAILS_MAX];
		uint32_t nequal = 0;
		for (int i = 0; i < zrails.n; i++)
			if (count_parts(i) == parts)
				equal[nequal++] = (uint8_t)i;
		for (uint32_t k = 0; k < nequal; k++)
			zrails.carriers[n++] = equal[(zworld.place[zworld.vrank].lrank + k) % nequal];
	}
	zrails.carrier.rail = zrails.carriers[0];
	zrails.carrier.track = zworld.place[zworld.vrank].lrank / zrails.n % zrails.tracks;
}

int zrails_share(const char (*entries)[ZCTL_ENTRIES_MAX], const char *parts, struct zerr *err)
{
	static uint32_t carry[ZCTL_PARTS_MAX][ZCTL_PARTS_MAX]; /* large */
	int n = zentries_find_rails(entries, zrails.n, parts, carry, err);

	if (n < 0)
		return n;
	if (n != zworld.nparts)
		return zerr_set(err, -EPROTO, "zipperd sent a world of %d parts, and the job has %d", zworld.nparts, n);
	memcpy(zrails.carry, carry[zworld.part], sizeof(zrails.carry));
	order_carriers();
	return 0;
}

int zrails_count_good(void)
{
	int good = 0;

	for (int i = 0; i < zrails.n; i++)
		good += zrails_is_good(i);
	return good;
}

/* Does one of these rails carry to each part? */
static bool reach_all(uint32_t rails)
{
	bool all = rails != 0;

	for (int p = 0; p < zworld.nparts; p++)
		all &= (zrails.carry[p] & rails) != 0;
	return all;
}

static uint32_t good_rails(void)
{
	return ((1u << zrails.n) - 1) & ~(zrails.lost | zrails.failing);
}

bool zrails_has_another(int rail)
{
	return reach_all(good_rails() & ~(1u << rail));
}

bool zrails_is_stranded(void)
{
	return !reach_all(good_rails());
}

bool zrails_suffice(uint32_t rails)
{
	return reach_all(good_rails() | rails);
}

int64_t zrails_patience(int rail)
{
	return zrails_has_another(rail) ? zrails.timeout_ms : LAST_SHARE * zrails.timeout_ms;
}

int zrails_first(void)
{
	for (int rail = 0; rail < zrails.n; rail++)
		if (!(zrails.lost >> rail & 1))
			return rail;
	return -1;
}

void zrails_lose(int rail, const char *why)
{
	struct zrail *r = &zrails.rail[rail];

	zsession_quit(r->session, why);
	r->session = NULL;
	if (r->least <= r->incarnation)
		r->least = r->incarnation + 1;
	zrails.failing &= ~(1u << rail);
	zrails.lost |= 1u << rail;
	zrails.losses++;
}

bool zrails_change_carrier(void)
{
	if (!(zrails.lost >> zrails.carrier.rail & 1))
		return false;
	for (int i = 0; i < zrails.n; i++) {
		if (zrails.lost >> zrails.carriers[i] & 1 || count_parts(zrails.carriers[i]) == 0)
			continue;
		zrails.carrier.rail = zrails.carriers[i];
		return true;
	}
	return false;
}

/* A rank that computes may not have noticed that a zipper is gone. */
static bool is_gone(struct zsession *s)
{
	struct zctl_msg msg;
	int rc;

	while ((rc = zsession_poll(s, &msg, NULL)) > 0)
		zctl_free(&msg);
	return rc < 0;
}

bool zrails_abort(int code, const char *text)
{
	bool told = false;

	for (int i = 0; i < zrails.n; i++) {
		struct zsession *s = zrails.rail[i].session;
		if (s && !is_gone(s))
			told |= zsession_abort(s, (uint32_t)code, text) == 0;
	}
	return told;
}

void zrails_leave(void)
{
	for (int i = 0; i < zrails.n; i++)
		zsession_close(zrails.rail[i].session);
	memset(&zrails, 0, sizeof(zrails));
}

/* The rail with that index among these, or the next one that is not lost. */
static int pick(uint32_t rails, uint32_t number)
{
	int rail = -1;

	for (uint32_t k = 0; k <= number; k++)
		do
			rail++;
		while (!(rails >> rail & 1));
	while ((rails & ~zrails.lost) != 0 && ((zrails.lost | ~rails) >> rail & 1))
		rail = (rail + 1) % zrails.n;
	return rail;
}

struct zrails_track zrails_of(uint32_t vrank)
{
	const struct zplace *a = &zworld.place[zworld.vrank], *b = &zworld.place[vrank];
	const uint32_t rails = zrails.carry[b->part], n = (uint32_t)__builtin_popcount(rails);
	const uint32_t m = n * (uint32_t)zrails.tracks;

	/* Both ends must take the same of the two ranks for a. */
	int more = zworld.part_size[a->part] - zworld.part_size[b->part];
	if (more < 0 || (more == 0 && a->part > b->part)) {
		const struct zplace *swap = a;
		a = b;
		b = swap;
	}
	const uint32_t number = (a->lrank + b->lrank / m) % m;
	return (struct zrails_track){.rail = pick(rails, number % n), .track = (int)(number / n)};
}

static uint64_t load_sending(struct zrails_track t)
{
	return atomic_load_explicit(&zrails.rail[t.rail].sending[t.track], memory_order_relaxed);
}

struct zrails_track zrails_choose(struct zrails_track home, int part)
{
	uint64_t least = load_sending(home);
	struct zrails_track best = home;

	for (int i = 0; i < zrails.n * zrails.tracks; i++) {
		const struct zrails_track t = {.rail = i % zrails.n, .track = i / zrails.n};
		if (!zrails_carries(t.rail, part) || !zrails_is_good(t.rail) || load_sending(t) >= least)
			continue;
		least = load_sending(t);
		best = t;
	}
	return best;
}

int zrails_count(int part)
{
	return __builtin_popcount(zrails.carry[part]) * zrails.tracks;
}

int zrails_first_part(int rail)
{
	int p = 0;

	while (p == zworld.part || !zrails_carries(rail, p))
		p++;
	return p;
}

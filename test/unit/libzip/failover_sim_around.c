/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The surroundings of libzip in a rank of the simulation (failover_sim_rank.h): time, links, and sessions with zippers.
 */
#include "test/unit/libzip/failover_sim_around.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libzip/world/rails.h"
#include "common/session/session.h"
#include "common/session/session_attach.h"
#include "common/transport/base/transport.h"

#define FRAGMENT (64u << 10)

struct sim_link {
	struct zlink base;
	int track, part;
	uint8_t *place; /* for the rest of a message that has come in half; NULL: none has */
	uint8_t elsewhere[FRAGMENT];
};

struct delivery { /* of one poll */
	struct sim_link *link;
	const struct zsink *sink;
};

struct sim_outside outside;
int me;

/* --- time --- */

int __wrap_clock_gettime(clockid_t, struct timespec *);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int64_t ns = outside.now_ns ? outside.now_ns() : 0; /* while it is loaded there is none */
	(void)clock;
	t->tv_sec = ns / 1000000000;
	t->tv_nsec = ns % 1000000000;
	return 0;
}

/* --- the transport --- */

static int link_post(struct zlink *z, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	const struct sim_link *l = (struct sim_link *)z;
	return outside.post(me, l->track, l->part, raw, payload, len);
}

static int link_flush(struct zlink *z)
{
	(void)z;
	return 0;
}

/* Where the payload goes, copied; NULL: take is to be shown the link's own. -EINPROGRESS: the half of it has come. */
static int place_payload(const struct delivery *d, const struct zwire_env *env, const uint8_t *payload, void **out)
{
	struct sim_link *l = d->link;
	size_t len = env->len, half = len / 2;

	if (l->place) {
		memcpy(l->place + half, payload + half, len - half);
		*out = l->place == l->elsewhere ? NULL : l->place;
		l->place = NULL;
		return 0;
	}
	*out = len > 0 ? d->sink->place(d->sink->ctx, env) : NULL;
	if (!*out)
		return 0;
	if (len > 1 && outside.draw(3) == 0) {
		l->place = *out;
		memcpy(l->place, payload, half);
		return -EINPROGRESS;
	}
	memcpy(*out, payload, len);
	return 0;
}

static int deliver(void *ctx, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	const struct delivery *d = ctx;
	struct zwire_env env;
	void *placed;

	if (zwire_decode(&env, raw) != 0 || env.len != len)
		outside.fail("rank %d: no envelope", me);
	int rc = place_payload(d, &env, payload, &placed);
	if (rc != 0)
		return rc;
	rc = d->sink->take(d->sink->ctx, &env, raw, placed ? placed : payload);
	if (rc != 0 && rc != -EAGAIN)
		outside.fail("rank %d does not take %s of %u: %d", me, zwire_kind_name(env.kind), env.src, rc);
	return rc;
}

static int link_poll(struct zlink *z, const struct zsink *sink, unsigned budget)
{
	struct delivery d = {(struct sim_link *)z, sink};
	return outside.poll(me, d.link->track, d.link->part, budget, deliver, &d);
}

static int link_unplace(struct zlink *z)
{
	struct sim_link *l = (struct sim_link *)z;
	if (l->place)
		l->place = l->elsewhere;
	return 0;
}

static void link_close(struct zlink *z)
{
	const struct sim_link *l = (struct sim_link *)z;
	outside.close(me, l->track, l->part);
	free(z);
}

static int link_expose(struct zlink *z, enum zlink_half half, void *base, size_t len, struct zrma_exposure *e)
{
	uint64_t id = outside.expose(base, len);
	(void)z;
	(void)half;
	if (id == 0)
		return -ENOMEM;
	memset(e, 0, sizeof(*e));
	memcpy(e->key, &id, sizeof(id));
	return 0;
}

static void link_conceal(struct zlink *z, struct zrma_exposure *e)
{
	uint64_t id;
	(void)z;
	memcpy(&id, e->key, sizeof(id));
	outside.conceal(id);
}

static void link_give_up(struct zlink *z, enum zlink_half half)
{
	(void)z;
	(void)half;
}

static const struct zrma rma = {.expose = link_expose, .conceal = link_conceal, .give_up = link_give_up};
static struct ztransport transport = {
	.name = "simulated",
	.post = link_post,
	.flush = link_flush,
	.poll = link_poll,
	.unplace = link_unplace,
	.close = link_close,
	.max_payload = FRAGMENT,
	.fragment_bytes = FRAGMENT,
};

/* --- sessions with zippers: the rail's number plus one --- */

int __wrap_zsession_attach_to(struct zlink **, const struct zsession_way *, const struct zctl_attach *,
	struct zendpoint **, int, struct zerr *);
int __wrap_zsession_attach_to(struct zlink **out, const struct zsession_way *way, const struct zctl_attach *attach,
	struct zendpoint **own, int timeout_ms, struct zerr *err)
{
	struct sim_link *l;
	int rail = 0;

	(void)own;
	(void)timeout_ms;
	while (&zrails.rail[rail].way.first != way->zipper)
		rail++;
	const int track = sim_track(rail, (int)attach->track);
	int rc = outside.attach(me, track, (int)attach->part);
	if (rc != 0) {
		snprintf(err->text, sizeof(err->text), "refused");
		return rc;
	}
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->base.ops = &transport;
	l->track = track;
	l->part = (int)attach->part;
	*out = &l->base;
	return 0;
}

void __wrap_zsession_quit(struct zsession *, const char *);
void __wrap_zsession_quit(struct zsession *s, const char *why)
{
	(void)why;
	outside.quit(me, (int)(uintptr_t)s - 1);
}

/* As rejoin.c measures it. */
int64_t __wrap_zrejoin_away_ms(int);
int64_t __wrap_zrejoin_away_ms(int rail)
{
	return outside.away_ms(me, rail);
}

/* libzip waits for the last word of a zipper. */
int __wrap_nanosleep(const struct timespec *, struct timespec *);
int __wrap_nanosleep(const struct timespec *t, struct timespec *rest)
{
	(void)t;
	(void)rest;
	return 0;
}

void around_come_back(int rail)
{
	zrails.rail[rail].session = (struct zsession *)(uintptr_t)(rail + 1);
}

void around_begin(const struct sim_world *w, const struct sim_outside *o, int vrank)
{
	outside = *o;
	me = vrank;
	transport.rma = w->one_sided ? &rma : NULL;
	zrails.n = w->rails;
	zrails.tracks = w->tracks;
	zrails.reconnect_ms = w->returns ? SIM_RECONNECT_MS : 0;
	for (int i = 0; i < w->rails; i++)
		around_come_back(i);
}

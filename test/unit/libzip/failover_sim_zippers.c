/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The workers of the simulation's zippers, one for each track of each rail: they pass on what comes, refuse messages to
 * ranks for which they have no room at the moment (NAK, RESUME), make messages for each of a list of receivers, and
 * move what is offered one-sidedly, or say that it is to be sent.
 */
#include "test/unit/libzip/failover_sim_parts.h"

#include <stdlib.h>
#include <string.h>

#define RECEIVERS_MAX 128
#define EXPOSURES_MAX 100000

struct offer { /* a sender has exposed its message */
	struct offer *next;
	int sender;
	uint64_t xfer, memory;
};

struct move { /* both have */
	struct move *next;
	int sender, receiver;
	uint64_t sender_xfer, receiver_xfer, sender_memory, receiver_memory, total, ack;
};

struct refusal {
	bool stands, untold; /* until seq comes again; RESUME is owed */
	uint64_t seq;
};

static struct zipper {
	bool full[SIM_RANKS];			      /* no room for messages to that one */
	struct refusal refusal[SIM_RANKS][SIM_RANKS]; /* of the stream from, to */
	struct {
		struct zwire_receiver to[RECEIVERS_MAX];
		size_t n;
	} list[SIM_RANKS];
	struct offer *offers;
	struct move *moves;
} zippers[SIM_RAILS * SIM_TRACKS];

static struct {
	uint8_t *base;
	size_t len;
	bool valid;
} exposures[EXPOSURES_MAX];
static uint64_t nexposures = 1;

/* --- memory of ranks --- */

uint64_t zippers_expose(void *base, size_t len)
{
	if (sim_draw(10) == 0)
		return 0;
	if (nexposures == EXPOSURES_MAX)
		sim_fail("too many exposures");
	exposures[nexposures].base = base;
	exposures[nexposures].len = len;
	exposures[nexposures].valid = true;
	return nexposures++;
}

void zippers_conceal(uint64_t id)
{
	exposures[id].valid = false;
}

static uint8_t *exposed(uint64_t id, uint64_t len, const char *whose)
{
	if (!exposures[id].valid || exposures[id].len < len)
		sim_fail("a zipper has a key to memory of the %s that is not exposed", whose);
	return exposures[id].base;
}

static void add_offer(struct zipper *z, int sender, uint64_t xfer, uint64_t memory)
{
	struct offer *o = calloc(1, sizeof(*o));
	if (!o)
		sim_fail("no memory");
	*o = (struct offer){.next = z->offers, .sender = sender, .xfer = xfer, .memory = memory};
	z->offers = o;
}

/* Returns the memory, 0: there is no such offer. */
static uint64_t take_offer(struct zipper *z, int sender, uint64_t xfer)
{
	for (struct offer **at = &z->offers; *at; at = &(*at)->next) {
		struct offer *o = *at;
		uint64_t memory = o->memory;
		if (o->sender != sender || o->xfer != xfer)
			continue;
		*at = o->next;
		free(o);
		return memory;
	}
	return 0;
}

void zippers_move(int track, bool end)
{
	struct zipper *z = &zippers[track];
	struct move **at = &z->moves;
	uint32_t n = 0;

	for (const struct move *m = z->moves; m; m = m->next)
		n++;
	if (n == 0)
		return;
	for (n = sim_draw(n); n > 0; n--)
		at = &(*at)->next;
	struct move *m = *at;
	if (!links_reach(track, m->sender, m->receiver))
		return;
	size_t len = end ? m->total : sim_draw((uint32_t)m->total + 1);
	memcpy(exposed(m->receiver_memory, m->total, "receiver"), exposed(m->sender_memory, m->total, "sender"), len);
	if (!end)
		return;
	*at = m->next;
	const struct zwire_env moved = {.kind = ZWIRE_MOVED,
		.src = (uint32_t)m->sender,
		.dst = (uint32_t)m->receiver,
		.xfer = m->receiver_xfer,
		.offset = m->total};
	const struct zwire_env done = {.kind = ZWIRE_DONE,
		.src = (uint32_t)m->receiver,
		.dst = (uint32_t)m->sender,
		.xfer = m->sender_xfer,
		.ack = m->ack};
	links_push(track, &moved, NULL);
	links_push(track, &done, NULL);
	free(m);
}

/* --- messages --- */

static void check_key(int track, int of)
{
	if (sim.world.hops[sim_rail_of(track)][sim.world.part[of]] > 0)
		sim_fail("rank %d gives a key to rail %d, to which it has no link", of, sim_rail_of(track));
}

/* The offer is passed on, or the sender is to send it. */
static void pass_offer(int track, struct zwire_env *env, const uint8_t *payload)
{
	uint64_t memory;

	check_key(track, (int)env->src);
	memcpy(&memory, payload, sizeof(memory));
	if (sim_draw(8) == 0)
		env->flags &= (uint16_t)~ZWIRE_F_ONE_SIDED;
	else
		add_offer(&zippers[track], (int)env->src, env->xfer, memory);
	env->len = 0;
	links_push(track, env, NULL);
}

/* The receiver takes the offer: a move, or it is told to ask for messages. */
static void begin_move(int track, const struct zwire_env *env, const uint8_t *payload)
{
	struct zipper *z = &zippers[track];
	int sender = (int)env->dst;
	check_key(track, (int)env->src);
	uint64_t to, from = take_offer(z, sender, env->xfer);

	memcpy(&to, payload, sizeof(to));
	if (from == 0)
		sim_fail("rank %u takes an offer of rank %d that there is not", env->src, sender);
	if (sim_draw(8) == 0) {
		const struct zwire_env moved = {.kind = ZWIRE_MOVED,
			.src = env->dst,
			.dst = env->src,
			.xfer = env->comm};
		add_offer(z, sender, env->xfer, from);
		links_push(track, &moved, NULL);
		return;
	}
	struct move *m = calloc(1, sizeof(*m));
	if (!m)
		sim_fail("no memory");
	*m = (struct move){z->moves, sender, (int)env->src, env->xfer, env->comm, from, to, env->offset, env->ack};
	z->moves = m;
}

static void say_bye(int track, uint32_t of, uint32_t to)
{
	const struct zwire_env bye = {.kind = ZWIRE_BYE, .src = of, .dst = to};
	links_push(track, &bye, NULL);
}

/* Is this sequenced message refused? Those behind a refused one are dropped, as it is sent again with them. */
static bool refuse(int track, const struct zwire_env *env)
{
	struct refusal *r = &zippers[track].refusal[env->src][env->dst];
	bool full = zippers[track].full[env->dst];

	if (r->stands && env->seq > r->seq)
		return true;
	if (!full) {
		if (r->stands && env->seq == r->seq)
			r->stands = false;
		return false;
	}
	if (!r->stands || env->seq < r->seq)
		r->seq = env->seq;
	r->stands = r->untold = true;
	const struct zwire_env nak = {.kind = ZWIRE_NAK, .src = env->dst, .dst = env->src, .seq = r->seq};
	links_push(track, &nak, NULL);
	return true;
}

static void route(int track, struct zwire_env env, const uint8_t *payload)
{
	bool one_sided = env.flags & ZWIRE_F_ONE_SIDED, sequenced = env.kind == ZWIRE_EAGER || env.kind == ZWIRE_RTS;

	if (!(sim.world.carry[sim.world.part[env.src]][sim.world.part[env.dst]] >> sim_rail_of(track) & 1))
		sim_fail("rank %u sends to rank %u by rail %d, which does not carry that", env.src, env.dst,
			sim_rail_of(track));
	if (links_said_bye(track, (int)env.dst, sim.world.part[env.src])) {
		if (sequenced || env.kind == ZWIRE_RAILS)
			say_bye(track, env.dst, env.src);
		return;
	}
	if (sequenced && refuse(track, &env))
		return;
	if (env.kind == ZWIRE_RTS && one_sided) {
		pass_offer(track, &env, payload);
	} else if (env.kind == ZWIRE_CTS && one_sided && env.len > 0) {
		begin_move(track, &env, payload);
	} else {
		if ((env.kind == ZWIRE_CTS || env.kind == ZWIRE_DONE) && one_sided) /* it is not wanted */
			take_offer(&zippers[track], (int)env.dst, env.xfer);
		links_push(track, &env, payload);
	}
}

static void take_list(int track, uint32_t from, const struct sim_msg *m)
{
	struct zipper *z = &zippers[track];

	z->list[from].n = m->len / ZWIRE_RECEIVER_BYTES;
	if (z->list[from].n > RECEIVERS_MAX)
		sim_fail("rank %u sends a list of %zu receivers", from, z->list[from].n);
	for (size_t i = 0; i < z->list[from].n; i++)
		if (zwire_get_receiver(&z->list[from].to[i], m->payload + i * ZWIRE_RECEIVER_BYTES) != 0)
			sim_fail("rank %u sends a list that is none", from);
}

static void route_to_list(int track, const struct zwire_env *env, const uint8_t *payload)
{
	const struct zipper *z = &zippers[track];

	for (size_t i = 0; i < z->list[env->src].n; i++) {
		const struct zwire_receiver *to = &z->list[env->src].to[i];
		struct zwire_env e = *env;
		e.dst = to->dst;
		e.seq = to->seq;
		e.ack = to->ack;
		e.xfer = to->xfer;
		route(track, e, payload);
	}
}

/* A rank that still waits for RESUME hears that the other one has left. */
static void take_bye(int track, int vrank, int part)
{
	links_take_bye(track, vrank, part);
	for (int from = 0; from < sim.world.nranks; from++) {
		struct refusal *r = &zippers[track].refusal[from][vrank];
		if (sim.world.part[from] != part || !r->stands)
			continue;
		r->stands = false;
		say_bye(track, (uint32_t)vrank, (uint32_t)from);
	}
}

static void take_one(int track)
{
	int from = (int)sim_draw((uint32_t)sim.world.nranks), part = (int)sim_draw((uint32_t)sim.world.nparts);
	struct sim_msg *m = links_pop(track, from, part);
	struct zwire_env env;

	if (!m)
		return;
	if (zwire_decode(&env, m->raw) != 0 || env.len != m->len || (int)env.src != from)
		sim_fail("rank %d posts no envelope", from);
	if (env.kind == ZWIRE_BYE)
		take_bye(track, from, part);
	else if (env.kind == ZWIRE_RECEIVERS)
		take_list(track, env.src, m);
	else if (env.dst == ZWIRE_NOBODY)
		route_to_list(track, &env, m->payload);
	else
		route(track, env, m->payload);
	free(m);
}

static void resume(int track, int from, int to)
{
	struct refusal *r = &zippers[track].refusal[from][to];

	if (!r->stands || !r->untold || zippers[track].full[to])
		return;
	r->untold = false;
	const struct zwire_env env = {.kind = ZWIRE_RESUME, .src = (uint32_t)to, .dst = (uint32_t)from, .seq = r->seq};
	links_push(track, &env, NULL);
}

void zippers_begin_again(int track)
{
	struct zipper *z = &zippers[track];

	while (z->offers) {
		struct offer *o = z->offers;
		z->offers = o->next;
		free(o);
	}
	while (z->moves) {
		struct move *m = z->moves;
		z->moves = m->next;
		free(m);
	}
	memset(z, 0, sizeof(*z));
}

void zippers_turn(int track)
{
	const uint32_t n = (uint32_t)sim.world.nranks;

	if (links_is_dead(sim_rail_of(track)))
		return;
	if (sim_draw(4) == 0)
		zippers_move(track, sim_draw(3) != 0);
	if (sim_draw(60) == 0)
		zippers[track].full[sim_draw(n)] = true;
	if (sim_draw(20) == 0)
		zippers[track].full[sim_draw(n)] = false;
	for (int to = 0; to < sim.world.nranks; to++)
		for (int from = 0; from < sim.world.nranks; from++)
			resume(track, from, to);
	take_one(track);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Relays between workers with the same first fabric: two workers never wait for each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zipperd/lane/body.h"
#include "zipperd/lane/relay.h"
#include "zipperd/lane/worker.h"
#include "zipperd/worker/inbound.h"
#include "zipperd/worker/multicast.h"

#define RANKS 3u /* one in each part */
#define SLOTS 64 /* of a relay */
#define JOB 1u

static const struct place places[RANKS] = {{0, 0}, {1, 0}, {2, 0}};
static const uint32_t stations_of[RANKS][1] = {{0}, {1}, {2}};

struct side { /* a worker without its thread, with a lane from part 0 */
	struct worker w;
	struct lane *lane;
	struct relay *relay; /* to the other one */
};

struct bench {
	struct budget budget;
	struct side to[RANKS]; /* part 1 and part 2 */
};

static void make_side(struct bench *b, uint32_t to)
{
	struct side *s = &b->to[to];
	struct worker *w = &s->w;
	assert_int_equal(pool_init(&w->pool, &b->budget, 4096, 65536), 0);
	w->ports = aligned_alloc(alignof(struct worker_ports), sizeof(*w->ports));
	s->relay = aligned_alloc(alignof(struct relay), sizeof(*s->relay));
	s->lane = lane_create(1, RANKS);
	assert_true(w->ports && s->relay && s->lane);
	memset(w->ports, 0, sizeof(*w->ports));
	memset(s->relay, 0, sizeof(*s->relay));
	list_init(&w->due);
	list_init(&w->fanouts);
	w->wake_fd = w->control_fd = -1;
	w->lanes = s->lane;
	s->lane->job = JOB;
	s->lane->to = to;
	s->lane->nstations = RANKS;
	s->lane->place = places;
	s->lane->station_of = stations_of[to];
	s->lane->limits = (struct lane_limits){4096, 65536, 1 << 20, 1 << 20};
	s->lane->worker = w;
}

static void start(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	b->budget.limit = 64 << 20;
	make_side(b, 1);
	make_side(b, 2);
	for (uint32_t to = 1; to < RANKS; to++) {
		struct side *s = &b->to[to], *other = &b->to[RANKS - to];
		s->relay->from = &s->w;
		s->relay->to = &other->w;
		s->lane->relay[other->lane->to] = s->relay;
		other->w.inbound = s->relay;
	}
}

static void halt(struct bench *b)
{
	for (uint32_t to = 1; to < RANKS; to++) {
		struct side *s = &b->to[to];
		inbound_drain(&s->w);
		half_clear_lane(&s->w, s->lane);
		pool_fini(&s->w.pool);
		lane_destroy(s->lane);
		free(s->w.ports);
	}
	assert_int_equal(b->budget.used, 0);
	free(b->to[1].relay);
	free(b->to[2].relay);
}

/* Pushes offers of its fan-outs until the relay is full. */
static void fill_with_offers(struct bench *b, uint32_t to)
{
	struct side *s = &b->to[to];
	const uint32_t dst = RANKS - to;
	for (uint32_t i = 0; i < SLOTS; i++) {
		const struct zwire_env env = {.kind = ZWIRE_RTS,
			.flags = ZWIRE_F_ONE_SIDED,
			.dst = dst,
			.seq = i + 1,
			.xfer = i + 1,
			.offset = 1000};
		struct relayed m = {.what = RELAYED_OFFER,
			.job = JOB,
			.fan = {.id = i + 1, .reader = &s->w, .part = s->lane->to}};
		zwire_encode(m.env, &env);
		assert_true(relay_push(&s->w, s->relay, &m));
	}
	assert_false(relay_push(&s->w, s->relay, &(struct relayed){.what = RELAYED_LEFT}));
}

/* Both have to answer offers of the other, and there is no room for an answer. */
static void refused_offers_cross(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	for (uint32_t to = 1; to < RANKS; to++) {
		dest_bye(&b.to[to].w, lane_dest(b.to[to].lane, 0));
		fill_with_offers(&b, to);
	}
	for (int i = 0; i < 2 * SLOTS; i++) {
		inbound_turn(&b.to[1].w);
		inbound_turn(&b.to[2].w);
	}
	assert_false(inbound_waits(&b.to[1].w));
	assert_false(inbound_waits(&b.to[2].w));
	halt(&b);
}

/* The threads end before there was room. */
static void answers_that_wait_are_dropped(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	dest_bye(&b.to[2].w, lane_dest(b.to[2].lane, 0));
	fill_with_offers(&b, 1);
	fill_with_offers(&b, 2);
	inbound_turn(&b.to[2].w);
	assert_true(inbound_waits(&b.to[2].w));
	halt(&b);
}

/* Messages for ranks that do not read have taken all memory. One more of them must not stop messages to others. */
static void messages_go_on_without_memory(void **state)
{
	const struct zwire_env env = {.kind = ZWIRE_EAGER, .dst = 2, .seq = 1, .len = 1000};
	static const uint8_t payload[1000];
	struct buf *list = NULL, *one;
	struct bench b;
	(void)state;
	start(&b);
	struct worker *from = &b.to[1].w, *to = &b.to[2].w;
	struct relayed m = {.what = RELAYED_MESSAGE,
		.job = JOB,
		.len = env.len,
		.body = body_create(from, payload, env.len)};
	assert_non_null(m.body);
	zwire_encode(m.env, &env);
	for (int large = 1; large >= 0; large--)
		while ((one = pool_get(&to->pool, large ? 4096 : 0))) {
			one->next = list;
			list = one;
		}
	assert_true(relay_push(from, b.to[1].relay, &m));
	inbound_turn(to);
	assert_false(inbound_waits(to));
	assert_true(b.budget.used <= b.budget.limit);
	while ((one = list)) {
		list = one->next;
		pool_put(&to->pool, one);
	}
	half_clear_lane(to, b.to[2].lane); /* lets the body go, which is another worker's */
	to->lanes = b.to[2].lane;
	body_collect(from);
	halt(&b);
}

/* The control thread is asked once for a missing relay. */
static void a_relay_is_asked_for_once(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	struct lane *l = b.to[1].lane;
	l->relay[2] = NULL;
	assert_null(relay_to(l, 2));
	assert_null(relay_to(l, 2));
	const struct event *e = event_ring_peek(&b.to[1].w.ports->events);
	assert_true(e && e->kind == EVENT_RELAY && e->lane == l && e->part == 2);
	event_ring_drop(&b.to[1].w.ports->events);
	assert_null(event_ring_peek(&b.to[1].w.ports->events));
	l->relay[2] = b.to[1].relay;
	assert_ptr_equal(relay_to(l, 2), b.to[1].relay);
	halt(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_offers_cross),
		cmocka_unit_test(answers_that_wait_are_dropped),
		cmocka_unit_test(messages_go_on_without_memory),
		cmocka_unit_test(a_relay_is_asked_for_once),
	};
	return cmocka_run_group_tests_name("relays", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The links of unit/verbs/random. Each end does what a thread would: it posts, flushes, polls, and sleeps where it is
 * told that it may, until its descriptor wakes it. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>

#include "test/unit/verbs/random_parts.h"

#define TO_POST 400 /* messages of one end */

struct end *end_other(const struct end *e)
{
	return &world.end[e->pair][1 - e->side];
}

bool end_is_up(const struct end *e)
{
	return e->link && e->stage == STAGE_SETTLED;
}

void end_fail(struct end *e, int why, const char *what)
{
	trace("%d.%d: %s: %s", e->pair, e->side, what, strerror(-why));
	if (!world.hurt && !end_other(e)->gone && !end_other(e)->drains)
		random_fail("%d.%d: %s: %s, and nothing has failed", e->pair, e->side, what, strerror(-why));
	e->stage = STAGE_FAILED;
	e->why = why;
}

/* --- sending --- */

static void note(struct end *e, uint64_t k, uint32_t len)
{
	if (e->posted == e->cap) {
		e->cap = e->cap ? 2 * e->cap : 64;
		e->log = realloc(e->log, e->cap * sizeof(*e->log));
		assert_non_null(e->log);
	}
	e->log[e->posted++] = (struct message){k, len};
}

/* 0; -EAGAIN: not now, or the link is broken. */
static int post(struct end *e, uint64_t k, const void *payload, uint32_t len)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	message_env(raw, k, len);
	const int rc = e->link->ops->post(e->link, raw, len ? payload : NULL, len);
	e->asleep[ZLINK_TX] = false;
	if (rc == 0) {
		note(e, k, len);
		e->wants_flush = true;
		e->wants = false;
		return 0;
	}
	if (rc == -EAGAIN)
		e->wants = true;
	else
		end_fail(e, rc, "post");
	return -EAGAIN;
}

static uint32_t draw_length(void)
{
	static const uint32_t most[] = {1, 200, 200, 2000, 16400, 16400, 120000};
	return draw(most[draw(sizeof(most) / sizeof(most[0]))]);
}

static void flush(struct end *e)
{
	const int rc = e->link->ops->flush(e->link);
	e->asleep[ZLINK_TX] = false;
	if (rc == 0) {
		e->flushed = e->posted;
		e->wants_flush = e->wants = false;
	} else if (rc != -EAGAIN) {
		end_fail(e, rc, "flush");
	} else {
		e->wants = true;
	}
}

bool end_sleeps(struct end *e, enum zlink_half half)
{
	uint32_t events;
	if (!e->asleep[half])
		return false;
	struct pollfd p = {.fd = e->link->ops->fd(e->link, half, &events)};
	p.events = events & EPOLLIN ? POLLIN : POLLOUT;
	if (poll(&p, 1, 0) == 1)
		e->asleep[half] = false;
	return e->asleep[half];
}

static void send_some(struct end *e)
{
	const bool waits = e->wants || transfers_use(e, ZLINK_TX);
	if (end_sleeps(e, ZLINK_TX))
		return;
	if (!world.quiet && e->posted < TO_POST && draw(3)) {
		for (uint32_t n = 1 + draw(6); n > 0 && e->stage == STAGE_SETTLED; n--) {
			const uint32_t len = draw_length();
			if (post(e, world.next, payload_of(world.next, len), len) != 0)
				break;
			world.next++;
		}
	}
	e->wants_flush |= e->wants && world.quiet; /* it does not want what it waited for any more */
	if (e->stage == STAGE_SETTLED && e->wants_flush && (world.quiet || draw(3)))
		flush(e);
	if (e->stage == STAGE_SETTLED && (e->wants || waits) && (world.quiet || draw(2)))
		e->asleep[ZLINK_TX] = e->link->ops->arm(e->link, ZLINK_TX) == 0;
}

/* --- receiving --- */

static void *place(void *ctx, const struct zwire_env *env)
{
	struct end *e = ctx;
	e->placed = env->len && e->nto == 0 && draw(4) == 0;
	return e->placed ? e->memory : NULL;
}

/* To all ends that it is to go to, as far as it has not gone. */
static int pass_on(struct end *e, const struct zwire_env *env, const void *payload)
{
	int rc = 0;
	for (unsigned i = 0; i < e->nto; i++) {
		struct end *to = &world.end[e->to[i]][1];
		if (!end_is_up(to) || to->drains || e->passed[i] == env->seq + 1)
			continue;
		if (post(to, env->seq, payload, env->len) == 0)
			e->passed[i] = env->seq + 1;
		else if (end_is_up(to))
			rc = -EAGAIN;
	}
	return rc;
}

static int take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct end *e = ctx, *from = end_other(e);
	uint8_t expected[ZWIRE_ENV_BYTES];
	const bool placed = e->placed;
	if (placed && payload != e->memory)
		random_fail("%d.%d: payload is not where it was placed", e->pair, e->side);
	if (from->taken == from->posted)
		random_fail("%d.%d: a message came that nobody has posted", e->pair, e->side);
	const struct message m = from->log[from->taken];
	message_env(expected, m.k, m.len);
	if (memcmp(raw, expected, sizeof(expected)) != 0)
		random_fail("%d.%d: message %llu came where %llu is the next", e->pair, e->side,
			(unsigned long long)env->seq, (unsigned long long)m.k);
	if (m.len && memcmp(payload, payload_of(m.k, m.len), m.len) != 0)
		random_fail("%d.%d: payload of message %llu changed", e->pair, e->side, (unsigned long long)m.k);
	if (!placed && e->nto > 0 && pass_on(e, env, payload) != 0)
		return -EAGAIN;
	if (!placed && draw(world.quiet ? 50 : 8) == 0)
		return -EAGAIN;
	if (m.len && memcmp(payload, payload_of(m.k, m.len), m.len) != 0)
		random_fail("%d.%d: payload of message %llu changed while it was shown", e->pair, e->side,
			(unsigned long long)m.k);
	e->placed = false;
	from->taken++;
	return 0;
}

/* The receive half has told its end. */
static void end_told(struct end *e, int rc, const struct zsink *sink)
{
	const struct end *from = end_other(e);
	/* bytes that TCP has not delivered are lost with an end that closes before it has read everything */
	const bool queue = ((const struct vlink *)(void *)e->link)->rx.mode == VMODE_QUEUE;
	trace("%d.%d: poll: %s, %llu of %llu taken", e->pair, e->side, strerror(-rc), (unsigned long long)from->taken,
		(unsigned long long)from->flushed);
	/* over TCP the end of a broken link looks the same */
	if (rc == -ESHUTDOWN && !from->gone && !from->drains && !world.hurt)
		random_fail("%d.%d: the peer has closed, which it has not", e->pair, e->side);
	if (rc == -ESHUTDOWN && from->taken < from->flushed)
		random_fail("%d.%d: the peer has closed in good order, and %llu of its %llu messages were lost",
			e->pair, e->side, (unsigned long long)(from->flushed - from->taken),
			(unsigned long long)from->flushed);
	if (rc != -ESHUTDOWN && queue && !world.hurt && from->gone && from->flushed == from->posted)
		random_fail("%d.%d: %s instead of the peer's end", e->pair, e->side, strerror(-rc));
	for (int i = 0; i < 2; i++)
		if (e->link->ops->poll(e->link, sink, 1) >= 0 || e->link->ops->arm(e->link, ZLINK_RX) == 0)
			random_fail("%d.%d: a link that has ended goes on", e->pair, e->side);
	if (rc == -ESHUTDOWN) {
		e->stage = STAGE_FAILED;
		e->why = rc;
	} else {
		end_fail(e, rc, "poll");
	}
}

static void receive_some(struct end *e)
{
	const struct zsink sink = {.place = place, .take = take, .ctx = e};
	if (end_sleeps(e, ZLINK_RX))
		return;
	if (draw(20) == 0 && e->link->ops->unplace(e->link) == 0) {
		memset(e->memory, 0x55, 64);
		e->placed = false;
	}
	const int n = e->link->ops->poll(e->link, &sink, 1 + draw(8));
	if (!end_is_up(e) && e->stage != STAGE_PLAIN)
		return; /* a sink of its own has found it broken */
	if (n < 0 && n != -EAGAIN)
		end_told(e, n, &sink);
	else if (n == 0 && (world.quiet || draw(2)))
		e->asleep[ZLINK_RX] = e->link->ops->arm(e->link, ZLINK_RX) == 0;
}

/* --- opening and closing --- */

static void settle(struct end *e)
{
	struct zerr err = {""};
	struct zendpoint *rx = world.worker[draw(RANDOM_WORKERS)], *tx = world.worker[draw(RANDOM_WORKERS)];
	const int rc = e->link->ops->settle(e->link, draw(2) ? rx : tx, tx, &err);
	if (rc > 0)
		return;
	e->stage = rc == 0 ? STAGE_SETTLED : STAGE_PLAIN;
	e->asleep[ZLINK_RX] = e->asleep[ZLINK_TX] = false;
	trace("%d.%d: settled: %d %s", e->pair, e->side, rc, err.text);
	if (rc < 0)
		end_fail(e, rc, err.text);
}

static void init_end(struct end *e, int pair, int side, struct zlink *link)
{
	free(e->log);
	free(e->memory);
	*e = (struct end){.link = link,
		.pair = pair,
		.side = side,
		.stage = side == 0 ? STAGE_SETTLED : STAGE_PLAIN,
		.memory = malloc(ZWIRE_MAX_PAYLOAD)};
	assert_non_null(e->memory);
}

static void choose_ways(struct end *e)
{
	e->nto = draw(3) == 0 ? 1 + draw(2) : 0;
	for (unsigned i = 0; i < e->nto; i++)
		e->to[i] = (unsigned)(e->pair + 1 + (int)i) % (unsigned)world.pairs;
	if (e->nto == 2 && (e->to[1] == e->to[0] || e->to[1] == (unsigned)e->pair))
		e->nto = 1;
	if (e->nto && e->to[0] == (unsigned)e->pair)
		e->nto = 0;
}

void end_open(int pair)
{
	struct zerr err = {""};
	const int device = (int)draw((uint32_t)world.devices);
	struct fake_device *other = &fake_fabric()->device[1 - device];
	enum ibv_port_state state = other->port[0].state;
	struct zlink *a = NULL, *b = NULL;
	if (world.devices == 2)
		other->port[0].state = IBV_PORT_DOWN; /* so that the connecting end takes this one; nobody is told */
	const int rc = world.ops->connect(&a, &world.addr[device], 1000000, &err);
	other->port[0].state = state;
	if (rc < 0 && !world.hurt)
		random_fail("connect: %s", err.text);
	trace("%d: connect: %d %s", pair, rc, err.text);
	struct pollfd p = {.fd = world.ops->listener_fd(world.listener[device]), .events = POLLIN};
	assert_int_equal(poll(&p, 1, 1000000), 1);
	assert_int_equal(world.ops->accept(world.listener[device], &b, &err), 0);
	if (rc < 0) {
		b->ops->close(b);
		return;
	}
	if (!world.own && ((struct vlink *)(void *)a)->own) {
		world.own = ((struct vlink *)(void *)a)->own;
		world.own->links++;
	}
	init_end(&world.end[pair][0], pair, 0, a);
	init_end(&world.end[pair][1], pair, 1, b);
	world.end[pair][1].stays_plain = draw(12) == 0;
	choose_ways(&world.end[pair][1]);
}

void end_close(struct end *e)
{
	if (!transfers_leave(e))
		return;
	e->drains = true;
	if (draw(3)) {
		if (e->link->ops->drain(e->link) == -EAGAIN)
			return;
	}
	trace("%d.%d: close, %llu of %llu flushed", e->pair, e->side, (unsigned long long)e->flushed,
		(unsigned long long)e->posted);
	e->link->ops->close(e->link);
	e->link = NULL;
	e->gone = true;
}

void end_step(struct end *e)
{
	if (!e->link)
		return;
	if (e->stage == STAGE_FAILED || e->drains) {
		if (e->drains || world.quiet || draw(4) == 0)
			end_close(e);
		return;
	}
	if (e->stage == STAGE_PLAIN && !e->stays_plain && draw(3) == 0)
		settle(e);
	if (e->stage != STAGE_FAILED)
		receive_some(e);
	if (e->stage == STAGE_SETTLED)
		send_some(e);
	if (e->link && world.closes && !world.quiet && draw(150) == 0)
		end_close(e);
}

bool end_is_done(const struct end *e)
{
	const struct end *from = end_other(e);
	if (!e->link)
		return true;
	if (e->stage == STAGE_FAILED || e->drains || from->gone)
		return false;
	return !e->wants_flush && e->flushed == e->posted && from->taken == from->posted;
}

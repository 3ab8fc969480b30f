/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/unit/zipperd/worker_fixture.h"

#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/clock.h"
#include "test/unit/zipperd/unregistered.h"

#define PATIENCE_MS 20000

/* --- the transport --- */

static int fake_post(struct zlink *z, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct fake_link *l = (struct fake_link *)z;
	(void)payload;
	(void)len;
	if (atomic_load(&l->refusing)) {
		atomic_store(&l->sleeping, false);
		return -EAGAIN;
	}
	assert_int_equal(zwire_decode(&l->last, env), 0);
	atomic_fetch_add(&l->posts, 1);
	return 0;
}

static int fake_flush(struct zlink *z)
{
	struct fake_link *l = (struct fake_link *)z;
	if (atomic_load(&l->holding))
		return -EAGAIN;
	atomic_store(&l->sleeping, false);
	return 0;
}

/* An offer or a small message, from vrank 0 to vrank 1. */
static int fake_poll(struct zlink *z, const struct zsink *sink, unsigned budget)
{
	struct fake_link *l = (struct fake_link *)z;
	static const uint8_t key[ZRMA_KEY_BYTES];
	const struct zwire_env offer = {.kind = ZWIRE_RTS,
		.flags = ZWIRE_F_ONE_SIDED,
		.dst = 1,
		.seq = l->seq + 1,
		.xfer = XFER,
		.offset = BYTES,
		.len = ZRMA_KEY_BYTES};
	const struct zwire_env small = {.kind = ZWIRE_EAGER, .dst = 1, .seq = l->seq + 1};
	const struct zwire_env env = atomic_load(&l->small) ? small : offer;
	uint8_t raw[ZWIRE_ENV_BYTES];
	(void)budget;
	if (atomic_load(&l->interrupts))
		l->interrupt(l->arg);
	if (atomic_load(&l->shown) == 0)
		return 0;
	zwire_encode(raw, &env);
	if (sink->take(sink->ctx, &env, raw, key) != 0) {
		atomic_fetch_add(&l->refused, 1);
		return -EAGAIN;
	}
	l->seq++;
	atomic_fetch_sub(&l->shown, 1);
	atomic_fetch_add(&l->taken, 1);
	return 1;
}

static int fake_fd(const struct zlink *z, enum zlink_half half, uint32_t *events)
{
	(void)half;
	*events = EPOLLIN;
	return ((const struct fake_link *)z)->fd;
}

/* The receive half sleeps only where the test wakes it. */
static int fake_arm(struct zlink *z, enum zlink_half half)
{
	struct fake_link *l = (struct fake_link *)z;
	atomic_fetch_add(&l->arms, 1);
	if (half == ZLINK_RX)
		return !atomic_load(&l->quiet);
	if (!(atomic_load(&l->holding) || atomic_load(&l->refusing)))
		return 1;
	atomic_store(&l->sleeping, true);
	return 0;
}

static void fake_limits(const struct zlink *z, struct zrma_limits *out)
{
	const uint32_t one = !atomic_load(&((const struct fake_link *)z)->useless);
	*out = (struct zrma_limits){.max_bytes = 1 << 20, .reads = one, .writes = one};
}

static int operate(struct fake_half *h, const struct zrma_op *op)
{
	bool full = h->cookie || atomic_load(&h->full);
	if (!full)
		h->cookie = op->cookie;
	h->local = op->local;
	atomic_fetch_add(&h->tried, 1);
	return full ? -EAGAIN : 0;
}

static int fake_read(struct zlink *z, const struct zrma_op *op)
{
	return operate(&((struct fake_link *)z)->rx, op);
}

static int fake_write(struct zlink *z, const struct zrma_op *op)
{
	return operate(&((struct fake_link *)z)->tx, op);
}

static int fake_reap(struct zlink *z, enum zlink_half half, struct zrma_done *out, unsigned cap)
{
	struct fake_link *l = (struct fake_link *)z;
	struct fake_half *h = half == ZLINK_RX ? &l->rx : &l->tx;
	if (!h->cookie || cap == 0 || atomic_load(&h->held))
		return 0;
	*out = (struct zrma_done){.cookie = h->cookie};
	if (atomic_load(&h->stubborn))
		*out = (struct zrma_done){.cookie = h->cookie, .rc = -EIO, .held = true};
	h->cookie = NULL;
	return 1;
}

static void fake_give_up(struct zlink *z, enum zlink_half half)
{
	struct fake_link *l = (struct fake_link *)z;
	atomic_store(half == ZLINK_RX ? &l->rx.given_up : &l->tx.given_up, true);
}

static const struct zrma fake_rma = {
	.domain = unregistered_domain,
	.reg = unregistered_reg,
	.limits = fake_limits,
	.read = fake_read,
	.write = fake_write,
	.reap = fake_reap,
	.give_up = fake_give_up,
};

static const struct ztransport fake = {
	.name = "fake",
	.rma = &fake_rma,
	.post = fake_post,
	.flush = fake_flush,
	.poll = fake_poll,
	.fd = fake_fd,
	.arm = fake_arm,
	.fragment_bytes = 4096,
};

/* --- a job of two ranks, seen from the control thread --- */

static const struct place places[2] = {{0, 0}, {1, 0}};
static const uint32_t stations_of_b[1] = {1};

void command(struct bench *b, const struct command *c)
{
	while (!command_ring_push(&b->w->ports->commands, c))
		sched_yield();
	eventfd_write(b->w->wake_fd, 1);
}

static struct event next_event(struct bench *b)
{
	const int64_t end = zclock_ms() + PATIENCE_MS;
	struct event *e;
	while (!(e = event_ring_peek(&b->w->ports->events))) {
		assert_true(zclock_ms() < end);
		sched_yield();
	}
	struct event copy = *e;
	event_ring_drop(&b->w->ports->events);
	return copy;
}

struct channel *fake_channel(struct fake_link *l)
{
	struct channel *c = aligned_alloc(alignof(struct channel), sizeof(*c));
	assert_non_null(c);
	memset(c, 0, sizeof(*c));
	*l = (struct fake_link){.base.ops = &fake, .fd = eventfd(0, EFD_CLOEXEC)};
	assert_true(l->fd >= 0);
	c->zlink = c->source.zlink = c->tx.zlink = &l->base;
	c->source.channel = c->tx.channel = c;
	return c;
}

void wait_for(atomic_int *counter, int value)
{
	const int64_t end = zclock_ms() + PATIENCE_MS;
	while (atomic_load(counter) < value) {
		assert_true(zclock_ms() < end);
		sched_yield();
	}
}

void wait_until(atomic_bool *what, bool value)
{
	const int64_t end = zclock_ms() + PATIENCE_MS;
	while (atomic_load(what) != value) {
		assert_true(zclock_ms() < end);
		sched_yield();
	}
}

void start_polling(struct bench *b, int64_t poll_ns)
{
	struct zerr err;
	memset(b, 0, sizeof(*b));
	b->budget.limit = 64 << 20;
	b->control_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	const struct worker_params params = {.from = "a",
		.to = "b",
		.eager_bytes = 4096,
		.frag_bytes = 65536,
		.staging_bytes = 1 << 20,
		.budget = &b->budget,
		.control_fd = b->control_fd,
		.spin = 0,
		.poll_ns = poll_ns};
	assert_int_equal(worker_pair_start(&b->pair, &params, &err), 0);
	b->w = b->pair.worker[0];
	b->lane = lane_create(1, 2);
	assert_non_null(b->lane);
	b->lane->job = 1;
	b->lane->to = 1;
	b->lane->nstations = 2;
	b->lane->place = places;
	b->lane->station_of = stations_of_b;
	b->lane->limits = (struct lane_limits){4096, 65536, 1 << 20, 1 << 20};
	b->lane->worker = b->w;
	b->from = fake_channel(&b->from_link);
	b->to = fake_channel(&b->to_link);
	b->from->source.lane = b->to->tx.lane = b->lane;
	command(b, &(struct command){.kind = CMD_ADD_LANE, .lane = b->lane});
	command(b, &(struct command){.kind = CMD_ADD_TX, .tx = &b->to->tx});
	command(b, &(struct command){.kind = CMD_ADD_SOURCE, .source = &b->from->source});
}

void start(struct bench *b)
{
	start_polling(b, 0);
	atomic_store(&b->from_link.shown, 1);
}

void answer(struct bench *b)
{
	const struct note go = {.what = NOTE_ACCEPT, .job = 1, .src = 1, .dst = 0, .xfer = XFER, .total = BYTES};
	wait_for(&b->to_link.posts, 1);
	assert_true(note_ring_push(&b->w->ports->notes, &go));
	eventfd_write(b->w->wake_fd, 1);
}

void halt(struct bench *b)
{
	worker_pair_stop(&b->pair);
	assert_null(event_ring_peek(&b->w->ports->events));
	worker_pair_free(&b->pair);
	assert_int_equal(b->budget.used, 0);
	lane_destroy(b->lane);
	free(b->from);
	free(b->to);
	close(b->from_link.fd);
	close(b->to_link.fd);
	close(b->control_fd);
}

void drop_all(struct bench *b)
{
	command(b, &(struct command){.kind = CMD_DROP_SOURCE, .source = &b->from->source});
	command(b, &(struct command){.kind = CMD_DROP_TX, .tx = &b->to->tx});
	command(b, &(struct command){.kind = CMD_DROP_LANE, .lane = b->lane});
}

void expect(struct bench *b, enum event_kind kind, const struct channel *c)
{
	const struct event e = next_event(b);
	assert_int_equal(e.kind, kind);
	assert_ptr_equal(e.channel, c);
}

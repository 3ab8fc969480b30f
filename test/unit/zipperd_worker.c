/* SPDX-License-Identifier: BSD-3-Clause */
/* A pair of workers of zipperd over a transport that completes one-sided operations when the test says so: what is
 * given back to the control thread at the end of a job, and when. */
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

#include "channel.h"
#include "clock.h"
#include "transfer.h"

#define BYTES 1000u
#define XFER 7u

/* --- the transport --- */

struct fake_half {
	void *cookie; /* of the operation under way */
	atomic_int tried;
	atomic_bool full, held; /* takes none; does not complete */
	atomic_bool given_up;
};

struct fake_link {
	struct zlink base;
	int fd;
	atomic_int shown; /* messages left to be shown by poll */
	atomic_int arms;
	atomic_bool posted; /* something was sent on it */
	struct fake_half rx, tx;
};

static int fake_post(struct zlink *z, const uint8_t env[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	(void)env;
	(void)payload;
	(void)len;
	atomic_store(&((struct fake_link *)z)->posted, true);
	return 0;
}

static int fake_flush(struct zlink *z)
{
	(void)z;
	return 0;
}

/* The offer of a message from vrank 0 to vrank 1. */
static int fake_poll(struct zlink *z, const struct zsink *sink, unsigned budget)
{
	struct fake_link *l = (struct fake_link *)z;
	static const uint8_t key[ZRMA_KEY_BYTES];
	const struct zwire_env env = {.kind = ZWIRE_RTS,
		.flags = ZWIRE_F_ONE_SIDED,
		.dst = 1,
		.seq = 1,
		.xfer = XFER,
		.offset = BYTES,
		.len = ZRMA_KEY_BYTES};
	uint8_t raw[ZWIRE_ENV_BYTES];
	(void)budget;
	if (atomic_load(&l->shown) == 0)
		return 0;
	zwire_encode(raw, &env);
	if (sink->take(sink->ctx, &env, raw, key) != 0)
		return -EAGAIN;
	atomic_fetch_sub(&l->shown, 1);
	return 1;
}

static int fake_fd(const struct zlink *z, enum zlink_half half, uint32_t *events)
{
	(void)half;
	*events = EPOLLIN;
	return ((const struct fake_link *)z)->fd;
}

static int fake_arm(struct zlink *z, enum zlink_half half)
{
	(void)half;
	atomic_fetch_add(&((struct fake_link *)z)->arms, 1);
	return 1; /* never sleeps: nothing wakes it */
}

static const void *fake_domain(const struct zlink *z, enum zlink_half half)
{
	(void)z;
	(void)half;
	return NULL;
}

static int fake_reg(struct zlink *z, enum zlink_half half, void *base, size_t len, struct zregion **out,
	struct zerr *err)
{
	(void)z;
	(void)half;
	(void)base;
	(void)len;
	(void)err;
	*out = NULL;
	return 0;
}

static void fake_limits(const struct zlink *z, struct zrma_limits *out)
{
	(void)z;
	*out = (struct zrma_limits){.max_bytes = 1 << 20, .reads = 1, .writes = 1};
}

static int operate(struct fake_half *h, const struct zrma_op *op)
{
	bool full = h->cookie || atomic_load(&h->full);
	if (!full)
		h->cookie = op->cookie;
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
	h->cookie = NULL;
	return 1;
}

static void fake_give_up(struct zlink *z, enum zlink_half half)
{
	struct fake_link *l = (struct fake_link *)z;
	atomic_store(half == ZLINK_RX ? &l->rx.given_up : &l->tx.given_up, true);
}

static const struct zrma fake_rma = {
	.domain = fake_domain,
	.reg = fake_reg,
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

struct bench {
	struct budget budget;
	struct worker_pair pair;
	struct worker *w; /* a > b */
	struct lane *lane;
	struct channel *from, *to; /* of vrank 0: its receiving half; of vrank 1: its sending half */
	struct fake_link from_link, to_link;
	int control_fd;
};

static const struct place places[2] = {{0, 0}, {1, 0}};
static const uint32_t vranks_of_b[1] = {1};

static void command(struct bench *b, const struct command *c)
{
	while (!command_ring_push(&b->w->ports->commands, c))
		sched_yield();
	eventfd_write(b->w->wake_fd, 1);
}

static struct event next_event(struct bench *b)
{
	struct event *e;
	while (!(e = event_ring_peek(&b->w->ports->events)))
		sched_yield();
	struct event copy = *e;
	event_ring_drop(&b->w->ports->events);
	return copy;
}

static struct channel *make_channel(struct fake_link *l)
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

static void wait_for(atomic_int *counter, int value)
{
	while (atomic_load(counter) < value)
		sched_yield();
}

/* The offer has been made and is answered: the worker reads. */
static void start_polling(struct bench *b, int64_t poll_ns)
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
	b->lane->nranks = 2;
	b->lane->place = places;
	b->lane->vrank_of = vranks_of_b;
	b->lane->limits = (struct lane_limits){4096, 65536, 1 << 20, 1 << 20};
	b->lane->worker = b->w;
	b->from = make_channel(&b->from_link);
	b->to = make_channel(&b->to_link);
	b->from->source.lane = b->lane;
	atomic_store(&b->from_link.shown, 1);
	command(b, &(struct command){.kind = CMD_ADD_LANE, .lane = b->lane});
	command(b, &(struct command){.kind = CMD_ADD_TX, .tx = &b->to->tx, .lane = b->lane});
	command(b, &(struct command){.kind = CMD_ADD_SOURCE, .source = &b->from->source});
}

static void start(struct bench *b)
{
	start_polling(b, 0);
}

/* The receiver's answer, as the other worker would hand it over. */
static void answer(struct bench *b)
{
	const struct note go = {.what = NOTE_GO, .job = 1, .src = 1, .dst = 0, .xfer = XFER, .total = BYTES};
	while (!atomic_load(&b->to_link.posted))
		sched_yield();
	assert_true(note_ring_push(&b->w->ports->notes, &go));
	eventfd_write(b->w->wake_fd, 1);
}

/* What nobody has asked for must not come. */
static void stop(struct bench *b)
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

static void drop_all(struct bench *b)
{
	command(b, &(struct command){.kind = CMD_DROP_SOURCE, .source = &b->from->source});
	command(b, &(struct command){.kind = CMD_DROP_TX, .tx = &b->to->tx});
	command(b, &(struct command){.kind = CMD_DROP_LANE, .lane = b->lane});
}

static void expect(struct bench *b, enum event_kind kind, const struct channel *c)
{
	const struct event e = next_event(b);
	assert_int_equal(e.kind, kind);
	assert_ptr_equal(e.channel, c);
}

/* The worker wants nothing more of that half than what is under way. */
static void expect_given_up(struct fake_half *h)
{
	const int64_t end = zclock_ms() + 20000;
	while (!atomic_load(&h->given_up)) {
		assert_true(zclock_ms() < end);
		sched_yield();
	}
}

static void moves_a_message(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	answer(&b);
	wait_for(&b.to_link.tx.tried, 1);
	drop_all(&b);
	expect(&b, EVENT_HALF_GONE, b.from);
	expect(&b, EVENT_HALF_GONE, b.to);
	expect(&b, EVENT_LANE_GONE, NULL);
	stop(&b);
}

/* For as long as it was told, and then it does. */
static void looks_before_it_sleeps(void **state)
{
	struct bench b;
	(void)state;
	for (int i = 0; i < 2; i++) {
		start_polling(&b, i ? 50000000 : INT64_C(3600) * 1000000000);
		answer(&b);
		wait_for(&b.to_link.tx.tried, 1);
		usleep(20000);
		if (i == 0)
			assert_int_equal(atomic_load(&b.from_link.arms), 0);
		else
			wait_for(&b.from_link.arms, 1);
		drop_all(&b);
		expect(&b, EVENT_HALF_GONE, b.from);
		expect(&b, EVENT_HALF_GONE, b.to);
		expect(&b, EVENT_LANE_GONE, NULL);
		stop(&b);
	}
}

/* Two workers in one thread, which sleeps: either is woken. */
static void both_wake_their_thread(void **state)
{
	struct budget budget = {.limit = 64 << 20};
	struct worker_pair pair;
	struct zerr err;
	const struct worker_params params = {.from = "a",
		.to = "b",
		.eager_bytes = 4096,
		.frag_bytes = 65536,
		.budget = &budget,
		.control_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.spin = 0,
		.shared = true};
	(void)state;
	assert_int_equal(worker_pair_start(&pair, &params, &err), 0);
	for (int i = 0; i < 10; i++) {
		struct bench b = {.w = pair.worker[i % 2], .lane = lane_create(1, 2)};
		usleep(5000);
		b.lane->worker = b.w;
		command(&b, &(struct command){.kind = CMD_ADD_LANE, .lane = b.lane});
		usleep(5000);
		command(&b, &(struct command){.kind = CMD_DROP_LANE, .lane = b.lane});
		expect(&b, EVENT_LANE_GONE, NULL);
		lane_destroy(b.lane);
	}
	worker_pair_stop(&pair);
	worker_pair_free(&pair);
	close(params.control_fd);
}

/* The job ends while its memory is in the hands of the device: the lane has to wait for the last half. */
static void lane_waits_for_a_write(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	atomic_store(&b.to_link.tx.held, true);
	answer(&b);
	wait_for(&b.to_link.tx.tried, 1);
	drop_all(&b);
	expect(&b, EVENT_HALF_GONE, b.from);
	expect_given_up(&b.to_link.tx);
	assert_false(atomic_load(&b.from_link.rx.given_up));
	atomic_store(&b.to_link.tx.held, false);
	expect(&b, EVENT_HALF_GONE, b.to);
	expect(&b, EVENT_LANE_GONE, NULL);
	stop(&b);
}

static void lane_waits_for_a_read(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	atomic_store(&b.from_link.rx.held, true);
	answer(&b);
	wait_for(&b.from_link.rx.tried, 1);
	drop_all(&b);
	expect(&b, EVENT_HALF_GONE, b.to);
	expect_given_up(&b.from_link.rx);
	assert_false(atomic_load(&b.to_link.tx.given_up));
	atomic_store(&b.from_link.rx.held, false);
	expect(&b, EVENT_HALF_GONE, b.from);
	expect(&b, EVENT_LANE_GONE, NULL);
	stop(&b);
}

/* What was still to be written is given up with the half, which goes once: its memory is another's then. */
static void half_goes_once(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	atomic_store(&b.to_link.tx.full, true);
	answer(&b);
	wait_for(&b.to_link.tx.tried, 2); /* it is in the queue of that link */
	command(&b, &(struct command){.kind = CMD_DROP_TX, .tx = &b.to->tx});
	expect(&b, EVENT_HALF_GONE, b.to);
	memset(b.to, 0xff, sizeof(*b.to)); /* a write to it, as free would be */
	command(&b, &(struct command){.kind = CMD_DROP_SOURCE, .source = &b.from->source});
	expect(&b, EVENT_HALF_GONE, b.from);
	command(&b, &(struct command){.kind = CMD_DROP_LANE, .lane = b.lane});
	expect(&b, EVENT_LANE_GONE, NULL);
	stop(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves_a_message),
		cmocka_unit_test(looks_before_it_sleeps),
		cmocka_unit_test(both_wake_their_thread),
		cmocka_unit_test(lane_waits_for_a_write),
		cmocka_unit_test(lane_waits_for_a_read),
		cmocka_unit_test(half_goes_once),
	};
	return cmocka_run_group_tests_name("zipperd's workers", tests, NULL, NULL);
}

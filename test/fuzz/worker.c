/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pair of zipperd's workers against ranks that send whatever they like: a job of two ranks in each of two parts, over
 * links of this file. Both workers take their turns here, without threads, so that an input always does the same.
 *
 * An input: CONFIG_BYTES bytes, then frames of FRAME_BYTES bytes, followed by what their kind says. A frame is an
 * envelope that one of the ranks sends, or something that happens to its link.
 *
 * Checked: nobody gets another rank's message, or bytes that another than the named sender sent; everything is given
 * back, and no memory is left over.
 */
#define thread_run thread_run_alone /* the threads of the pair end at once; turn() is called here instead */
#include "zipperd/worker/thread.c"
#undef thread_run

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/fuzz/target.h"
#include "test/unit/zipperd/unregistered.h"
#include "zipperd/conn/channel.h"
#include "zipperd/lane/body.h"
#include "zipperd/lane/transfer.h"
#include "zipperd/onesided/reader.h"
#include "zipperd/worker/worker_pair.h"

#define RANKS 4 /* 0 and 1 are in part 0, 2 and 3 in part 1 */
#define FRAMES_MAX 256
#define CONFIG_BYTES 4
#define FRAME_BYTES 9
#define SMALL_BYTES 8192 /* payloads up to here have memory of their own, so that sanitizers see its end */
#define PATIENCE 50	 /* tries of a frame until its link breaks */
#define IDLE_ROUNDS 3
#define ROUNDS_MAX 100000
#define MEMORY (24u << 20)
#define STAGING (1u << 20)
#define EAGER 4096
#define FRAGMENT 65536

void *thread_run(void *);
void *thread_run(void *arg)
{
	(void)arg;
	return NULL;
}

enum { PAUSE = ZWIRE_KIND_MAX + 1, BREAK, FULL, HOLD, SAYS_BYE, LEAVES, FRAME_KINDS };

struct link_half { /* one-sided operations */
	void *cookie, *local;
	size_t len;
	bool slow; /* an operation is complete at the second look */
	int rc;
};

struct fake_link {
	struct zlink base;
	uint32_t station;
	int fd;
	const uint8_t *frame[FRAMES_MAX], *end; /* of this rank, in order */
	int next, n;
	unsigned paused, full, holding, tries;
	bool broken, useless;
	struct link_half rx, tx;
	uint64_t seq[RANKS];
	uint8_t *window; /* as large as a one-sided operation may be */
};

static struct budget budget;
static struct worker_pair pair;
static struct lane *lane[2];
static struct fake_link links[RANKS];
static struct channel *channel[RANKS];
static bool lost[RANKS], bye[RANKS], dropped[RANKS];
static int halves_gone, lanes_gone;
static const struct place places[RANKS] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
static const uint32_t stations_of[2][2] = {{0, 1}, {2, 3}};

/* --- payloads: every byte says who sent it --- */

static uint8_t mark(uint32_t station)
{
	return (uint8_t)(0xa0 + station);
}

static void check_marks(const uint8_t *data, size_t len, uint32_t from, uint32_t to)
{
	if (len == 0)
		return;
	CHECK(from < RANKS && from / 2 != to / 2);
	for (size_t i = 0; i<len; i += len> 256 ? 61 : 1)
		CHECK(data[i] == mark(from));
	CHECK(data[len - 1] == mark(from));
}

/* --- the transport --- */

static int fake_post(struct zlink *z, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct fake_link *l = (struct fake_link *)z;
	struct zwire_env env;
	CHECK(!dropped[l->station]);
	if (l->full > 0) {
		l->full--;
		return -EAGAIN;
	}
	CHECK(zwire_decode(&env, raw) == 0 && env.len == len);
	CHECK(env.dst == l->station);
	CHECK(env.kind != ZWIRE_RECEIVERS && env.kind != ZWIRE_CTRL);
	if (env.kind == ZWIRE_EAGER || env.kind == ZWIRE_DATA)
		check_marks(payload, len, env.src, l->station);
	else
		CHECK(len == 0 || len == ZRMA_KEY_BYTES);
	return 0;
}

static int fake_flush(struct zlink *z)
{
	struct fake_link *l = (struct fake_link *)z;
	if (l->holding == 0)
		return 0;
	l->holding--;
	return -EAGAIN;
}

static uint64_t number(uint8_t b)
{
	static const uint64_t large[8] = {UINT64_MAX, UINT64_C(1) << 63, 1u << 20, UINT32_MAX, 65536, 4096,
		UINT64_C(1) << 32, 1000};
	return b < 0xf0 ? b & 15 : large[b & 7];
}

static uint32_t destination(uint32_t station, uint8_t b)
{
	switch (b & 7) {
	case 4:
		return ZWIRE_NOBODY;
	case 5:
		return RANKS;
	case 6:
		return ZWIRE_NOBODY - 1;
	case 7:
		return (station < 2 ? 2 : 0) + (b >> 3 & 1);
	default:
		return b & 3;
	}
}

/* A list of receivers: for each its station and its numbers, from two bytes behind the frame. */
static uint32_t list_receivers(const struct fake_link *l, const uint8_t *f, uint8_t *out)
{
	const uint8_t *more = f + FRAME_BYTES;
	uint32_t n = f[3] & 7;
	if (n >= 6)
		n = n == 6 ? ZWIRE_RECEIVERS_MAX : ZWIRE_RECEIVERS_MAX + 1;
	memset(out, 0, (size_t)n * ZWIRE_RECEIVER_BYTES);
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t a = more < l->end ? *more++ : (uint8_t)i, b = more < l->end ? *more++ : 0;
		const uint32_t dst = a & 4 ? (uint32_t)number(a) : (l->station < 2 ? 2u : 0u) + (a & 1);
		const struct zwire_receiver r = {.dst = dst,
			.seq = b & 1 ? number(b >> 1) : l->seq[dst % RANKS] + 1,
			.xfer = b >> 4,
			.ack = a >> 4};
		zwire_put_receiver(out + (size_t)i * ZWIRE_RECEIVER_BYTES, &r);
		if (a == 0xee)
			out[(size_t)i * ZWIRE_RECEIVER_BYTES + 5] = 1;
	}
	return n * ZWIRE_RECEIVER_BYTES;
}

static void envelope_of(struct fake_link *l, const uint8_t *f, struct zwire_env *env)
{
	static const uint32_t lengths[16] = {0, 0, 0, ZRMA_KEY_BYTES, ZRMA_KEY_BYTES, 1, 64, 4096, 4097, 33, 65536,
		65537, 1000, ZWIRE_MAX_PAYLOAD, 31, 2000};
	*env = (struct zwire_env){.kind = (uint8_t)(f[0] & 31),
		.flags = f[1] & 0x80 ? 0 : f[1] & ZWIRE_F_ALL,
		.src = (f[1] & 0x60) == 0x60 ? f[2] >> 4 : l->station,
		.dst = destination(l->station, f[2]),
		.len = lengths[f[3] & 15],
		.xfer = number(f[5]),
		.offset = number(f[6]),
		.comm = number(f[7]),
		.tag = (int8_t)f[8],
		.ack = f[3] & 64 ? number(f[4]) : 0};
	if (f[3] & 16)
		env->seq = number(f[4]);
	else if (rules_is_sequenced(env->kind) && env->dst < RANKS)
		env->seq = ++l->seq[env->dst];
	if (env->kind == ZWIRE_EAGER && f[3] & 128)
		env->offset = env->len;
}

/* Shows the worker one message. */
static int show(struct fake_link *l, const struct zsink *sink, const uint8_t *f)
{
	static uint8_t list[(ZWIRE_RECEIVERS_MAX + 1) * ZWIRE_RECEIVER_BYTES];
	uint8_t raw[ZWIRE_ENV_BYTES];
	struct zwire_env env, seen;
	envelope_of(l, f, &env);
	if (env.kind == ZWIRE_RECEIVERS)
		env.len = list_receivers(l, f, list);
	uint8_t *payload = env.len <= SMALL_BYTES ? malloc(env.len ? env.len : 1) : l->window;
	CHECK(payload);
	if (env.kind == ZWIRE_RECEIVERS)
		memcpy(payload, list, env.len);
	else
		memset(payload, mark(l->station), env.len);
	zwire_encode(raw, &env);
	int rc = zwire_decode(&seen, raw);
	if (rc == 0)
		rc = sink->take(sink->ctx, &seen, raw, payload);
	if (payload != l->window)
		free(payload);
	if (rc != 0 && !(f[3] & 16) && rules_is_sequenced(env.kind) && env.dst < RANKS)
		l->seq[env.dst]--; /* it is shown again */
	return rc;
}

static int fake_poll(struct zlink *z, const struct zsink *sink, unsigned budget_of_poll)
{
	struct fake_link *l = (struct fake_link *)z;
	(void)budget_of_poll;
	if (l->broken)
		return -ECONNRESET;
	if (l->paused > 0) {
		l->paused--;
		return 0;
	}
	if (l->next == l->n)
		return 0;
	const uint8_t *f = l->frame[l->next];
	int rc = 0;
	switch (f[0] & 31) {
	case PAUSE:
		l->paused = f[1];
		break;
	case BREAK:
		l->broken = true;
		break;
	case FULL:
		l->full = f[1];
		break;
	case HOLD:
		l->holding = f[1];
		break;
	case SAYS_BYE:
		bye[l->station] = true;
		break;
	case LEAVES:
		lost[l->station] = true; /* as far as the control thread knows */
		break;
	default:
		rc = show(l, sink, f);
	}
	if (rc == -EAGAIN && ++l->tries < PATIENCE)
		return rc;
	if (rc != 0)
		l->broken = true;
	l->tries = 0;
	l->next++;
	return rc == 0 ? 1 : rc == -EAGAIN ? -ECONNRESET : rc;
}

static int fake_fd(const struct zlink *z, enum zlink_half half, uint32_t *events)
{
	(void)half;
	*events = EPOLLIN;
	return ((const struct fake_link *)z)->fd;
}

static int fake_arm(struct zlink *z, enum zlink_half half)
{
	const struct fake_link *l = (const struct fake_link *)z;
	(void)half;
	(void)l;
	return 1; /* links are polled until all is over */
}

static void fake_limits(const struct zlink *z, struct zrma_limits *out)
{
	const uint32_t one = !((const struct fake_link *)z)->useless;
	*out = (struct zrma_limits){.max_bytes = 1 << 20, .reads = one, .writes = one};
}

static int operate(struct link_half *h, const struct zrma_op *op)
{
	CHECK(op->len > 0 && op->len <= 1 << 20);
	if (h->cookie)
		return -EAGAIN;
	h->cookie = op->cookie;
	h->local = op->local;
	h->len = op->len;
	return 0;
}

static int fake_read(struct zlink *z, const struct zrma_op *op)
{
	struct fake_link *l = (struct fake_link *)z;
	int rc = operate(&l->rx, op);
	if (rc == 0)
		memset(op->local, mark(l->station), op->len);
	return rc;
}

static int fake_write(struct zlink *z, const struct zrma_op *op)
{
	struct fake_link *l = (struct fake_link *)z;
	const uint8_t first = *(const uint8_t *)op->local;
	int rc = operate(&l->tx, op);
	if (rc == 0)
		check_marks(op->local, op->len, (uint32_t)(first - mark(0)), l->station);
	return rc;
}

static int fake_reap(struct zlink *z, enum zlink_half half, struct zrma_done *out, unsigned cap)
{
	struct fake_link *l = (struct fake_link *)z;
	struct link_half *h = half == ZLINK_RX ? &l->rx : &l->tx;
	if (!h->cookie || cap == 0)
		return 0;
	if (h->slow && (l->holding ^= 1))
		return 0;
	*out = (struct zrma_done){.cookie = h->cookie, .rc = h->rc};
	h->cookie = NULL;
	return 1;
}

static void fake_give_up(struct zlink *z, enum zlink_half half)
{
	(void)z;
	(void)half;
}

static const struct zrma fake_rma = {.domain = unregistered_domain,
	.reg = unregistered_reg,
	.limits = fake_limits,
	.read = fake_read,
	.write = fake_write,
	.reap = fake_reap,
	.give_up = fake_give_up};

static const struct ztransport fake = {.name = "fake",
	.rma = &fake_rma,
	.post = fake_post,
	.flush = fake_flush,
	.poll = fake_poll,
	.fd = fake_fd,
	.arm = fake_arm,
	.fragment_bytes = 4096};

/* --- the control thread --- */

static void command(int worker, const struct command *c)
{
	CHECK(command_ring_push(&pair.worker[worker]->ports->commands, c));
}

static void drop_channel(int i)
{
	if (dropped[i])
		return;
	command(i / 2, &(struct command){.kind = CMD_DROP_SOURCE, .source = &channel[i]->source});
	command(!(i / 2), &(struct command){.kind = CMD_DROP_TX, .tx = &channel[i]->tx});
	lost[i] = false;
	bye[i] = false;
	channel[i]->dropping = true;
}

static int index_of(const struct channel *c)
{
	for (int i = 0; i < RANKS; i++)
		if (channel[i] == c)
			return i;
	return -1;
}

static void take_events(void)
{
	for (int w = 0; w < 2; w++) {
		struct event *e;
		while ((e = event_ring_peek(&pair.worker[w]->ports->events))) {
			const int i = index_of(e->channel);
			if (e->kind == EVENT_HALF_LOST || e->kind == EVENT_BYE) {
				CHECK(i >= 0);
				if (e->kind == EVENT_BYE)
					bye[i] = true;
				else
					lost[i] = true;
			}
			if (e->kind == EVENT_HALF_GONE) {
				CHECK(i >= 0 && channel[i]->dropping);
				halves_gone++;
				dropped[i] = ++channel[i]->halves == 2;
			}
			lanes_gone += e->kind == EVENT_LANE_GONE;
			event_ring_drop(&pair.worker[w]->ports->events);
		}
	}
	for (int i = 0; i < RANKS; i++) {
		if (bye[i] && !channel[i]->dropping)
			command(!(i / 2),
				&(struct command){.kind = CMD_DEST_BYE, .lane = lane[!(i / 2)], .dest = i & 1});
		bye[i] = false;
		if (lost[i] && !channel[i]->dropping)
			drop_channel(i);
	}
}

/* A round of the thread that both workers share; every other one without work it looks at what would wake it. */
static bool run_round(unsigned idle)
{
	bool moved = turn(pair.worker[0]);
	moved |= turn(pair.worker[1]);
	if (!moved && idle % 2) {
		prepare_sleep(pair.worker[0]);
		prepare_sleep(pair.worker[1]);
		look(pair.worker[0]->epoll, NULL, 0);
		look(pair.worker[1]->epoll, NULL, 0);
	}
	take_events();
	return moved;
}

static bool is_quiet(void)
{
	for (int i = 0; i < RANKS; i++) {
		const struct fake_link *l = &links[i];
		if (!channel[i]->dropping && !l->broken && (l->next < l->n || l->paused > 0))
			return false;
	}
	return true;
}

/* The pair is made once, as its rings and descriptors cost more than an input; its memory is new for each. */
static void begin_pair(uint64_t memory)
{
	static const struct worker_params params = {.from = "a",
		.to = "b",
		.eager_bytes = EAGER,
		.frag_bytes = FRAGMENT,
		.staging_bytes = STAGING,
		.budget = &budget,
		.shared = true};
	struct zerr err;
	budget = (struct budget){.limit = memory};
	if (!pair.worker[0])
		CHECK(worker_pair_start(&pair, &params, &err) == 0);
	else
		for (int i = 0; i < 2; i++) {
			struct worker *w = pair.worker[i];
			w->turns = 0;
			w->freed = w->told_opposite = w->told_control = false;
			CHECK(pool_init(&w->pool, &budget, EAGER, FRAGMENT) == 0);
			staging_init(&w->staging, w, &budget, STAGING, 0);
		}
}

/* As at the end of a worker: nothing may be left of its memory. */
static void end_pair(void)
{
	worker_pair_drain(&pair);
	for (int i = 0; i < 2; i++) {
		struct worker *w = pair.worker[i];
		CHECK(!w->lanes && !note_ring_peek(&w->ports->notes) && w->cold_txs == 0);
		reader_fini(w);
		staging_fini(&w->staging);
		body_collect(w);
		pool_fini(&w->pool);
	}
	CHECK(budget.used == 0);
}

static void begin(const uint8_t *config)
{
	halves_gone = lanes_gone = 0;
	begin_pair(config[0] & 8 ? MEMORY / 8 : MEMORY);
	for (uint32_t i = 0; i < 2; i++) {
		lane[i] = lane_create(2, 2);
		CHECK(lane[i]);
		lane[i]->job = 1;
		lane[i]->from = i;
		lane[i]->to = !i;
		lane[i]->nstations = RANKS;
		lane[i]->place = places;
		lane[i]->station_of = stations_of[!i];
		lane[i]->carried = i ? 1 : 2;
		lane[i]->limits = (struct lane_limits){EAGER, FRAGMENT, config[0] & 2 ? 8192 : 1 << 20,
			config[0] & 4 ? 65536 : 1 << 20};
		lane[i]->worker = pair.worker[i];
		command((int)i, &(struct command){.kind = CMD_ADD_LANE, .lane = lane[i]});
	}
	for (int i = 0; i < RANKS; i++) {
		struct channel *c = channel[i] = aligned_alloc(alignof(struct channel), sizeof(*c));
		CHECK(c);
		memset(c, 0, sizeof(*c));
		struct fake_link *l = &links[i];
		uint8_t *window = l->window ? l->window : malloc(ZWIRE_MAX_PAYLOAD);
		int fd = l->window ? l->fd : eventfd(0, EFD_CLOEXEC);
		CHECK(window && fd >= 0);
		*l = (struct fake_link){.base.ops = &fake,
			.station = (uint32_t)i,
			.fd = fd,
			.window = window,
			.full = (config[1] >> 2 * i & 3) * 5u,
			.useless = config[2] >> i & 1,
			.rx.rc = config[2] >> (4 + i) & 1 ? -EIO : 0,
			.tx.rc = config[2] >> (4 + i) & 1 ? -EIO : 0,
			.tx.slow = config[3] >> i & 1};
		lost[i] = bye[i] = dropped[i] = false;
		c->zlink = c->source.zlink = c->tx.zlink = &l->base;
		c->source.channel = c->tx.channel = c;
		c->source.station = (uint32_t)i;
		c->source.lane = lane[i / 2];
		c->tx.lane = lane[!(i / 2)];
	}
}

static void add_channels(uint8_t late)
{
	for (int i = 0; i < RANKS; i++) {
		command(!(i / 2), &(struct command){.kind = CMD_ADD_TX,
					  .tx = &channel[i]->tx,
					  .lane = lane[!(i / 2)],
					  .dest = i & 1});
		if (late >> i & 1) { /* messages wait for nobody: the first ones come before this rank's own */
			run_round(1);
			run_round(0);
		}
		command(i / 2, &(struct command){.kind = CMD_ADD_SOURCE, .source = &channel[i]->source});
	}
}

static void end(void)
{
	unsigned rounds = 0;
	for (int i = 0; i < RANKS; i++)
		if (!channel[i]->dropping)
			drop_channel(i);
	for (int i = 0; i < 2; i++)
		command(i, &(struct command){.kind = CMD_DROP_LANE, .lane = lane[i]});
	while (halves_gone < 2 * RANKS || lanes_gone < 2) {
		run_round(rounds);
		CHECK(rounds++ < ROUNDS_MAX); /* not given back */
	}
	CHECK(halves_gone == 2 * RANKS && lanes_gone == 2);
	end_pair();
	for (int i = 0; i < 2; i++)
		lane_destroy(lane[i]);
	for (int i = 0; i < RANKS; i++)
		free(channel[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < CONFIG_BYTES)
		return 0;
	begin(data);
	const uint8_t *at = data + CONFIG_BYTES, *last = data + size;
	for (int i = 0; i < RANKS; i++)
		links[i].end = last;
	while (last - at >= FRAME_BYTES) {
		struct fake_link *l = &links[at[0] >> 5 & 3];
		uint32_t kind = at[0] & 31;
		if (l->n < FRAMES_MAX && kind > 0 && kind < FRAME_KINDS)
			l->frame[l->n++] = at;
		at += FRAME_BYTES;
		if (kind == ZWIRE_RECEIVERS && at[-FRAME_BYTES + 3] % 8 < 6)
			at += 2 * (at[-FRAME_BYTES + 3] % 8);
	}
	add_channels(data[3] >> 4);
	unsigned idle = 0;
	for (unsigned rounds = 0; idle < IDLE_ROUNDS; rounds++) {
		idle = run_round(idle) || !is_quiet() ? 0 : idle + 1;
		CHECK(rounds < ROUNDS_MAX);
	}
	end();
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A trunk at a pair of workers, see trunk_bench.h. */
#define thread_run thread_run_alone /* the threads of the pair end at once; turn() is called here instead */
#include "zipperd/worker/thread.c"
#undef thread_run

#include "test/unit/zipperd/trunk_bench.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "zipperd/lane/body.h"
#include "zipperd/onesided/reader.h"

#define EAGER 4096
#define FRAGMENT 65536
#define STAGING (1u << 20)
#define MEMORY (64u << 20)
#define IDLE_ROUNDS 3
#define ROUNDS_MAX 200000
#define TRUNK_NUMBER 7

static struct worker_pair pair; /* made once, as its rings and descriptors cost more than a test */
static uint8_t payloads[BENCH_STREAMS + 2][ZWIRE_MAX_PAYLOAD]; /* by stream: each byte says whose it is */

void *thread_run(void *);
void *thread_run(void *arg)
{
	(void)arg;
	return NULL;
}

static uint8_t *payload_of(uint32_t id)
{
	const uint32_t i = id >= 1 && id <= BENCH_STREAMS ? id : BENCH_STREAMS + 1;
	if (payloads[i][0] == 0)
		memset(payloads[i], 0x30 + (int)i, ZWIRE_MAX_PAYLOAD);
	return payloads[i];
}

static void check_payload(const uint8_t *data, size_t len, uint32_t id)
{
	assert(len == 0 || (data[0] == payload_of(id)[0] && data[len - 1] == data[0] && data[len / 2] == data[0]));
}

static bool is_counted(uint8_t kind)
{
	return kind != ZWIRE_CREDIT && kind != ZWIRE_CLOSE;
}

static struct bench_stream *stream_at(struct bench *b, uint32_t id)
{
	return id >= 1 && id <= BENCH_STREAMS ? &b->s[id - 1] : NULL;
}

/* --- links --- */

static void check_wire(struct bench *b, const struct zwire_env *env, const void *payload)
{
	const uint64_t bytes = ZWIRE_ENV_BYTES + (uint64_t)env->len;
	struct bench_stream *s = stream_at(b, env->job);
	if (!s) { /* one that the test has not given a rank: the control thread alone answers, or a CREDIT */
		assert(!is_counted(env->kind));
		return;
	}
	if (env->kind == ZWIRE_CREDIT) {
		assert(env->offset <= s->shown && env->offset >= s->gone);
		assert(env->xfer == ZWIRE_STREAM_FIRST || env->xfer == ZWIRE_STREAM_LARGE);
		s->gone = env->offset;
	}
	if (!is_counted(env->kind))
		return;
	if (env->kind != ZWIRE_CTRL) /* the control thread of the bench keeps to no window */
		assert(stream_fits(s->sent - s->granted, s->most, bytes));
	s->sent += bytes;
	check_payload(payload, env->len, env->job);
}

static int link_post(struct zlink *z, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct bench_link *l = (struct bench_link *)z;
	struct zwire_env env;
	if (l->full)
		return -EAGAIN;
	assert(zwire_decode(&env, raw) == 0 && env.len == len);
	if (l->stream < 0) {
		check_wire(l->bench, &env, payload);
	} else {
		assert(env.job == 0);
		check_payload(payload, len, l->bench->s[l->stream].stream.id);
	}
	if (l->nout < BENCH_FRAMES)
		l->out[l->nout] = env;
	l->nout++;
	return 0;
}

static int link_flush(struct zlink *z)
{
	return ((struct bench_link *)z)->full ? -EAGAIN : 0;
}

/* What the other side shows is noted for the claims above once a worker has it. */
static void note_shown(struct bench *b, const struct zwire_env *env)
{
	struct bench_stream *s = stream_at(b, env->job);
	if (s && is_counted(env->kind))
		s->shown += ZWIRE_ENV_BYTES + (uint64_t)env->len;
	if (s && env->kind == ZWIRE_CREDIT && env->offset <= s->sent) {
		s->granted = env->offset > s->granted ? env->offset : s->granted;
		s->most = env->xfer > s->most ? env->xfer : s->most;
	}
}

static int link_poll(struct zlink *z, const struct zsink *sink, unsigned budget)
{
	struct bench_link *l = (struct bench_link *)z;
	int n = 0;
	for (; l->next < l->nin && n < (int)budget; n++) {
		const struct zwire_env *env = &l->in[l->next];
		const uint32_t id = l->stream < 0 ? env->job : l->bench->s[l->stream].stream.id;
		uint8_t raw[ZWIRE_ENV_BYTES];
		struct zwire_env seen;
		zwire_encode(raw, env);
		int rc = zwire_decode(&seen, raw);
		if (rc == 0)
			rc = sink->take(sink->ctx, &seen, raw, payload_of(id));
		if (rc == -EAGAIN && n > 0)
			return n;
		if (rc != 0)
			return rc;
		l->next++;
		if (l->stream < 0)
			note_shown(l->bench, env);
	}
	return n > 0 ? n : l->ended;
}

static int link_fd(const struct zlink *z, enum zlink_half half, uint32_t *events)
{
	(void)half;
	*events = EPOLLIN;
	return ((const struct bench_link *)z)->fd;
}

static int link_arm(struct zlink *z, enum zlink_half half)
{
	const struct bench_link *l = (const struct bench_link *)z;
	return half == ZLINK_TX ? !l->full : 1; /* sources are polled until all is over */
}

static const struct ztransport transport = {.name = "bench",
	.post = link_post,
	.flush = link_flush,
	.poll = link_poll,
	.fd = link_fd,
	.arm = link_arm,
	.fragment_bytes = FRAGMENT};

static void init_link(struct bench_link *l, struct bench *b, int stream)
{
	l->base.ops = &transport;
	l->bench = b;
	l->stream = stream;
	l->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert(l->fd >= 0);
}

void bench_show(struct bench_link *l, const struct zwire_env *env)
{
	if (l->nin < BENCH_FRAMES)
		l->in[l->nin++] = *env;
}

void bench_show_message(struct bench_link *l, uint32_t id, uint8_t kind, uint32_t len)
{
	bench_show(l,
		&(struct zwire_env){.kind = kind, .job = id, .src = ZWIRE_NOBODY, .dst = ZWIRE_NOBODY, .len = len});
}

void bench_show_credit(struct bench *b, uint32_t id, uint64_t gone, uint64_t window)
{
	bench_show(&b->wire, &(struct zwire_env){.kind = ZWIRE_CREDIT,
				     .job = id,
				     .src = ZWIRE_NOBODY,
				     .dst = ZWIRE_NOBODY,
				     .xfer = window,
				     .offset = gone});
}

const struct zwire_env *bench_last(const struct bench_link *l, uint32_t id, uint8_t kind)
{
	for (int i = (l->nout < BENCH_FRAMES ? l->nout : BENCH_FRAMES) - 1; i >= 0; i--)
		if (l->out[i].job == id && l->out[i].kind == kind)
			return &l->out[i];
	return NULL;
}

int bench_count(const struct bench_link *l, uint32_t id, uint8_t kind)
{
	int n = 0;
	for (int i = 0; i < (l->nout < BENCH_FRAMES ? l->nout : BENCH_FRAMES); i++)
		n += l->out[i].job == id && l->out[i].kind == kind;
	return n;
}

/* --- the control thread --- */

static void command(struct worker *w, const struct command *c)
{
	while (!command_ring_push(&w->ports->commands, c))
		command_run_all(w);
}

/* kind is of either half: both go to the workers of their lanes. */
static void drop_halves(struct channel *c)
{
	c->dropping = true;
	command(c->source.lane->worker, &(struct command){.kind = CMD_DROP_SOURCE, .source = &c->source});
	command(c->tx.lane->worker, &(struct command){.kind = CMD_DROP_TX, .tx = &c->tx});
}

static void drop_lanes(struct lane *const lane[2])
{
	for (int i = 0; i < 2; i++)
		command(lane[i]->worker, &(struct command){.kind = CMD_DROP_LANE, .lane = lane[i]});
}

static struct channel *make_channel(struct zlink *z, struct lane *in, struct lane *out)
{
	struct channel *c = aligned_alloc(alignof(struct channel), sizeof(*c));
	assert(c);
	memset(c, 0, sizeof(*c));
	c->zlink = c->source.zlink = c->tx.zlink = z;
	c->source.channel = c->tx.channel = c;
	c->source.lane = in;
	c->tx.lane = out;
	return c;
}

static const struct place places[2] = {{0, 0}, {1, 0}};
static const uint32_t station_of[2] = {0, 1};

/* A lane of the stream: to the rank (0), or from it. The peer's station is 0, the rank's 1. */
static struct lane *make_lane(struct bench *b, int i, int from)
{
	struct lane *l = b->config.jobs ? lane_create(1, 2) : lane_create_circuit();
	assert(l);
	l->job = (uint32_t)i + 1;
	l->from = (uint32_t)from;
	l->to = (uint32_t)!from;
	l->nstations = 2;
	l->place = places;
	l->station_of = &station_of[!from];
	l->limits = (struct lane_limits){EAGER, FRAGMENT, 1 << 20, 1 << 20};
	l->owner = &b->s[i];
	l->worker = pair.worker[from];
	if (b->config.user_memory)
		l->memory.share = &b->share;
	return l;
}

static void closed(struct stream *s)
{
	(void)s;
}

void bench_open(struct bench *b, int i)
{
	struct bench_stream *s = &b->s[i];
	if (s->state != BENCH_NONE || b->config.accepts || b->lost)
		return;
	s->state = BENCH_BEGUN;
	/* Ids are given in their order. */
	const uint32_t begun = atomic_load(&b->rx.begun);
	for (uint32_t id = begun + 1; id <= s->stream.id; id++) {
		atomic_store(&b->rx.begun, id);
		command(b->rx.worker,
			&(struct command){.kind = CMD_STREAM_NEW, .source = &b->trunk->source, .dest = id});
	}
}

void bench_lend(struct bench *b, int i)
{
	struct bench_stream *s = &b->s[i];
	if (s->state != BENCH_BEGUN || b->lost)
		return;
	s->state = BENCH_LENT;
	for (int k = 0; k < 2; k++)
		s->lane[k] = make_lane(b, i, k);
	s->end[0] = make_channel(&s->stream.base, s->lane[0], s->lane[1]);
	s->end[1] = make_channel(&s->rank.base, s->lane[1], s->lane[0]);
	s->end[1]->source.station = 1;
	for (int k = 0; k < 2; k++)
		command(s->lane[k]->worker, &(struct command){.kind = CMD_ADD_LANE, .lane = s->lane[k]});
	for (int k = 0; k < 2; k++)
		command(s->end[k]->tx.lane->worker, &(struct command){.kind = CMD_ADD_TX, .tx = &s->end[k]->tx});
	for (int k = 0; k < 2; k++)
		command(s->end[k]->source.lane->worker,
			&(struct command){.kind = CMD_ADD_SOURCE, .source = &s->end[k]->source});
	s->left = 2 * 2 + 2;
}

static void send_parcel(struct bench *b, const struct zwire_env *env)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	if (b->trunk->dropping)
		return;
	zwire_encode(raw, env);
	struct parcel *p = stream_parcel(raw, payload_of(env->job), env->len);
	assert(p);
	command(b->tx.worker, &(struct command){.kind = CMD_TRUNK_SEND, .tx = &b->trunk->tx, .parcel = p});
}

/* As end_stream in zipperd/trunk/trunk_stream.c. */
static void end_alone(struct bench *b, uint32_t id)
{
	send_parcel(b, &(struct zwire_env){.kind = ZWIRE_CLOSE, .job = id, .src = ZWIRE_NOBODY, .dst = ZWIRE_NOBODY});
	if (!b->trunk->dropping)
		command(b->rx.worker,
			&(struct command){.kind = CMD_STREAM_END, .source = &b->trunk->source, .dest = id});
}

void bench_close(struct bench *b, int i)
{
	struct bench_stream *s = &b->s[i];
	if (s->state == BENCH_BEGUN)
		end_alone(b, s->stream.id);
	if (s->state == BENCH_LENT) {
		drop_halves(s->end[0]);
		drop_halves(s->end[1]);
		drop_lanes(s->lane);
	}
	if (s->state != BENCH_NONE)
		s->state = BENCH_ENDING;
}

void bench_say(struct bench *b, int i, uint32_t len)
{
	const struct bench_stream *s = &b->s[i];
	if (s->state != BENCH_BEGUN || b->trunk->dropping)
		return;
	b->s[i].stream.sent += ZWIRE_ENV_BYTES + (uint64_t)len;
	send_parcel(b, &(struct zwire_env){.kind = ZWIRE_CTRL,
			       .job = s->stream.id,
			       .src = ZWIRE_NOBODY,
			       .dst = ZWIRE_NOBODY,
			       .len = len});
}

/* CREDIT, as take_room in zipperd/trunk/trunk_stream.c */
static void take_room(struct bench_stream *s, const struct parcel *p)
{
	struct zwire_env env;
	assert(zwire_decode(&env, p->env) == 0);
	if (env.offset > s->stream.sent)
		return;
	s->stream.granted = env.offset > s->stream.granted ? env.offset : s->stream.granted;
	s->stream.window = env.xfer;
}

static void hear_stream(struct bench *b, const struct event *e)
{
	struct bench_stream *s = stream_at(b, e->dest);
	if (e->dest == 0) {
		b->leaves++;
	} else if (!s) {
		if (e->first)
			end_alone(b, e->dest);
	} else if (s->state == BENCH_NONE && e->first && e->parcel) {
		s->state = BENCH_BEGUN;
		s->heard++;
	} else if (s->state == BENCH_NONE && e->first) {
		end_alone(b, e->dest);
		s->state = BENCH_ENDING;
	} else if (s->state == BENCH_BEGUN && e->parcel && e->parcel->env[1] == ZWIRE_CREDIT) {
		take_room(s, e->parcel);
	} else if (s->state == BENCH_LENT && e->parcel && !b->trunk->dropping) {
		command(b->rx.worker, &(struct command){.kind = CMD_STREAM_SAY,
					      .source = &b->trunk->source,
					      .dest = e->dest,
					      .parcel = e->parcel});
		return;
	} else {
		s->heard += e->parcel != NULL;
		s->ended |= !e->parcel;
	}
	free(e->parcel);
}

/* The stream that has this channel or lane; NULL: the trunk has it. */
static struct bench_stream *owner_of(struct bench *b, const struct event *e)
{
	for (int i = 0; i < BENCH_STREAMS; i++)
		if ((e->channel && (e->channel == b->s[i].end[0] || e->channel == b->s[i].end[1])) ||
			(!e->channel && e->lane->owner == &b->s[i]))
			return &b->s[i];
	return NULL;
}

static void hear(struct bench *b, const struct event *e)
{
	struct bench_stream *s = e->kind == EVENT_STREAM ? NULL : owner_of(b, e);
	if (e->kind == EVENT_STREAM) {
		hear_stream(b, e);
	} else if (e->kind == EVENT_HALF_GONE || e->kind == EVENT_LANE_GONE) {
		int *left = s ? &s->left : &b->left;
		assert(*left > 0);
		--*left;
	} else if (e->kind == EVENT_HALF_LOST && s) {
		s->ended = true;
		bench_close(b, (int)(s - b->s));
	} else if (e->kind == EVENT_HALF_LOST) {
		if (!b->breach)
			b->breach = e->breach;
		if (e->half == ZLINK_TX && !b->lost && !b->trunk->dropping)
			command(b->rx.worker, &(struct command){.kind = CMD_TRUNK_LOST, .source = &b->trunk->source});
		b->lost |= e->half == ZLINK_RX;
	}
}

void bench_empty(struct bench_link *l)
{
	l->full = false;
	eventfd_write(l->fd, 1);
}

static bool run_round(struct bench *b, unsigned idle)
{
	bool moved = turn(pair.worker[0]);
	struct event *e;
	moved |= turn(pair.worker[1]);
	if (!moved && idle % 2) {
		prepare_sleep(pair.worker[0]);
		prepare_sleep(pair.worker[1]);
		look(pair.worker[0]->epoll, NULL, 0);
		look(pair.worker[1]->epoll, NULL, 0);
	}
	for (int w = 0; w < 2; w++)
		while ((e = event_ring_peek(&pair.worker[w]->ports->events))) {
			const struct event copy = *e;
			event_ring_drop(&pair.worker[w]->ports->events);
			hear(b, &copy);
			moved = true;
		}
	return moved;
}

void bench_run(struct bench *b)
{
	unsigned rounds = 0;
	for (unsigned idle = 0; idle < IDLE_ROUNDS; rounds++) {
		idle = run_round(b, idle) ? 0 : idle + 1;
		assert(rounds < ROUNDS_MAX);
	}
}

void bench_turn(struct bench *b)
{
	run_round(b, b->rounds++);
}

/* --- the beginning and the end --- */

static void begin_pair(struct bench *b)
{
	const struct worker_params params = {.from = "a",
		.to = "b",
		.eager_bytes = EAGER,
		.frag_bytes = FRAGMENT,
		.staging_bytes = STAGING,
		.budget = &b->budget,
		.shared = true};
	struct zerr err;
	b->budget = (struct budget){.limit = b->config.memory ? b->config.memory : MEMORY};
	if (!pair.worker[0]) {
		assert(worker_pair_start(&pair, &params, &err) == 0);
		pthread_join(pair.thread[0].thread, NULL); /* it has ended at once */
		pair.thread[0].started = false;
		return;
	}
	for (int i = 0; i < 2; i++) {
		struct worker *w = pair.worker[i];
		w->turns = 0;
		w->freed = w->told_opposite = w->told_control = false;
		assert(pool_init(&w->pool, &b->budget, EAGER, FRAGMENT) == 0);
		staging_init(&w->staging, w, &b->budget, STAGING, 0);
	}
}

/* As at the end of a worker: nothing may be left of its memory. */
static void end_pair(struct bench *b)
{
	worker_pair_drain(&pair);
	for (int i = 0; i < 2; i++) {
		struct worker *w = pair.worker[i];
		assert(!w->lanes && !w->trunks && !note_ring_peek(&w->ports->notes) && w->cold_txs == 0);
		assert(list_empty(&w->trunks_full) && list_empty(&w->streams_held) && list_empty(&w->streams_due) &&
			list_empty(&w->streams_wide));
		reader_fini(w);
		staging_fini(&w->staging);
		body_collect(w);
		pool_fini(&w->pool);
	}
	assert(b->budget.used == 0 && b->budget.promised == 0 && b->share.used == 0);
}

void bench_begin(struct bench *b, const struct bench_config *config)
{
	memset(b, 0, sizeof(*b));
	b->config = *config;
	b->share.limit = config->user_memory;
	begin_pair(b);
	init_link(&b->wire, b, -1);
	for (int i = 0; i < 2; i++) {
		b->lane[i] = lane_create_circuit();
		assert(b->lane[i]);
		b->lane[i]->trunk = true;
		b->lane[i]->owner = b;
		b->lane[i]->worker = pair.worker[i];
	}
	b->trunk = make_channel(&b->wire.base, b->lane[0], b->lane[1]);
	b->trunk->source.trunk = &b->rx;
	b->trunk->tx.trunk = &b->tx;
	b->rx.number = b->tx.number = TRUNK_NUMBER;
	b->rx.channel = b->tx.channel = b->trunk;
	b->rx.worker = pair.worker[0];
	b->tx.worker = pair.worker[1];
	b->tx.carrier = &b->wire.base;
	b->rx.accepts = config->accepts;
	for (int i = 0; i < 2; i++)
		command(pair.worker[i], &(struct command){.kind = CMD_ADD_LANE, .lane = b->lane[i]});
	command(b->tx.worker, &(struct command){.kind = CMD_ADD_TX, .tx = &b->trunk->tx});
	command(b->rx.worker, &(struct command){.kind = CMD_ADD_SOURCE, .source = &b->trunk->source});
	b->left = 2 + 2;
	for (int i = 0; i < BENCH_STREAMS; i++) {
		struct bench_stream *s = &b->s[i];
		init_link(&s->rank, b, i);
		s->bench = b;
		s->most = ZWIRE_STREAM_FIRST;
		s->stream = (struct stream){.base.ops = &ztransport_stream,
			.id = (uint32_t)i + 1,
			.rx = &b->rx,
			.tx = &b->tx,
			.window = ZWIRE_STREAM_FIRST,
			.closed = closed};
	}
	bench_run(b);
}

static bool is_over(const struct bench *b)
{
	for (int i = 0; i < BENCH_STREAMS; i++)
		if (b->s[i].left > 0)
			return false;
	return b->left == 0;
}

static void free_channel(struct channel *c)
{
	if (c)
		close(((struct bench_link *)(c->zlink))->fd);
	free(c);
}

void bench_end(struct bench *b)
{
	unsigned rounds = 0;
	for (int i = 0; i < BENCH_STREAMS; i++)
		bench_close(b, i);
	for (; rounds < 4; rounds++)
		run_round(b, rounds);
	drop_halves(b->trunk);
	drop_lanes(b->lane);
	while (!is_over(b)) {
		run_round(b, rounds);
		assert(rounds++ < ROUNDS_MAX); /* not given back */
	}
	assert(HASH_COUNT(b->rx.streams) == 0 && HASH_COUNT(b->tx.streams) == 0);
	end_pair(b);
	for (int i = 0; i < BENCH_STREAMS; i++) {
		struct bench_stream *s = &b->s[i];
		for (int k = 0; s->lane[0] && k < 2; k++)
			lane_destroy(s->lane[k]);
		free(s->end[0]);
		free(s->end[1]);
		close(s->rank.fd);
	}
	for (int i = 0; i < 2; i++)
		lane_destroy(b->lane[i]);
	free_channel(b->trunk);
}

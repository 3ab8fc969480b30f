/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A node of zipcast against other nodes that send whatever they like: two groups of four nodes, over links of this
 * file. The context has no thread. The target takes its turns instead, so that an input always does the same.
 *
 * An input: CONFIG_BYTES bytes, then frames of FRAME_BYTES bytes. A frame is an envelope from one of the other nodes,
 * or something that happens to a link, or that the application does.
 *
 * Checked: sanitizers see each byte that is written beside a message; a complete message has the bytes that were sent
 * for it; the application's memory comes back, and nothing is left over.
 */
#include <pthread.h>

#include "common/control/auth.h"
#include "common/transport/transports.h"
#include "zipcast/connect.h"

static int pretend(void);
static const struct ztransport *find_fake(void);
static void take_turn(struct zipcast *);
static int is_there(struct node *, char *why);
#define pthread_create(thread, attr, run, arg) ((void)(run), pretend())
#define pthread_join(thread, value) pretend()
#define pthread_cond_wait(cond, lock) (pthread_mutex_unlock(lock), take_turn(zc), pthread_mutex_lock(lock))
#define ztransports_find(kind, err) ((void)(kind), (void)(err), find_fake())
#define zconnect_node(node, why) is_there(node, why)
#include "zipcast/command.c"
#include "zipcast/create.c"
#include "zipcast/open.c"
#include "zipcast/thread.c"

#include "test/fuzz/target.h"

#define NODES 4
#define GROUPS 2
#define CONFIG_BYTES 6
#define FRAME_BYTES 8
#define FRAMES_MAX 256
#define MESSAGE_MAX (1u << 20)
#define BLOCK_MAX 65536
#define OPEN_MAX 8 /* memory open to a node */
#define LATE_MS 1000000

enum {
	BREAKS = 24,
	PAUSES,
	FULL,
	GIVES_ROOM,
	SENDS,
	ENDS_GROUP,
	TIME,
	FRAME_KINDS
}; /* behind the kinds of envelopes */

struct fake_link {
	struct zlink base;
	int fd;
	const uint8_t *frame[FRAMES_MAX];
	unsigned next, n, paused;
	bool broken, full, gone;
	/* a block that is arriving */
	bool arriving;
	struct zwire_env env;
	uint8_t *placed;
	struct { /* memory that is open to the node */
		uint8_t *base;
		size_t len;
	} open[OPEN_MAX];
	void *cookie[8]; /* of writes under way */
	unsigned nwrites;
};

struct side { /* the application's side of a group */
	struct zipcast_group *group;
	uint32_t number;
	uint8_t *data; /* of the arriving message, or of the one that is sent */
	uint64_t bytes;
	bool failed, ends_in_callback, refuses;
};

static struct zipcast *context;
static struct fake_link links[NODES];
static struct side side[GROUPS];
static uint8_t config[CONFIG_BYTES];
static bool wrote_wrong; /* a node said WRITTEN without having written */
static bool turning;
static unsigned patience; /* turns until all links break; 0: they stay */

static uint8_t byte_at(uint64_t i)
{
	return (uint8_t)(i * 7 + (i >> 8) * 3 + 1);
}

/* --- the application --- */

static void *incoming(void *arg, uint64_t bytes)
{
	struct side *s = arg;
	CHECK(!s->data && !s->failed);
	if (s->refuses || bytes > MESSAGE_MAX)
		return NULL;
	s->bytes = bytes;
	s->data = malloc(bytes);
	CHECK(s->data);
	memset(s->data, 0, bytes);
	return s->data;
}

static void drop_data(struct side *s)
{
	free(s->data); /* sanitizers see later writes to it */
	s->data = NULL;
}

static void end_group(struct side *s)
{
	struct zipcast_group *g = s->group;
	s->group = NULL;
	patience = FRAMES_MAX; /* a root waits until all has been sent, which the other nodes may never take */
	zipcast_group_destroy(g);
	patience = 0;
	drop_data(s);
}

static void complete(void *arg, void *data, uint64_t bytes)
{
	struct side *s = arg;
	CHECK(data == s->data && bytes == s->bytes && !s->failed);
	for (uint64_t i = 0; i < bytes && !wrote_wrong; i += bytes > 512 ? 101 : 1)
		CHECK(s->data[i] == byte_at(i));
	drop_data(s);
}

static void failed(void *arg, const char *why)
{
	struct side *s = arg;
	CHECK(!s->failed && why[0]);
	s->failed = true;
	drop_data(s);
}

static void send_message(struct side *s, uint64_t bytes)
{
	if (!s->group || s->group->me != 0 || s->data || s->failed)
		return;
	s->bytes = bytes;
	s->data = malloc(bytes);
	CHECK(s->data);
	for (uint64_t i = 0; i < bytes; i++)
		s->data[i] = byte_at(i);
	if (zipcast_send(s->group, s->data, bytes) != 0)
		drop_data(s);
}

/* --- the transport --- */

static struct zlistener listener;

static int fake_listen(struct zlistener **out, const struct zaddr *a, struct zerr *err)
{
	(void)a;
	(void)err;
	listener.ops = find_fake();
	*out = &listener;
	return 0;
}

static int fake_accept(struct zlistener *l, struct zlink **z, struct zerr *err)
{
	(void)l;
	(void)z;
	(void)err;
	return -EAGAIN;
}

static int fake_listener_fd(const struct zlistener *l)
{
	static int fd = -1;
	(void)l;
	if (fd < 0)
		fd = eventfd(0, EFD_CLOEXEC);
	return fd;
}

static void fake_listener_addr(const struct zlistener *l, struct zaddr *a)
{
	(void)l;
	a->port = 1;
}

static void fake_unlisten(struct zlistener *l)
{
	(void)l;
}

static void fake_close(struct zlink *z)
{
	((struct fake_link *)z)->gone = true;
}

static int fake_post(struct zlink *z, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct fake_link *l = (struct fake_link *)z;
	const uint8_t *bytes = payload;
	struct zwire_env env;
	CHECK(!l->gone);
	if (l->full)
		return -EAGAIN;
	CHECK(zwire_decode(&env, raw) == 0 && env.len == len);
	CHECK(env.src == context->me && env.dst == (uint32_t)(l - links));
	if (env.kind == ZWIRE_BLOCK) {
		CHECK(env.offset + len <= env.seq);
		for (size_t i = 0; i < len && !wrote_wrong; i += len > 512 ? 97 : 1)
			CHECK(bytes[i] == byte_at(env.offset + i));
	} else if (env.kind == ZWIRE_FAIL) {
		CHECK(len < ZIPCAST_WHY_BYTES);
	}
	return 0;
}

static int fake_flush(struct zlink *z)
{
	return ((struct fake_link *)z)->full ? -EAGAIN : 0;
}

static uint64_t number(uint8_t b, uint64_t unit)
{
	static const uint64_t large[] = {UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 40, UINT32_MAX, MESSAGE_MAX,
		MESSAGE_MAX + 1, UINT64_C(1) << 32, 1};
	return b < 0x80 ? (b & 31) * unit : b < 0xc0 ? (b & 31) * unit + unit / 2 + 1 : large[b & 7];
}

/* The envelope that the node says. Its fields depend on the state of the group, so that an input need not guess. */
static void envelope_of(const struct fake_link *l, const uint8_t *f, struct zwire_env *env)
{
	struct side *s = &side[f[1] & 1];
	const struct zipcast_group *g = s->group;
	const uint64_t block = g ? g->block_bytes : 1000;
	*env = (struct zwire_env){.kind = f[0] & 31,
		.flags = f[1] & 64 ? ZWIRE_F_ONE_SIDED : 0,
		.src = f[1] & 32 && f[2] & 1 ? f[2] >> 5 : (uint32_t)(l - links),
		.dst = f[1] & 32 && f[2] & 2 ? f[2] >> 5 : context->me,
		.comm = f[1] & 16 ? number(f[2], 1) : s->number};
	env->xfer = f[1] & 8 || !g ? number(f[3], 1) : g->message.number + !g->message.active + (f[3] >> 6 == 1);
	env->seq = f[1] & 4 || !g || !g->message.active ? number(f[4], block) : g->message.bytes;
	env->offset = number(f[5], env->kind == ZWIRE_READY ? 1 : block);
	env->tag = f[6] & 1 && g ? (int32_t)g->definition : (int32_t)number(f[6], 1);
	switch (env->kind) {
	case ZWIRE_BLOCK:
		env->len = (uint32_t)(env->seq - env->offset < block ? env->seq - env->offset : block);
		if (f[7] & 128)
			env->len = (uint32_t)number(f[7] & 127, block / 4 + 1);
		break;
	case ZWIRE_READY:
		env->len = env->flags ? ZRMA_KEY_BYTES : 0;
		/* fall through */
	default:
		if (f[7] & 1)
			env->len = f[7] >> 1;
	}
	if (env->len > BLOCK_MAX)
		env->len = BLOCK_MAX;
}

static void fill(uint8_t *at, const struct zwire_env *env, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		at[i] = byte_at(env->offset + i);
}

static int finish(struct fake_link *l, const struct zsink *sink)
{
	uint8_t raw[ZWIRE_ENV_BYTES], *payload = l->placed, *own = NULL;
	if (payload) {
		fill(payload, &l->env, l->env.len / 2, l->env.len);
	} else {
		own = payload = malloc(l->env.len ? l->env.len : 1);
		CHECK(own);
		fill(own, &l->env, 0, l->env.len);
	}
	l->arriving = false;
	zwire_encode(raw, &l->env);
	int rc = sink->take(sink->ctx, &l->env, raw, payload);
	CHECK(rc != -EAGAIN);
	free(own);
	return rc == 0 ? 1 : rc;
}

/* A node that has a key writes a block, and says so. */
static void write_block(struct fake_link *l, const struct zwire_env *env, uint64_t block)
{
	const uint64_t left = env->seq - env->offset, len = left < block ? left : block;
	for (int i = 0; i < OPEN_MAX; i++)
		if (l->open[i].base && env->seq == l->open[i].len && env->offset < env->seq) {
			fill(l->open[i].base + env->offset, env, 0, len);
			return;
		}
	wrote_wrong = true;
}

static int show(struct fake_link *l, const struct zsink *sink, const uint8_t *f)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	struct zwire_env env;
	envelope_of(l, f, &env);
	zwire_encode(raw, &env);
	if (zwire_decode(&l->env, raw) != 0)
		return -EPROTO;
	const struct zipcast_group *g = side[f[1] & 1].group;
	if (env.kind == ZWIRE_WRITTEN && g)
		write_block(l, &env, g->block_bytes);
	l->arriving = true;
	l->placed = env.len ? sink->place(sink->ctx, &l->env) : NULL;
	if (l->placed)
		fill(l->placed, &l->env, 0, env.len / 2);
	return f[7] & 64 ? 0 : finish(l, sink); /* the rest comes with the next poll */
}

static void happen(struct fake_link *l, const uint8_t *f)
{
	struct side *s = &side[f[1] & 1];
	struct zipcast_group *g, *after;
	switch (f[0] & 31) {
	case BREAKS:
		l->broken = true;
		break;
	case PAUSES:
		l->paused = f[2] & 31;
		break;
	case FULL:
		l->full = true;
		break;
	case GIVES_ROOM:
		l->full = false;
		break;
	case TIME:
		HASH_ITER(hh, context->groups, g, after)
			if (g->deadline_ms)
				zbegin_look(g, g->deadline_ms + LATE_MS);
		break;
	case SENDS:
		send_message(s, 1 + number(f[4] & 127, s->group ? s->group->block_bytes : 1));
		break;
	default:
		break;
	}
}

static int fake_poll(struct zlink *z, const struct zsink *sink, unsigned budget)
{
	struct fake_link *l = (struct fake_link *)z;
	(void)budget;
	CHECK(!l->gone);
	if (l->arriving)
		return finish(l, sink);
	if (l->broken)
		return -ECONNRESET;
	if (l->paused > 0) {
		l->paused--;
		return 0;
	}
	if (l->next == l->n)
		return 0;
	const uint8_t *f = l->frame[l->next++];
	if ((f[0] & 31) <= ZWIRE_KIND_MAX)
		return show(l, sink, f);
	happen(l, f);
	return 0;
}

static int fake_fd(const struct zlink *z, enum zlink_half half, uint32_t *events)
{
	(void)half;
	*events = EPOLLIN;
	return ((const struct fake_link *)z)->fd;
}

static int fake_arm(struct zlink *z, enum zlink_half half)
{
	(void)z;
	(void)half;
	return 1;
}

static int fake_unplace(struct zlink *z)
{
	((struct fake_link *)z)->placed = NULL;
	return 0;
}

static int fake_expose(struct zlink *z, enum zlink_half half, void *base, size_t len, struct zrma_exposure *out)
{
	struct fake_link *l = (struct fake_link *)z;
	CHECK(half == ZLINK_RX && len > 0);
	memset(out, 0, sizeof(*out));
	for (int i = 0; i < OPEN_MAX; i++)
		if (!l->open[i].base) {
			l->open[i].base = base;
			l->open[i].len = len;
			out->impl = &l->open[i];
			return 0;
		}
	return -ENOMEM;
}

static void fake_conceal(struct zlink *z, struct zrma_exposure *e)
{
	(void)z;
	memset(e->impl, 0, sizeof(links[0].open[0]));
}

static const void *fake_domain(const struct zlink *z, enum zlink_half half)
{
	(void)z;
	(void)half;
	return NULL;
}

static int fake_pin(struct zlink *z, enum zlink_half half, void *base, size_t len, struct zregion **out)
{
	(void)z;
	(void)half;
	(void)base;
	*out = NULL;
	return len % 3 == 2 ? -EOPNOTSUPP : 0;
}

static void fake_unpin(struct zregion *r)
{
	(void)r;
}

static void fake_limits(const struct zlink *z, struct zrma_limits *out)
{
	(void)z;
	*out = (struct zrma_limits){.max_bytes = BLOCK_MAX, .reads = 1, .writes = 8};
}

static bool fake_is_ordered(const struct zlink *z)
{
	(void)z;
	return true;
}

static int fake_write(struct zlink *z, const struct zrma_op *op)
{
	struct fake_link *l = (struct fake_link *)z;
	const uint8_t *bytes = op->local;
	if (l->nwrites == sizeof(l->cookie) / sizeof(l->cookie[0]))
		return -EAGAIN;
	for (size_t i = 0; i < op->len && !wrote_wrong; i += 61)
		CHECK(bytes[i] == byte_at(op->offset + i));
	l->cookie[l->nwrites++] = op->cookie;
	return 0;
}

static int fake_reap(struct zlink *z, enum zlink_half half, struct zrma_done *out, unsigned cap)
{
	struct fake_link *l = (struct fake_link *)z;
	(void)half;
	if (l->nwrites == 0 || cap == 0)
		return 0;
	*out = (struct zrma_done){.cookie = l->cookie[--l->nwrites], .rc = l->broken ? -EIO : 0};
	return 1;
}

static void fake_give_up(struct zlink *z, enum zlink_half half)
{
	(void)half;
	((struct fake_link *)z)->broken = true;
}

static const struct zrma fake_rma = {.expose = fake_expose,
	.conceal = fake_conceal,
	.domain = fake_domain,
	.pin = fake_pin,
	.unpin = fake_unpin,
	.limits = fake_limits,
	.is_ordered = fake_is_ordered,
	.write = fake_write,
	.reap = fake_reap,
	.give_up = fake_give_up};

static const struct ztransport fake = {.name = "fake",
	.kind = ZADDR_TCP,
	.rma = &fake_rma,
	.listen = fake_listen,
	.accept = fake_accept,
	.listener_fd = fake_listener_fd,
	.listener_addr = fake_listener_addr,
	.unlisten = fake_unlisten,
	.close = fake_close,
	.post = fake_post,
	.flush = fake_flush,
	.poll = fake_poll,
	.fd = fake_fd,
	.arm = fake_arm,
	.unplace = fake_unplace,
	.max_payload = ZWIRE_MAX_PAYLOAD,
	.fragment_bytes = ZTRANSPORT_FRAGMENT_MAX};

/* --- in place of other modules --- */

static int pretend(void)
{
	return 0;
}

static const struct ztransport *find_fake(void)
{
	return &fake;
}

static int is_there(struct node *n, char *why)
{
	(void)n;
	(void)why;
	return 0;
}

/* As zthread_run, once. */
static void take_turn(struct zipcast *zc)
{
	CHECK(!turning);
	turning = true;
	if (patience > 0 && --patience == 0)
		for (int i = 0; i < NODES; i++)
			links[i].broken = true;
	zexecute_all(zc);
	zend_bury(zc);
	poll_links(zc);
	retry_links(zc);
	run_groups(zc);
	zend_settle(zc);
	turning = false;
}

/* --- an input --- */

static void open_context(void)
{
	static const uint8_t key[ZIPCAST_KEY_BYTES];
	static const char *const address[NODES] = {"tcp:127.0.0.1:1", "tcp:127.0.0.1:2", "tcp:127.0.0.1:3",
		"tcp:127.0.0.1:4"};
	const struct zipcast_config c = {.me = config[0] & 3, .listen = address[0], .session = "s", .key = key};
	char why[ZIPCAST_WHY_BYTES];
	CHECK(zipcast_open(&context, &c, why) == 0);
	context->one_sided = config[0] & 4 ? ZMODULES_ONE_SIDED_YES : ZMODULES_ONE_SIDED_NO;
	CHECK(zipcast_meet(context, address, NODES, why) == 0);
	for (uint32_t i = 0; i < NODES; i++) {
		int fd = links[i].fd > 0 ? links[i].fd : eventfd(0, EFD_CLOEXEC);
		CHECK(fd > 0);
		links[i] = (struct fake_link){.base.ops = &fake, .fd = fd};
		if (i != c.me)
			CHECK(znode_up(&context->node[i], &links[i].base, why) == 0);
	}
}

static void make_group(struct side *s, uint8_t how, uint8_t order)
{
	static const char *const algorithms[] = {"sequential", "chain", "tree", "pipeline", "hybrid-chain",
		"hybrid-pipeline"};
	static const uint32_t blocks[] = {1, 100, 1000, 65536}, sites[NODES] = {0, 0, 1, 1};
	const struct zipcast_events events = {incoming, complete, failed, s};
	uint32_t member[NODES];
	char why[ZIPCAST_WHY_BYTES];
	for (uint32_t i = 0; i < NODES; i++)
		member[i] = (i + order) % NODES;
	const struct zipcast_group_config c = {.number = s->number,
		.nmembers = order & 64 ? 2 : NODES,
		.members = member,
		.algorithm = algorithms[(how & 7) % 6],
		.block_bytes = blocks[how >> 3 & 3],
		.site = sites};
	s->refuses = how & 64;
	zipcast_group_create(&s->group, context, &c, &events, why); /* it may have failed already */
}

static void act(const uint8_t *f)
{
	struct side *s = &side[f[1] & 1];
	if ((f[0] & 31) == ENDS_GROUP && s->group)
		end_group(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < CONFIG_BYTES)
		return 0;
	memcpy(config, data, CONFIG_BYTES);
	wrote_wrong = false;
	open_context();
	for (uint32_t i = 0; i < GROUPS; i++)
		side[i] = (struct side){.number = 7 + i};
	make_group(&side[0], config[1], config[2]);
	if (config[5] & 1)
		make_group(&side[1], config[3], config[4]);
	const uint8_t *at = data + CONFIG_BYTES, *end = data + size;
	for (; end - at >= FRAME_BYTES; at += FRAME_BYTES) {
		struct fake_link *l = &links[at[0] >> 5 & 3];
		if (l->n < FRAMES_MAX)
			l->frame[l->n++] = at;
		if (at[0] & 128) /* all that was there so far comes first */
			take_turn(context);
		act(at);
	}
	if (!(config[5] & 1))
		make_group(&side[1], config[3], config[4]); /* early words were kept for it */
	for (unsigned i = 0; i < FRAMES_MAX; i++)
		take_turn(context);
	for (int i = 0; i < NODES; i++)
		links[i].broken = true; /* nobody waits for the end of their writes */
	take_turn(context);
	take_turn(context);
	for (int i = 0; i < GROUPS; i++)
		if (side[i].group)
			end_group(&side[i]);
	zipcast_close(context);
	for (int i = 0; i < GROUPS; i++)
		CHECK(!side[i].data);
	return 0;
}

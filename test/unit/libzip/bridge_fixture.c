/* SPDX-License-Identifier: BSD-3-Clause */
#include "test/unit/libzip/bridge_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "libzip/bridge/bridge.h"
#include "libzip/bridge/direct.h"
#include "libzip/bridge/queue.h"
#include "libzip/progress/service.h"
#include "libzip/progress/progress.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/outgoing.h"
#include "libzip/stream/transfer.h"
#include "libzip/shim/pool.h"
#include "libzip/stream/fetch.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/transfer_recv.h"
#include "libzip/world/rails.h"
#include "test/unit/libzip/rank_around.h"
#include "test/unit/within.h"
#include "libzip/shim/shim.h"
#include "common/transport/base/transport.h"
#include "common/session/session_attach.h"
#include "libzip/world/world.h"

#define COMING_MAX 64
#define POSTS_MAX 512

struct fake_link {
	struct zlink base;
	int rail;
	struct zwire_env coming[COMING_MAX];
	int first, n;
	bool broken;
	void *reading; /* the cookie of a read under way */
};

static struct post posts[POSTS_MAX];
static int nposts;
static struct fake_link *links[ZCTL_RAILS_MAX];
static struct fake_link *direct_links[1 + PEERS];
static uint32_t introduced; /* the rank that is being connected directly */
static int64_t passed_ms;
int (*bridge_refused)(int rail, int rc);

/* --- time --- */

int __real_clock_gettime(clockid_t, struct timespec *);
int __wrap_clock_gettime(clockid_t, struct timespec *);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	int rc = __real_clock_gettime(clock, t);
	t->tv_sec += passed_ms / 1000;
	return rc;
}

void bridge_pass(int64_t ms)
{
	passed_ms += ms;
}

/* --- the transport --- */

static int fake_post(struct zlink *z, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload, size_t len)
{
	struct fake_link *l = (struct fake_link *)z;
	if (nposts == POSTS_MAX && bridge_refused)
		nposts = 0;
	assert_within(nposts, 0, POSTS_MAX - 1);
	struct post *p = &posts[nposts++];
	p->rail = l->rail;
	assert_int_equal(zwire_decode(&p->env, raw), 0);
	assert_int_equal(p->env.len, len);
	if (p->env.kind == ZWIRE_RECEIVERS)
		assert_int_equal(zwire_get_receiver(&p->first, payload), 0);
	return 0;
}

static int fake_flush(struct zlink *z)
{
	(void)z;
	return 0;
}

static int fake_poll(struct zlink *z, const struct zsink *sink, unsigned budget)
{
	static uint8_t zeros[FRAGMENT];
	struct fake_link *l = (struct fake_link *)z;
	unsigned taken = 0;
	for (; taken < budget && l->n > 0; taken++) {
		uint8_t raw[ZWIRE_ENV_BYTES];
		const struct zwire_env env = l->coming[l->first];
		zwire_encode(raw, &env);
		void *place = env.len ? sink->place(sink->ctx, &env) : NULL;
		if (place)
			memset(place, 0, env.len);
		l->first = (l->first + 1) % COMING_MAX;
		l->n--;
		int rc = sink->take(sink->ctx, &env, raw, place ? place : zeros);
		if (rc != 0) {
			assert_non_null(bridge_refused);
			l->n = 0;
			return bridge_refused(l->rail, rc);
		}
	}
	return taken == 0 && l->broken ? -ECONNRESET : (int)taken;
}

static void fake_close(struct zlink *z)
{
	struct fake_link *l = (struct fake_link *)z;
	if (l->rail >= 0)
		links[l->rail] = NULL;
	for (uint32_t v = 0; v <= PEERS; v++)
		if (direct_links[v] == l)
			direct_links[v] = NULL;
	free(l);
}

static int fake_expose(struct zlink *z, enum zlink_half half, void *base, size_t len, struct zrma_exposure *out)
{
	(void)z;
	(void)half;
	(void)base;
	(void)len;
	memset(out, 0, sizeof(*out));
	return 0;
}

static void fake_conceal(struct zlink *z, struct zrma_exposure *e)
{
	(void)z;
	(void)e;
}

static void fake_give_up(struct zlink *z, enum zlink_half half)
{
	(void)z;
	(void)half;
}

static void fake_limits(const struct zlink *z, struct zrma_limits *out)
{
	(void)z;
	*out = (struct zrma_limits){.max_bytes = FRAGMENT, .reads = 1, .writes = 1};
}

static int fake_pin(struct zlink *z, enum zlink_half half, void *base, size_t len, struct zregion **out)
{
	(void)z;
	(void)half;
	(void)base;
	(void)len;
	*out = NULL;
	return 0;
}

static void fake_unpin(struct zregion *r)
{
	(void)r;
}

static int fake_read(struct zlink *z, const struct zrma_op *op)
{
	struct fake_link *l = (struct fake_link *)z;
	if (l->reading)
		return -EAGAIN;
	memset(op->local, 0, op->len);
	l->reading = op->cookie;
	return 0;
}

static int fake_reap(struct zlink *z, enum zlink_half half, struct zrma_done *out, unsigned cap)
{
	struct fake_link *l = (struct fake_link *)z;
	(void)half;
	if (!l->reading || cap == 0)
		return 0;
	*out = (struct zrma_done){.cookie = l->reading};
	l->reading = NULL;
	return 1;
}

static const struct zrma fake_rma = {.expose = fake_expose,
	.conceal = fake_conceal,
	.limits = fake_limits,
	.pin = fake_pin,
	.unpin = fake_unpin,
	.read = fake_read,
	.reap = fake_reap,
	.give_up = fake_give_up};
static struct ztransport fake = {
	.name = "fake",
	.post = fake_post,
	.flush = fake_flush,
	.poll = fake_poll,
	.close = fake_close,
	.max_payload = FRAGMENT,
	.fragment_bytes = FRAGMENT,
};

/* --- the zippers --- */

int __wrap_zsession_attach_to(struct zlink **, const struct zsession_way *, const struct zctl_attach *,
	struct zendpoint **, int, struct zerr *);
int __wrap_zsession_attach_to(struct zlink **out, const struct zsession_way *way, const struct zctl_attach *attach,
	struct zendpoint **own, int timeout_ms, struct zerr *err)
{
	struct fake_link *l = calloc(1, sizeof(*l));
	(void)attach;
	(void)own;
	(void)timeout_ms;
	(void)err;
	assert_non_null(l);
	l->base.ops = &fake;
	while (&zrails.rail[l->rail].way.first != way->zipper)
		l->rail++;
	links[l->rail] = l;
	*out = &l->base;
	return 0;
}

int __wrap_zsession_attach_direct(struct zlink **, const struct zaddr *, uint32_t, const struct zctl_attach *,
	struct zendpoint **, int, struct zerr *);
int __wrap_zsession_attach_direct(struct zlink **out, const struct zaddr *addr, uint32_t protocol,
	const struct zctl_attach *attach, struct zendpoint **own, int timeout_ms, struct zerr *err)
{
	(void)protocol;
	struct fake_link *l = calloc(1, sizeof(*l));
	(void)addr;
	(void)attach;
	(void)own;
	(void)timeout_ms;
	(void)err;
	assert_non_null(l);
	l->base.ops = &fake;
	l->rail = -1;
	direct_links[introduced] = l;
	*out = &l->base;
	return 0;
}

int __wrap_zsession_direct(struct zsession *, enum zctl_direct_what, uint32_t, uint32_t);
int __wrap_zsession_direct(struct zsession *s, enum zctl_direct_what what, uint32_t vrank, uint32_t endpoint)
{
	(void)s;
	(void)what;
	(void)vrank;
	(void)endpoint;
	return 0;
}

void __wrap_zsession_quit(struct zsession *, const char *);
void __wrap_zsession_quit(struct zsession *s, const char *why)
{
	(void)s;
	(void)why;
}

/* --- the world --- */

static int part_size[2] = {1, PEERS};
static char *part_name[2] = {"a", "b"};
static struct zplace place[1 + PEERS];
static struct zctl_attached attached[1 + PEERS];
static int vranks[1 + PEERS], shadow_ranks[1 + PEERS];
struct zcomm bridge_comm;

void bridge_begin(int rails, uint32_t rdv_window, bool one_sided)
{
	const struct zservice_params params = {.job = "job",
		.launched = true,
		.one_sided = one_sided ? ZTRANSFER_ONE_SIDED_YES : ZTRANSFER_ONE_SIDED_NO};
	static const char no_entries[ZCTL_RAILS_MAX][ZCTL_ENTRIES_MAX];
	struct zerr err;

	rank_around_fill();
	for (int v = 0; v <= PEERS; v++) {
		place[v] = (struct zplace){.part = v > 0, .lrank = v > 0 ? (uint32_t)v - 1 : 0};
		vranks[v] = v;
		shadow_ranks[v] = v == 0 ? 0 : -1;
		attached[v] = (struct zctl_attached){.vrank = (uint32_t)v, .count = 1};
	}
	zworld = (struct zworld){.merged = true,
		.nparts = 2,
		.nranks = 1 + PEERS,
		.part_name = part_name,
		.part_size = part_size,
		.place = place,
		.attached = attached,
		.nattached = 1 + PEERS,
		.eager_bytes = 1024,
		.rdv_window = rdv_window};
	bridge_comm = (struct zcomm){.size = 1 + PEERS, .vrank = vranks, .shadow_rank = shadow_ranks, .refs = 1};
	zcomm_world = &bridge_comm;
	memset(&zrails, 0, sizeof(zrails));
	zrails.n = rails;
	zrails.tracks = 1;
	assert_int_equal(zrails_share(no_entries, "a,b", &err), 0);
	memset(links, 0, sizeof(links));
	memset(direct_links, 0, sizeof(direct_links));
	nposts = 0;
	fake.rma = one_sided ? &fake_rma : NULL;
	assert_int_equal(zservice_init(&params), MPI_SUCCESS);
}

void bridge_end(void)
{
	struct zstation *s = &zstations[0];

	zchannel_fini(s, zfetch_drop);
	zremote_fini(s);
	zoutgoing_fini(s);
	zqueue_fini(s);
	ztransfer_fini(s);
	ztransfer_recv_fini(s);
	zpool_fini();
	zcomm_world = NULL;
}

static void no_mask(uint8_t *ticket, const uint8_t *session, const uint8_t *nonce)
{
	(void)ticket;
	(void)session;
	(void)nonce;
}

void bridge_introduce(uint32_t to)
{
	static const struct zauth_ops auth = {.mask = no_mask};
	const struct zctl_direct d = {.what = ZCTL_DIRECT_CONNECT, .vrank = to, .addresses = "tcp:127.0.0.1:1"};
	attached[0].fabrics = attached[to].fabrics = 1;
	zrails.auth = &auth;
	introduced = to;
	zdirect_take(&d);
}

struct zreq *bridge_send(const void *buf, int bytes, int to, enum zsend_mode mode)
{
	struct zreq *r;
	assert_int_equal(zbridge_isend(&bridge_comm, ZCOMM_PT2PT, buf, bytes, MPI_BYTE, to, 0, mode, &r), MPI_SUCCESS);
	return r;
}

struct zreq *bridge_recv(void *buf, int bytes, int from)
{
	struct zreq *r;
	assert_int_equal(zbridge_irecv(&bridge_comm, ZCOMM_PT2PT, buf, bytes, MPI_BYTE, from, 0, &r), MPI_SUCCESS);
	return r;
}

static void add_coming(struct fake_link *l, uint32_t from, struct zwire_env env)
{
	assert_within(l->n, 0, COMING_MAX - 1);
	env.src = from;
	l->coming[(l->first + l->n++) % COMING_MAX] = env;
}

void bridge_say(int rail, uint32_t from, struct zwire_env env)
{
	zchannel_open(&zstations[0], (struct zrails_track){rail, 0}, 1);
	assert_non_null(links[rail]);
	add_coming(links[rail], from, env);
}

bool bridge_say_directly(uint32_t to, uint32_t from, struct zwire_env env)
{
	if (direct_links[to])
		add_coming(direct_links[to], from, env);
	return direct_links[to];
}

void bridge_break(int rail)
{
	zchannel_open(&zstations[0], (struct zrails_track){rail, 0}, 1);
	links[rail]->broken = true;
}

void bridge_turn(void)
{
	for (int idle = 0; idle < 100; idle++)
		if (zprogress_poll())
			idle = 0;
}

const struct post *bridge_posted(enum zwire_kind kind, uint32_t to)
{
	for (int i = nposts; i-- > 0;)
		if (posts[i].env.kind == kind && posts[i].env.dst == to)
			return &posts[i];
	return NULL;
}

int bridge_count(enum zwire_kind kind, uint32_t to)
{
	int n = 0;
	for (int i = 0; i < nposts; i++)
		n += posts[i].env.kind == kind && posts[i].env.dst == to;
	return n;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank against bad peers, over two zippers and over direct links, in the fixture of unit/libzip/bridge.c: no MPI, no
 * zipperd, no time of its own.
 *
 * An input: CONFIG_BYTES bytes, then frames of FRAME_BYTES bytes. A frame is an envelope of a peer, or something that
 * the rank or its surroundings do. The rank's buffers have guards behind them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/base/list.h"
#include "libzip/bridge/multicast.c" /* its list is to be emptied */
#include "libzip/progress/progress.h"
#include "libzip/stream/stations.h"
#include "libzip/world/error.h"
#include "libzip/world/rails.h"
#include "test/fuzz/target.h"
#include "test/unit/libzip/bridge_fixture.h"

#define RAILS 2
#define CONFIG_BYTES 2
#define FRAME_BYTES 9
#define FRAMES_MAX 128
#define REQUESTS_MAX 24
#define BUFFER_MAX (5 * FRAGMENT)
#define IDLE_TURNS 3
#define MEMORY_MAX (64u << 20)

enum { SENDS = 24, RECEIVES, SENDS_SEVERAL, INTRODUCES, LOSES_RAIL, PASSES }; /* behind the kinds of envelopes */

static struct request {
	struct zreq *req;
	uint8_t *buf;
} requests[REQUESTS_MAX];
static int nrequests;
static uint64_t seq[1 + PEERS];
static jmp_buf over;

/* --- memory: each piece by itself, for the sanitizer, and all of it freed after an input --- */

struct piece {
	struct list link;
	alignas(16) uint8_t bytes[];
};

static struct list pieces;

void *__wrap_zpool_get(size_t);
void *__wrap_zpool_get(size_t bytes)
{
	struct piece *p = bytes < MEMORY_MAX ? malloc(sizeof(*p) + bytes) : NULL;
	if (!p)
		return NULL;
	list_init(&p->link);
	list_add(&pieces, &p->link);
	return p->bytes;
}

void __wrap_zpool_put(void *);
void __wrap_zpool_put(void *bytes)
{
	if (!bytes)
		return;
	struct piece *p = (struct piece *)(void *)((uint8_t *)bytes - offsetof(struct piece, bytes));
	list_del(&p->link);
	free(p);
}

/* The rank has ended, with sends and receives under way, or in the middle of something. */
static void free_pieces(void)
{
	active = NULL;
	memset(&zstations[0], 0, sizeof(zstations[0]));
	while (!list_empty(&pieces))
		__wrap_zpool_put(list_entry(pieces.next, struct piece, link)->bytes);
}

/* --- the end of the world, of which there is no way back into the library --- */

_Noreturn void __wrap_zerror_lost(int, int, const char *, ...);
_Noreturn void __wrap_zerror_lost(int code, int part, const char *fmt, ...)
{
	(void)code;
	(void)part;
	(void)fmt;
	longjmp(over, 1);
}

_Noreturn void __wrap_zerror_fatal(int, const char *, ...);
_Noreturn void __wrap_zerror_fatal(int code, const char *fmt, ...)
{
	(void)code;
	(void)fmt;
	longjmp(over, 1);
}

int __wrap_nanosleep(const struct timespec *, struct timespec *);
int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
	(void)t;
	(void)left;
	return 0;
}

static int refused(int rail, int rc)
{
	CHECK(rc != -EAGAIN);
	return rail >= 0 ? rc : 0;
}

/* --- what the rank does --- */

static uint8_t *buffer(size_t bytes)
{
	uint8_t *b = malloc(bytes ? bytes : 1);
	CHECK(b);
	memset(b, 1, bytes ? bytes : 1);
	return b;
}

static size_t bytes_of(uint8_t b)
{
	static const size_t large[] = {1024, 1025, FRAGMENT, FRAGMENT + 1, 3 * FRAGMENT, BUFFER_MAX, 2000, 300};
	return b < 0xc0 ? b & 31 : large[b & 7];
}

static void act(const uint8_t *f)
{
	static const enum zsend_mode mode[] = {ZSEND_STANDARD, ZSEND_SYNC};
	const int peer = 1 + (f[1] & 3), other = 1 + ((f[1] & 3) + 1) % PEERS;
	const size_t bytes = bytes_of(f[2]);
	struct request *r = &requests[nrequests];
	if (nrequests == REQUESTS_MAX)
		return;
	r->buf = buffer(bytes);
	nrequests++;
	switch (f[0] & 31) {
	case SENDS:
		r->req = bridge_send(r->buf, (int)bytes, peer, mode[f[3] & 1]);
		break;
	case RECEIVES:
		r->req = bridge_recv(r->buf, (int)bytes, peer);
		break;
	default:
		CHECK(zmulticast_start(&bridge_comm, ZCOMM_COLL, r->buf, (MPI_Count)bytes, MPI_BYTE,
			      (const int[]){peer, other}, 2, 0, 10, &r->req) == MPI_SUCCESS);
	}
}

/* --- what peers say --- */

static uint64_t number(uint8_t b, uint64_t unit)
{
	static const uint64_t large[] = {UINT64_MAX, INT64_MAX, UINT64_C(1) << 40, UINT32_MAX, UINT64_C(1) << 32, 1024,
		1025, UINT64_C(1) << 63};
	return b < 0xe0 ? (b & 7) * unit + (b >> 3 & 3) : large[b & 7];
}

/* Numbers that the rank has told to the peer, so that an input need not guess them. */
static void answer(const uint8_t *f, uint32_t peer, struct zwire_env *env)
{
	const struct post *cts = bridge_posted(ZWIRE_CTS, peer), *rts = bridge_posted(ZWIRE_RTS, peer),
			  *small = bridge_posted(ZWIRE_EAGER, peer);
	switch (env->kind) {
	case ZWIRE_DATA:
	case ZWIRE_MOVED:
		if (cts)
			env->xfer = cts->env.comm;
		if (cts && !(f[6] & 64))
			env->tag = cts->env.tag;
		break;
	case ZWIRE_CTS:
	case ZWIRE_DONE:
		if (rts)
			env->xfer = rts->env.xfer;
		else if (small)
			env->xfer = small->env.xfer;
		break;
	default:
		break;
	}
}

static void speak(const uint8_t *f)
{
	const uint32_t peer = 1 + (f[1] & 3);
	const int rail = f[1] >> 2 & 1;
	struct zwire_env env = {.kind = f[0] & 31,
		.flags = f[2] & ZWIRE_F_ALL,
		.dst = f[2] & 128 && f[3] & 1 ? f[3] >> 1 : 0,
		.xfer = number(f[3], 1),
		.offset = number(f[4], FRAGMENT),
		.comm = number(f[5], 1),
		.tag = (int8_t)f[6],
		.seq = f[1] & 32 ? number(f[7], 1) : 0,
		.ack = f[1] & 64 ? number(f[7], 1) : 0};
	uint32_t src = f[1] & 128 ? f[7] & 7 : peer;
	static const uint32_t lengths[] = {0, 1, 24, 100, 1024, 1025, FRAGMENT, FRAGMENT - 1};
	env.len = lengths[f[8] & 7];
	if ((env.kind == ZWIRE_EAGER || env.kind == ZWIRE_RTS) && !(f[1] & 32))
		env.seq = ++seq[peer];
	if (env.kind == ZWIRE_EAGER && !(f[8] & 8))
		env.offset = env.len;
	if ((env.kind == ZWIRE_RTS || env.kind == ZWIRE_CTS) && !(f[8] & 8))
		env.len = env.flags & ZWIRE_F_ONE_SIDED && f[8] & 16 ? ZRMA_KEY_BYTES : 0;
	if (!(f[8] & 32))
		env.tag = 0;
	if (!(f[8] & 64))
		env.comm = ((const struct zwire_env){0}).comm;
	if (!(f[8] & 128))
		answer(f, peer, &env);
	if (f[1] & 16) {
		if (bridge_say_directly(peer, src, env))
			return;
	}
	if (zrails_is_good(rail))
		bridge_say(rail, src, env);
}

static void turn(void)
{
	for (int idle = 0; idle < IDLE_TURNS; idle++)
		if (zprogress_poll())
			idle = 0;
}

static void run(const uint8_t *at, const uint8_t *end)
{
	for (int n = 0; end - at >= FRAME_BYTES && n < FRAMES_MAX; at += FRAME_BYTES, n++) {
		const uint8_t kind = at[0] & 31;
		if (kind > 0 && kind <= ZWIRE_KIND_MAX)
			speak(at);
		else if (kind >= SENDS && kind <= SENDS_SEVERAL)
			act(at);
		else if (kind == INTRODUCES)
			bridge_introduce(1 + (at[1] & 3));
		else if (kind == LOSES_RAIL && zrails_is_good(at[1] & 1))
			bridge_break(at[1] & 1);
		else if (kind == PASSES)
			bridge_pass(at[1] * 100);
		if (!(at[0] & 32) || n % 16 == 15)
			turn();
	}
	turn();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < CONFIG_BYTES)
		return 0;
	nrequests = 0;
	memset(seq, 0, sizeof(seq));
	bridge_refused = refused;
	list_init(&pieces);
	bridge_begin(RAILS, data[0] & 1 ? FRAGMENT : 4 * FRAGMENT, data[0] & 2);
	if (setjmp(over) == 0)
		run(data + CONFIG_BYTES, data + size);
	bridge_end();
	free_pieces();
	for (int i = 0; i < nrequests; i++)
		free(requests[i].buf);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A process with several endpoints, each used by a thread of its own, as a rank has: messages and one-sided transfers
 * of all of them at the same time, while one more thread maps and unmaps memory. The accepting ends of the links stand
 * for zipperd, with an endpoint and a thread each, too. */
#define _GNU_SOURCE /* mremap */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/endpoint/ep_category.h"
#include "test/unit/verbs/parts.h"

#define ENDPOINTS 3
#define PAGE 4096u
#define PAGES_MAX 40
#define PIECE 30000u
#define CHATTER 3 /* messages between two transfers */

/* The state of a transfer, in an envelope's tag. */
enum word { OFFER_READ = 1, OFFER_WRITE, DONE, END };

struct said {
	uint8_t key[ZRMA_KEY_BYTES];
	uint64_t number, len;
};

struct party { /* one end of a link, in its own thread */
	struct zlink *link;
	struct zendpoint *endpoint;
	const struct zrma *rma;
	unsigned number; /* of the pair */
	uint64_t rounds, chatter, heard;
	enum word word; /* the last one that came; 0: none since */
	struct said said;
	const char *wrong;
};

static atomic_bool over, failed; /* failed: one end has, and its peer need not wait */

/* --- messages --- */

static int take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct party *me = ctx;
	(void)raw;
	if (env->tag == 0) {
		if (env->seq != me->heard++ || memcmp(payload, payload_of(env->seq, env->len), env->len) != 0)
			me->wrong = "a message is not the one that was sent";
		return 0;
	}
	if (me->word != 0 || env->len != sizeof(me->said))
		me->wrong = "a word that nobody expects";
	me->word = (enum word)env->tag;
	memcpy(&me->said, payload, sizeof(me->said));
	return 0;
}

static void look(struct party *me)
{
	const struct zsink sink = {.take = take, .ctx = me};
	const int n = me->link->ops->poll(me->link, &sink, 8);
	if (n < 0 && n != -EAGAIN)
		me->wrong = me->wrong ? me->wrong : "poll";
	if (n == 0)
		sched_yield();
}

static void post(struct party *me, int32_t tag, uint64_t seq, const void *payload, size_t len)
{
	const struct zwire_env env = {.kind = ZWIRE_EAGER, .tag = tag, .len = (uint32_t)len, .seq = seq};
	uint8_t raw[ZWIRE_ENV_BYTES];
	int rc = -EAGAIN;
	zwire_encode(raw, &env);
	while (rc == -EAGAIN && !me->wrong) {
		rc = me->link->ops->post(me->link, raw, payload, len);
		if (rc == -EAGAIN)
			look(me);
	}
	while (!me->wrong && rc == 0 && (rc = me->link->ops->flush(me->link)) == -EAGAIN) {
		rc = 0;
		look(me);
	}
	if (rc != 0)
		me->wrong = me->wrong ? me->wrong : "post";
}

static void chat(struct party *me)
{
	for (int i = 0; i < CHATTER && !me->wrong; i++, me->chatter++) {
		const size_t len = mix(me->chatter * 7 + me->number) % (i == 0 ? 40000 : 300);
		post(me, 0, me->chatter, payload_of(me->chatter, len), len);
	}
}

/* Sleeps where nothing comes, so that completions and descriptors take part, too. */
static enum word hear(struct party *me)
{
	const int64_t end = zclock_ms() + PATIENCE_MS;
	while (me->word == 0 && !me->wrong) {
		look(me);
		if (me->word == 0 && !me->wrong && !sleep_on(me->link, ZLINK_RX, 1000) &&
			(atomic_load(&failed) || zclock_ms() > end))
			me->wrong = "nothing comes";
	}
	const enum word w = me->word;
	me->word = (enum word)0;
	return me->wrong ? END : w;
}

/* --- the rank's ends: they own the memory --- */

static uint8_t *map(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}

/* One transfer, which the other end carries out. */
static void transfer(struct party *me, enum word offer, uint8_t *memory, size_t len, uint64_t number)
{
	struct said said = {.number = number, .len = len};
	struct zrma_exposure exposure;
	const enum zlink_half half = offer == OFFER_READ ? ZLINK_TX : ZLINK_RX;
	if (offer == OFFER_READ)
		memcpy(memory, payload_of(number, len), len);
	if (me->rma->expose(me->link, half, memory, len, &exposure) != 0) {
		me->wrong = "expose";
		return;
	}
	memcpy(said.key, exposure.key, sizeof(said.key));
	post(me, offer, 0, &said, sizeof(said));
	chat(me);
	if (hear(me) != DONE)
		me->wrong = me->wrong ? me->wrong : "not what was asked for";
	me->rma->conceal(me->link, &exposure);
	if (offer == OFFER_WRITE && memcmp(memory, payload_of(number, len), len) != 0)
		me->wrong = "what was written is not there";
}

static void *own(void *arg)
{
	struct party *me = arg;
	const struct said none = {.len = 0};
	for (uint64_t k = 0; k < me->rounds && !me->wrong; k++) {
		const uint32_t r = mix(k * ENDPOINTS + me->number);
		const size_t bytes = (1 + r % PAGES_MAX) * PAGE, len = bytes - r % 999;
		uint8_t *memory = map(bytes);
		if (!memory) {
			me->wrong = "mmap";
			break;
		}
		/* twice, so that it is found again; afterwards others get the address */
		transfer(me, OFFER_READ, memory, len, 3 * k);
		if (!me->wrong)
			transfer(me, r & 1u << 20 ? OFFER_READ : OFFER_WRITE, memory, len, 3 * k + 1);
		if (!me->wrong)
			transfer(me, OFFER_WRITE, memory + 100, len - 200, 3 * k + 2);
		munmap(memory, bytes);
	}
	post(me, END, 0, &none, sizeof(none));
	if (me->wrong)
		atomic_store(&failed, true);
	return NULL;
}

/* --- the other ends: they read and write it --- */

static void move(struct party *me, enum word offer, const struct said *said, uint8_t *local, struct zregion *region)
{
	const enum zlink_half half = offer == OFFER_READ ? ZLINK_RX : ZLINK_TX;
	for (size_t at = 0, under_way = 0; under_way > 0 || (at < said->len && !me->wrong);) {
		struct zrma_done done[4];
		const struct zrma_op op = {.key = said->key,
			.offset = at,
			.local = local + at,
			.len = said->len - at < PIECE ? said->len - at : PIECE,
			.region = region};
		int rc = at == said->len || me->wrong ? -EAGAIN
			 : offer == OFFER_READ	      ? me->rma->read(me->link, &op)
						      : me->rma->write(me->link, &op);
		if (rc == 0) {
			at += op.len;
			under_way++;
			continue;
		}
		const int n = me->rma->reap(me->link, half, done, 4);
		if (n < 0 || rc != -EAGAIN)
			me->wrong = "operation";
		if (n < 0)
			return; /* all have been reported */
		for (int k = 0; k < n; k++)
			if (done[k].rc != 0)
				me->wrong = "a completion";
		under_way -= (unsigned)n;
		if (n == 0)
			sched_yield();
	}
}

/* Memory of this end's program, which goes when the transfer is over: pinned for it. */
static void carry_out(struct party *me, enum word offer, const struct said *said)
{
	const enum zlink_half half = offer == OFFER_READ ? ZLINK_RX : ZLINK_TX;
	uint8_t *local = map(PAGES_MAX * PAGE);
	struct zregion *region = NULL;
	if (!local || said->len > (size_t)PAGES_MAX * PAGE || said->len == 0 ||
		me->rma->pin(me->link, half, local, said->len, &region) != 0) {
		me->wrong = "pin";
	} else {
		if (offer == OFFER_WRITE)
			memcpy(local, payload_of(said->number, said->len), said->len);
		move(me, offer, said, local, region);
		me->rma->unpin(region);
		if (!me->wrong && memcmp(local, payload_of(said->number, said->len), said->len) != 0)
			me->wrong = "what was read is not what was there";
	}
	if (local)
		munmap(local, PAGES_MAX * PAGE);
	post(me, DONE, 0, said, sizeof(*said));
}

static void *use(void *arg)
{
	struct party *me = arg;
	enum word w;
	while ((w = hear(me)) != END) {
		const struct said said = me->said;
		carry_out(me, w, &said);
		chat(me);
	}
	if (me->wrong)
		atomic_store(&failed, true);
	return NULL;
}

/* --- the application's other threads --- */

static void *map_and_unmap(void *arg)
{
	(void)arg;
	for (uint64_t k = 0; !atomic_load(&over); k++) {
		const size_t len = (1 + mix(k) % (2 * PAGES_MAX)) * PAGE;
		uint8_t *p = map(len), *q;
		if (!p)
			break;
		memset(p, 0x5a, len);
		if (k % 3 == 0)
			madvise(p, len, MADV_DONTNEED);
		q = k % 5 == 0 ? mremap(p, len, 2 * len, MREMAP_MAYMOVE) : MAP_FAILED;
		if (q != MAP_FAILED)
			munmap(q, 2 * len);
		else
			munmap(p, len);
		sched_yield();
	}
	return NULL;
}

/* --- all of them --- */

static void connect_pair(struct fixture *f, struct party *a, struct party *b)
{
	struct zerr err = {""};
	struct zendpoint *shared = f->endpoint;
	if (f->ops->endpoint_open(&a->endpoint, &err) < 0 || f->ops->endpoint_open(&b->endpoint, &err) < 0 ||
		f->ops->connect_plain(&a->link, &f->addr, PATIENCE_MS, &err) < 0 ||
		f->ops->settle(a->link, a->endpoint, a->endpoint, &err) != 0)
		fail_msg("%s", err.text);
	b->link = fixture_accept(f);
	f->endpoint = b->endpoint;
	fixture_settle(f, b->link);
	f->endpoint = shared;
	a->rma = b->rma = f->ops->rma;
}

/* The ends know each other, and messages go by queue pairs both ways. */
static void warm_up(struct party *a, struct party *b)
{
	for (int i = 0; i < 8; i++) {
		struct party *from = i % 2 ? b : a, *to = i % 2 ? a : b;
		post(from, 0, from->chatter, payload_of(from->chatter, 10), 10);
		from->chatter++;
		while (to->heard < from->chatter && !a->wrong && !b->wrong) {
			look(from);
			look(to);
		}
	}
	assert_true(vlink_is_ready((struct vlink *)(void *)a->link) && vlink_is_ready((struct vlink *)(void *)b->link));
}

static void lose_device(void)
{
	const int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	fake_lock(fake_fabric());
	fake_device_gone(fake_fabric(), sock, 0, 0);
	fake_unlock(fake_fabric());
	close(sock);
}

/* lost: after a while the device goes away, and nobody gets to the end. */
static void run_all(struct fixture *f, uint64_t rounds, bool lost)
{
	struct party a[ENDPOINTS] = {0}, b[ENDPOINTS] = {0};
	pthread_t thread[2 * ENDPOINTS], other;
	const uint32_t stale = fake_fabric()->stale_used;
	for (unsigned i = 0; i < ENDPOINTS; i++) {
		connect_pair(f, &a[i], &b[i]);
		a[i].number = b[i].number = i;
		a[i].rounds = rounds;
		warm_up(&a[i], &b[i]);
	}
	fake_unseen(true);
	atomic_store(&over, false);
	atomic_store(&failed, false);
	assert_int_equal(pthread_create(&other, NULL, map_and_unmap, NULL), 0);
	for (int i = 0; i < ENDPOINTS; i++) {
		assert_int_equal(pthread_create(&thread[2 * i], NULL, own, &a[i]), 0);
		assert_int_equal(pthread_create(&thread[2 * i + 1], NULL, use, &b[i]), 0);
	}
	if (lost) {
		poll(NULL, 0, 20);
		lose_device();
	}
	for (int i = 0; i < 2 * ENDPOINTS; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&over, true);
	pthread_join(other, NULL);
	fake_unseen(false);
	for (int i = 0; i < ENDPOINTS; i++) {
		if (lost != (a[i].wrong && b[i].wrong) || (!lost && (a[i].wrong || b[i].wrong)))
			fail_msg("pair %d: %s, %s", i, a[i].wrong ? a[i].wrong : "-", b[i].wrong ? b[i].wrong : "-");
		f->ops->close(a[i].link);
		f->ops->close(b[i].link);
		f->ops->endpoint_close(a[i].endpoint);
		f->ops->endpoint_close(b[i].endpoint);
	}
	assert_int_equal(fake_fabric()->stale_used, stale);
}

/* In every category: with a thread domain, or a context and so memory, of each endpoint's own, or with none. */
void endpoints_are_used_by_threads(void **state)
{
	for (int c = 0; c < ZEP_CATEGORIES; c++) {
		option("ZIPPER_ENDPOINTS", zep_category_names[c]);
		run_all(*state, scaled(200), false);
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* Each end hears of it, whichever of them has read the event. */
void all_threads_hear_of_a_lost_device(void **state)
{
	static const char *const categories[] = {"static", "mpi-everywhere"};
	for (int c = 0; c < 2; c++) {
		option("ZIPPER_ENDPOINTS", categories[c]);
		run_all(*state, UINT64_MAX, true);
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* --- set-up by several threads, as of zipcast's contexts --- */

struct opener {
	struct fixture *f;
	const char *wrong;
};

static void *open_and_close(void *arg)
{
	struct opener *me = arg;
	const struct ztransport *ops = me->f->ops;
	for (int i = 0; i < (int)scaled(300) && !me->wrong; i++) {
		struct zendpoint *e = NULL;
		struct zlink *link = NULL;
		struct zerr err = {""};
		if (ops->endpoint_open(&e, &err) != 0 ||
			ops->connect_plain(&link, &me->f->addr, PATIENCE_MS, &err) != 0 ||
			ops->settle(link, e, e, &err) != 0)
			me->wrong = "settle";
		if (link)
			ops->close(link);
		ops->endpoint_close(e);
	}
	return NULL;
}

/* Each its own endpoint, at the same time. */
void endpoints_are_opened_by_threads(void **state)
{
	struct fixture *f = *state;
	struct opener o[ENDPOINTS];
	pthread_t thread[ENDPOINTS];
	option("ZIPPER_ENDPOINTS", "shared-dynamic");
	struct zlink *keeps = fixture_connect(f); /* the device is open, and so is the count of thread domains */
	f->ops->close(fixture_accept(f));
	fake_unseen(true);
	for (int i = 0; i < ENDPOINTS; i++) {
		o[i] = (struct opener){.f = f};
		assert_int_equal(pthread_create(&thread[i], NULL, open_and_close, &o[i]), 0);
	}
	for (int i = 0; i < ENDPOINTS; i++)
		pthread_join(thread[i], NULL);
	fake_unseen(false);
	for (int i = 0; i < ENDPOINTS; i++) {
		struct zerr err;
		struct zlink *link;
		if (o[i].wrong)
			fail_msg("%s", o[i].wrong);
		while (f->ops->accept(f->listener, &link, &err) == 0)
			f->ops->close(link);
	}
	f->ops->close(keeps);
	option("ZIPPER_ENDPOINTS", NULL);
}

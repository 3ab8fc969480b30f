/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided transfers of unit/verbs/random: memory that an end exposes, reads and writes of the other end, and changes
 * that must not happen to it afterwards. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "test/unit/verbs/random_parts.h"

#define PIECE_MAX 30000
#define PAGES_MAX 40
#define PAGE 4096u

enum phase { FREE, OPEN, CONCEALED }; /* CONCEALED: it is watched until it is unmapped */

struct op {
	bool used;
	uint32_t at, len;
};

static struct transfer {
	enum phase phase;
	struct end *owner, *user;
	enum zlink_half of; /* the owner's half */
	bool owner_has, user_has;
	uint8_t *memory, *staging;
	uint32_t len, at; /* at: the end of what has been asked for */
	int looks;
	struct zrma_exposure exposure;
	struct zregion *region;
	bool pinned;
	struct op op[RANDOM_OPS];
} transfers[RANDOM_TRANSFERS];

static enum zlink_half user_half(const struct transfer *t)
{
	return t->of == ZLINK_TX ? ZLINK_RX : ZLINK_TX;
}

static uint8_t byte_at(const struct transfer *t, uint32_t i)
{
	return (uint8_t)(mix((uint64_t)(t - transfers) * 977 + i) | 1);
}

static unsigned under_way(const struct transfer *t)
{
	unsigned n = 0;
	for (int i = 0; i < RANDOM_OPS; i++)
		n += t->op[i].used;
	return n;
}

bool transfers_use(const struct end *e, enum zlink_half half)
{
	for (int i = 0; i < RANDOM_TRANSFERS; i++) {
		const struct transfer *t = &transfers[i];
		if (t->user == e && t->user_has && user_half(t) == half && under_way(t) > 0)
			return true;
	}
	return false;
}

static void *map(uint32_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p, MAP_FAILED);
	return p;
}

static void unmap_all(struct transfer *t)
{
	munmap(t->memory, PAGES_MAX * PAGE);
	munmap(t->staging, PAGES_MAX * PAGE);
	*t = (struct transfer){.phase = FREE};
}

/* --- the owner's --- */

static void begin(struct transfer *t)
{
	struct end *e = &world.end[draw((uint32_t)world.pairs)][draw(2)];
	if (!end_is_up(e) || !end_is_up(end_other(e)) || e->drains || end_other(e)->drains)
		return;
	*t = (struct transfer){.owner = e,
		.user = end_other(e),
		.of = draw(2) ? ZLINK_RX : ZLINK_TX,
		.len = 1 + draw(PAGES_MAX * PAGE),
		.memory = map(PAGES_MAX * PAGE),
		.staging = map(PAGES_MAX * PAGE),
		.owner_has = true,
		.user_has = true};
	const int rc = world.ops->rma->expose(e->link, t->of, t->memory, t->len, &t->exposure);
	trace("%d.%d: expose %u for %s: %d", e->pair, e->side, t->len, t->of == ZLINK_TX ? "reading" : "writing", rc);
	if (rc != 0) {
		unmap_all(t);
		return;
	}
	uint8_t *from = t->of == ZLINK_TX ? t->memory : t->staging;
	for (uint32_t i = 0; i < t->len; i++)
		from[i] = byte_at(t, i);
	t->phase = OPEN;
}

/* The owner has it for itself again, whatever the user does. */
static void conceal(struct transfer *t)
{
	trace("%d.%d: conceal, %u under way", t->owner->pair, t->owner->side, under_way(t));
	world.ops->rma->conceal(t->owner->link, &t->exposure);
	t->owner_has = false;
	if (t->user_has && (under_way(t) > 0 || t->at < t->len))
		world.hurt = true;
	memset(t->memory, 0, t->len);
	t->looks = 20 + (int)draw(200);
	t->phase = CONCEALED;
}

static void look(struct transfer *t)
{
	for (uint32_t i = 0; i < t->len; i++)
		if (t->memory[i] != 0)
			random_fail("memory was written after it was taken back");
}

/* --- the user's --- */

static void drop_region(struct transfer *t)
{
	if (t->region && t->pinned)
		world.ops->rma->unpin(t->region);
	else if (t->region)
		world.ops->rma->unreg(t->region);
	t->region = NULL;
}

static bool get_region(struct transfer *t)
{
	struct zerr err = {""};
	struct zlink *l = t->user->link;
	const enum zlink_half half = user_half(t);
	struct zrma_limits limits;
	world.ops->rma->limits(l, &limits);
	if ((half == ZLINK_RX ? limits.reads : limits.writes) == 0)
		return false;
	if (t->region)
		return true;
	t->pinned = draw(2);
	const int rc = t->pinned ? world.ops->rma->pin(l, half, t->staging, t->len, &t->region)
				 : world.ops->rma->reg(l, half, t->staging, t->len, &t->region, &err);
	if (rc != 0)
		t->region = NULL;
	return rc == 0;
}

static void operate(struct transfer *t)
{
	struct end *e = t->user;
	int i = 0;
	while (i < RANDOM_OPS && t->op[i].used)
		i++;
	if (i == RANDOM_OPS || t->at == t->len || !get_region(t))
		return;
	const uint32_t len = 1 + draw(t->len - t->at < PIECE_MAX ? t->len - t->at : PIECE_MAX);
	const struct zrma_op op = {.key = t->exposure.key,
		.offset = t->at,
		.local = t->staging + t->at,
		.len = len,
		.region = t->region,
		.cookie = &t->op[i],
		.more = draw(4) == 0};
	const int rc = t->of == ZLINK_TX ? world.ops->rma->read(e->link, &op) : world.ops->rma->write(e->link, &op);
	if (rc == 0) {
		t->op[i] = (struct op){true, t->at, len};
		t->at += len;
		e->asleep[user_half(t)] = false;
		e->wants_flush |= t->of == ZLINK_RX;
	} else if (rc != -EAGAIN) {
		end_fail(e, rc, "operation");
	}
}

static void check(struct transfer *t, const struct op *o)
{
	const uint8_t *to = t->of == ZLINK_TX ? t->staging : t->memory;
	for (uint32_t i = o->at; i < o->at + o->len && t->owner_has; i++)
		if (to[i] != byte_at(t, i))
			random_fail("byte %u of a transfer is wrong", i);
}

static void reported(const struct zrma_done *done)
{
	struct op *o = done->cookie;
	for (int i = 0; i < RANDOM_TRANSFERS; i++) {
		struct transfer *t = &transfers[i];
		if (o < t->op || o >= t->op + RANDOM_OPS)
			continue;
		if (!o->used)
			random_fail("an operation was reported twice");
		o->used = false;
		if (done->rc == 0)
			check(t, o);
		return;
	}
	random_fail("an operation was reported that is none");
}

/* Why the half is broken, or 0. */
static int reap(struct end *e, enum zlink_half half)
{
	struct zrma_done done[3];
	const int n = world.ops->rma->reap(e->link, half, done, 1 + draw(3));
	for (int i = 0; i < n; i++)
		reported(&done[i]);
	if (n < 0 && transfers_use(e, half))
		random_fail("%d.%d: a half is broken, and not all of its operations have been reported", e->pair,
			e->side);
	return n < 0 ? n : 0;
}

/* --- both --- */

static void step(struct transfer *t)
{
	struct end *e = t->user;
	if (t->phase == FREE) {
		if (!world.quiet && world.one_sided && draw(4) == 0)
			begin(t);
		return;
	}
	if (t->user_has && e->link && e->stage == STAGE_SETTLED && !e->drains) {
		const bool idle = end_sleeps(e, user_half(t)) && under_way(t) == RANDOM_OPS;
		if (t->phase == OPEN && !idle && draw(2))
			operate(t);
		if (e->stage == STAGE_SETTLED && (under_way(t) == 0 || !end_sleeps(e, user_half(t)))) {
			const int rc = reap(e, user_half(t));
			if (rc < 0)
				end_fail(e, rc, "reap");
		}
	}
	const bool whole = t->at == t->len && under_way(t) == 0;
	if (t->user_has && (whole || t->phase == CONCEALED || (world.quiet && under_way(t) == 0)) &&
		under_way(t) == 0) {
		drop_region(t);
		t->user_has = false;
	}
	if (t->phase == OPEN && t->owner->link && (whole || !t->user_has || (world.faulty && draw(300) == 0)))
		conceal(t);
	if (t->phase == CONCEALED && !t->owner_has) {
		look(t);
		if (--t->looks < 0 && !t->user_has)
			unmap_all(t);
	}
}

void transfer_step(void)
{
	step(&transfers[draw(RANDOM_TRANSFERS)]);
}

bool transfers_are_done(void)
{
	for (int i = 0; i < RANDOM_TRANSFERS; i++)
		if (transfers[i].phase == OPEN || transfers[i].user_has)
			return false;
	return true;
}

bool transfers_leave(struct end *e)
{
	for (int i = 0; i < RANDOM_TRANSFERS; i++) {
		struct transfer *t = &transfers[i];
		if (t->user == e && t->user_has && under_way(t) > 0) {
			const enum zlink_half half = user_half(t);
			world.hurt = true;
			world.ops->rma->give_up(e->link, half);
			e->drains = true; /* nothing else is done with it */
			reap(e, half);
			if (under_way(t) > 0)
				return false;
		}
		if (t->user == e && t->user_has) {
			world.hurt |= t->at < t->len;
			drop_region(t);
			t->user_has = false;
			t->at = t->len;
		}
		if (t->owner == e && t->owner_has)
			conceal(t);
	}
	return true;
}

void transfers_end(void)
{
	for (int i = 0; i < RANDOM_TRANSFERS; i++) {
		if (transfers[i].phase == FREE)
			continue;
		look(&transfers[i]);
		unmap_all(&transfers[i]);
	}
}

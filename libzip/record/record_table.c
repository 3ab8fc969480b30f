/* SPDX-License-Identifier: BSD-3-Clause */
/* Open addressing with linear probing, at most three quarters full. See record_table.h. */
#include "libzip/record/record_table.h"
#include "common/graph/graph_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_MIN 64u /* enough for a stencil and its collectives */

/* A key: phase, class and peer in 31, 2 and 31 bits, so that keys ascend in the order of the file's runs. */
static uint64_t key_of(uint32_t phase, enum zgraph_class class, uint32_t peer)
{
	return (uint64_t)phase << 33 | (uint64_t) class << 31 | peer;
}

static size_t place_of(uint64_t key, size_t mask)
{
	/* multiplication by 2^64 over the golden ratio; its high bits depend on all bits of the key */
	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
}

/* The slot that has the key, or the free slot where the key belongs. */
static struct zrecord_slot *find(struct zrecord_slot *slots, size_t mask, uint64_t key)
{
	size_t i = place_of(key, mask);

	while (slots[i].key && slots[i].key != key)
		i = (i + 1) & mask;
	return &slots[i];
}

/* Is there room for one more edge? */
static bool grow(struct zrecord_table *t)
{
	size_t max = t->slots_max ? t->slots_max : ZRECORD_SLOTS_MAX, n = t->slots ? 2 * (t->mask + 1) : SLOTS_MIN;

	if (t->slots && t->used < (t->mask + 1) / 4 * 3)
		return true;
	if (n > max)
		return false;
	struct zrecord_slot *slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; t->slots && i <= t->mask; i++)
		if (t->slots[i].key)
			*find(slots, n - 1, t->slots[i].key) = t->slots[i];
	free(t->slots);
	t->slots = slots;
	t->mask = n - 1;
	return true;
}

static void add(struct zrecord_slot *s, uint64_t bytes, uint64_t messages)
{
	s->bytes += bytes;
	s->messages += messages;
}

void zrecord_table_edge(struct zrecord_table *t, uint32_t phase, enum zgraph_class class, uint32_t peer, uint64_t bytes,
	uint64_t messages)
{
	uint64_t key = key_of(phase, class, peer);

	if (t->slots) {
		struct zrecord_slot *s = find(t->slots, t->mask, key);
		if (s->key) {
			add(s, bytes, messages);
			return;
		}
	}
	if (!grow(t)) {
		zrecord_table_call(t, phase, ZGRAPH_LOST, 0, messages, bytes);
		return;
	}
	struct zrecord_slot *s = find(t->slots, t->mask, key);
	s->key = key;
	t->used++;
	add(s, bytes, messages);
}

void zrecord_table_sum(const struct zrecord_table *t, enum zgraph_class class, bool (*wanted)(uint32_t peer),
	uint64_t *bytes, uint64_t *messages)
{
	for (size_t i = 0; t->slots && i <= t->mask; i++) {
		const struct zrecord_slot *s = &t->slots[i];
		if (s->key && (s->key >> 31 & 3) == class && wanted((uint32_t)(s->key & 0x7fffffff))) {
			*bytes += s->bytes;
			*messages += s->messages;
		}
	}
}

/* The place where (phase, kind, size) is, or belongs. */
static size_t call_place(const struct zrecord_table *t, uint32_t phase, enum zgraph_kind kind, uint32_t size,
	bool *there)
{
	size_t low = 0, high = t->ncalls;

	*there = false;
	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct zgraph_call *c = &t->calls[middle];
		if (c->phase == phase && c->kind == kind && c->size == size) {
			*there = true;
			return middle;
		}
		if (c->phase < phase || (c->phase == phase && (c->kind < kind || (c->kind == kind && c->size < size))))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool calls_grow(struct zrecord_table *t)
{
	if (t->ncalls < t->calls_cap)
		return true;
	size_t cap = t->calls_cap ? 2 * t->calls_cap : 32;
	struct zgraph_call *calls = realloc(t->calls, cap * sizeof(*calls));
	if (!calls)
		return false;
	t->calls = calls;
	t->calls_cap = cap;
	return true;
}

void zrecord_table_call(struct zrecord_table *t, uint32_t phase, enum zgraph_kind kind, uint32_t size, uint64_t calls,
	uint64_t bytes)
{
	bool there;
	size_t at = call_place(t, phase, kind, size, &there);

	/* Twice the limit has room for size 0 of all kinds. A program with more phases than that is not measured well.
	 */
	if (!there && t->ncalls >= ZRECORD_CALLS_MAX && size != 0) {
		size = 0;
		at = call_place(t, phase, kind, size, &there);
	}
	if (!there) {
		if (t->ncalls >= 2 * ZRECORD_CALLS_MAX || !calls_grow(t))
			return;
		memmove(&t->calls[at + 1], &t->calls[at], (t->ncalls - at) * sizeof(*t->calls));
		t->calls[at] = (struct zgraph_call){.phase = phase, .kind = kind, .size = size};
		t->ncalls++;
	}
	t->calls[at].calls += calls;
	t->calls[at].bytes += bytes;
}

static int slot_compare(const void *va, const void *vb)
{
	const struct zrecord_slot *a = va, *b = vb;

	return (a->key > b->key) - (a->key < b->key);
}

int zrecord_table_encode(struct zrecord_table *t, const struct zgraph_time *times, size_t ntimes, uint8_t **out,
	size_t *len)
{
	struct zgraph_run *runs = malloc((t->used + 1) * sizeof(*runs));
	size_t n = 0;

	if (!runs)
		return -ENOMEM;
	for (size_t i = 0; t->slots && i <= t->mask; i++)
		if (t->slots[i].key)
			t->slots[n++] = t->slots[i];
	if (n)
		qsort(t->slots, n, sizeof(*t->slots), slot_compare);
	for (size_t i = 0; i < n; i++) {
		const struct zrecord_slot *s = &t->slots[i];
		runs[i] = (struct zgraph_run){.phase = (uint32_t)(s->key >> 33),
			.class = (enum zgraph_class)(s->key >> 31 & 3),
			.peer = (uint32_t)(s->key & 0x7fffffff),
			.count = 1,
			.bytes = s->bytes,
			.messages = s->messages};
	}
	int rc = zgraph_writer_encode(&(struct zgraph_row){.runs = runs,
					      .nruns = n,
					      .calls = t->calls,
					      .ncalls = t->ncalls,
					      .timed = true,
					      .times = times,
					      .ntimes = ntimes},
		out, len);
	free(runs);
	return rc;
}

void zrecord_table_free(struct zrecord_table *t)
{
	free(t->slots);
	free(t->calls);
	*t = (struct zrecord_table){.slots_max = t->slots_max};
}

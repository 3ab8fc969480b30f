/* SPDX-License-Identifier: BSD-3-Clause */
/* The posted and the unexpected queue: hash tables of keys, each with a ring of entries in order. See match.h. */
#include "libzip/stream/match.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define FIRST_BINS 64u

static inline uint32_t key_hash(const struct zmatch_key *k)
{
	/* Odd constants (from the digits of the golden ratio and pi) spread neighbouring tags and sources. */
	uint64_t h = k->context * UINT64_C(0x9e3779b97f4a7c15);

	h ^= ((uint64_t)k->source << 32 | (uint32_t)k->tag) * UINT64_C(0x243f6a8885a308d3);
	h += k->any;
	h ^= h >> 32;
	h *= UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32);
}

static inline bool key_equal(const struct zmatch_key *a, const struct zmatch_key *b)
{
	return a->context == b->context && a->source == b->source && a->tag == b->tag && a->any == b->any;
}

static int table_init(struct zmatch_table *t)
{
	t->bin = calloc(FIRST_BINS, sizeof(struct zmatch_hook *));
	t->mask = FIRST_BINS - 1;
	t->keys = 0;
	return t->bin ? 0 : -ENOMEM;
}

static void bin_push(struct zmatch_hook **bin, struct zmatch_hook *h)
{
	h->bin_next = *bin;
	h->bin_link = bin;
	if (h->bin_next)
		h->bin_next->bin_link = &h->bin_next;
	*bin = h;
}

static void bin_remove(struct zmatch_hook *h)
{
	*h->bin_link = h->bin_next;
	if (h->bin_next)
		h->bin_next->bin_link = h->bin_link;
}

static void table_grow(struct zmatch_table *t)
{
	uint32_t bins = (t->mask + 1) * 2;
	struct zmatch_hook **bin = bins ? calloc(bins, sizeof(*bin)) : NULL;

	if (!bin)
		return;
	for (uint32_t i = 0; i <= t->mask; i++) {
		while (t->bin[i]) {
			struct zmatch_hook *h = t->bin[i];
			bin_remove(h);
			bin_push(&bin[key_hash(&h->key) & (bins - 1)], h);
		}
	}
	free(t->bin);
	t->bin = bin;
	t->mask = bins - 1;
}

static struct zmatch_hook *table_find(const struct zmatch_table *t, const struct zmatch_key *k)
{
	struct zmatch_hook *h = t->bin[key_hash(k) & t->mask];

	while (h && !key_equal(&h->key, k))
		h = h->bin_next;
	return h;
}

static void table_add(struct zmatch_table *t, struct zmatch_hook *h, const struct zmatch_key *k)
{
	struct zmatch_hook *first = table_find(t, k);

	h->key = *k;
	h->first = !first;
	if (first) {
		h->next = first;
		h->prev = first->prev;
		first->prev->next = h;
		first->prev = h;
		return;
	}
	h->next = h->prev = h;
	if (t->keys > t->mask)
		table_grow(t);
	bin_push(&t->bin[key_hash(k) & t->mask], h);
	t->keys++;
}

static void table_del(struct zmatch_table *t, struct zmatch_hook *h)
{
	if (h->first) {
		bin_remove(h);
		if (h->next != h) {
			h->next->first = true;
			bin_push(&t->bin[key_hash(&h->key) & t->mask], h->next);
		} else {
			t->keys--;
		}
	}
	h->next->prev = h->prev;
	h->prev->next = h->next;
}

int zmatch_init(struct zmatch *m)
{
	*m = (struct zmatch){0};
	if (table_init(&m->posted) != 0 || table_init(&m->unexpected) != 0) {
		zmatch_fini(m);
		return -ENOMEM;
	}
	return 0;
}

void zmatch_fini(struct zmatch *m)
{
	free(m->posted.bin);
	free(m->unexpected.bin);
	*m = (struct zmatch){0};
}

void zmatch_post(struct zmatch *m, struct zmatch_posted *p, const struct zmatch_key *k)
{
	p->serial = ++m->serial;
	m->posted_count[k->any]++;
	table_add(&m->posted, &p->hook, k);
}

void zmatch_withdraw(struct zmatch *m, struct zmatch_posted *p)
{
	assert(m->posted_count[p->hook.key.any] > 0);
	m->posted_count[p->hook.key.any]--;
	table_del(&m->posted, &p->hook);
}

struct zmatch_posted *zmatch_find_posted(struct zmatch *m, uint64_t context, uint32_t source, int32_t tag)
{
	struct zmatch_posted *oldest = NULL;

	for (uint32_t any = 0; any < ZMATCH_KEYS; any++) {
		if (m->posted_count[any] == 0)
			continue;
		struct zmatch_key k = zmatch_key_make(context, source, tag, any);
		struct zmatch_posted *p = (struct zmatch_posted *)table_find(&m->posted, &k);
		if (p && (!oldest || p->serial < oldest->serial))
			oldest = p;
	}
	return oldest;
}

void zmatch_add_unexpected(struct zmatch *m, struct zmatch_unexpected *u, uint64_t context, uint32_t source,
	int32_t tag)
{
	for (uint32_t any = 0; any < ZMATCH_KEYS; any++) {
		struct zmatch_key k = zmatch_key_make(context, source, tag, any);
		table_add(&m->unexpected, &u->hook[any], &k);
	}
}

void zmatch_del_unexpected(struct zmatch *m, struct zmatch_unexpected *u)
{
	for (uint32_t any = 0; any < ZMATCH_KEYS; any++)
		table_del(&m->unexpected, &u->hook[any]);
}

void zmatch_each_unexpected(const struct zmatch *m, void (*visit)(struct zmatch_unexpected *, void *ctx), void *ctx)
{
	const struct zmatch_table *t = &m->unexpected;

	for (uint32_t i = 0; i <= t->mask; i++) {
		for (struct zmatch_hook *first = t->bin[i]; first; first = first->bin_next) {
			struct zmatch_hook *h = first;
			if (first->key.any != 0) /* each message stands under all its keys */
				continue;
			do {
				visit((struct zmatch_unexpected *)h, ctx);
				h = h->next;
			} while (h != first);
		}
	}
}

struct zmatch_unexpected *zmatch_find_unexpected(struct zmatch *m, const struct zmatch_key *k)
{
	struct zmatch_hook *h = table_find(&m->unexpected, k);

	/* hook[any] of the message; the hooks are an array at its start */
	return h ? (struct zmatch_unexpected *)(h - k->any) : NULL;
}

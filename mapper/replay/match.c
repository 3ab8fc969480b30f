/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table of queues, see match.h. A queue that is empty goes out of the table. */
#include "mapper/replay/match.h"

#include <stdlib.h>

#include "mapper/base/rng.h"

struct match_queue {
	struct match_queue *next; /* in the slot, or unused */
	struct match_key key;
	bool messages;
	struct match_item *first, *last;
};

static size_t slot_of(const struct match *m, const struct match_key *k)
{
	return (size_t)rng_mix(((uint64_t)k->from << 32 | k->to) ^ rng_mix(k->key + 1)) & (m->slots - 1);
}

static bool grow(struct match *m)
{
	struct match old = *m;

	m->slots = old.slots ? 4 * old.slots : 1024;
	m->slot = calloc(m->slots, sizeof(*m->slot));
	if (!m->slot) {
		*m = old;
		return false;
	}
	for (size_t i = 0; i < old.slots; i++)
		for (struct match_queue *q = old.slot[i], *next; q; q = next) {
			size_t at = slot_of(m, &q->key);

			next = q->next;
			q->next = m->slot[at];
			m->slot[at] = q;
		}
	free(old.slot);
	return true;
}

static struct match_queue *queue_add(struct match *m, const struct match_key *key, bool messages)
{
	struct match_queue *q = m->unused;
	size_t at;

	if (m->n >= m->slots && !grow(m))
		return NULL;
	if (q)
		m->unused = q->next;
	else if (!(q = malloc(sizeof(*q))))
		return NULL;
	at = slot_of(m, key);
	*q = (struct match_queue){m->slot[at], *key, messages, NULL, NULL};
	m->slot[at] = q;
	m->n++;
	return q;
}

/* Where the queue of the key is, or would be; NULL: the table is empty. */
static struct match_queue **queue_find(const struct match *m, const struct match_key *key)
{
	struct match_queue **at = m->slots ? &m->slot[slot_of(m, key)] : NULL;

	while (at && *at && ((*at)->key.from != key->from || (*at)->key.to != key->to || (*at)->key.key != key->key))
		at = &(*at)->next;
	return at;
}

static void queue_drop(struct match *m, struct match_queue **at)
{
	struct match_queue *q = *at;

	*at = q->next;
	q->next = m->unused;
	m->unused = q;
	m->n--;
}

static void item_push(struct match_queue *q, struct match_item *item)
{
	item->next = NULL;
	if (q->first)
		q->last->next = item;
	else
		q->first = item;
	q->last = item;
}

struct match_item *match_meet(struct match *m, const struct match_key *key, bool is_message, struct match_item *item,
	bool *failed)
{
	struct match_queue **at = queue_find(m, key), *q = at ? *at : NULL;

	if (q && q->messages != is_message) {
		struct match_item *met = q->first;

		q->first = met->next;
		if (!q->first)
			queue_drop(m, at);
		return met;
	}
	if (!q)
		q = queue_add(m, key, is_message);
	*failed = !q;
	if (q)
		item_push(q, item);
	return NULL;
}

bool match_line(struct match *m, const struct match_key *key, struct match_item *item, bool *failed)
{
	struct match_queue **at = queue_find(m, key);

	*failed = false;
	if (at && *at) {
		item_push(*at, item);
		return false;
	}
	*failed = !queue_add(m, key, true);
	return !*failed;
}

struct match_item *match_line_next(struct match *m, const struct match_key *key)
{
	struct match_queue **at = queue_find(m, key);
	struct match_item *item = (*at)->first;

	if (item)
		(*at)->first = item->next;
	else
		queue_drop(m, at);
	return item;
}

static void list_free(struct match_queue *q)
{
	while (q) {
		struct match_queue *next = q->next;

		free(q);
		q = next;
	}
}

void match_free(struct match *m)
{
	for (size_t i = 0; i < m->slots; i++)
		list_free(m->slot[i]);
	list_free(m->unused);
	free(m->slot);
	*m = (struct match){0};
}

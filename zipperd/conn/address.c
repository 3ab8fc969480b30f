/* SPDX-License-Identifier: BSD-3-Clause */
/* Strangers by address, see address.h. Addresses with equally many strangers share a list, so that the one with most
 * strangers is found at once. Strangers that say nothing go before strangers that are about to prove who they are. */
#include "zipperd/conn/address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* The age at which a stranger may go for another one. Its words may not have been read yet, and a busy peer needs some
 * time to answer. */
#define IDLE_MS 100
#define BUSY_MS 1000

enum kind {
	IDLE, /* says nothing, or has been refused */
	BUSY, /* has said HELLO */
	KINDS
};

struct address {
	UT_hash_handle hh;
	char text[64];
	struct list link[KINDS];      /* in crowd.by_count[n] */
	struct list strangers[KINDS]; /* oldest first */
	int n[KINDS];
};

struct crowd {		       /* all strangers of one kind */
	struct list *by_count; /* [limit + 2] addresses, by the number of their strangers */
	struct list by_age;    /* strangers, oldest first */
	int n, most;	       /* strangers in all, and of the address that has most of them */
};

struct addresses {
	struct address *table;
	struct crowd crowd[KINDS];
	int limit; /* of strangers in all */
	int share; /* of one address */
};

int address_init(struct addresses **out, int64_t limit, int64_t share, struct zerr *err)
{
	struct addresses *a = calloc(1, sizeof(*a));
	*out = a;
	if (!a)
		return zerr_set(err, -ENOMEM, "out of memory");
	a->limit = (int)limit;
	a->share = (int)(share < limit ? share : limit);
	for (int k = 0; k < KINDS; k++) {
		struct list *lists = a->crowd[k].by_count = calloc((size_t)a->limit + 2, sizeof(*lists));
		list_init(&a->crowd[k].by_age);
		for (int i = 0; lists && i < a->limit + 2; i++)
			list_init(&lists[i]);
		if (!lists)
			return zerr_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

void address_fini(struct addresses *a)
{
	if (!a)
		return;
	for (int k = 0; k < KINDS; k++)
		free(a->crowd[k].by_count);
	free(a);
}

/* "10.1.0.2" of "10.1.0.2:5123", "[::1]" of "[::1]:5123", "uid 1000" of "pid 77 uid 1000". */
static void address_of(const char *peer, char *text, size_t cap)
{
	const char *uid = strncmp(peer, "pid ", 4) == 0 ? strstr(peer, "uid ") : NULL, *colon = strrchr(peer, ':');
	if (uid)
		snprintf(text, cap, "%s", uid);
	else
		snprintf(text, cap, "%.*s", (int)(colon ? (size_t)(colon - peer) : strlen(peer)), peer);
}

static struct address *find(struct addresses *a, const char *peer)
{
	struct address *of;
	char text[sizeof(of->text)];
	address_of(peer, text, sizeof(text));
	HASH_FIND_STR(a->table, text, of);
	if (of || !(of = calloc(1, sizeof(*of))))
		return of;
	strcpy(of->text, text);
	for (int k = 0; k < KINDS; k++)
		list_init(&of->strangers[k]);
	HASH_ADD_STR(a->table, text, of);
	return of;
}

static void count(struct addresses *a, struct address *of, enum kind k, int step)
{
	struct crowd *c = &a->crowd[k];
	list_del(&of->link[k]);
	of->n[k] += step;
	c->n += step;
	if (of->n[k] > 0)
		list_add(&c->by_count[of->n[k]], &of->link[k]);
	if (of->n[k] > c->most)
		c->most = of->n[k];
	while (c->most > 0 && list_empty(&c->by_count[c->most]))
		c->most--;
}

static enum kind kind_of(const struct stranger *s)
{
	return s->proving ? BUSY : IDLE;
}

static void put(struct stranger *s)
{
	list_add(&s->from->strangers[kind_of(s)], &s->link);
	list_add(&s->all->crowd[kind_of(s)].by_age, &s->age);
	count(s->all, s->from, kind_of(s), 1);
}

static void take(struct stranger *s)
{
	list_del(&s->link);
	list_del(&s->age);
	count(s->all, s->from, kind_of(s), -1);
}

int address_enter(struct addresses *a, struct stranger *s, const char *peer, int64_t now_ms)
{
	*s = (struct stranger){.all = a, .from = find(a, peer), .born_ms = now_ms};
	if (!s->from) {
		s->all = NULL;
		return -ENOMEM;
	}
	put(s);
	return 0;
}

void address_leave(struct stranger *s)
{
	struct address *of = s->from;
	if (!s->all)
		return;
	take(s);
	if (of->n[IDLE] + of->n[BUSY] == 0) {
		HASH_DEL(s->all->table, of);
		free(of);
	}
	s->all = NULL;
	s->from = NULL;
}

void address_note(struct stranger *s, bool proving)
{
	if (!s->all || s->proving == proving)
		return;
	take(s);
	s->proving = proving;
	put(s);
}

static struct stranger *oldest(const struct address *of, enum kind k)
{
	const struct list *head = &of->strangers[k];
	return list_empty(head) ? NULL : list_entry(head->next, struct stranger, link);
}

static bool may_go(const struct stranger *s, int64_t now_ms)
{
	/* An address with more than its share is no honest one. */
	const bool honest = s->from->n[IDLE] + s->from->n[BUSY] <= s->all->share;
	return now_ms - s->born_ms >= (s->proving && honest ? BUSY_MS : IDLE_MS);
}

/* The one that goes for a new one: the first choice, or the second one. NULL: both are too young. */
static struct stranger *choose(struct stranger *first, struct stranger *second, int64_t now_ms)
{
	if (first && may_go(first, now_ms))
		return first;
	return second && may_go(second, now_ms) ? second : NULL;
}

/* Of that kind, the oldest one of the address that has most. Where it is too young: the oldest one of all. */
static struct stranger *spare_of(const struct addresses *a, enum kind k, int64_t now_ms)
{
	const struct crowd *c = &a->crowd[k];
	if (c->n == 0)
		return NULL;
	return choose(oldest(list_entry(c->by_count[c->most].next, struct address, link[k]), k),
		list_entry(c->by_age.next, struct stranger, age), now_ms);
}

struct stranger *address_spare(const struct addresses *a, int64_t now_ms)
{
	struct stranger *idle = spare_of(a, IDLE, now_ms);
	return idle ? idle : spare_of(a, BUSY, now_ms);
}

static int count_all(const struct addresses *a)
{
	return a->crowd[IDLE].n + a->crowd[BUSY].n;
}

bool address_has_room(const struct addresses *a, int64_t now_ms)
{
	return count_all(a) < a->limit || address_spare(a, now_ms);
}

struct stranger *address_surplus(const struct stranger *newest, int64_t now_ms, const char **option, int64_t *limit)
{
	const struct addresses *a = newest->all;
	const struct address *of = newest->from;
	struct stranger *goes = NULL;
	if (of->n[IDLE] + of->n[BUSY] > a->share)
		goes = choose(oldest(of, IDLE), oldest(of, BUSY), now_ms);
	*option = goes ? "address_strangers" : "max_strangers";
	*limit = goes ? a->share : a->limit;
	if (goes || count_all(a) <= a->limit)
		return goes;
	goes = address_spare(a, now_ms);
	return goes ? goes : oldest(of, IDLE); /* the newest one at the worst: there are never more than limit + 1 */
}

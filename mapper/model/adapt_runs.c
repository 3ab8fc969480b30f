/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders the messages of a forked network by the link in their middle. The messages of one run share few legs, which
 * stay in the first-level cache. Runs over neighbouring links, those of one router, follow each other, because they
 * share first legs. */
#include <errno.h>
#include <stdlib.h>

#include "mapper/model/adapt_runs.h"

struct found {
	struct adapt_run run;
	uint32_t number; /* index in the order of finding */
};

struct item {
	uint32_t first, last, run;
};

struct sorting {
	struct item *items; /* in the order of the chunk */
	uint32_t *run_of;   /* [links]: 1 + number of the run over this link */
	struct found *found;
	uint32_t nfound, cap;
};

static int found_compare(const void *x, const void *y)
{
	const struct found *a = x, *b = y;

	return (a->run.middle > b->run.middle) - (a->run.middle < b->run.middle);
}

/* Finds the run over a link, or begins one. NULL: there is no memory. */
static struct found *run_find(struct sorting *s, uint32_t middle)
{
	if (!s->run_of[middle]) {
		if (s->nfound == s->cap) {
			uint32_t cap = s->cap ? 2 * s->cap : 64;
			struct found *more = realloc(s->found, cap * sizeof(*more));

			if (!more)
				return NULL;
			s->found = more;
			s->cap = cap;
		}
		s->found[s->nfound] = (struct found){.run = {.middle = middle}, .number = s->nfound};
		s->run_of[middle] = ++s->nfound;
	}
	return &s->found[s->run_of[middle] - 1];
}

static int runs_find(const struct adapt *a, const struct traffic_chunk *c, struct sorting *s)
{
	struct net_fork fork;

	for (uint32_t i = 0; i < c->n; i++)
		for (uint64_t j = c->off[i]; j < c->off[i + 1]; j++) {
			struct found *f;

			a->net->ops->fork(a->net, c->first + i, c->items[j].dst, &fork);
			f = run_find(s, fork.middle[0]);
			if (!f)
				return -ENOMEM;
			f->run.all++;
			s->items[j] = (struct item){fork.first, fork.last, f->number};
		}
	return 0;
}

/* Puts the runs into their final order. run_of becomes the place of a run in that order. */
static int runs_order(struct adapt_task *t, struct sorting *s)
{
	uint64_t begin = 0;

	qsort(s->found, s->nfound, sizeof(*s->found), found_compare);
	t->runs = malloc(s->nfound * sizeof(*t->runs));
	if (!t->runs)
		return -ENOMEM;
	t->nruns = s->nfound;
	for (uint32_t r = 0; r < t->nruns; r++) {
		t->runs[r] = s->found[r].run;
		t->runs[r].begin = begin;
		begin += t->runs[r].all;
		s->run_of[s->found[r].number] = r;
	}
	return 0;
}

static void items_place(const struct adapt *a, struct adapt_task *t, const struct sorting *s)
{
	const struct traffic_chunk *c = t->chunk;
	struct net_fork fork;

	for (uint32_t i = 0; i < c->n; i++)
		for (uint64_t j = c->off[i]; j < c->off[i + 1]; j++) {
			struct adapt_run *run = &t->runs[s->run_of[s->items[j].run]];
			uint64_t at = run->begin + run->asking++;

			if (!run->high || s->items[j].last < run->low)
				run->low = s->items[j].last;
			if (s->items[j].last > run->high)
				run->high = s->items[j].last;
			t->forks.first[at] = s->items[j].first;
			t->forks.last[at] = s->items[j].last;
			t->forks.units[at] = c->items[j].units;
			if (!t->forks.ends)
				continue;
			a->net->ops->fork(a->net, c->first + i, c->items[j].dst, &fork);
			t->forks.ends[at] = (struct adapt_ends){fork.middle[1], fork.middle[2]};
		}
}

int adapt_runs_make(const struct adapt *a, struct adapt_task *t)
{
	struct sorting s = {0};
	int rc = -ENOMEM;

	s.items = malloc(t->items * sizeof(*s.items));
	s.run_of = calloc(a->net->links, sizeof(*s.run_of)); /* few of its pages are ever touched */
	if (s.items && s.run_of)
		rc = runs_find(a, t->chunk, &s);
	if (!rc)
		rc = runs_order(t, &s);
	if (!rc)
		items_place(a, t, &s);
	free(s.items);
	free(s.run_of);
	free(s.found);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains of causes, with counted holds. See why.h. */
#include "mapper/replay/why.h"

#include <stdlib.h>

#define BLOCK 4096

struct why_block {
	struct why_block *next;
	struct why piece[BLOCK];
};

static struct why *piece_new(struct why_store *s)
{
	struct why *w = s->unused;

	if (!w) {
		struct why_block *b = malloc(sizeof(*b));

		if (!b) {
			s->failed = true;
			return NULL;
		}
		b->next = s->blocks;
		s->blocks = b;
		for (int i = 0; i < BLOCK; i++) {
			b->piece[i].before = s->unused;
			s->unused = &b->piece[i];
		}
		w = s->unused;
	}
	s->unused = w->before;
	return w;
}

struct why *why_add(struct why_store *s, struct why *chain, uint32_t phase, enum why_cause cause, uint32_t id,
	double seconds)
{
	struct why *w;

	if (!(seconds > 0))
		return chain;
	if (chain && chain->holds == 1 && chain->phase == phase && chain->cause == cause && chain->id == id) {
		chain->seconds += seconds;
		return chain;
	}
	w = piece_new(s);
	if (!w)
		return chain;
	*w = (struct why){chain, seconds, phase, id, 1, cause};
	return w;
}

void why_drop(struct why_store *s, struct why *w)
{
	while (w && !--w->holds) {
		struct why *before = w->before;

		w->before = s->unused;
		s->unused = w;
		w = before;
	}
}

void why_free(struct why_store *s)
{
	while (s->blocks) {
		struct why_block *b = s->blocks;

		s->blocks = b->next;
		free(b);
	}
	*s = (struct why_store){0};
}

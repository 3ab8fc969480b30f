/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of fan-outs, see fanout.h. */
#include "zipperd/lane/fanout.h"

#include <errno.h>
#include <string.h>

#include "common/base/clock.h"
#include "zipperd/lane/transfer.h"
#include "zipperd/lane/worker.h"

struct fanout *fanout_create(struct source *s, const struct zwire_env *env, const uint8_t key[ZRMA_KEY_BYTES],
	uint32_t n)
{
	struct worker *w = s->lane->worker;
	if (env->offset == 0 || s->ntransfers >= TRANSFER_OFFERS_MAX || !transfer_can_read(s) || w->staging.stuck)
		return NULL;
	struct buf *b = pool_get(&w->pool, (uint32_t)(sizeof(struct fanout) + n * sizeof(struct fanout_receiver)));
	if (!b)
		return NULL;
	struct fanout *f = (struct fanout *)(void *)b->payload;
	*f = (struct fanout){.source = s,
		.buf = b,
		.id = ++w->fanout_serial,
		.total = env->offset,
		.n = n,
		.patience_ns =
			(int64_t)(env->xfer < FANOUT_PATIENCE_MAX_MS ? env->xfer : FANOUT_PATIENCE_MAX_MS) * 1000000};
	f->tail = &f->head;
	memcpy(f->key, key, ZRMA_KEY_BYTES);
	memset(f->receiver, 0, n * sizeof(struct fanout_receiver));
	list_add(&w->fanouts, &f->of_worker);
	list_add(&s->fanouts, &f->of_source);
	s->ntransfers++;
	return f;
}

void fanout_destroy(struct worker *w, struct fanout *f)
{
	if (f->source) {
		list_del(&f->of_source);
		f->source->ntransfers--;
	}
	list_del(&f->of_worker);
	pool_put(&w->pool, f->buf);
	w->freed = true;
}

static uint32_t *counter_of(struct fanout *f, enum fanout_state state)
{
	return state == FANOUT_OFFERED ? &f->offered : state == FANOUT_READY ? &f->ready : &f->taking;
}

void fanout_hear(struct worker *w, const struct fan *fan, enum relayed_what what)
{
	struct list *node = w->fanouts.next;
	while (node != &w->fanouts && list_entry(node, struct fanout, of_worker)->id != fan->id)
		node = node->next;
	if (node == &w->fanouts)
		return; /* the fan-out is over */
	struct fanout *f = list_entry(node, struct fanout, of_worker);
	struct fanout_receiver *r = &f->receiver[fan->receiver];
	if (r->state == FANOUT_LEFT || (what == RELAYED_READY && r->state != FANOUT_OFFERED))
		return;
	--*counter_of(f, r->state);
	r->state = what == RELAYED_READY ? FANOUT_READY : FANOUT_LEFT;
	if (what != RELAYED_READY)
		return;
	if (f->ready++ == 0)
		f->since_ns = zclock_ns();
}

int fanout_say(struct worker *w, const struct transfer *t, enum relayed_what what)
{
	struct lane *l = t->dest->lane;
	if (t->fan.reader == w) {
		fanout_hear(w, &t->fan, what);
		return 0;
	}
	const struct relayed m = {.what = what, .job = l->job, .fan = t->fan};
	return relay_push(w, l->relay[t->fan.part], &m) ? 0 : -EAGAIN;
}

bool fanout_waits(const struct worker *w)
{
	for (const struct list *node = w->fanouts.next; node != &w->fanouts; node = node->next) {
		const struct fanout *f = list_entry(node, struct fanout, of_worker);
		if (f->head || f->reading > 0 || f->taking > 0 || f->ready > 0)
			return true;
	}
	return false;
}

void fanout_source_gone(struct source *s)
{
	s->fanout = NULL;
	while (!list_empty(&s->fanouts)) {
		struct fanout *f = list_entry(s->fanouts.next, struct fanout, of_source);
		list_del(&f->of_source);
		s->ntransfers--;
		f->source = NULL;
	}
}

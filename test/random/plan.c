/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the operations of a program; completes what operations have left pending. See topics.h. */
#include <stdio.h>
#include <string.h>

#include "topics.h"
#include "trace.h"

struct plan plan;

static const struct topic *const topics[] = {&topic_messages, &topic_exchange, &topic_collective, &topic_complete,
	&topic_make_comm, &topic_free_comm, &topic_threads, &topic_lasting, &topic_start, &topic_windows,
	&topic_attributes, &topic_errors};
#define NTOPICS ((int)(sizeof topics / sizeof *topics))

static void draw_one(int number, const int weight[NTOPICS])
{
	struct op *op = &plan.op[number];
	uint64_t seed = model.seed;
	struct draw d = draw_from(seed, 100 + number);
	for (;;) {
		int total = 0, at, i = 0;
		for (int k = 0; k < NTOPICS; k++)
			total += weight[k];
		for (at = draw_below(&d, total); at >= weight[i]; i++)
			at -= weight[i];
		memset(op, 0, sizeof *op);
		op->topic = topics[i];
		op->number = number;
		op->seed = draw_next(&d);
		op->comm = op->other = op->uses = op->completed_by = -1;
		if (op->topic->draw(op, &d))
			return;
	}
}

void plan_draw(int nops)
{
	struct draw d = draw_from(model.seed, 99);
	int weight[NTOPICS];
	/* each program has some topics often and some hardly at all */
	for (int i = 0; i < NTOPICS; i++)
		weight[i] = 1 + topics[i]->weight * draw_between(&d, 0, 4);
	weight[0] += 4;
	plan.nops = nops;
	for (int i = 0; i < nops; i++) {
		plan.nops = i; /* what plan_pick may look at */
		draw_one(i, weight);
	}
	plan.nops = nops;
}

int plan_pick(struct draw *d, const struct topic *topic, bool (*wanted)(const struct op *))
{
	int list[MOST_OPS], n = 0;
	for (int i = 0; i < plan.nops; i++)
		if ((!topic || plan.op[i].topic == topic) && wanted(&plan.op[i]))
			list[n++] = i;
	return n ? list[draw_below(d, n)] : -1;
}

/* --- completing what is pending */
#define MOST_COMPLETED 3
static bool is_pending(const struct op *op)
{
	return op->pending && op->completed_by < 0;
}

static bool draw_complete(struct op *op, struct draw *d)
{
	int at;
	if (plan_pick(d, NULL, is_pending) < 0)
		return false;
	at = snprintf(op->text, sizeof op->text, "complete");
	for (int k = draw_between(d, 1, MOST_COMPLETED); k > 0; k--) {
		int i = plan_pick(d, NULL, is_pending);
		if (i < 0)
			break;
		plan.op[i].completed_by = op->number;
		at += snprintf(op->text + at, sizeof op->text - at, " %d", i);
	}
	return true;
}

static void run_complete(struct op *op)
{
	struct waiting all = {0};
	for (int i = 0; i < op->number; i++)
		if (plan.op[i].completed_by == op->number)
			waiting_move(&all, &plan.op[i].waiting);
	waiting_complete(&all, op->seed ^ (uint64_t)model.me);
}

const struct topic topic_complete = {.name = "complete", .weight = 12, .draw = draw_complete, .run = run_complete};

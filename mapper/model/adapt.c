/* SPDX-License-Identifier: BSD-3-Clause */
/* The iterative allocation: iterations, links, memory. Messages are worked on in adapt_paths.c and adapt_forks.c. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "mapper/base/pages.h"
#include "mapper/model/adapt_draws.h"
#include "mapper/model/adapt_forks.h"
#include "mapper/model/adapt_legs.h"
#include "mapper/model/adapt_paths.h"
#include "mapper/model/adapt_runs.h"
#include "mapper/base/par.h"

/* Availability is rounded down by more than the rounding of floats. A link is therefore never over-allocated. */
#define AVAILABLE (1.0 - 0x1p-20)
#define LINE 64u /* bytes of a cache line */
#define LINKS_A_TASK 16384u

/* --- a pass over the messages --- */

static void task_pass(void *arg, size_t item, unsigned worker)
{
	struct adapt *a = arg;
	struct adapt_task *t = &a->tasks[item];

	if (a->pass >= ADAPT_SPREAD && t->flow != a->flow)
		return;
	if (t->forked)
		adapt_forks_pass(a, t, worker);
	else
		adapt_paths_pass(a, t, worker);
}

/* --- a pass over the links --- */

static uint64_t cell_take(struct adapt *a, uint32_t link)
{
	uint64_t sum = 0;

	for (unsigned w = 0; w < a->opts->threads; w++) {
		sum += a->cells[w][link].sum;
		a->cells[w][link].sum = 0;
	}
	return sum;
}

static void links_share(void *arg, size_t item, unsigned worker)
{
	struct adapt *a = arg;
	struct adapt_history *history = a->history ? a->history[a->iteration] : NULL;
	uint32_t first = (uint32_t)item * LINKS_A_TASK, end = first + LINKS_A_TASK;

	(void)worker;
	for (uint32_t l = first; l < end && l < a->net->links; l++) {
		uint64_t requested = cell_take(a, l);
		float share = FLT_MAX;

		if (a->net->link_class[l] != NET_NONE)
			share = requested
					? (float)(a->left[l] * AVAILABLE * a->scale[ADAPT_REQUEST] / (double)requested)
					: 0;
		for (unsigned w = 0; w < a->opts->threads; w++)
			a->cells[w][l].share = share;
		if (history)
			history[l] = (struct adapt_history){a->cells[0][l].left, share};
	}
}

static void links_subtract(void *arg, size_t item, unsigned worker)
{
	struct adapt *a = arg;
	uint32_t first = (uint32_t)item * LINKS_A_TASK, end = first + LINKS_A_TASK;

	(void)worker;
	for (uint32_t l = first; l < end && l < a->net->links; l++) {
		double given = (double)cell_take(a, l) / a->scale[ADAPT_ALLOCATE];

		if (a->net->link_class[l] == NET_NONE)
			continue;
		a->left[l] = given < a->left[l] ? a->left[l] - given : 0;
		if (a->iteration + 1 < a->exposure)
			a->left[l] += (double)a->net->capacity[l] / a->exposure;
		for (unsigned w = 0; w < a->opts->threads; w++)
			a->cells[w][l].left = (float)a->left[l];
	}
}

static void links_recall(void *arg, size_t item, unsigned worker)
{
	struct adapt *a = arg;
	const struct adapt_history *history = a->history[a->iteration];
	uint32_t first = (uint32_t)item * LINKS_A_TASK, end = first + LINKS_A_TASK;

	(void)worker;
	for (unsigned w = 0; w < a->opts->threads; w++)
		for (uint32_t l = first; l < end && l < a->net->links; l++) {
			a->cells[w][l].left = history[l].left;
			a->cells[w][l].share = history[l].share;
		}
}

static void links_run(struct adapt *a, par_fn *fn)
{
	par_run(a->opts->threads, (a->net->links + LINKS_A_TASK - 1) / LINKS_A_TASK, fn, a);
}

/* --- creation --- */

/* The largest power of two with which no sum below max overflows. */
static double scale_for(double max)
{
	return exp2(floor(61 - log2(max + 1)));
}

static bool flow_forked(const struct adapt *a, unsigned flow)
{
	return a->net->forked && a->flows[flow].routing->direct;
}

static void *array_place(char *at, size_t *used, size_t bytes)
{
	void *array = at ? at + *used : NULL;

	*used += (bytes + LINE - 1) / LINE * LINE;
	return array;
}

/* Places a task's arrays one after the other, from `at` on. Returns the bytes that they take. With `at` NULL it only
 * counts them. */
static size_t arrays_place(struct adapt_task *t, bool ends, char *at)
{
	size_t used = 0, n = (t->forked ? t->items : t->pieces) + ADAPT_VECTOR;

	t->last = array_place(at, &used, n * sizeof(*t->last));
	if (!t->forked) {
		t->got = array_place(at, &used, n * sizeof(*t->got));
		if (t->pieces > t->items)
			t->piece = array_place(at, &used, (t->items + 1) * sizeof(*t->piece));
		return used;
	}
	t->forks.first = array_place(at, &used, n * sizeof(*t->forks.first));
	t->forks.last = array_place(at, &used, n * sizeof(*t->forks.last));
	t->forks.units = array_place(at, &used, n * sizeof(*t->forks.units));
	for (int i = 0; i < 4; i++)
		t->forks.ways[i] = array_place(at, &used, n * sizeof(*t->forks.ways[i]));
	if (ends)
		t->forks.ends = array_place(at, &used, n * sizeof(*t->forks.ends));
	return used;
}

static void task_sort(void *arg, size_t item, unsigned worker)
{
	struct adapt *a = arg;

	(void)worker;
	if (a->tasks[item].forked && adapt_runs_make(a, &a->tasks[item]))
		__atomic_store_n(&a->failed, true, __ATOMIC_RELAXED);
	if (a->tasks[item].piece)
		adapt_draws_cut(a, &a->tasks[item]);
}

static int tasks_create(struct adapt *a, unsigned nflows)
{
	size_t n = 0;
	char *at;

	for (unsigned f = 0; f < nflows; f++)
		n += a->flows[f].traffic->nchunks;
	a->tasks = calloc(n ? n : 1, sizeof(*a->tasks));
	if (!a->tasks)
		return -ENOMEM;
	for (unsigned f = 0; f < nflows; f++)
		for (size_t i = 0; i < a->flows[f].traffic->nchunks; i++) {
			const struct traffic_chunk *c = &a->flows[f].traffic->chunks[i];
			struct adapt_task t = {.flow = f,
				.chunk = c,
				.items = c->off[c->n],
				.forked = flow_forked(a, f)};

			if (!t.items)
				continue;
			t.pieces = adapt_draws_count(a, &t);
			a->tasks[a->ntasks++] = t;
			a->items_bytes += arrays_place(&t, a->net->forked > 1, NULL);
		}
	at = a->items = pages_alloc(a->items_bytes + 1);
	if (!at)
		return -ENOMEM;
	for (size_t i = 0; i < a->ntasks; i++)
		at += arrays_place(&a->tasks[i], a->net->forked > 1, at);
	par_run(a->opts->threads, a->ntasks, task_sort, a);
	return a->failed ? -ENOMEM : 0;
}

static int cells_create(struct adapt *a)
{
	const struct net *net = a->net;

	a->left = malloc(net->links * sizeof(*a->left));
	a->cells = calloc(a->opts->threads, sizeof(*a->cells));
	if (!a->left || !a->cells)
		return -ENOMEM;
	for (uint32_t l = 0; l < net->links; l++)
		a->left[l] = net->link_class[l] == NET_NONE ? (double)FLT_MAX : (double)net->capacity[l] / a->exposure;
	for (unsigned w = 0; w < a->opts->threads; w++) {
		a->cells[w] = pages_alloc(net->links * sizeof(struct adapt_cell));
		if (!a->cells[w])
			return -ENOMEM;
		for (uint32_t l = 0; l < net->links; l++)
			a->cells[w][l].left = (float)a->left[l];
	}
	return 0;
}

static int adapt_create(struct adapt *a, unsigned nflows)
{
	double bytes = 0, capacity = 0, given = 0;
	bool fresh = false, drawn = false, local = false;
	int rc;

	for (unsigned f = 0; f < nflows; f++) {
		bytes += (double)a->flows[f].traffic->bytes;
		if (flow_forked(a, f))
			a->forked += a->flows[f].traffic->items;
		else
			drawn = true;
		fresh |= a->flows[f].routing->fresh;
		local |= a->flows[f].routing->local;
	}
	for (uint32_t l = 0; l < a->net->links; l++) {
		if (a->net->link_class[l] == NET_NONE)
			continue;
		if ((double)a->net->capacity[l] > capacity)
			capacity = (double)a->net->capacity[l];
		given = local ? given + (double)a->net->capacity[l] : capacity;
	}
	a->exposure = fresh ? a->opts->exposure : 1;
	adapt_draws_choose(a, nflows);
	a->cutoff = (float)(capacity * a->opts->cutoff);
	/* The factors 2: a path may cross a link twice. Local flows may give a link what all links have. */
	a->scale[ADAPT_REQUEST] = scale_for(2 * bytes);
	a->scale[ADAPT_ALLOCATE] = scale_for(2 * given);
	a->scale[ADAPT_SPREAD] = a->scale[ADAPT_EVEN] = scale_for(2 * bytes);
	if (drawn) {
		a->history = calloc(a->opts->iterations, sizeof(*a->history));
		if (!a->history)
			return -ENOMEM;
	}
	rc = cells_create(a);
	if (!rc)
		rc = tasks_create(a, nflows);
	return rc || !adapt_legs_many(a, a->forked) ? rc : adapt_legs_create(a);
}

/* Runs both passes of an iteration, and updates the links after each. Returns the number of messages that have found
 * something. *forked: how many of them are of forked flows. */
static uint64_t iteration_run(struct adapt *a, uint64_t *forked)
{
	uint64_t found = 0;

	for (a->pass = ADAPT_REQUEST; a->pass <= ADAPT_ALLOCATE; a->pass++) {
		adapt_legs_fill(a);
		par_run(a->opts->threads, a->ntasks, task_pass, a);
		adapt_legs_flush(a);
		links_run(a, a->pass == ADAPT_REQUEST ? links_share : links_subtract);
	}
	*forked = 0;
	for (size_t i = 0; i < a->ntasks; i++) {
		found += a->tasks[i].found;
		*forked += a->tasks[i].forked ? a->tasks[i].found : 0;
		a->tasks[i].found = 0;
	}
	return found;
}

int adapt_solve(struct adapt **out, const struct net *net, const struct model_flow *flows, unsigned nflows,
	const struct model_opts *opts, struct model_result *result, struct zerr *err)
{
	struct adapt *a = calloc(1, sizeof(*a));
	unsigned idle = 0; /* iterations in a row without success, once all bandwidth is exposed */
	uint64_t found, forked;

	*out = a;
	if (!a)
		return zerr_set(err, -ENOMEM, "not enough memory");
	a->net = net;
	a->flows = flows;
	a->opts = opts;
	if (adapt_create(a, nflows))
		goto err_memory;
	forked = a->forked;
	for (a->iteration = 0; a->iteration < opts->iterations && idle < a->turns; a->iteration++) {
		if (a->history) {
			a->history[a->iteration] = malloc(net->links * sizeof(struct adapt_history));
			if (!a->history[a->iteration])
				goto err_memory;
		}
		/* a message that found something asks again */
		a->dense = adapt_legs_many(a, a->iteration < a->exposure || a->turns > 1 ? a->forked : forked);
		found = iteration_run(a, &forked);
		idle = found || a->iteration + 1 < a->exposure ? 0 : idle + 1;
		opts->progress(opts->progress_arg, "allocation", (a->iteration + 1.0) / opts->iterations);
	}
	a->iterations = a->iteration;
	result->iterations = a->iterations;
	result->converged = idle > 0;
	result->turns = a->turns;
	result->draws = a->draws_fewer ? a->draws : 0;
	return 0;

err_memory:
	adapt_destroy(a);
	*out = NULL;
	return zerr_set(err, -ENOMEM, "not enough memory for the allocation");
}

void adapt_destroy(struct adapt *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->ntasks; i++)
		free(a->tasks[i].runs);
	pages_free(a->items, a->items_bytes + 1);
	for (unsigned w = 0; a->cells && w < a->opts->threads; w++)
		pages_free(a->cells[w], a->net->links * sizeof(struct adapt_cell));
	for (unsigned i = 0; a->history && i < a->opts->iterations; i++)
		free(a->history[i]);
	adapt_legs_destroy(a);
	free(a->tasks);
	free(a->cells);
	free(a->history);
	free(a->left);
	free(a);
}

/* --- post-processing --- */

int adapt_spread(const struct routing_job *job)
{
	struct adapt *a = job->adapt;
	bool forked = flow_forked(a, job->number);

	a->flow = job->number;
	a->pass = ADAPT_SPREAD;
	for (a->iteration = 0; a->iteration < a->iterations && !forked; a->iteration++) {
		links_run(a, links_recall);
		par_run(a->opts->threads, a->ntasks, task_pass, a);
		a->opts->progress(a->opts->progress_arg, "spreading", (a->iteration + 1.0) / a->iterations);
	}
	a->iteration = 0;
	a->pass = ADAPT_EVEN;
	a->dense = forked && adapt_legs_many(a, a->flows[job->number].traffic->items);
	par_run(a->opts->threads, a->ntasks, task_pass, a);
	adapt_legs_flush(a);
	for (uint32_t l = 0; l < a->net->links; l++) {
		uint64_t sum = cell_take(a, l);

		if (a->net->link_class[l] != NET_NONE)
			job->load->bytes[l] += (double)sum / a->scale[ADAPT_SPREAD];
	}
	for (size_t i = 0; i < a->ntasks; i++) {
		job->load->byte_hops += a->tasks[i].hops;
		a->tasks[i].hops = 0;
	}
	return 0;
}

uint64_t adapt_starved(const struct adapt *a)
{
	uint64_t n = 0;

	for (size_t i = 0; i < a->ntasks; i++)
		n += a->tasks[i].starved;
	return n;
}

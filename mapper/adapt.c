/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The iterative allocation. One thread works on one chunk of messages at a time; each thread has its own sums. All
 * sums are integers, so that their order does not matter and the result is the same for any number of threads.
 *
 * The work is random access to links, ten or twenty a path. What is read of a link and what is added to it share a
 * cell (one cache line access), and the cells of the next messages are prefetched while those of this one are summed.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "adapt.h"
#include "par.h"
#include "rng.h"

#define BLOCK 8 /* messages prefetched ahead: 8 x 40 links is about what the cache's miss buffers take */
/* Iterations that a message with fixed paths stays in without success once all bandwidth is exposed: what is left on a
 * link never grows then. */
#define PATIENCE_FIXED 1u
/* Availability is rounded down by more than the rounding of floats, so that a link is never over-allocated. */
#define AVAILABLE (1.0 - 0x1p-20)
#define LINKS_A_TASK 16384u

struct cell {
	float left;  /* remaining bandwidth */
	float share; /* availability: left / requested */
	uint64_t sum;
};

struct history {
	float left, share;
};

/* One chunk of one flow: what is handed to a thread. */
struct task {
	unsigned flow;
	const struct traffic_chunk *chunk;
	float *got;	 /* per item: bandwidth allocated so far */
	uint16_t *last; /* per item: last iteration in which it got something */
	uint64_t found, starved;
};

enum pass { PASS_REQUEST, PASS_ALLOCATE, PASS_SPREAD, PASS_EVEN };

struct adapt {
	const struct net *net;
	const struct model_flow *flows;
	const struct model_opts *opts;
	struct task *tasks;
	size_t ntasks;
	struct cell **cells; /* [threads][links] */
	double *left;	     /* [links], exact; follows the cells */
	struct history **history; /* [iterations][links] */
	unsigned iterations;	  /* done */
	unsigned exposure, turns;
	float cutoff;
	double scale[2]; /* of the sums of PASS_REQUEST and PASS_ALLOCATE */
	/* of the pass in work */
	enum pass pass;
	unsigned iteration, flow; /* flow: PASS_SPREAD and PASS_EVEN */
	double spread_scale;
	double *spread_hops; /* [ntasks] */
};

/* --- one message --- */

/* Weights of the paths: what is left on each, relative to the sum; equal ones for routings that are not adaptive. share
 * is the least availability on each path. Returns how many paths have something left; if none, weight is not set. */
static inline unsigned weigh(const struct adapt *a, const struct cell *cells, const struct path_set *p, bool adaptive,
	float *weight, float *share)
{
	const uint32_t *link = p->link;
	float sum = 0;
	unsigned open = 0;

	for (uint32_t k = 0; k < p->n; k++) {
		float left = FLT_MAX, least = FLT_MAX;

		for (uint32_t h = 0; h < p->slots[k]; h++) {
			const struct cell *c = &cells[link[h]];

			left = c->left < left ? c->left : left;
			least = c->share < least ? c->share : least;
		}
		link += p->slots[k];
		/* FLT_MAX: a path without any link (one zipper node, seen from two parts), which needs no bandwidth */
		weight[k] = left <= a->cutoff || left >= FLT_MAX ? 0 : adaptive ? left : 1;
		share[k] = least;
		sum += weight[k];
		open += weight[k] > 0;
	}
	for (uint32_t k = 0; k < p->n && open; k++)
		weight[k] /= sum;
	return open;
}

static inline void path_sum(struct cell *cells, const uint32_t *link, uint32_t slots, uint64_t value)
{
	for (uint32_t h = 0; h < slots; h++)
		cells[link[h]].sum += value;
}

/* The availability of void links is never less than FLT_MAX (links_share()), that of others always. */
static inline uint32_t path_hops(const struct cell *cells, const uint32_t *link, uint32_t slots)
{
	uint32_t hops = 0;

	for (uint32_t h = 0; h < slots; h++)
		hops += cells[link[h]].share < FLT_MAX;
	return hops;
}

static inline void message_request(const struct adapt *a, struct cell *cells, const struct path_set *p,
	const struct task *t, uint64_t j)
{
	const struct model_flow *f = &a->flows[t->flow];
	double bytes = (double)t->chunk->items[j].units * (double)f->traffic->unit * a->scale[PASS_REQUEST];
	float weight[ROUTING_PATHS_MAX], share[ROUTING_PATHS_MAX];
	const uint32_t *link = p->link;

	if (!weigh(a, cells, p, f->routing->adaptive, weight, share))
		return;
	for (uint32_t k = 0; k < p->n; link += p->slots[k++])
		if (weight[k] > 0)
			path_sum(cells, link, p->slots[k], (uint64_t)(bytes * (double)weight[k]));
}

/* What path k got: the same number in the passes ALLOCATE and SPREAD. */
static inline float path_got(const struct adapt *a, const struct task *t, uint64_t j, float weight, float share)
{
	double bytes = (double)t->chunk->items[j].units * (double)a->flows[t->flow].traffic->unit;

	return (float)(bytes * (double)weight * (double)share);
}

static inline void message_allocate(const struct adapt *a, struct cell *cells, const struct path_set *p,
	struct task *t, uint64_t j)
{
	float weight[ROUTING_PATHS_MAX], share[ROUTING_PATHS_MAX], got = 0;
	const uint32_t *link = p->link;

	if (!weigh(a, cells, p, a->flows[t->flow].routing->adaptive, weight, share))
		return;
	for (uint32_t k = 0; k < p->n; link += p->slots[k++]) {
		float g;

		if (weight[k] <= 0)
			continue;
		g = path_got(a, t, j, weight[k], share[k]);
		path_sum(cells, link, p->slots[k], (uint64_t)((double)g * a->scale[PASS_ALLOCATE]));
		got += g;
	}
	if (got > 0) {
		t->got[j] += got;
		t->last[j] = (uint16_t)a->iteration;
		t->found++;
	}
}

static inline void message_spread(const struct adapt *a, struct cell *cells, const struct path_set *p,
	const struct task *t, uint64_t j, double *hops)
{
	const struct model_flow *f = &a->flows[t->flow];
	double bytes = (double)t->chunk->items[j].units * (double)f->traffic->unit;
	float weight[ROUTING_PATHS_MAX], share[ROUTING_PATHS_MAX];
	const uint32_t *link = p->link;

	if (!weigh(a, cells, p, f->routing->adaptive, weight, share))
		return;
	for (uint32_t k = 0; k < p->n; link += p->slots[k++]) {
		double part;

		if (weight[k] <= 0)
			continue;
		part = bytes * (double)path_got(a, t, j, weight[k], share[k]) / (double)t->got[j];
		path_sum(cells, link, p->slots[k], (uint64_t)(part * a->spread_scale));
		*hops += part * path_hops(cells, link, p->slots[k]);
	}
}

static inline void message_even(const struct adapt *a, struct cell *cells, const struct path_set *p,
	const struct task *t, uint64_t j, double *hops)
{
	double bytes = (double)t->chunk->items[j].units * (double)a->flows[t->flow].traffic->unit;
	const uint32_t *link = p->link;

	for (uint32_t k = 0; k < p->n; link += p->slots[k++]) {
		path_sum(cells, link, p->slots[k], (uint64_t)(bytes / p->n * a->spread_scale));
		*hops += bytes / p->n * path_hops(cells, link, p->slots[k]);
	}
}

/* --- a pass over a chunk --- */

/* Does item j take part in this pass? */
static inline bool item_takes_part(const struct adapt *a, const struct task *t, uint64_t j, unsigned patience)
{
	switch (a->pass) {
	case PASS_REQUEST:
	case PASS_ALLOCATE:
		return a->iteration < a->exposure || a->iteration <= t->last[j] + (uint64_t)patience * a->turns;
	case PASS_SPREAD:
		return a->iteration <= t->last[j] && t->got[j] > 0;
	case PASS_EVEN:
		return t->got[j] <= 0;
	}
	return false;
}

static void chunk_pass(void *arg, size_t item, unsigned worker)
{
	struct adapt *a = arg;
	struct task *t = &a->tasks[item];
	const struct traffic_chunk *c = t->chunk;
	const struct net *net = a->net;
	const struct model_flow *f = &a->flows[t->flow];
	struct cell *cells = a->cells[worker];
	struct path_set sets[BLOCK];
	uint64_t which[BLOCK], key = rng_at(a->opts->seed, RNG_PATH, t->flow, f->routing->fresh ? a->iteration : 0);
	unsigned patience = f->routing->fresh ? a->opts->patience : PATIENCE_FIXED, n;
	unsigned turns = a->pass == PASS_EVEN ? 1 : a->turns;
	uint64_t j = (turns - a->iteration % turns) % turns, end = c->off[c->n];
	uint32_t i = 0;
	double hops = 0;

	if (a->pass >= PASS_SPREAD && t->flow != a->flow)
		return;
	while (j < end) {
		for (n = 0; n < BLOCK && j < end; j += turns) {
			struct path_set *p = &sets[n];
			const uint32_t *link;
			uint32_t slots = 0;

			while (c->off[i + 1] <= j)
				i++;
			if (!item_takes_part(a, t, j, patience))
				continue;
			which[n++] = j;
			p->n = 0;
			f->routing->draw(net, a->opts, c->first + i, c->items[j].dst,
				rng_mix(key ^ ((uint64_t)(c->first + i) << 32 | c->items[j].dst)), p);
			for (uint32_t k = 0; k < p->n; k++)
				slots += p->slots[k];
			link = p->link;
			for (uint32_t h = 0; h < slots; h++)
				__builtin_prefetch(&cells[link[h]], 1);
		}
		for (unsigned b = 0; b < n; b++) {
			if (a->pass == PASS_REQUEST)
				message_request(a, cells, &sets[b], t, which[b]);
			else if (a->pass == PASS_ALLOCATE)
				message_allocate(a, cells, &sets[b], t, which[b]);
			else if (a->pass == PASS_SPREAD)
				message_spread(a, cells, &sets[b], t, which[b], &hops);
			else
				message_even(a, cells, &sets[b], t, which[b], &hops);
		}
		if (a->pass == PASS_EVEN)
			t->starved += n;
	}
	if (a->pass >= PASS_SPREAD)
		a->spread_hops[item] += hops;
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
	struct history *history = a->history[a->iteration];
	uint32_t first = (uint32_t)item * LINKS_A_TASK, end = first + LINKS_A_TASK;

	(void)worker;
	for (uint32_t l = first; l < end && l < a->net->links; l++) {
		uint64_t requested = cell_take(a, l);
		float share = FLT_MAX;

		if (a->net->link_class[l] != NET_NONE)
			share = requested ? (float)(a->left[l] * AVAILABLE * a->scale[PASS_REQUEST] /
							(double)requested) : 0;
		for (unsigned w = 0; w < a->opts->threads; w++)
			a->cells[w][l].share = share;
		history[l] = (struct history){ a->cells[0][l].left, share };
	}
}

static void links_subtract(void *arg, size_t item, unsigned worker)
{
	struct adapt *a = arg;
	uint32_t first = (uint32_t)item * LINKS_A_TASK, end = first + LINKS_A_TASK;

	(void)worker;
	for (uint32_t l = first; l < end && l < a->net->links; l++) {
		double given = (double)cell_take(a, l) / a->scale[PASS_ALLOCATE];

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
	const struct history *history = a->history[a->iteration];
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

/* The largest power of two by which no sum that stays below max overflows. */
static double scale_for(double max)
{
	return exp2(floor(61 - log2(max + 1)));
}

static int tasks_create(struct adapt *a, unsigned nflows)
{
	size_t n = 0;

	for (unsigned f = 0; f < nflows; f++)
		n += a->flows[f].traffic->nchunks;
	a->tasks = calloc(n ? n : 1, sizeof(*a->tasks));
	if (!a->tasks)
		return -ENOMEM;
	for (unsigned f = 0; f < nflows; f++) {
		const struct traffic *t = a->flows[f].traffic;

		for (size_t i = 0; i < t->nchunks; i++) {
			struct task *task = &a->tasks[a->ntasks];
			uint64_t items = t->chunks[i].off[t->chunks[i].n];

			if (!items)
				continue;
			task->flow = f;
			task->chunk = &t->chunks[i];
			task->got = calloc(items, sizeof(*task->got));
			task->last = calloc(items, sizeof(*task->last));
			a->ntasks++;
			if (!task->got || !task->last)
				return -ENOMEM;
		}
	}
	a->spread_hops = calloc(a->ntasks ? a->ntasks : 1, sizeof(*a->spread_hops));
	return a->spread_hops ? 0 : -ENOMEM;
}

/* Zeroed, in large pages where the system has them: with small ones most accesses miss the translation buffer. */
static void *cells_alloc(size_t bytes)
{
	const size_t page = 2u << 20; /* of x86-64 and most others; another size costs nothing but alignment */
	void *memory;

	bytes = (bytes + page - 1) / page * page;
	memory = aligned_alloc(page, bytes);
	if (!memory)
		return NULL;
	madvise(memory, bytes, MADV_HUGEPAGE);
	return memset(memory, 0, bytes);
}

static int cells_create(struct adapt *a)
{
	const struct net *net = a->net;

	a->left = malloc(net->links * sizeof(*a->left));
	a->history = calloc(a->opts->iterations, sizeof(*a->history));
	a->cells = calloc(a->opts->threads, sizeof(*a->cells));
	if (!a->left || !a->history || !a->cells)
		return -ENOMEM;
	for (uint32_t l = 0; l < net->links; l++)
		a->left[l] = net->link_class[l] == NET_NONE ? (double)FLT_MAX :
							     (double)net->capacity[l] / a->exposure;
	for (unsigned w = 0; w < a->opts->threads; w++) {
		a->cells[w] = cells_alloc(net->links * sizeof(struct cell));
		if (!a->cells[w])
			return -ENOMEM;
		for (uint32_t l = 0; l < net->links; l++)
			a->cells[w][l].left = (float)a->left[l];
	}
	return 0;
}

static int adapt_create(struct adapt *a, unsigned nflows)
{
	double bytes = 0, capacity = 0;
	uint64_t work = 0;
	bool fresh = false;

	for (unsigned f = 0; f < nflows; f++) {
		bytes += (double)a->flows[f].traffic->bytes;
		if (!a->flows[f].routing->fresh)
			continue;
		fresh = true;
		work += a->flows[f].traffic->items * a->opts->paths;
	}
	for (uint32_t l = 0; l < a->net->links; l++)
		if (a->net->link_class[l] != NET_NONE && (double)a->net->capacity[l] > capacity)
			capacity = (double)a->net->capacity[l];
	a->exposure = fresh ? a->opts->exposure : 1;
	a->turns = (unsigned)(work / a->opts->work) + 1;
	a->cutoff = (float)(capacity * a->opts->cutoff);
	/* A path may cross a link twice, hence the factors 2. */
	a->scale[PASS_REQUEST] = scale_for(2 * bytes);
	a->scale[PASS_ALLOCATE] = scale_for(2 * capacity);
	a->spread_scale = scale_for(2 * bytes);
	return tasks_create(a, nflows) || cells_create(a) ? -ENOMEM : 0;
}

static uint64_t tasks_found(struct adapt *a)
{
	uint64_t found = 0;

	for (size_t i = 0; i < a->ntasks; i++) {
		found += a->tasks[i].found;
		a->tasks[i].found = 0;
	}
	return found;
}

int adapt_solve(struct adapt **out, const struct net *net, const struct model_flow *flows, unsigned nflows,
	const struct model_opts *opts, struct model_result *result, struct zerr *err)
{
	struct adapt *a = calloc(1, sizeof(*a));
	unsigned idle = 0; /* iterations in a row without success, all bandwidth exposed */

	*out = a;
	if (!a)
		return zerr_set(err, -ENOMEM, "not enough memory");
	a->net = net;
	a->flows = flows;
	a->opts = opts;
	if (adapt_create(a, nflows))
		goto err_memory;
	for (a->iteration = 0; a->iteration < opts->iterations && idle < a->turns; a->iteration++) {
		a->history[a->iteration] = malloc(net->links * sizeof(struct history));
		if (!a->history[a->iteration])
			goto err_memory;
		a->pass = PASS_REQUEST;
		par_run(opts->threads, a->ntasks, chunk_pass, a);
		links_run(a, links_share);
		a->pass = PASS_ALLOCATE;
		par_run(opts->threads, a->ntasks, chunk_pass, a);
		links_run(a, links_subtract);
		idle = tasks_found(a) || a->iteration + 1 < a->exposure ? 0 : idle + 1;
		opts->progress(opts->progress_arg, "allocation", (a->iteration + 1.0) / opts->iterations);
	}
	a->iterations = a->iteration;
	result->iterations = a->iterations;
	result->converged = idle > 0;
	result->turns = a->turns;
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
	for (size_t i = 0; i < a->ntasks; i++) {
		free(a->tasks[i].got);
		free(a->tasks[i].last);
	}
	for (unsigned w = 0; a->cells && w < a->opts->threads; w++)
		free(a->cells[w]);
	for (unsigned i = 0; a->history && i < a->opts->iterations; i++)
		free(a->history[i]);
	free(a->tasks);
	free(a->cells);
	free(a->history);
	free(a->left);
	free(a->spread_hops);
	free(a);
}

/* --- post-processing --- */

int adapt_spread(const struct routing_job *job)
{
	struct adapt *a = job->adapt;

	a->flow = job->number;
	a->pass = PASS_SPREAD;
	for (a->iteration = 0; a->iteration < a->iterations; a->iteration++) {
		links_run(a, links_recall);
		par_run(a->opts->threads, a->ntasks, chunk_pass, a);
		a->opts->progress(a->opts->progress_arg, "spreading", (a->iteration + 1.0) / a->iterations);
	}
	a->iteration = 0;
	a->pass = PASS_EVEN;
	par_run(a->opts->threads, a->ntasks, chunk_pass, a);
	for (uint32_t l = 0; l < a->net->links; l++) {
		uint64_t sum = cell_take(a, l);

		if (a->net->link_class[l] != NET_NONE)
			job->load->bytes[l] += (double)sum / a->spread_scale;
	}
	for (size_t i = 0; i < a->ntasks; i++) {
		job->load->byte_hops += a->spread_hops[i];
		a->spread_hops[i] = 0;
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads a zipmap.graph(5) file in two readings: the first counts, the second fills. See graph_load.h. */
#include "common/graph/graph.h"
#include "common/graph/graph_load.h"
#include "common/graph/graph_scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/graph/graph_format.h"

struct load {
	struct zgraph *g;
	const char *path;
	struct zgraph_select select;
	uint64_t edges, gets;		     /* first reading: an upper bound */
	size_t layers_cap, calls_cap, layer; /* layer: the one that was found last */
	uint64_t filled;
	struct zgraph_pair *row; /* of this rank */
	size_t row_len, row_cap;
	struct zgraph_edge *get;
	size_t nget;
	uint64_t spent[ZGRAPH_SPANS]; /* ns of this rank */
	uint64_t spent_all;	      /* ns of all ranks and spans */
};

static bool is_selected(const struct load *l, const struct zgraph_run *r)
{
	return (l->select.phase < 0 || l->select.phase == (int64_t)r->phase) &&
	       (!l->select.classes || l->select.classes & 1u << r->class);
}

static int no_memory(const struct load *l, struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "%s: not enough memory", l->path);
}

static int overflow(const struct load *l, struct zerr *err)
{
	return zerr_set(err, -EINVAL, "%s: more than 2^64 bytes", l->path);
}

/* sum += count * value, checked for overflow. */
static bool add(uint64_t *sum, uint64_t count, uint64_t value)
{
	uint64_t product;

	return !__builtin_mul_overflow(count, value, &product) && !__builtin_add_overflow(*sum, product, sum);
}

/* Makes room for one more element of a table that doubles. */
static int table_grow(void **table, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return 0;
	size_t more = *cap ? 2 * *cap : 16;
	void *grown = realloc(*table, more * size);
	if (!grown)
		return -ENOMEM;
	*table = grown;
	*cap = more;
	return 0;
}

/* --- first reading: sizes and totals --- */

static int count_header(void *ctx, const struct zgraph_header *h, struct zerr *err)
{
	struct load *l = ctx;

	l->g->ranks = h->ranks;
	l->g->model = h->model;
	memcpy(l->g->title, h->title, sizeof(h->title));
	l->g->off = calloc((size_t)h->ranks + 1, sizeof(*l->g->off));
	l->g->rank = h->timed ? calloc(h->ranks, sizeof(*l->g->rank)) : NULL;
	return l->g->off && (l->g->rank || !h->timed) ? 0 : no_memory(l, err);
}

/* The layer of a run, which is inserted in order if it is new. NULL: out of memory. */
static struct zgraph_layer *layer_of(struct load *l, const struct zgraph_run *r)
{
	struct zgraph *g = l->g;
	size_t low = 0, high = g->nlayers;

	if (l->layer < g->nlayers && g->layers[l->layer].phase == r->phase && g->layers[l->layer].class == r->class)
		return &g->layers[l->layer];
	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct zgraph_layer *at = &g->layers[middle];
		if (at->phase < r->phase || (at->phase == r->phase && at->class < r->class))
			low = middle + 1;
		else
			high = middle;
	}
	l->layer = low;
	if (low < g->nlayers && g->layers[low].phase == r->phase && g->layers[low].class == r->class)
		return &g->layers[low];
	if (table_grow((void **)&g->layers, g->nlayers, &l->layers_cap, sizeof(*g->layers)) != 0)
		return NULL;
	memmove(&g->layers[low + 1], &g->layers[low], (g->nlayers - low) * sizeof(*g->layers));
	g->layers[low] = (struct zgraph_layer){.phase = r->phase, .class = r->class};
	g->nlayers++;
	return &g->layers[low];
}

static int count_run(void *ctx, uint32_t rank, const struct zgraph_run *r, struct zerr *err)
{
	struct load *l = ctx;
	struct zgraph_layer *layer = layer_of(l, r);
	bool self = rank >= r->peer && rank - r->peer < r->count;

	if (!layer)
		return no_memory(l, err);
	if (!add(&layer->bytes, r->count, r->bytes) || !add(&layer->messages, r->count, r->messages))
		return overflow(l, err);
	layer->edges += r->count - self;
	layer->self_bytes += self ? r->bytes : 0;
	layer->self_messages += self ? r->messages : 0;
	if (!is_selected(l, r))
		return 0;
	if (r->class == ZGRAPH_GET)
		l->gets += r->count;
	else
		l->edges += r->count;
	if (l->edges + l->gets > l->select.edges_max)
		return zerr_set(err, -EFBIG, "%s: more than %llu pairs of ranks", l->path,
			(unsigned long long)l->select.edges_max);
	return 0;
}

static int call_compare(const struct zgraph_call *a, const struct zgraph_call *b)
{
	if (a->phase != b->phase)
		return a->phase < b->phase ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->size > b->size) - (a->size < b->size);
}

static int count_call(void *ctx, uint32_t rank, const struct zgraph_call *c, struct zerr *err)
{
	struct load *l = ctx;
	struct zgraph *g = l->g;
	size_t low = 0, high = g->ncalls;

	(void)rank;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (call_compare(&g->calls[middle], c) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == g->ncalls || call_compare(&g->calls[low], c) != 0) {
		if (table_grow((void **)&g->calls, g->ncalls, &l->calls_cap, sizeof(*g->calls)) != 0)
			return no_memory(l, err);
		memmove(&g->calls[low + 1], &g->calls[low], (g->ncalls - low) * sizeof(*g->calls));
		g->calls[low] = *c;
		g->ncalls++;
		return 0;
	}
	return add(&g->calls[low].calls, 1, c->calls) && add(&g->calls[low].bytes, 1, c->bytes) ? 0 : overflow(l, err);
}

/* --- second reading: times --- */

static int fill_time(void *ctx, uint32_t rank, const struct zgraph_time *t, struct zerr *err)
{
	struct load *l = ctx;
	struct zgraph_total *total = &l->g->span[t->span];

	(void)rank;
	if (l->select.phase >= 0 && l->select.phase != (int64_t)t->phase)
		return 0;
	if (!add(&l->spent_all, 1, t->ns) || !add(&total->calls, 1, t->calls))
		return zerr_set(err, -EINVAL, "%s: its times or their calls are more than 2^64", l->path);
	total->ns += t->ns;
	l->spent[t->span] += t->ns;
	return 0;
}

/* Ends the times of a rank. */
static void times_flush(struct load *l, uint32_t rank)
{
	struct zgraph_rank *r = &l->g->rank[rank];

	*r = (struct zgraph_rank){.run = l->spent[ZGRAPH_SPAN_RUN], .bridge = l->spent[ZGRAPH_SPAN_BRIDGE]};
	for (int k = 0; k < ZGRAPH_SPANS; k++) {
		struct zgraph_total *total = &l->g->span[k];

		r->mpi += k >= ZGRAPH_SPAN_MPI ? l->spent[k] : 0;
		total->least = rank == 0 || l->spent[k] < total->least ? l->spent[k] : total->least;
		total->most = l->spent[k] > total->most ? l->spent[k] : total->most;
		l->spent[k] = 0;
	}
}

/* --- second reading: edges --- */

static int fill_get(struct load *l, uint32_t rank, const struct zgraph_run *r, struct zerr *err)
{
	if (r->count > l->gets - l->nget)
		return zerr_set(err, -EINVAL, "%s: changed while it was read", l->path);
	for (uint32_t i = 0; i < r->count; i++)
		if (r->peer + i != rank || l->select.keep_self)
			l->get[l->nget++] = (struct zgraph_edge){r->peer + i, rank, r->bytes, r->messages};
	return 0;
}

static int fill_pairs(struct load *l, uint32_t rank, const struct zgraph_run *r, struct zerr *err)
{
	size_t need = l->row_len + r->count;

	if (need > l->row_cap) {
		struct zgraph_pair *row = realloc(l->row, 2 * need * sizeof(*row));
		if (!row)
			return no_memory(l, err);
		l->row = row;
		l->row_cap = 2 * need;
	}
	for (uint32_t i = 0; i < r->count; i++)
		if (r->peer + i != rank || l->select.keep_self)
			l->row[l->row_len++] = (struct zgraph_pair){r->peer + i, r->bytes, r->messages};
	return 0;
}

static int fill_run(void *ctx, uint32_t rank, const struct zgraph_run *r, struct zerr *err)
{
	struct load *l = ctx;

	if (!is_selected(l, r))
		return 0;
	return r->class == ZGRAPH_GET ? fill_get(l, rank, r, err) : fill_pairs(l, rank, r, err);
}

/* Ends the row of the rank before this one. */
static int row_flush(struct load *l, uint32_t next_rank, struct zerr *err)
{
	struct zgraph *g = l->g;

	/* the file may have changed since the first reading */
	if (next_rank > g->ranks || l->row_len > l->edges - l->filled)
		return zerr_set(err, -EINVAL, "%s: changed while it was read", l->path);
	if (zgraph_pairs_merge(l->row, &l->row_len) != 0)
		return overflow(l, err);
	for (size_t i = 0; i < l->row_len; i++, l->filled++) {
		g->peer[l->filled] = l->row[i].peer;
		g->bytes[l->filled] = l->row[i].bytes;
		g->messages[l->filled] = l->row[i].messages;
	}
	g->off[next_rank] = l->filled;
	l->row_len = 0;
	if (g->rank && next_rank > 0)
		times_flush(l, next_rank - 1);
	return 0;
}

static int fill_row(void *ctx, uint32_t rank, struct zerr *err)
{
	return row_flush(ctx, rank, err);
}

static int arrays_make(struct load *l, struct zerr *err)
{
	struct zgraph *g = l->g;
	size_t n = l->edges ? l->edges : 1;

	g->peer = malloc(n * sizeof(*g->peer));
	g->bytes = malloc(n * sizeof(*g->bytes));
	g->messages = malloc(n * sizeof(*g->messages));
	l->get = malloc((l->gets ? l->gets : 1) * sizeof(*l->get));
	return g->peer && g->bytes && g->messages && l->get ? 0 : no_memory(l, err);
}

/* --- one-sided fetches, turned round --- */

/* Copies all edges, together with those of the list. That takes as much memory again, but few programs need it. */
static int gets_merge(struct load *l, struct zerr *err)
{
	struct zgraph *g = l->g, *sum = NULL;
	struct zgraph_edge *all = malloc((g->edges + l->nget) * sizeof(*all));
	size_t n = 0;

	if (!all)
		return no_memory(l, err);
	for (uint32_t r = 0; r < g->ranks; r++)
		for (uint64_t i = g->off[r]; i < g->off[r + 1]; i++)
			all[n++] = (struct zgraph_edge){r, g->peer[i], g->bytes[i], g->messages[i]};
	memcpy(all + n, l->get, l->nget * sizeof(*all));
	int rc = zgraph_build(&sum, g->ranks, all, n + l->nget, true, err);
	free(all);
	if (rc)
		return zerr_prefix(err, rc, "%s", l->path);
	free(g->off);
	free(g->peer);
	free(g->bytes);
	free(g->messages);
	g->edges = sum->edges;
	g->off = sum->off;
	g->peer = sum->peer;
	g->bytes = sum->bytes;
	g->messages = sum->messages;
	sum->off = NULL;
	sum->peer = NULL;
	sum->bytes = sum->messages = NULL;
	zgraph_destroy(sum);
	return 0;
}

static int finish(struct load *l, struct zerr *err)
{
	struct zgraph *g = l->g;
	int rc = row_flush(l, g->ranks, err);

	g->edges = l->filled;
	if (!rc && l->nget)
		rc = gets_merge(l, err);
	for (uint64_t i = 0; !rc && i < g->edges; i++)
		if (!add(&g->total_bytes, 1, g->bytes[i]) || !add(&g->total_messages, 1, g->messages[i]))
			rc = overflow(l, err);
	return rc;
}

int zgraph_load(struct zgraph **out, const char *path, const struct zgraph_select *select, struct zerr *err)
{
	static const struct zgraph_visitor count = {.header = count_header, .call = count_call, .run = count_run};
	static const struct zgraph_visitor fill = {.row = fill_row, .run = fill_run, .time = fill_time};
	struct load l = {.g = calloc(1, sizeof(*l.g)), .path = path, .select = {.phase = -1}};
	int rc = l.g ? 0 : no_memory(&l, err);

	*out = NULL;
	if (select)
		l.select = *select;
	if (!l.select.edges_max)
		l.select.edges_max = ZGRAPH_EDGES_MAX;
	if (!rc)
		rc = zgraph_scan(path, &count, &l, err);
	if (!rc)
		rc = arrays_make(&l, err);
	if (!rc)
		rc = zgraph_scan(path, &fill, &l, err);
	if (!rc)
		rc = finish(&l, err);
	free(l.row);
	free(l.get);
	if (rc)
		zgraph_destroy(l.g);
	else
		*out = l.g;
	return rc;
}

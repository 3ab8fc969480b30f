/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps measurements and prints them; see p2p_results.h. */
#include "zipbench/p2p/p2p_results.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "zipbench/base/figure.h"
#include "zipbench/base/sort.h"

#define BYTES_WIDTH 12
#define VALUE_WIDTH 15

int p2p_results_init(struct p2p_results *r, const struct p2p_bench *b, const struct p2p_plan *p,
	const struct p2p_ways *ways, unsigned rounds)
{
	const size_t cells = (size_t)ways->n * p->nsizes;
	*r = (struct p2p_results){.bench = b, .plan = p, .ways = ways, .rounds = rounds};
	r->count = calloc(cells, sizeof(*r->count));
	r->sample = calloc(cells * P2P_QUANTITIES_MAX * rounds, sizeof(*r->sample));
	return r->count && r->sample ? 0 : -ENOMEM;
}

void p2p_results_free(struct p2p_results *r)
{
	free(r->count);
	free(r->sample);
}

static size_t cell(const struct p2p_results *r, unsigned way, unsigned size)
{
	return (size_t)way * r->plan->nsizes + size;
}

static double *samples(const struct p2p_results *r, size_t cell, unsigned quantity)
{
	return &r->sample[(cell * P2P_QUANTITIES_MAX + quantity) * r->rounds];
}

void p2p_results_put(struct p2p_results *r, unsigned way, uint64_t bytes, const double value[P2P_QUANTITIES_MAX])
{
	for (unsigned i = 0; i < r->plan->nsizes; i++) {
		const size_t c = cell(r, way, i);
		if (r->plan->size[i] != bytes || r->count[c] == r->rounds)
			continue;
		for (unsigned q = 0; q < r->bench->nquantities; q++)
			samples(r, c, q)[r->count[c]] = value[q];
		r->count[c]++;
		return;
	}
}

void p2p_results_drop(struct p2p_results *r, unsigned way)
{
	for (unsigned i = 0; i < r->plan->nsizes; i++)
		r->count[cell(r, way, i)] = 0;
}

/* NaN: there is none. */
static double median(const struct p2p_results *r, unsigned way, unsigned size, unsigned quantity)
{
	const size_t c = cell(r, way, size), n = r->count[c];
	double *sample = samples(r, c, quantity);
	sort_samples(sample, n);
	return n ? sample[n / 2] : NAN;
}

static bool has_any(const struct p2p_results *r, unsigned way)
{
	for (unsigned i = 0; i < r->plan->nsizes; i++)
		if (r->count[cell(r, way, i)])
			return true;
	return false;
}

static void print_value(double value, FILE *f)
{
	isnan(value) ? fprintf(f, " %*s", VALUE_WIDTH, "-") : fprintf(f, " %*.2f", VALUE_WIDTH, value);
}

static void print_size(const struct p2p_results *r, unsigned size, FILE *f)
{
	fprintf(f, "%-*llu", BYTES_WIDTH, (unsigned long long)r->plan->size[size]);
}

static void print_ways(const struct p2p_results *r, FILE *f)
{
	fprintf(f, "# zipbench %s, %s, ways:", r->bench->name, r->bench->quantity[0]);
	for (unsigned w = 0; w < r->ways->n; w++)
		if (has_any(r, w))
			fprintf(f, " %s", r->ways->way[w].name);
	fprintf(f, "\n%-*s", BYTES_WIDTH, "# Size");
	for (unsigned w = 0; w < r->ways->n; w++)
		if (has_any(r, w))
			fprintf(f, " %*s", VALUE_WIDTH, r->ways->way[w].name);
	for (unsigned i = 0; i < r->plan->nsizes; i++) {
		fputc('\n', f);
		print_size(r, i, f);
		for (unsigned w = 0; w < r->ways->n; w++)
			if (has_any(r, w))
				print_value(median(r, w, i, 0), f);
	}
	fputc('\n', f);
}

static void print_way(const struct p2p_results *r, unsigned way, FILE *f)
{
	fprintf(f, "# zipbench %s, way: %s", r->bench->name, r->ways->way[way].name);
	if (r->bench->pairs)
		fprintf(f, ", pairs: %u", r->plan->pairs);
	fprintf(f, "\n%-*s", BYTES_WIDTH, "# Size");
	for (unsigned q = 0; q < r->bench->nquantities; q++)
		fprintf(f, " %*s", VALUE_WIDTH, r->bench->quantity[q]);
	for (unsigned i = 0; i < r->plan->nsizes; i++) {
		fputc('\n', f);
		print_size(r, i, f);
		for (unsigned q = 0; q < r->bench->nquantities; q++)
			print_value(median(r, way, i, q), f);
	}
	fputc('\n', f);
}

void p2p_results_print(const struct p2p_results *r, FILE *f)
{
	bool any = false;
	for (unsigned w = 0; w < r->ways->n; w++)
		any |= has_any(r, w);
	if (any && r->bench->nquantities == 1)
		print_ways(r, f);
	for (unsigned w = 0; w < r->ways->n && r->bench->nquantities > 1; w++)
		if (has_any(r, w))
			print_way(r, w, f);
}

void p2p_results_write_csv(const struct p2p_results *r, FILE *f)
{
	fputs("benchmark,way,bytes,quantity,value\n", f);
	for (unsigned w = 0; w < r->ways->n; w++)
		for (unsigned i = 0; i < r->plan->nsizes; i++)
			for (unsigned q = 0; q < r->bench->nquantities && r->count[cell(r, w, i)]; q++)
				fprintf(f, "%s,%s,%llu,%s,%.2f\n", r->bench->name, r->ways->way[w].name,
					(unsigned long long)r->plan->size[i], r->bench->quantity[q],
					median(r, w, i, q));
}

/* 64, 4K, 1M */
static void name_size(char *name, size_t cap, uint64_t bytes)
{
	const char *unit = "";
	if (bytes % 1024 == 0) {
		unit = bytes % (1024 * 1024) == 0 ? "M" : "K";
		bytes /= *unit == 'M' ? 1024 * 1024 : 1024;
	}
	snprintf(name, cap, "%llu%s", (unsigned long long)bytes, unit);
}

static void put_line(const struct p2p_results *r, struct figure_panel *p, unsigned way, unsigned quantity)
{
	char size[32];
	for (unsigned i = 0; i < r->plan->nsizes; i++) {
		name_size(size, sizeof(size), r->plan->size[i]);
		figure_put(p, r->ways->way[way].name, size, median(r, way, i, quantity));
	}
}

int p2p_results_draw(const struct p2p_results *r, const char *base, struct zerr *err)
{
	struct figure_panel *p = calloc(P2P_QUANTITIES_MAX, sizeof(*p));
	if (!p)
		return zerr_set(err, -ENOMEM, "no memory");
	for (unsigned q = 0; q < r->bench->nquantities; q++) {
		const char *unit = r->bench->quantity[q];
		figure_panel_init(&p[q], r->bench->name, "bytes", unit);
		p[q].log = strchr(unit, '%') == NULL;
		for (unsigned w = 0; w < r->ways->n; w++)
			if (has_any(r, w))
				put_line(r, &p[q], w, q);
	}
	int rc = figure_draw(base, p, r->bench->nquantities, err);
	free(p);
	return rc;
}

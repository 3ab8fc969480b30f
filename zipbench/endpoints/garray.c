/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "zipbench garray": the product C = A B of matrices of doubles that lie in a server's memory (endpoints paper, section
 * VII, Figure 12). Each thread gets the tiles that it needs by RDMA reads, multiplies, and puts its tile of C by RDMA
 * writes; a message is one row of a tile. All queue pairs are in one protection domain if the category allows it; each
 * has three buffers with a memory region each. As in the paper, messages are not posted in lists, and every message
 * reports its completion.
 */
#include "zipbench/endpoints/garray.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/endpoint/ep_category.h"
#include "common/endpoint/ep_set.h"
#include "zipbench/base/bench.h"
#include "zipbench/endpoints/crew.h"
#include "zipbench/endpoints/pump.h"
#include "zipbench/endpoints/pair.h"
#include "zipbench/endpoints/sheet.h"

#define INLINE_MAX 60
#define LINE_GET "RDMA reads"
#define LINE_PUT "RDMA writes"

struct tally {
	alignas(PUMP_LINE) double get_s, put_s;
	uint64_t gets, puts;
};

struct work {
	const struct bench_options *o;
	struct pair pair;
	struct pumps pumps;
	struct tally *tally;
	bool inlined;
};

static double *matrix(const struct work *w, unsigned which)
{
	return (double *)(void *)w->pair.target + (size_t)which * w->o->size * w->o->size;
}

/* Fills with small whole numbers: their products and sums are exact in any order. */
static void fill(const struct work *w)
{
	const unsigned n = w->o->size;
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < n; j++) {
			matrix(w, 0)[i * n + j] = (double)((i * 3 + j * 5) % 17) - 8;
			matrix(w, 1)[i * n + j] = (double)((i * 7 + j * 2) % 13) - 6;
			matrix(w, 2)[i * n + j] = 0.5;
		}
}

static int verify(const struct work *w, struct zerr *err)
{
	const unsigned n = w->o->size;
	const double *a = matrix(w, 0), *b = matrix(w, 1), *c = matrix(w, 2);
	double *row = calloc(n, sizeof(*row));
	int rc = row ? 0 : zerr_set(err, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < n && rc == 0; i++) {
		memset(row, 0, n * sizeof(*row));
		for (unsigned k = 0; k < n; k++)
			for (unsigned j = 0; j < n; j++)
				row[j] += a[i * n + k] * b[k * n + j];
		for (unsigned j = 0; j < n && rc == 0; j++)
			if (row[j] != c[i * n + j])
				rc = zerr_set(err, -EBADMSG, "element %u,%u of the product is %g, not %g", i, j,
					c[i * n + j], row[j]);
	}
	free(row);
	return rc;
}

/* Posts a message for each row of a tile. i, j: the place of the tile, in tiles. */
static int move_tile(struct work *w, unsigned t, unsigned which, unsigned i, unsigned j, enum ibv_wr_opcode opcode)
{
	const unsigned n = w->o->size, tile = w->o->tile;
	struct ibv_mr *mr = zep_set_mr(&w->pair.set, t, which);
	double *buf = zep_set_buf(&w->pair.set, t, which), *far = matrix(w, which) + (size_t)i * tile * n + j * tile;
	int rc = 0;
	for (unsigned row = 0; row < tile && rc == 0; row++) {
		struct ibv_sge sge = {.addr = (uintptr_t)(buf + row * tile),
			.length = tile * (unsigned)sizeof(*buf),
			.lkey = mr->lkey};
		struct ibv_send_wr wr = {.opcode = opcode,
			.sg_list = &sge,
			.num_sge = 1,
			.send_flags = opcode == IBV_WR_RDMA_WRITE && w->inlined ? IBV_SEND_INLINE : 0,
			.wr.rdma.remote_addr = (uintptr_t)(far + (size_t)row * n),
			.wr.rdma.rkey = w->pair.rkey};
		rc = pump_post(&w->pumps.pump[t], 0, &wr, 1, 1, true);
	}
	return rc;
}

static int get_tiles(struct work *w, unsigned t, unsigned i, unsigned j, unsigned k)
{
	double start = bench_now();
	int rc = move_tile(w, t, 0, i, k, IBV_WR_RDMA_READ);
	if (rc == 0)
		rc = move_tile(w, t, 1, k, j, IBV_WR_RDMA_READ);
	if (rc == 0)
		rc = pump_wait(&w->pumps.pump[t]);
	w->tally[t].get_s += bench_now() - start;
	w->tally[t].gets += 2 * w->o->tile;
	return rc;
}

static int put_tile(struct work *w, unsigned t, unsigned i, unsigned j)
{
	double start = bench_now();
	int rc = move_tile(w, t, 2, i, j, IBV_WR_RDMA_WRITE);
	if (rc == 0)
		rc = pump_wait(&w->pumps.pump[t]);
	w->tally[t].put_s += bench_now() - start;
	w->tally[t].puts += w->o->tile;
	return rc;
}

static void multiply(double *c, const double *a, const double *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n; k++)
			for (unsigned j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static int compute(void *ctx, unsigned t)
{
	struct work *w = ctx;
	const unsigned tile = w->o->tile, tiles = w->o->size / tile;
	double *a = zep_set_buf(&w->pair.set, t, 0), *b = zep_set_buf(&w->pair.set, t, 1),
	       *c = zep_set_buf(&w->pair.set, t, 2);
	int rc = 0;
	for (unsigned at = t; at < tiles * tiles && rc == 0; at += w->o->threads) {
		memset(c, 0, (size_t)tile * tile * sizeof(*c));
		for (unsigned k = 0; k < tiles && rc == 0; k++) {
			rc = get_tiles(w, t, at / tiles, at % tiles, k);
			if (rc == 0)
				multiply(c, a, b, tile);
		}
		if (rc == 0)
			rc = put_tile(w, t, at / tiles, at % tiles);
	}
	return rc;
}

static struct zep_plan make_plan(const struct bench_options *o, enum zep_category c)
{
	struct zep_plan p = zep_category_plan(c, o->threads);
	p.regions = 3;
	p.buf_bytes = (size_t)o->tile * o->tile * sizeof(double);
	p.inline_bytes = o->tile * sizeof(double) <= INLINE_MAX ? o->tile * (unsigned)sizeof(double) : 0;
	return p;
}

static void note(struct sheet_row *get, struct sheet_row *put, const struct tally *tally, unsigned threads)
{
	struct tally all = {.gets = 0};
	double get_rate = 0, put_rate = 0;
	for (unsigned t = 0; t < threads; t++) {
		const struct tally *a = &tally[t];
		get_rate += a->gets ? (double)a->gets / a->get_s : 0;
		put_rate += a->puts ? (double)a->puts / a->put_s : 0;
		all.gets += a->gets;
		all.puts += a->puts;
		all.get_s += a->get_s;
		all.put_s += a->put_s;
	}
	sheet_note(get, all.gets, get_rate, all.get_s / threads);
	sheet_note(put, all.puts, put_rate, all.put_s / threads);
}

static int measure(const struct bench_options *o, const struct port *port, enum zep_category c, struct sheet_row *get,
	struct sheet_row *put, struct zerr *err)
{
	struct zep_plan plan = make_plan(o, c);
	struct work w = {.o = o, .inlined = plan.inline_bytes > 0};
	double seconds;
	int rc = pair_set_depth(&plan, port, o->depth, err);
	if (rc == 0)
		rc = pair_open(&w.pair, port, &plan, (size_t)3 * o->size * o->size * sizeof(double), err);
	if (rc < 0)
		return rc;
	fill(&w);
	w.tally = aligned_alloc(PUMP_LINE, o->threads * sizeof(*w.tally));
	rc = w.tally ? pump_open_all(&w.pumps, &w.pair.set, o->depth) : -ENOMEM;
	if (rc < 0) {
		zerr_set(err, rc, "out of memory");
	} else {
		memset(w.tally, 0, o->threads * sizeof(*w.tally));
		rc = crew_run(o->threads, compute, &w, &seconds, err);
	}
	if (rc == -EIO)
		pump_error(&w.pumps, err);
	if (rc == 0)
		rc = verify(&w, err);
	if (rc == 0)
		note(get, put, w.tally, o->threads);
	pump_close_all(&w.pumps);
	free(w.tally);
	pair_close(&w.pair);
	return rc;
}

static int add_row(struct sheet *s, const struct bench_options *o, const char *line, enum zep_category c,
	struct zerr *err)
{
	struct zep_plan plan = make_plan(o, c);
	struct sheet_row *r = sheet_add(s, "garray", line, zep_category_names[c]);
	if (!r)
		return zerr_set(err, -ENOMEM, "out of memory");
	r->threads = o->threads;
	r->processes = 1;
	r->size = o->tile * (unsigned)sizeof(double);
	return sheet_predict(r, &plan, 1, err);
}

static int run(const struct bench_options *o, struct sheet *s, struct zerr *err)
{
	struct port port;
	size_t at;
	int rc = port_find(&port, o, err);
	if (rc == 0 && o->size % o->tile != 0)
		rc = zerr_set(err, -EINVAL, "--size %u is no multiple of --tile %u", o->size, o->tile);
	for (int c = 0; c < ZEP_CATEGORIES && rc == 0; c++) {
		rc = o->category[c] ? add_row(s, o, LINE_GET, (enum zep_category)c, err) : 0;
		if (rc == 0 && o->category[c])
			rc = add_row(s, o, LINE_PUT, (enum zep_category)c, err);
	}
	for (unsigned round = 0; round < o->rounds && rc == 0; round++) {
		at = 0;
		for (int c = 0; c < ZEP_CATEGORIES && rc == 0; c++) {
			if (!o->category[c])
				continue;
			rc = measure(o, &port, (enum zep_category)c, &s->row[at], &s->row[at + 1], err);
			if (rc < 0)
				zerr_prefix(err, rc, "%s", zep_category_names[c]);
			at += 2;
		}
	}
	if (rc == 0)
		rc = sheet_write(s, o->csv, err);
	if (rc == 0 && o->plot)
		rc = sheet_draw(s, "garray", o->plot, "endpoint category", true, err);
	return rc;
}

int garray_main(int argc, char **argv)
{
	struct bench_options o =
		{.port = 1, .gid_index = -1, .threads = 16, .size = 512, .tile = 8, .depth = 128, .rounds = 3};
	struct zerr err = {.text = ""};
	for (int c = 0; c < ZEP_CATEGORIES; c++)
		o.category[c] = true;
	static const struct options_use use = {
		.program = "zipbench garray",
		.usage = "zipbench garray [OPTION ...]\nProduct of matrices of --size x --size in tiles, by RDMA.\n",
		.takes = OPT_THREADS | OPT_SIZE | OPT_TILE | OPT_DEPTH | OPT_CATEGORY,
	};
	int status;
	if (!options_read(&o, &use, argc, argv, &status))
		return status;
	struct sheet s = {.rounds = o.rounds};
	int rc = run(&o, &s, &err);
	sheet_free(&s);
	return rc < 0 ? bench_fail(argv[0], &err) : 0;
}

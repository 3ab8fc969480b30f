/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * "zipbench msgrate": the rate of small RDMA writes of several threads, while they share more and more of one resource
 * (endpoints paper, sections IV and V, Figures 3 and 5 to 11). As in the paper, messages are posted in lists, only one
 * in a number of them reports its completion, and each sweep begins with what the sweep before it ended with:
 * protection domains, memory regions and completion queues are shared in one context, queue pairs with their completion
 * queues.
 */
#include "zipbench/endpoints/msgrate.h"

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

#define INLINE_MAX 60 /* bytes that ConnectX-4 takes inline by default (section V-A) */

struct variant { /* a line of a figure */
	const char *name;
	unsigned postlist, unsignalled; /* 0: the value of the option */
	bool no_inline, no_blueflame;
	bool twice;
	enum zep_domain domain;
};

static const struct variant features[] = {
	{.name = "All", .domain = ZEP_DOMAIN_ALONE},
	{.name = "w/o Postlist", .postlist = 1, .domain = ZEP_DOMAIN_ALONE},
	{.name = "w/o Unsignaled", .unsignalled = 1, .domain = ZEP_DOMAIN_ALONE},
	{.name = "w/o Inlining", .no_inline = true, .domain = ZEP_DOMAIN_ALONE},
	{.name = "w/o BlueFlame", .no_blueflame = true, .domain = ZEP_DOMAIN_ALONE},
	{.name = NULL},
};
static const struct variant contexts[] = {
	/* Figure 7 */
	{.name = "All", .domain = ZEP_DOMAIN_ALONE},
	{.name = "w/o Postlist", .postlist = 1, .domain = ZEP_DOMAIN_ALONE},
	{.name = "w/o Postlist + 2xQPs", .postlist = 1, .twice = true, .domain = ZEP_DOMAIN_ALONE},
	{.name = "w/o Postlist + sharing 2", .postlist = 1, .domain = ZEP_DOMAIN_PAIRED},
	{.name = NULL},
};
static const struct variant batches[] = {
	/* Figure 10 */
	{.name = "Unsignaled=1", .unsignalled = 1, .domain = ZEP_DOMAIN_ALONE},
	{.name = "Unsignaled=4", .unsignalled = 4, .domain = ZEP_DOMAIN_ALONE},
	{.name = "Unsignaled=16", .unsignalled = 16, .domain = ZEP_DOMAIN_ALONE},
	{.name = "Unsignaled=64", .unsignalled = 64, .domain = ZEP_DOMAIN_ALONE},
	{.name = "Postlist=1 + Unsignaled=1", .postlist = 1, .unsignalled = 1, .domain = ZEP_DOMAIN_ALONE},
	{.name = "Postlist=1 + Unsignaled=4", .postlist = 1, .unsignalled = 4, .domain = ZEP_DOMAIN_ALONE},
	{.name = "Postlist=1 + Unsignaled=16", .postlist = 1, .unsignalled = 16, .domain = ZEP_DOMAIN_ALONE},
	{.name = "Postlist=1 + Unsignaled=64", .postlist = 1, .unsignalled = 64, .domain = ZEP_DOMAIN_ALONE},
	{.name = NULL},
};

enum sweep { THREADS, BUF, CTX, PD, MR, CQ, QP, BATCH, CATEGORY, SWEEPS };
static const struct {
	const char *name, *title;
	const struct variant *variant;
} sweeps[SWEEPS] = {
	[THREADS] = {"threads", "threads, a context each", features},
	[BUF] = {"buf", "BUF sharing, x-way", features},
	[CTX] = {"ctx", "CTX sharing, x-way", contexts},
	[PD] = {"pd", "PD sharing, x-way", features},
	[MR] = {"mr", "MR sharing, x-way", features},
	[CQ] = {"cq", "CQ sharing, x-way", features},
	[QP] = {"qp", "QP sharing, x-way", features},
	[BATCH] = {"batch", "CQ sharing, x-way", batches},
	[CATEGORY] = {"category", "endpoint category", features},
};

struct test { /* one point of a line */
	struct zep_plan plan;
	unsigned postlist, unsignalled;
	bool no_inline, no_blueflame;
	size_t row;
};

struct bench {
	const struct bench_options *o;
	struct port port;
	struct sheet sheet;
	struct test *test; /* one for each row of the sheet */
};

/* --- one measurement --- */
struct work {
	const struct test *test;
	const struct bench_options *o;
	struct pair *pair;
	struct pumps pumps;
};

static uint8_t pattern(unsigned thread, size_t i)
{
	return (uint8_t)(thread * 31 + i * 7 + 1);
}

static size_t slot_bytes(const struct bench_options *o)
{
	return (o->size + ZEP_LINE_BYTES - 1) / ZEP_LINE_BYTES * ZEP_LINE_BYTES;
}

static int write_messages(void *ctx, unsigned t)
{
	struct work *w = ctx;
	const struct test *test = w->test;
	struct pump *pump = &w->pumps.pump[t];
	struct ibv_mr *mr = zep_set_mr(&w->pair->set, t, 0);
	struct ibv_sge sge = {.addr = (uintptr_t)zep_set_buf(&w->pair->set, t, 0),
		.length = w->o->size,
		.lkey = mr->lkey};
	struct ibv_send_wr *wr = calloc(test->postlist, sizeof(*wr));
	int rc = wr ? 0 : -ENOMEM;
	for (unsigned i = 0; i < test->postlist && rc == 0; i++)
		wr[i] = (struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE,
			.sg_list = &sge,
			.num_sge = 1,
			.send_flags = test->plan.inline_bytes ? IBV_SEND_INLINE : 0,
			.wr.rdma.remote_addr = (uintptr_t)w->pair->target + t * slot_bytes(w->o),
			.wr.rdma.rkey = w->pair->rkey};
	for (unsigned left = w->o->count; left > 0 && rc == 0;) {
		unsigned n = left < test->postlist ? left : test->postlist;
		for (unsigned i = 0; i < n; i++)
			wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
		left -= n;
		rc = pump_post(pump, 0, wr, n, test->unsignalled, left == 0);
	}
	if (rc == 0)
		rc = pump_wait(pump);
	free(wr);
	return rc;
}

/* Threads that share a buffer send what the last of them put there. */
static int verify(const struct work *w, struct zerr *err)
{
	const struct zep_plan *p = &w->test->plan;
	for (unsigned t = 0; t < p->threads; t++) {
		unsigned last = t / p->buf_ways * p->buf_ways + p->buf_ways - 1;
		last = last < p->threads ? last : p->threads - 1;
		const uint8_t *got = w->pair->target + t * slot_bytes(w->o);
		for (size_t i = 0; i < w->o->size; i++)
			if (got[i] != pattern(last, i))
				return zerr_set(err, -EBADMSG,
					"thread %u: byte %zu of its message arrived as %u, not %u", t, i, got[i],
					pattern(last, i));
	}
	return 0;
}

static int measure(const struct bench *b, const struct test *test, double *seconds, struct zerr *err)
{
	struct pair pair;
	struct work w = {.test = test, .o = b->o, .pair = &pair};
	const unsigned threads = test->plan.threads;
	if (test->no_blueflame) /* providers read it when they open a context */
		setenv("MLX5_SHUT_UP_BF", "1", 1);
	int rc = pair_open(&pair, &b->port, &test->plan, threads * slot_bytes(b->o), err);
	if (test->no_blueflame)
		unsetenv("MLX5_SHUT_UP_BF");
	if (rc < 0)
		return rc;
	for (unsigned t = 0; t < threads; t++)
		for (size_t i = 0; i < b->o->size; i++)
			((uint8_t *)zep_set_buf(&pair.set, t, 0))[i] = pattern(t, i);
	rc = pump_open_all(&w.pumps, &pair.set, b->o->depth / test->unsignalled);
	if (rc < 0)
		zerr_set(err, rc, "out of memory");
	else
		rc = crew_run(threads, write_messages, &w, seconds, err);
	if (rc == -EIO)
		pump_error(&w.pumps, err);
	if (rc == 0)
		rc = verify(&w, err);
	pump_close_all(&w.pumps);
	pair_close(&pair);
	return rc;
}

/* --- what there is to measure --- */
static struct zep_plan make_plan(enum sweep sweep, unsigned x, unsigned threads, const struct variant *v)
{
	struct zep_plan p = zep_category_plan(ZEP_DYNAMIC, sweep == THREADS ? x : threads);
	if (sweep == CATEGORY)
		return zep_category_plan((enum zep_category)x, threads);
	p.domain = v->domain;
	p.twice = v->twice;
	if (sweep <= CTX)
		p.ctx_ways = p.pd_ways = 1;
	if (sweep == BUF)
		p.buf_ways = x;
	if (sweep == CTX)
		p.ctx_ways = x;
	if (sweep == PD)
		p.pd_ways = x;
	if (sweep == MR)
		p.mr_ways = x;
	if (sweep >= CQ)
		p.cq_ways = x;
	if (sweep == QP) {
		p.qp_ways = x;
		p.domain = x > 1 ? ZEP_DOMAIN_NONE : p.domain;
	}
	return p;
}

static int add_test(struct bench *b, enum sweep sweep, unsigned x, const struct variant *v, struct zerr *err)
{
	const struct bench_options *o = b->o;
	char name[24];
	snprintf(name, sizeof(name), "%u", x);
	struct sheet_row *r =
		sheet_add(&b->sheet, sweeps[sweep].name, v->name, sweep == CATEGORY ? zep_category_names[x] : name);
	struct test *test = r ? realloc(b->test, b->sheet.n * sizeof(*test)) : NULL;
	if (!test)
		return zerr_set(err, -ENOMEM, "out of memory");
	b->test = test;
	test += b->sheet.n - 1;
	*test = (struct test){.plan = make_plan(sweep, x, o->threads, v),
		.row = b->sheet.n - 1,
		.postlist = v->postlist ? v->postlist : o->postlist,
		.no_blueflame = v->no_blueflame,
		.unsignalled = v->unsignalled ? v->unsignalled : o->unsignalled};
	test->plan.buf_bytes = o->size;
	test->plan.inline_bytes = v->no_inline || o->size > INLINE_MAX ? 0 : o->size;
	r->threads = test->plan.threads;
	r->processes = 1;
	r->size = o->size;
	int rc = pair_set_depth(&test->plan, &b->port, o->depth, err);
	/* a list must fit beside the messages that have not reported their completion */
	if (rc == 0 && test->postlist + test->unsignalled > o->depth)
		rc = zerr_set(err, -EINVAL, "--depth %u is too small for --postlist %u and --unsignalled %u", o->depth,
			test->postlist, test->unsignalled);
	return rc == 0 ? sheet_predict(r, &test->plan, 1, err) : rc;
}

static int add_sweep(struct bench *b, enum sweep sweep, struct zerr *err)
{
	int rc = 0;
	for (const struct variant *v = sweeps[sweep].variant; v->name && rc == 0; v++) {
		if (sweep == CATEGORY)
			for (unsigned c = 0; c < ZEP_CATEGORIES && rc == 0; c++)
				rc = b->o->category[c] ? add_test(b, sweep, c, v, err) : 0;
		else
			for (unsigned x = 1; x <= b->o->threads && rc == 0; x *= 2)
				rc = add_test(b, sweep, x, v, err);
	}
	return rc;
}

/* Calls each() for every word of the list, in order. */
static int for_sweeps(struct bench *b, int (*each)(struct bench *, enum sweep, struct zerr *), struct zerr *err)
{
	char list[256], *save = NULL;
	int rc = 0;
	snprintf(list, sizeof(list), "%s", b->o->share);
	for (char *word = strtok_r(list, ",", &save); word && rc == 0; word = strtok_r(NULL, ",", &save)) {
		int s = 0;
		while (s < SWEEPS && strcmp(sweeps[s].name, word) != 0)
			s++;
		rc = s < SWEEPS ? each(b, (enum sweep)s, err)
				: zerr_set(err, -EINVAL, "--share: there is no %.40s", word);
	}
	return rc;
}

static int draw(struct bench *b, enum sweep s, struct zerr *err)
{
	return sheet_draw(&b->sheet, sweeps[s].name, b->o->plot, sweeps[s].title, s == CATEGORY, err);
}

static int run(struct bench *b, struct zerr *err)
{
	double seconds;
	int rc = port_find(&b->port, b->o, err);
	if (rc == 0)
		rc = for_sweeps(b, add_sweep, err);
	for (unsigned round = 0; round < b->o->rounds; round++)
		for (size_t i = 0; i < b->sheet.n && rc == 0; i++) {
			struct sheet_row *r = &b->sheet.row[b->test[i].row];
			uint64_t messages = (uint64_t)b->o->count * r->threads;
			rc = measure(b, &b->test[i], &seconds, err);
			if (rc < 0)
				return zerr_prefix(err, rc, "%s %s, %s", r->group, r->x, r->line);
			sheet_note(r, messages, (double)messages / seconds, seconds);
		}
	if (rc == 0)
		rc = sheet_write(&b->sheet, b->o->csv, err);
	return rc == 0 && b->o->plot ? for_sweeps(b, draw, err) : rc;
}

int msgrate_main(int argc, char **argv)
{
	struct bench_options o = {.port = 1,
		.gid_index = -1,
		.threads = 16,
		.count = 1u << 16,
		.size = 2,
		.depth = 128,
		.postlist = 32,
		.unsignalled = 64,
		.rounds = 3,
		.share = (char[]){"threads,buf,ctx,pd,mr,cq,qp,batch,category"}};
	struct zerr err = {.text = ""};
	for (int c = 0; c < ZEP_CATEGORIES; c++)
		o.category[c] = true;
	static const struct options_use use = {
		.program = "zipbench msgrate",
		.usage = "zipbench msgrate [OPTION ...]\nRate of RDMA writes, looped back on one port.\n",
		.takes = OPT_THREADS | OPT_COUNT | OPT_SIZE | OPT_DEPTH | OPT_BATCH | OPT_SHARE | OPT_CATEGORY,
	};
	int status;
	if (!options_read(&o, &use, argc, argv, &status))
		return status;
	struct bench b = {.o = &o, .sheet.rounds = o.rounds};
	int rc = run(&b, &err);
	sheet_free(&b.sheet);
	free(b.test);
	return rc < 0 ? bench_fail(argv[0], &err) : 0;
}

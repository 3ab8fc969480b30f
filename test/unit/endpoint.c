/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Endpoint categories on the model of an mlx5 device: the figures of "Scalable Communication Endpoints for MPI+Threads
 * Applications" must come out of building them (sections II-A, III, V, VI and VII, Table I, appendix B). And plans that
 * cannot be built, providers that lack things, memory that runs out half way.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "verbs/account.h"
#include "verbs/kept.h"
#include "verbs/seat.h"
#include "verbs/uarmodel.h"

#define THREADS 16 /* as in the paper, unless it says otherwise */

static struct zaccount account_of(const struct zep_plan *plan)
{
	struct uarmodel model;
	struct zep_set set;
	struct zaccount a;
	struct zerr err = {.text = ""};
	assert_int_equal(uarmodel_init(&model, NULL, NULL, &err), 0);
	if (zep_build(&set, plan, &uarmodel_ops, &model, "test", &err) != 0)
		fail_msg("%s", err.text);
	zaccount_init(&a);
	assert_int_equal(zaccount_add(&a, &set), 0);
	zep_destroy(&set);
	assert_int_equal(model.pages, 0);
	assert_int_equal(model.bytes, 0);
	return a;
}

static struct zaccount account_of_category(enum zep_category c)
{
	struct zep_plan plan = zep_plan_category(c, THREADS);
	return account_of(&plan);
}

static double percent(uint64_t n, uint64_t of)
{
	return 100.0 * (double)n / (double)of;
}

/* Table I and section III */
static void test_one_endpoint(void **state)
{
	struct zep_plan plan = zep_plan_category(ZEP_STATIC, 1);
	struct zaccount a = account_of(&plan);
	(void)state;
	assert_int_equal(a.bytes >> 10, 345);
	assert_int_equal((256 << 10) * 1000 / a.bytes, 741); /* 74.2 % without PD and MR */
	assert_int_equal(a.pages, 8);
	assert_int_equal(a.uuars, 16);
	assert_int_equal(a.used_uuars, 1);
}

/* Sections III, IV and Figure 3: a context for each thread, and in it a queue pair with a thread domain. */
static void test_naive(void **state)
{
	struct zep_plan plan = zep_plan_category(ZEP_DYNAMIC, 1);
	struct zaccount one = account_of(&plan), all;
	(void)state;
	assert_int_equal(one.uuars, 18);
	assert_int_equal(one.pages, 9);
	assert_true(percent(zaccount_wasted(&one), one.uuars) > 94);
	assert_true(percent(zaccount_wasted(&one), one.uuars) < 95);
	plan = zep_plan_category(ZEP_DYNAMIC, THREADS);
	plan.ctx_ways = plan.pd_ways = 1;
	all = account_of(&plan);
	assert_int_equal(all.uuars, 288);
	assert_int_equal(all.pages, 144);
	assert_int_equal(all.used_uuars, 16);
	assert_int_equal(all.level[ZACCOUNT_PAGE_ALONE], 16);
	/* "5.39 MB" (section VII), of which 1.39 MB are queue pairs and completion queues (section IV) */
	assert_int_equal(all.bytes * 100 >> 20, 539);
	assert_int_equal((all.bytes - 16 * ((256 << 10) + 2 * 144)) * 100 >> 20, 139);
}

/* Section III: 8,192 pages of a device / 9 are 910 such contexts; the paper says 907, some pages are the kernel's. */
static void test_device_limit(void **state)
{
	struct zep_plan plan = zep_plan_category(ZEP_DYNAMIC, 910);
	struct uarmodel model;
	struct zep_set set;
	struct zerr err = {.text = ""};
	(void)state;
	assert_int_equal(uarmodel_init(&model, NULL, NULL, &err), 0);
	plan.ctx_ways = plan.pd_ways = 1;
	assert_int_equal(zep_build(&set, &plan, &uarmodel_ops, &model, "test", &err), 0);
	assert_false(set.no_domains);
	zep_destroy(&set);
	plan.threads = 911; /* no page for the last thread domain: without */
	assert_int_equal(zep_build(&set, &plan, &uarmodel_ops, &model, "test", &err), 0);
	assert_true(set.no_domains);
	zep_destroy(&set);
	plan.threads = 1025; /* no page for the last context */
	assert_int_equal(zep_build(&set, &plan, &uarmodel_ops, &model, "test", &err), -ENOMEM);
	assert_non_null(strstr(err.text, "8192 UAR pages"));
	assert_int_equal(model.pages, 0);
	assert_int_equal(model.bytes, 0);
}

/* Section VI, and the ratios of section VII (global array) */
static void test_categories(void **state)
{
	struct zaccount a[ZEP_CATEGORIES];
	static const uint64_t uuars[] = {256, 80, 48, 32, 16, 16};
	static const double share[] = {100, 31.25, 18.75, 12.5, 6.25, 6.25};
	static const uint64_t qps[] = {16, 32, 16, 16, 16, 1};
	(void)state;
	for (int c = 0; c < ZEP_CATEGORIES; c++) {
		a[c] = account_of_category((enum zep_category)c);
		assert_int_equal(a[c].uuars, uuars[c]);
		assert_int_equal(a[c].pages, uuars[c] / 2);
		assert_true(percent(a[c].uuars, a[0].uuars) == share[c]);
		assert_int_equal(a[c].objects[ZEP_QP], qps[c]);
		assert_int_equal(a[c].objects[ZEP_CQ], qps[c]);
		assert_int_equal(a[c].objects[ZEP_CTX], c == 0 ? 16 : 1);
	}
	assert_int_equal(a[ZEP_MPI_EVERYWHERE].used_uuars, 16);
	assert_true(percent(zaccount_wasted(&a[0]), a[0].uuars) == 93.75); /* Figure 2(a) */
	assert_int_equal(a[ZEP_MPI_EVERYWHERE].level[ZACCOUNT_PAGE_ALONE], 16);
	assert_int_equal(a[ZEP_2XDYNAMIC].level[ZACCOUNT_PAGE_ALONE], 16);
	assert_int_equal(zaccount_wasted(&a[ZEP_2XDYNAMIC]), 16 + 3 * 16);
	assert_int_equal(a[ZEP_DYNAMIC].level[ZACCOUNT_PAGE_ALONE], 16);
	assert_int_equal(zaccount_wasted(&a[ZEP_DYNAMIC]), 16 + 16);
	assert_int_equal(a[ZEP_SHARED_DYNAMIC].level[ZACCOUNT_PAGE_SHARED], 16);
	assert_int_equal(zaccount_wasted(&a[ZEP_SHARED_DYNAMIC]), 16);
	assert_int_equal(a[ZEP_STATIC].level[ZACCOUNT_UUAR_SHARED], 2); /* the 5th and the 16th */
	assert_int_equal(a[ZEP_MPI_THREADS].level[ZACCOUNT_QP_SHARED], 1);
}

/* Sections VI and VII. The paper's 1.64 MB for 2xDynamic count 16 queue pairs, though it has 32 ("twice"): that is
 * what Dynamic takes. */
static void test_memory(void **state)
{
	(void)state;
	assert_int_equal(account_of_category(ZEP_MPI_EVERYWHERE).bytes * 100 >> 20, 539);
	assert_int_equal(account_of_category(ZEP_DYNAMIC).bytes * 100 >> 20, 164);
	assert_int_equal(account_of_category(ZEP_STATIC).bytes, account_of_category(ZEP_DYNAMIC).bytes);
	assert_int_equal(account_of_category(ZEP_2XDYNAMIC).bytes - account_of_category(ZEP_DYNAMIC).bytes,
		16 * (89 << 10));
	assert_int_equal(account_of_category(ZEP_MPI_THREADS).bytes >> 10, 256 + 89 + 2);
}

/* Section V-B, and the lessons at the end of section V: 80, 6x and 9x fewer than 288 */
static void test_context_sharing(void **state)
{
	static const uint64_t alone[] = {288, 160, 96, 64, 48}; /* 1 to 16 ways */
	static const uint64_t paired[] = {288, 144, 80, 48, 32};
	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct zep_plan plan = zep_plan_category(ZEP_DYNAMIC, THREADS);
		plan.ctx_ways = plan.pd_ways = 1u << i;
		assert_int_equal(account_of(&plan).uuars, alone[i]);
		plan.domain = ZEP_DOMAIN_PAIRED;
		assert_int_equal(account_of(&plan).uuars, paired[i]);
	}
	assert_int_equal(alone[0] / alone[4], 6);
	assert_int_equal(alone[0] / paired[4], 9);
}

/* Section VII, stencil: two queue pairs on one completion queue for each thread, R processes of T threads */
static struct zaccount stencil(enum zep_category c, unsigned processes)
{
	struct zep_plan plan = zep_plan_category(c, THREADS / processes);
	struct uarmodel model[THREADS];
	struct zep_set set[THREADS];
	struct zaccount a;
	struct zerr err = {.text = ""};
	plan.paths = 2;
	zaccount_init(&a);
	for (unsigned p = 0; p < processes; p++) {
		assert_int_equal(uarmodel_init(&model[p], NULL, NULL, &err), 0);
		assert_int_equal(zep_build(&set[p], &plan, &uarmodel_ops, &model[p], "test", &err), 0);
		assert_int_equal(zaccount_add(&a, &set[p]), 0);
	}
	while (processes--)
		zep_destroy(&set[processes]);
	return a;
}

static void test_stencil(void **state)
{
	(void)state;
	struct zaccount a = stencil(ZEP_STATIC, 4); /* 4.4: in each context the fifth queue pair and the eighth */
	assert_int_equal(a.level[ZACCOUNT_PAGE_ALONE], 8);
	a = stencil(ZEP_STATIC, 1); /* 1.16 */
	assert_int_equal(a.objects[ZEP_QP], 32);
	assert_int_equal(a.objects[ZEP_CQ], 16);
	assert_int_equal(a.level[ZACCOUNT_UUAR_SHARED], 28);
	a = stencil(ZEP_SHARED_DYNAMIC, 4);
	assert_int_equal(a.level[ZACCOUNT_PAGE_SHARED], 32);
	for (unsigned p = 1; p <= THREADS; p *= 2)
		assert_int_equal(stencil(ZEP_MPI_EVERYWHERE, p).uuars, 256);
	assert_int_equal(stencil(ZEP_2XDYNAMIC, 16).objects[ZEP_QP], 64);
	assert_true(stencil(ZEP_SHARED_DYNAMIC, 16).uuars > stencil(ZEP_STATIC, 16).uuars);
	assert_int_equal(stencil(ZEP_MPI_THREADS, 4).objects[ZEP_QP], 8);
}

/* Appendix B, Figure 16: six static uUARs, two of them of low latency; seven queue pairs and three thread domains */
static void test_assignment(void **state)
{
	static const uint64_t wanted[] = {4, 5, 1, 2, 3, 1, 2};
	struct uarmodel model;
	struct zep_set set, domains;
	struct zep_place place;
	struct zerr err = {.text = ""};
	struct zep_plan plan = zep_plan_category(ZEP_STATIC, 7);
	(void)state;
	assert_int_equal(uarmodel_init(&model, "6", "2", &err), 0);
	assert_int_equal(zep_build(&set, &plan, &uarmodel_ops, &model, "test", &err), 0);
	for (unsigned t = 0; t < 7; t++) {
		assert_int_equal(uarmodel_ops.locate(&model, zep_qp(&set, t, 0), &place), 0);
		assert_int_equal(place.uuar, wanted[t]);
		assert_int_equal(place.page, wanted[t] / 2);
	}
	zep_destroy(&set);
	plan = zep_plan_category(ZEP_SHARED_DYNAMIC, 3);
	assert_int_equal(zep_build(&domains, &plan, &uarmodel_ops, &model, "test", &err), 0);
	assert_int_equal(model.pages, 3 + 2);
	zep_destroy(&domains);
	/* all but one of low latency: the rest go to the zeroth */
	plan = zep_plan_category(ZEP_STATIC, 5);
	assert_int_equal(uarmodel_init(&model, "4", "3", &err), 0);
	assert_int_equal(zep_build(&set, &plan, &uarmodel_ops, &model, "test", &err), 0);
	for (unsigned t = 0; t < 5; t++) {
		assert_int_equal(uarmodel_ops.locate(&model, zep_qp(&set, t, 0), &place), 0);
		assert_int_equal(place.uuar, t < 3 ? t + 1 : 0);
	}
	zep_destroy(&set);
}

static void test_environment(void **state)
{
	struct uarmodel m;
	struct zerr err;
	(void)state;
	assert_int_equal(uarmodel_init(&m, "15", NULL, &err), 0);
	assert_int_equal(m.uuars, 16);
	assert_int_equal(uarmodel_init(&m, "32", NULL, &err), 0);
	assert_int_equal(m.low, 20);
	assert_int_equal(uarmodel_init(&m, "0", NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "MLX5_TOTAL_UUARS"));
	assert_int_equal(uarmodel_init(&m, "many", NULL, &err), -EINVAL);
	assert_int_equal(uarmodel_init(&m, NULL, "16", &err), -EINVAL);
	assert_int_equal(uarmodel_init(&m, NULL, "-1", &err), -EINVAL);
}

/* What belongs to whom: children lie within their parents, nothing is shared that should not be. */
static void test_who_has_what(void **state)
{
	struct uarmodel model;
	struct zep_set set;
	struct zerr err = {.text = ""};
	struct zep_plan plan = zep_plan_category(ZEP_STATIC, 6);
	(void)state;
	plan.ctx_ways = 6;
	plan.pd_ways = 3;
	plan.mr_ways = 3;
	plan.cq_ways = 2;
	plan.buf_ways = 1;
	plan.paths = 2;
	plan.regions = 3;
	plan.buf_bytes = 100;
	assert_int_equal(uarmodel_init(&model, NULL, NULL, &err), 0);
	assert_int_equal(zep_build(&set, &plan, &uarmodel_ops, &model, "test", &err), 0);
	assert_int_equal(set.kept.objects[ZEP_PD].n, 2);
	assert_int_equal(set.kept.objects[ZEP_MR].n, 6);
	assert_int_equal(set.kept.objects[ZEP_CQ].n, 3);
	assert_int_equal(set.kept.objects[ZEP_QP].n, 12);
	for (unsigned t = 0; t < 6; t++) {
		assert_ptr_equal(zep_pd(&set, t), zep_pd(&set, t / 3 * 3));
		assert_ptr_equal(zep_cq(&set, t), zep_cq(&set, t / 2 * 2));
		assert_ptr_equal(zep_mr(&set, t, 1), zep_mr(&set, t / 3 * 3, 1));
		assert_ptr_not_equal(zep_mr(&set, t, 1), zep_mr(&set, t, 2));
		assert_ptr_not_equal(zep_qp(&set, t, 0), zep_qp(&set, t, 1));
		assert_int_equal((uintptr_t)zep_buf(&set, t, 2) % ZEP_LINE_BYTES, 0);
		memset(zep_buf(&set, t, 2), (int)t + 1, plan.buf_bytes);
	}
	for (unsigned t = 0; t < 6; t++)
		assert_int_equal(((char *)zep_buf(&set, t, 2))[99], t + 1);
	zep_destroy(&set);
}

static void test_bad_plans(void **state)
{
	const struct zep_plan good = zep_plan_category(ZEP_STATIC, 8);
	struct zep_plan p = good;
	struct zerr err;
	(void)state;
	assert_int_equal(zep_plan_check(&p, &err), 0);
	p.threads = 0;
	assert_int_equal(zep_plan_check(&p, &err), -EINVAL);
	p = good;
	p.ctx_ways = 4;
	assert_int_equal(zep_plan_check(&p, &err), -EINVAL); /* the PD is shared by 8 */
	assert_non_null(strstr(err.text, "protection domain"));
	p = good;
	p.qp_ways = 2;
	assert_int_equal(zep_plan_check(&p, &err), -EINVAL); /* CQs of one thread each */
	p.cq_ways = 3;
	assert_int_equal(zep_plan_check(&p, &err), -EINVAL); /* across */
	p.cq_ways = 4;
	assert_int_equal(zep_plan_check(&p, &err), 0);
	p.domain = ZEP_DOMAIN_PAIRED;
	assert_int_equal(zep_plan_check(&p, &err), -EINVAL);
	assert_non_null(strstr(err.text, "one thread"));
	p = good;
	p.mr_ways = 9;
	assert_int_equal(zep_plan_check(&p, &err), -EINVAL);
	for (int c = 0; c < ZEP_CATEGORIES; c++)
		assert_int_equal(zep_parse_category(zep_category_names[c]), c);
	assert_int_equal(zep_parse_category("everything"), -EINVAL);
}

/* --- providers that lack something: the model behind refusals */
static struct {
	int td_rc, cq_rc;
	int fail_at; /* the n-th creation fails with -ENOMEM; 0: none */
	int made, alive;
	struct zep_ops ops;
} fake;

static int count_down(struct zerr *err)
{
	if (fake.fail_at && ++fake.made == fake.fail_at)
		return zerr_set(err, -EIO, "the %d-th", fake.made);
	return 0;
}
#define FAKE(name, parameters, arguments)                                                                              \
	static int fake_##name parameters                                                                              \
	{                                                                                                              \
		int rc = count_down(err);                                                                              \
		rc = rc == 0 ? uarmodel_ops.name arguments : rc;                                                       \
		fake.alive += rc == 0;                                                                                 \
		return rc;                                                                                             \
	}
FAKE(open_ctx, (void *to, void **ctx, struct zerr *err), (to, ctx, err))
FAKE(alloc_pd, (void *to, void *ctx, void **pd, struct zerr *err), (to, ctx, pd, err))
FAKE(alloc_parent, (void *to, void *ctx, void *pd, void *td, void **parent, struct zerr *err),
	(to, ctx, pd, td, parent, err))
FAKE(reg_mr, (void *to, void *pd, void *addr, size_t len, void **mr, struct zerr *err), (to, pd, addr, len, mr, err))
FAKE(create_qp, (void *to, void *pd, void *cq, const struct zep_plan *plan, void **qp, struct zerr *err),
	(to, pd, cq, plan, qp, err))

static int fake_alloc_td(void *to, void *ctx, void **td, struct zerr *err)
{
	int rc = fake.td_rc ? fake.td_rc : count_down(err);
	rc = rc == 0 ? uarmodel_ops.alloc_td(to, ctx, td, err) : rc;
	fake.alive += rc == 0;
	return rc;
}

static int fake_create_cq(void *to, void *ctx, unsigned depth, bool single, void **cq, struct zerr *err)
{
	int rc = single && fake.cq_rc ? fake.cq_rc : count_down(err);
	rc = rc == 0 ? uarmodel_ops.create_cq(to, ctx, depth, single, cq, err) : rc;
	fake.alive += rc == 0;
	return rc;
}

static void fake_destroy(void *to, enum zep_kind kind, void *object)
{
	fake.alive--;
	uarmodel_ops.destroy(to, kind, object);
}

static const struct zep_ops *fake_ops(void)
{
	memset(&fake, 0, sizeof(fake));
	fake.ops = uarmodel_ops;
	fake.ops.open_ctx = fake_open_ctx;
	fake.ops.alloc_pd = fake_alloc_pd;
	fake.ops.alloc_td = fake_alloc_td;
	fake.ops.alloc_parent = fake_alloc_parent;
	fake.ops.reg_mr = fake_reg_mr;
	fake.ops.create_cq = fake_create_cq;
	fake.ops.create_qp = fake_create_qp;
	fake.ops.destroy = fake_destroy;
	return &fake.ops;
}

/* rxe, siw and mlx4 answer so */
static void test_no_thread_domains(void **state)
{
	struct uarmodel model;
	struct zep_set set;
	struct zaccount a;
	struct zerr err = {.text = ""};
	(void)state;
	assert_int_equal(uarmodel_init(&model, NULL, NULL, &err), 0);
	for (int c = 0; c < ZEP_CATEGORIES; c++) {
		struct zep_plan plan = zep_plan_category((enum zep_category)c, THREADS);
		const struct zep_ops *ops = fake_ops();
		fake.td_rc = -EOPNOTSUPP;
		fake.cq_rc = -EOPNOTSUPP;
		assert_int_equal(zep_build(&set, &plan, ops, &model, "test", &err), 0);
		assert_int_equal(set.no_domains, plan.domain != ZEP_DOMAIN_NONE);
		assert_int_equal(set.no_single, plan.cq_ways == 1);
		assert_int_equal(set.kept.objects[ZEP_TD].n, 0);
		zaccount_init(&a);
		assert_int_equal(zaccount_add(&a, &set), 0);
		assert_int_equal(a.uuars, c == ZEP_MPI_EVERYWHERE ? 256 : 16);
		zep_destroy(&set);
		assert_int_equal(fake.alive, 0);
	}
}

/* --- seats: threads that come one by one, as zipperd's workers do. Of each one queue pair is made. */
static struct zaccount seats(enum zep_category c, const struct zep_ops *ops, bool *no_domains)
{
	struct uarmodel model;
	struct zep_context common;
	struct zep_set all = {.kept = {.ops = ops, .to = &model}, .plan = zep_plan_category(c, THREADS)};
	struct zep_seat seat[THREADS];
	struct zaccount a;
	struct zerr err = {.text = ""};
	void *cq, *qp;
	assert_int_equal(uarmodel_init(&model, NULL, NULL, &err), 0);
	assert_int_equal(zep_context_open(&common, &all.kept, &err), 0);
	all.plan.qp_ways = 1;
	all.plan.twice = false;
	for (int t = 0; t < THREADS; t++) {
		assert_int_equal(zep_seat_join(&seat[t], c, &common, &all.kept, &err), 0);
		assert_int_equal(seat[t].single, c != ZEP_MPI_THREADS);
		assert_int_equal(ops->create_cq(&model, seat[t].ctx, 1, seat[t].single, &cq, &err), 0);
		assert_int_equal(zep_keep(&all.kept, ZEP_CQ, cq, &err), 0);
		assert_int_equal(ops->create_qp(&model, seat[t].domain, cq, &all.plan, &qp, &err), 0);
		assert_int_equal(zep_keep(&all.kept, ZEP_QP, qp, &err), 0);
	}
	zaccount_init(&a);
	assert_int_equal(zaccount_add(&a, &all), 0);
	*no_domains = common.no_domains;
	zep_drop_all(&all.kept);
	assert_int_equal(model.bytes, 0);
	assert_int_equal(model.pages, 0);
	return a;
}

/* They take what the account of the category says, but for what seat.h says. */
static void test_seats(void **state)
{
	bool lacks;
	(void)state;
	for (int c = 0; c < ZEP_CATEGORIES; c++) {
		const uint64_t own = c == ZEP_MPI_EVERYWHERE; /* the device's own context, which nobody sits in */
		struct zaccount a = seats((enum zep_category)c, &uarmodel_ops, &lacks);
		struct zaccount plan = account_of_category((enum zep_category)c);
		assert_false(lacks);
		assert_int_equal(a.pages, plan.pages + own * 8);
		assert_int_equal(a.uuars, plan.uuars + own * 16);
		assert_int_equal(a.objects[ZEP_CTX], plan.objects[ZEP_CTX] + own);
		assert_int_equal(a.objects[ZEP_PD], plan.objects[ZEP_PD] + own);
		assert_int_equal(a.objects[ZEP_TD], plan.objects[ZEP_TD]);
		assert_int_equal(a.objects[ZEP_PARENT], plan.objects[ZEP_PARENT]);
		assert_int_equal(a.objects[ZEP_QP], THREADS);
		if (c == ZEP_MPI_THREADS)
			plan = account_of_category(ZEP_STATIC);
		assert_int_equal(a.used_pages, plan.used_pages);
		assert_int_equal(a.used_uuars, plan.used_uuars);
		assert_memory_equal(a.level, plan.level, sizeof(a.level));
	}
	for (int c = 0; c < ZEP_CATEGORIES; c++) {
		const struct zep_ops *ops = fake_ops();
		fake.td_rc = -EOPNOTSUPP;
		struct zaccount a = seats((enum zep_category)c, ops, &lacks);
		assert_int_equal(a.pages, c == ZEP_MPI_EVERYWHERE ? 17 * 8 : 8);
		assert_int_equal(lacks, c >= ZEP_2XDYNAMIC && c <= ZEP_SHARED_DYNAMIC);
		assert_int_equal(fake.alive, 0);
	}
}

/* Whatever fails, a seat leaves nothing. */
static void test_seat_failures(void **state)
{
	struct zep_seat seat;
	struct zerr err;
	(void)state;
	for (int c = 0; c < ZEP_CATEGORIES; c++) {
		int rc = -1;
		for (int n = 1; rc != 0; n++) {
			struct uarmodel model;
			struct zep_context common;
			const struct zep_ops *ops = fake_ops();
			struct zep_kept device = {.ops = ops, .to = &model}, kept = device;
			assert_int_equal(uarmodel_init(&model, NULL, NULL, &err), 0);
			assert_int_equal(zep_context_open(&common, &device, &err), 0);
			common.tds = 1;
			fake.fail_at = n;
			rc = zep_seat_join(&seat, (enum zep_category)c, &common, &kept, &err);
			assert_true(rc == 0 || rc == -EIO);
			zep_drop_all(&kept);
			assert_int_equal(fake.alive, 2);
			zep_drop_all(&device);
			assert_true(n < 10);
		}
	}
}

/* 512 pages for thread domains in a context, so 512 lonely ones: the rest goes without */
static void test_thread_domains_run_out(void **state)
{
	struct uarmodel model;
	struct zep_set set;
	struct zaccount a;
	struct zerr err = {.text = ""};
	struct zep_plan plan = zep_plan_category(ZEP_DYNAMIC, 600);
	(void)state;
	assert_int_equal(uarmodel_init(&model, NULL, NULL, &err), 0);
	assert_int_equal(zep_build(&set, &plan, &uarmodel_ops, &model, "test", &err), 0);
	assert_true(set.no_domains);
	zaccount_init(&a);
	assert_int_equal(zaccount_add(&a, &set), 0);
	assert_int_equal(a.pages, 8 + 512);
	assert_int_equal(a.objects[ZEP_QP], 600);
	assert_int_equal(a.level[ZACCOUNT_PAGE_ALONE], 512);
	zep_destroy(&set);
}

/* Whatever fails, nothing stays. */
static void test_every_failure(void **state)
{
	struct uarmodel model;
	struct zep_set set;
	struct zerr err;
	(void)state;
	assert_int_equal(uarmodel_init(&model, NULL, NULL, &err), 0);
	for (int c = 0; c < ZEP_CATEGORIES; c++) {
		struct zep_plan plan = zep_plan_category((enum zep_category)c, 4);
		int rc = -1;
		for (int n = 1; rc != 0; n++) {
			const struct zep_ops *ops = fake_ops();
			fake.fail_at = n;
			rc = zep_build(&set, &plan, ops, &model, "test", &err);
			assert_true(rc == 0 || rc == -EIO);
			if (rc == 0)
				zep_destroy(&set);
			else
				assert_non_null(strstr(err.text, "-th"));
			assert_int_equal(fake.alive, 0);
			assert_true(n < 100);
		}
		assert_int_equal(model.bytes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_endpoint),
		cmocka_unit_test(test_naive),
		cmocka_unit_test(test_device_limit),
		cmocka_unit_test(test_categories),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_context_sharing),
		cmocka_unit_test(test_stencil),
		cmocka_unit_test(test_assignment),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_who_has_what),
		cmocka_unit_test(test_bad_plans),
		cmocka_unit_test(test_no_thread_domains),
		cmocka_unit_test(test_thread_domains_run_out),
		cmocka_unit_test(test_every_failure),
		cmocka_unit_test(test_seats),
		cmocka_unit_test(test_seat_failures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

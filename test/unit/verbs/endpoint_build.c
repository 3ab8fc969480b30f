/* SPDX-License-Identifier: BSD-3-Clause */
/* Building endpoints: which objects belong to which thread, plans that cannot be built, providers that lack things, and
 * failures half way. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/verbs/endpoint_fixture.h"
#include "common/endpoint/ep_category.h"
#include "common/endpoint/ep_set.h"

/* Children lie within their parents, and threads share nothing that they should not. */
static void test_who_has_what(void **state)
{
	struct uarmodel model;
	struct zep_set set;
	struct zerr err = {.text = ""};
	struct zep_plan plan = zep_category_plan(ZEP_STATIC, 6);
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
	assert_int_equal(zep_set_build(&set, &plan, &uarmodel_ops, &model, "test", &err), 0);
	assert_int_equal(set.kept.objects[ZEP_PD].n, 2);
	assert_int_equal(set.kept.objects[ZEP_MR].n, 6);
	assert_int_equal(set.kept.objects[ZEP_CQ].n, 3);
	assert_int_equal(set.kept.objects[ZEP_QP].n, 12);
	for (unsigned t = 0; t < 6; t++) {
		assert_ptr_equal(zep_set_pd(&set, t), zep_set_pd(&set, t / 3 * 3));
		assert_ptr_equal(zep_set_cq(&set, t), zep_set_cq(&set, t / 2 * 2));
		assert_ptr_equal(zep_set_mr(&set, t, 1), zep_set_mr(&set, t / 3 * 3, 1));
		assert_ptr_not_equal(zep_set_mr(&set, t, 1), zep_set_mr(&set, t, 2));
		assert_ptr_not_equal(zep_set_qp(&set, t, 0), zep_set_qp(&set, t, 1));
		assert_int_equal((uintptr_t)zep_set_buf(&set, t, 2) % ZEP_LINE_BYTES, 0);
		memset(zep_set_buf(&set, t, 2), (int)t + 1, plan.buf_bytes);
	}
	for (unsigned t = 0; t < 6; t++)
		assert_int_equal(((char *)zep_set_buf(&set, t, 2))[99], t + 1);
	zep_set_destroy(&set);
}

static void test_bad_plans(void **state)
{
	const struct zep_plan good = zep_category_plan(ZEP_STATIC, 8);
	struct zep_plan p = good;
	struct zerr err;
	(void)state;
	assert_int_equal(zep_category_check(&p, &err), 0);
	p.threads = 0;
	assert_int_equal(zep_category_check(&p, &err), -EINVAL);
	p = good;
	p.ctx_ways = 4;
	assert_int_equal(zep_category_check(&p, &err), -EINVAL); /* the PD is shared by 8 */
	assert_non_null(strstr(err.text, "protection domain"));
	p = good;
	p.qp_ways = 2;
	assert_int_equal(zep_category_check(&p, &err), -EINVAL); /* completion queues of one thread each */
	p.cq_ways = 3;
	assert_int_equal(zep_category_check(&p, &err), -EINVAL); /* across */
	p.cq_ways = 4;
	assert_int_equal(zep_category_check(&p, &err), 0);
	p.domain = ZEP_DOMAIN_PAIRED;
	assert_int_equal(zep_category_check(&p, &err), -EINVAL);
	assert_non_null(strstr(err.text, "one thread"));
	p = good;
	p.mr_ways = 9;
	assert_int_equal(zep_category_check(&p, &err), -EINVAL);
	for (int c = 0; c < ZEP_CATEGORIES; c++)
		assert_int_equal(zep_category_parse(zep_category_names[c]), c);
	assert_int_equal(zep_category_parse("everything"), -EINVAL);
}

/* rxe, siw and mlx4 answer with this */
static void test_no_thread_domains(void **state)
{
	struct uarmodel model;
	struct zep_set set;
	struct zaccount a;
	struct zerr err = {.text = ""};
	(void)state;
	assert_int_equal(uarmodel_init(&model, NULL, NULL, &err), 0);
	for (int c = 0; c < ZEP_CATEGORIES; c++) {
		struct zep_plan plan = zep_category_plan((enum zep_category)c, THREADS);
		const struct zep_ops *ops = fake_ops();
		fake.td_rc = -EOPNOTSUPP;
		fake.cq_rc = -EOPNOTSUPP;
		assert_int_equal(zep_set_build(&set, &plan, ops, &model, "test", &err), 0);
		assert_int_equal(set.no_domains, plan.domain != ZEP_DOMAIN_NONE);
		assert_int_equal(set.no_single, plan.cq_ways == 1);
		assert_int_equal(set.kept.objects[ZEP_TD].n, 0);
		zaccount_init(&a);
		assert_int_equal(zaccount_add(&a, &set), 0);
		assert_int_equal(a.uuars, c == ZEP_MPI_EVERYWHERE ? 256 : 16);
		zep_set_destroy(&set);
		assert_int_equal(fake.alive, 0);
	}
}

/* 512 pages for thread domains in a context, so 512 of them alone on a page: the rest have none */
static void test_thread_domains_run_out(void **state)
{
	struct uarmodel model;
	struct zep_set set;
	struct zaccount a;
	struct zerr err = {.text = ""};
	struct zep_plan plan = zep_category_plan(ZEP_DYNAMIC, 600);
	(void)state;
	assert_int_equal(uarmodel_init(&model, NULL, NULL, &err), 0);
	assert_int_equal(zep_set_build(&set, &plan, &uarmodel_ops, &model, "test", &err), 0);
	assert_true(set.no_domains);
	zaccount_init(&a);
	assert_int_equal(zaccount_add(&a, &set), 0);
	assert_int_equal(a.pages, 8 + 512);
	assert_int_equal(a.objects[ZEP_QP], 600);
	assert_int_equal(a.level[ZACCOUNT_PAGE_ALONE], 512);
	zep_set_destroy(&set);
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
		struct zep_plan plan = zep_category_plan((enum zep_category)c, 4);
		int rc = -1;
		for (int n = 1; rc != 0; n++) {
			const struct zep_ops *ops = fake_ops();
			fake.fail_at = n;
			rc = zep_set_build(&set, &plan, ops, &model, "test", &err);
			assert_true(rc == 0 || rc == -EIO);
			if (rc == 0)
				zep_set_destroy(&set);
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
		cmocka_unit_test(test_who_has_what),
		cmocka_unit_test(test_bad_plans),
		cmocka_unit_test(test_no_thread_domains),
		cmocka_unit_test(test_thread_domains_run_out),
		cmocka_unit_test(test_every_failure),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

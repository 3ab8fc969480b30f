/* SPDX-License-Identifier: BSD-3-Clause */
/* Seats: threads that come one by one, as zipperd's workers do. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "test/unit/verbs/endpoint_fixture.h"
#include "common/endpoint/ep_kept.h"
#include "common/endpoint/ep_seat.h"
#include "common/endpoint/ep_category.h"
#include "common/endpoint/ep_set.h"

/* The resources that all of them take. Each makes one queue pair. */
static struct zaccount seats(enum zep_category c, const struct zep_ops *ops, bool *no_domains)
{
	struct uarmodel model;
	struct zep_context common;
	struct zep_set all = {.kept = {.ops = ops, .to = &model}, .plan = zep_category_plan(c, THREADS)};
	struct zep_seat seat[THREADS];
	struct zaccount a;
	struct zerr err = {.text = ""};
	void *cq, *qp;
	assert_int_equal(uarmodel_init(&model, NULL, NULL, &err), 0);
	assert_int_equal(zep_seat_open_context(&common, &all.kept, &err), 0);
	all.plan.qp_ways = 1;
	all.plan.twice = false;
	for (int t = 0; t < THREADS; t++) {
		assert_int_equal(zep_seat_join(&seat[t], c, &common, &all.kept, &err), 0);
		assert_int_equal(seat[t].single, c != ZEP_MPI_THREADS);
		assert_int_equal(ops->create_cq(&model, seat[t].ctx, 1, seat[t].single, &cq, &err), 0);
		assert_int_equal(zep_kept_add(&all.kept, ZEP_CQ, cq, &err), 0);
		assert_int_equal(ops->create_qp(&model, seat[t].domain, cq, &all.plan, &qp, &err), 0);
		assert_int_equal(zep_kept_add(&all.kept, ZEP_QP, qp, &err), 0);
	}
	zaccount_init(&a);
	assert_int_equal(zaccount_add(&a, &all), 0);
	*no_domains = common.no_domains;
	zep_kept_drop_all(&all.kept);
	assert_int_equal(model.bytes, 0);
	assert_int_equal(model.pages, 0);
	return a;
}

/* They take as much as the account of the category says, with the exceptions that ep_seat.h names. */
static void test_seats(void **state)
{
	bool lacks;
	(void)state;
	for (int c = 0; c < ZEP_CATEGORIES; c++) {
		const uint64_t own = c == ZEP_MPI_EVERYWHERE; /* the device's own context, in which nobody sits */
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
	static const int reasons[] = {-EOPNOTSUPP, -ENOMEM, -EAGAIN,
		-ENOENT}; /* of mlx5, without pages, the last ones */
	for (int k = 0; k < 4 * ZEP_CATEGORIES; k++) {
		const int c = k / 4;
		const struct zep_ops *ops = fake_ops();
		fake.td_rc = reasons[k % 4];
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
			assert_int_equal(zep_seat_open_context(&common, &device, &err), 0);
			common.tds = 1;
			fake.fail_at = n;
			rc = zep_seat_join(&seat, (enum zep_category)c, &common, &kept, &err);
			assert_true(rc == 0 || rc == -EIO);
			zep_kept_drop_all(&kept);
			assert_int_equal(fake.alive, 2);
			zep_kept_drop_all(&device);
			assert_true(n < 10);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seats),
		cmocka_unit_test(test_seat_failures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Accounts and the provider that lacks things, see endpoint_fixture.h. */
#include "test/unit/verbs/endpoint_fixture.h"
#include "common/endpoint/ep_category.h"
#include "common/endpoint/ep_set.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct zaccount account_of(const struct zep_plan *plan)
{
	struct uarmodel model;
	struct zep_set set;
	struct zaccount a;
	struct zerr err = {.text = ""};
	assert_int_equal(uarmodel_init(&model, NULL, NULL, &err), 0);
	if (zep_set_build(&set, plan, &uarmodel_ops, &model, "test", &err) != 0)
		fail_msg("%s", err.text);
	zaccount_init(&a);
	assert_int_equal(zaccount_add(&a, &set), 0);
	zep_set_destroy(&set);
	assert_int_equal(model.pages, 0);
	assert_int_equal(model.bytes, 0);
	return a;
}

struct zaccount account_of_category(enum zep_category c)
{
	struct zep_plan plan = zep_category_plan(c, THREADS);
	return account_of(&plan);
}

struct fake_provider fake;

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

const struct zep_ops *fake_ops(void)
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread's part of a plan, see ep_seat.h. */
#include "common/endpoint/ep_seat.h"

#include <errno.h>

#include "common/endpoint/ep_category.h"
#include "common/endpoint/ep_kept.h"

#define SEVERAL 2 /* of which a category's plan says what they share: any number but 1 gives the same plan */

int zep_seat_add_pd(struct zep_context *c, struct zep_kept *kept, struct zerr *err)
{
	int rc = kept->ops->alloc_pd(kept->to, c->ctx, &c->pd, err);
	return rc == 0 ? zep_kept_add(kept, ZEP_PD, c->pd, err) : rc;
}

int zep_seat_open_context(struct zep_context *c, struct zep_kept *kept, struct zerr *err)
{
	*c = (struct zep_context){.tds = 0};
	int rc = kept->ops->open_ctx(kept->to, &c->ctx, err);
	if (rc == 0)
		rc = zep_kept_add(kept, ZEP_CTX, c->ctx, err);
	return rc == 0 ? zep_seat_add_pd(c, kept, err) : rc;
}

static int add_td(struct zep_kept *kept, struct zep_context *c, void **td, struct zerr *err)
{
	int rc = kept->ops->alloc_td(kept->to, c->ctx, td, err);
	c->tds += rc == 0;
	return rc == 0 ? zep_kept_add(kept, ZEP_TD, *td, err) : rc;
}

/* The provider puts an even thread domain and the next odd one on one page. */
static int add_domain(struct zep_kept *kept, const struct zep_plan *plan, struct zep_context *c, void *pd,
	void **domain, struct zerr *err)
{
	void *td, *spare;
	int rc = 0;
	if (plan->domain == ZEP_DOMAIN_ALONE && c->tds % 2 == 1)
		rc = add_td(kept, c, &spare, err);
	if (rc == 0)
		rc = add_td(kept, c, &td, err);
	if (rc == 0)
		rc = kept->ops->alloc_parent(kept->to, c->ctx, pd, td, domain, err);
	return rc == 0 ? zep_kept_add(kept, ZEP_PARENT, *domain, err) : rc;
}

int zep_seat_open(struct zep_seat *s, const struct zep_plan *plan, struct zep_context *c, void *pd,
	struct zep_kept *kept, struct zerr *err)
{
	const size_t tds = kept->objects[ZEP_TD].n, parents = kept->objects[ZEP_PARENT].n;
	*s = (struct zep_seat){.ctx = c->ctx, .pd = pd, .domain = pd, .unused = pd, .single = zep_is_single(plan)};
	if (plan->domain == ZEP_DOMAIN_NONE || c->no_domains)
		return 0;
	int rc = add_domain(kept, plan, c, pd, &s->domain, err);
	if (rc == 0 && plan->twice)
		rc = add_domain(kept, plan, c, pd, &s->unused, err);
	if (rc == 0)
		return 0;
	zep_kept_drop(kept, ZEP_PARENT, parents);
	zep_kept_drop(kept, ZEP_TD, tds);
	s->domain = s->unused = pd;
	c->no_domains = rc != -EIO && rc != -ENODEV; /* whatever the provider lacks: it has many errnos for it */
	return c->no_domains ? 0 : rc;
}

int zep_seat_join(struct zep_seat *s, enum zep_category category, struct zep_context *common, struct zep_kept *kept,
	struct zerr *err)
{
	const struct zep_plan plan = zep_category_plan(category, SEVERAL);
	struct zep_context own;
	if (plan.ctx_ways == SEVERAL)
		return zep_seat_open(s, &plan, common, common->pd, kept, err);
	int rc = zep_seat_open_context(&own, kept, err);
	return rc == 0 ? zep_seat_open(s, &plan, &own, own.pd, kept, err) : rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* One thread's part of an endpoint category, see seat.h. */
#include "seat.h"

#include <errno.h>

static int add_td(struct zep_seat *s, struct zep_common *common, const struct zep_ops *ops, void *to, struct zerr *err)
{
	int rc = ops->alloc_td(to, s->ctx, &s->td[s->ntds], err);
	if (rc == 0) {
		s->ntds++;
		common->tds++;
	}
	return rc;
}

/* The provider puts an even thread domain and the odd one after it on one page. */
static int add_domain(struct zep_seat *s, enum zep_category c, struct zep_common *common, const struct zep_ops *ops,
	void *to, struct zerr *err)
{
	int rc = 0;
	if (c != ZEP_SHARED_DYNAMIC && common->tds % 2 == 1)
		rc = add_td(s, common, ops, to, err);
	if (rc == 0)
		rc = add_td(s, common, ops, to, err);
	void *td = rc == 0 ? s->td[s->ntds - 1] : NULL;
	for (int unused = 0; c == ZEP_2XDYNAMIC && unused < 2 && rc == 0; unused++)
		rc = add_td(s, common, ops, to, err);
	return rc == 0 ? ops->alloc_parent(to, s->ctx, s->pd, td, &s->domain, err) : rc;
}

static void drop_tds(struct zep_seat *s, const struct zep_ops *ops, void *to)
{
	while (s->ntds > 0)
		ops->destroy(to, ZEP_TD, s->td[--s->ntds]);
}

static int open_own(struct zep_seat *s, const struct zep_ops *ops, void *to, struct zerr *err)
{
	int rc = ops->open_ctx(to, &s->ctx, err);
	if (rc < 0)
		return rc;
	rc = ops->alloc_pd(to, s->ctx, &s->pd, err);
	if (rc < 0)
		ops->destroy(to, ZEP_CTX, s->ctx);
	s->own = rc == 0;
	s->domain = s->pd;
	return rc;
}

int zep_seat_open(struct zep_seat *s, enum zep_category c, struct zep_common *common, const struct zep_ops *ops,
	void *to, struct zerr *err)
{
	*s = (struct zep_seat){.ctx = common->ctx,
		.pd = common->pd,
		.domain = common->pd,
		.single = c != ZEP_MPI_THREADS};
	if (c == ZEP_MPI_EVERYWHERE)
		return open_own(s, ops, to, err);
	if (c == ZEP_STATIC || c == ZEP_MPI_THREADS || common->no_domains)
		return 0;
	int rc = add_domain(s, c, common, ops, to, err);
	if (rc == 0)
		return 0;
	drop_tds(s, ops, to);
	s->domain = s->pd;
	if (rc != -EOPNOTSUPP && rc != -ENOMEM && rc != -ENOSPC)
		return rc;
	common->no_domains = true; /* not supported, or used up */
	return 0;
}

void zep_seat_close(struct zep_seat *s, const struct zep_ops *ops, void *to)
{
	if (s->domain != s->pd)
		ops->destroy(to, ZEP_PARENT, s->domain);
	drop_tds(s, ops, to);
	if (s->own) {
		ops->destroy(to, ZEP_PD, s->pd);
		ops->destroy(to, ZEP_CTX, s->ctx);
	}
	*s = (struct zep_seat){.ctx = NULL};
}

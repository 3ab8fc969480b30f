/* SPDX-License-Identifier: BSD-3-Clause */
/* Building the endpoints of a plan, see ep_set.h. */
#include "common/endpoint/ep_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/endpoint/ep_category.h"
#include "common/endpoint/ep_kept.h"
#include "common/endpoint/ep_seat.h"

/* An object that `ways` threads share: the j-th one is for threads j * ways to (j + 1) * ways - 1. */
static unsigned count(unsigned threads, unsigned ways)
{
	return (threads + ways - 1) / ways;
}

/* Builds the contexts and their PDs, in the order of the threads. */
static int build_contexts(struct zep_set *s, struct zerr *err)
{
	const struct zep_plan *p = &s->plan;
	const unsigned n = count(p->threads, p->ctx_ways), npds = count(p->threads, p->pd_ways);
	int rc = 0;
	s->context = calloc(n, sizeof(*s->context));
	if (!s->context)
		return zerr_set(err, -ENOMEM, "out of memory");
	for (unsigned i = 0, pds = 0; i < n && rc == 0; i++) {
		rc = zep_seat_open_context(&s->context[i], &s->kept, err);
		for (pds++; rc == 0 && pds < npds && pds * p->pd_ways / p->ctx_ways == i; pds++)
			rc = zep_seat_add_pd(&s->context[i], &s->kept, err);
	}
	return rc;
}

static unsigned groups(const struct zep_plan *p) /* of queue pairs */
{
	return count(p->threads, p->qp_ways) * p->paths;
}

static int build_seats(struct zep_set *s, struct zerr *err)
{
	const unsigned n = groups(&s->plan);
	int rc = 0;
	s->seat = calloc(n, sizeof(*s->seat));
	if (!s->seat)
		return zerr_set(err, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < n && rc == 0; i++) {
		unsigned t = i / s->plan.paths * s->plan.qp_ways;
		struct zep_context *c = &s->context[t / s->plan.ctx_ways];
		rc = zep_seat_open(&s->seat[i], &s->plan, c, zep_set_pd(s, t), &s->kept, err);
		s->no_domains = s->no_domains || c->no_domains;
	}
	return rc;
}

static int build_memory(struct zep_set *s, struct zerr *err)
{
	const struct zep_plan *p = &s->plan;
	s->nbufs = count(p->threads, p->buf_ways);
	s->stride = (p->buf_bytes + ZEP_LINE_BYTES - 1) / ZEP_LINE_BYTES * ZEP_LINE_BYTES;
	size_t all = s->stride * s->nbufs * p->regions;
	s->arena = aligned_alloc(4096, (all + 4095) / 4096 * 4096);
	if (!s->arena)
		return zerr_set(err, -ENOMEM, "no memory for %zu bytes of buffers", all);
	memset(s->arena, 0, all);
	for (unsigned g = 0; g < count(p->threads, p->mr_ways); g++)
		for (unsigned r = 0; r < p->regions; r++) {
			unsigned first = g * p->mr_ways, last = first + p->mr_ways - 1;
			last = last < p->threads ? last : p->threads - 1;
			char *from = zep_set_buf(s, first, r), *to = (char *)zep_set_buf(s, last, r) + s->stride;
			void *mr;
			int rc = s->kept.ops->reg_mr(s->kept.to, zep_set_pd(s, first), from, (size_t)(to - from), &mr,
				err);
			if (rc == 0)
				rc = zep_kept_add(&s->kept, ZEP_MR, mr, err);
			if (rc < 0)
				return rc;
		}
	return 0;
}

static int add_cq(struct zep_set *s, void *ctx, bool single, struct zerr *err)
{
	void *cq;
	int rc = -EOPNOTSUPP;
	if (single && !s->no_single) {
		rc = s->kept.ops->create_cq(s->kept.to, ctx, s->plan.cq_depth, true, &cq, err);
		s->no_single = rc == -EOPNOTSUPP;
	}
	if (!single || s->no_single)
		rc = s->kept.ops->create_cq(s->kept.to, ctx, s->plan.cq_depth, false, &cq, err);
	return rc == 0 ? zep_kept_add(&s->kept, ZEP_CQ, cq, err) : rc;
}

/* A queue pair that nobody uses has a completion queue that nobody uses (section VI: "the memory consumption of QPs and
 * CQs is twice"). They stand behind the others, so that zep_set_cq need not know of them. */
static int build_cqs(struct zep_set *s, struct zerr *err)
{
	const struct zep_plan *p = &s->plan;
	const unsigned n = count(p->threads, p->cq_ways);
	int rc = 0;
	for (unsigned i = 0; i < (p->twice ? 2 * n : n) && rc == 0; i++)
		rc = add_cq(s, zep_set_ctx(s, i % n * p->cq_ways), zep_is_single(p), err);
	return rc;
}

static int build_qps(struct zep_set *s, struct zerr *err)
{
	const struct zep_plan *p = &s->plan;
	const unsigned each = p->twice ? 2 : 1, ncqs = count(p->threads, p->cq_ways);
	int rc = 0;
	for (unsigned i = 0; i < groups(p) * each && rc == 0; i++) {
		unsigned t = i / each / p->paths * p->qp_ways;
		size_t cq = t / p->cq_ways + (i % each ? ncqs : 0);
		void *qp;
		const struct zep_seat *seat = &s->seat[i / each];
		rc = s->kept.ops->create_qp(s->kept.to, i % each ? seat->unused : seat->domain,
			s->kept.objects[ZEP_CQ].at[cq], p, &qp, err);
		if (rc == 0)
			rc = zep_kept_add(&s->kept, ZEP_QP, qp, err);
	}
	return rc;
}

static void tell(const struct zep_set *s, const char *who)
{
	const size_t n = s->kept.objects[ZEP_TD].n;
	char after[48] = "";
	if (n > 0)
		snprintf(after, sizeof(after), " after the first %zu", n);
	if (s->no_domains)
		zlog(ZLOG_INFO, "%s: no thread domains%s%s: with locks instead", who, after,
			s->no_single ? ", no single-threaded completion queues" : "");
	else if (s->no_single)
		zlog(ZLOG_INFO, "%s: no single-threaded completion queues: with locks instead", who);
}

int zep_set_build(struct zep_set *s, const struct zep_plan *plan, const struct zep_ops *ops, void *to, const char *who,
	struct zerr *err)
{
	*s = (struct zep_set){.kept = {.ops = ops, .to = to}, .plan = *plan};
	int rc = zep_category_check(plan, err);
	if (rc == 0)
		rc = build_contexts(s, err);
	if (rc == 0)
		rc = build_seats(s, err);
	if (rc == 0)
		rc = build_memory(s, err);
	if (rc == 0)
		rc = build_cqs(s, err);
	if (rc == 0)
		rc = build_qps(s, err);
	if (rc < 0)
		zep_set_destroy(s);
	else if (who)
		tell(s, who);
	return rc;
}

void zep_set_destroy(struct zep_set *s)
{
	zep_kept_drop_all(&s->kept);
	free(s->context);
	free(s->seat);
	free(s->arena);
	*s = (struct zep_set){.arena = NULL};
}

/* --- which objects a thread has */
void *zep_set_ctx(const struct zep_set *s, unsigned t)
{
	return s->kept.objects[ZEP_CTX].at[t / s->plan.ctx_ways];
}

void *zep_set_pd(const struct zep_set *s, unsigned t)
{
	return s->kept.objects[ZEP_PD].at[t / s->plan.pd_ways];
}

static size_t index_of(const struct zep_set *s, unsigned t, unsigned path)
{
	return (size_t)(t / s->plan.qp_ways * s->plan.paths + path) * (s->plan.twice ? 2 : 1);
}

void *zep_set_cq(const struct zep_set *s, unsigned t)
{
	return s->kept.objects[ZEP_CQ].at[t / s->plan.cq_ways];
}

void *zep_set_qp(const struct zep_set *s, unsigned t, unsigned path)
{
	return s->kept.objects[ZEP_QP].at[index_of(s, t, path)];
}

void *zep_set_mr(const struct zep_set *s, unsigned t, unsigned region)
{
	return s->kept.objects[ZEP_MR].at[t / s->plan.mr_ways * s->plan.regions + region];
}

void *zep_set_buf(const struct zep_set *s, unsigned t, unsigned region)
{
	return s->arena + s->stride * (region * s->nbufs + t / s->plan.buf_ways);
}

size_t zep_set_used_qps(const struct zep_set *s)
{
	return s->kept.objects[ZEP_QP].n / (s->plan.twice ? 2 : 1);
}

void *zep_set_used_qp(const struct zep_set *s, size_t i)
{
	return s->kept.objects[ZEP_QP].at[i * (s->plan.twice ? 2 : 1)];
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Building endpoints by a plan, see endpoint.h. */
#include "endpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

/* The j-th of what is shared `ways` ways is for threads j * ways to (j + 1) * ways - 1. */
static unsigned count(unsigned threads, unsigned ways)
{
	return (threads + ways - 1) / ways;
}

static int add(struct zep_objects *o, void *object)
{
	if (o->n == o->cap) {
		size_t cap = o->cap ? 2 * o->cap : 16;
		void **at = realloc(o->at, cap * sizeof(*at));
		if (!at)
			return -ENOMEM;
		o->at = at;
		o->cap = cap;
	}
	o->at[o->n++] = object;
	return 0;
}

/* Takes the object that a backend made, or gives it back. */
static int keep(struct zep_set *s, enum zep_kind kind, void *object, struct zerr *err)
{
	if (add(&s->objects[kind], object) == 0)
		return 0;
	s->ops->destroy(s->to, kind, object);
	return zerr_set(err, -ENOMEM, "out of memory");
}

static int build_contexts(struct zep_set *s, struct zerr *err)
{
	void *ctx;
	int rc = 0;
	for (unsigned i = 0; i < count(s->plan.threads, s->plan.ctx_ways) && rc == 0; i++) {
		rc = s->ops->open_ctx(s->to, &ctx, err);
		if (rc == 0)
			rc = keep(s, ZEP_CTX, ctx, err);
	}
	return rc;
}

static int build_pds(struct zep_set *s, struct zerr *err)
{
	void *pd;
	int rc = 0;
	for (unsigned i = 0; i < count(s->plan.threads, s->plan.pd_ways) && rc == 0; i++) {
		rc = s->ops->alloc_pd(s->to, zep_ctx(s, i * s->plan.pd_ways), &pd, err);
		if (rc == 0)
			rc = keep(s, ZEP_PD, pd, err);
	}
	return rc;
}

static int add_td(struct zep_set *s, void *ctx, void **td, struct zerr *err)
{
	int rc = s->ops->alloc_td(s->to, ctx, td, err);
	return rc == 0 ? keep(s, ZEP_TD, *td, err) : rc;
}

/* A domain for the next queue pair of thread t; `made` counts the thread domains of its context. */
static int add_domain(struct zep_set *s, unsigned t, unsigned *made, void **domain, struct zerr *err)
{
	void *ctx = zep_ctx(s, t), *pd = zep_pd(s, t), *td, *spare;
	int rc = 0;
	if (s->plan.domain == ZEP_DOMAIN_ALONE && *made % 2 == 1) {
		rc = add_td(s, ctx, &spare, err);
		*made += rc == 0;
	}
	if (rc == 0)
		rc = add_td(s, ctx, &td, err);
	*made += rc == 0;
	if (rc == 0)
		rc = s->ops->alloc_parent(s->to, ctx, pd, td, domain, err);
	return rc == 0 ? keep(s, ZEP_PARENT, *domain, err) : rc;
}

static unsigned groups(const struct zep_plan *p) /* of queue pairs */
{
	return count(p->threads, p->qp_ways) * p->paths;
}

/* Once one is refused there are none for the rest: not supported, or a context's thread domains are used up. */
static int build_domains(struct zep_set *s, struct zerr *err)
{
	const unsigned each = s->plan.twice ? 2 : 1, n = groups(&s->plan) * each;
	unsigned made = 0, ctx = 0;
	s->domain = calloc(n, sizeof(*s->domain));
	if (!s->domain)
		return zerr_set(err, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < n; i++) {
		unsigned t = i / each / s->plan.paths * s->plan.qp_ways;
		s->domain[i] = zep_pd(s, t);
		if (s->plan.domain == ZEP_DOMAIN_NONE || s->no_domains)
			continue;
		if (t / s->plan.ctx_ways != ctx) {
			ctx = t / s->plan.ctx_ways;
			made = 0;
		}
		int rc = add_domain(s, t, &made, &s->domain[i], err);
		if (rc == -EOPNOTSUPP || rc == -ENOMEM || rc == -ENOSPC) {
			s->no_domains = true;
			s->domain[i] = zep_pd(s, t);
		} else if (rc < 0) {
			return rc;
		}
	}
	return 0;
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
			char *from = zep_buf(s, first, r), *to = (char *)zep_buf(s, last, r) + s->stride;
			void *mr;
			int rc = s->ops->reg_mr(s->to, zep_pd(s, first), from, (size_t)(to - from), &mr, err);
			if (rc == 0)
				rc = keep(s, ZEP_MR, mr, err);
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
		rc = s->ops->create_cq(s->to, ctx, s->plan.cq_depth, true, &cq, err);
		s->no_single = rc == -EOPNOTSUPP;
	}
	if (!single || s->no_single)
		rc = s->ops->create_cq(s->to, ctx, s->plan.cq_depth, false, &cq, err);
	return rc == 0 ? keep(s, ZEP_CQ, cq, err) : rc;
}

/* A queue pair that nobody uses has a completion queue as useless (section VI: "the memory consumption of QPs and CQs
 * is twice"). They come behind the others, so that zep_cq need not know. */
static int build_cqs(struct zep_set *s, struct zerr *err)
{
	const struct zep_plan *p = &s->plan;
	const unsigned n = count(p->threads, p->cq_ways);
	int rc = 0;
	for (unsigned i = 0; i < (p->twice ? 2 * n : n) && rc == 0; i++)
		rc = add_cq(s, zep_ctx(s, i % n * p->cq_ways), p->cq_ways == 1, err);
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
		rc = s->ops->create_qp(s->to, s->domain[i], s->objects[ZEP_CQ].at[cq], p, &qp, err);
		if (rc == 0)
			rc = keep(s, ZEP_QP, qp, err);
	}
	return rc;
}

static void tell(const struct zep_set *s, const char *who)
{
	const size_t n = s->objects[ZEP_TD].n;
	char after[48] = "";
	if (n > 0)
		snprintf(after, sizeof(after), " after the first %zu", n);
	if (s->no_domains)
		zlog(ZLOG_INFO, "%s: no thread domains%s%s: with locks instead", who, after,
			s->no_single ? ", no single-threaded completion queues" : "");
	else if (s->no_single)
		zlog(ZLOG_INFO, "%s: no single-threaded completion queues: with locks instead", who);
}

int zep_build(struct zep_set *s, const struct zep_plan *plan, const struct zep_ops *ops, void *to, const char *who,
	struct zerr *err)
{
	*s = (struct zep_set){.ops = ops, .to = to, .plan = *plan};
	int rc = zep_plan_check(plan, err);
	if (rc == 0)
		rc = build_contexts(s, err);
	if (rc == 0)
		rc = build_pds(s, err);
	if (rc == 0)
		rc = build_domains(s, err);
	if (rc == 0 && !plan->bare)
		rc = build_memory(s, err);
	if (rc == 0 && !plan->bare)
		rc = build_cqs(s, err);
	if (rc == 0 && !plan->bare)
		rc = build_qps(s, err);
	if (rc < 0)
		zep_destroy(s);
	else if (who)
		tell(s, who);
	return rc;
}

void zep_destroy(struct zep_set *s)
{
	for (int kind = ZEP_KINDS - 1; kind >= 0; kind--) { /* children first */
		struct zep_objects *o = &s->objects[kind];
		while (o->n)
			s->ops->destroy(s->to, (enum zep_kind)kind, o->at[--o->n]);
		free(o->at);
	}
	free(s->domain);
	free(s->arena);
	*s = (struct zep_set){.ops = NULL};
}

/* --- who has what */
void *zep_ctx(const struct zep_set *s, unsigned t)
{
	return s->objects[ZEP_CTX].at[t / s->plan.ctx_ways];
}

void *zep_pd(const struct zep_set *s, unsigned t)
{
	return s->objects[ZEP_PD].at[t / s->plan.pd_ways];
}

static size_t index_of(const struct zep_set *s, unsigned t, unsigned path)
{
	return (size_t)(t / s->plan.qp_ways * s->plan.paths + path) * (s->plan.twice ? 2 : 1);
}

void *zep_domain(const struct zep_set *s, unsigned t, unsigned path)
{
	return s->domain[index_of(s, t, path)];
}

void *zep_cq(const struct zep_set *s, unsigned t)
{
	return s->objects[ZEP_CQ].at[t / s->plan.cq_ways];
}

void *zep_qp(const struct zep_set *s, unsigned t, unsigned path)
{
	return s->objects[ZEP_QP].at[index_of(s, t, path)];
}

void *zep_mr(const struct zep_set *s, unsigned t, unsigned region)
{
	return s->objects[ZEP_MR].at[t / s->plan.mr_ways * s->plan.regions + region];
}

void *zep_buf(const struct zep_set *s, unsigned t, unsigned region)
{
	return s->arena + s->stride * (region * s->nbufs + t / s->plan.buf_ways);
}

size_t zep_used_qps(const struct zep_set *s)
{
	return s->objects[ZEP_QP].n / (s->plan.twice ? 2 : 1);
}

void *zep_used_qp(const struct zep_set *s, size_t i)
{
	return s->objects[ZEP_QP].at[i * (s->plan.twice ? 2 : 1)];
}

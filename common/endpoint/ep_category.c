/* SPDX-License-Identifier: BSD-3-Clause */
/* The endpoint categories, see ep_category.h. */
#include "common/endpoint/ep_category.h"

#include <errno.h>
#include <string.h>

/* as the figures of the paper call them */
const char *const zep_category_names[ZEP_CATEGORIES + 1] = {
	[ZEP_MPI_EVERYWHERE] = "mpi-everywhere",
	[ZEP_2XDYNAMIC] = "2xdynamic",
	[ZEP_DYNAMIC] = "dynamic",
	[ZEP_SHARED_DYNAMIC] = "shared-dynamic",
	[ZEP_STATIC] = "static",
	[ZEP_MPI_THREADS] = "mpi+threads",
};

int zep_category_parse(const char *text)
{
	for (int c = 0; c < ZEP_CATEGORIES; c++)
		if (strcmp(text, zep_category_names[c]) == 0)
			return c;
	return -EINVAL;
}

struct zep_plan zep_category_plan(enum zep_category category, unsigned threads)
{
	struct zep_plan p = {
		.threads = threads,
		.paths = 1,
		.regions = 1,
		.ctx_ways = threads,
		.pd_ways = threads,
		.mr_ways = 1,
		.cq_ways = 1,
		.qp_ways = 1,
		.buf_ways = 1,
		.buf_bytes = ZEP_LINE_BYTES,
		.send_depth = 128,
		.recv_depth = 1,
		.cq_depth = 128,
	};
	switch (category) {
	case ZEP_MPI_EVERYWHERE:
		p.ctx_ways = p.pd_ways = 1;
		break;
	case ZEP_2XDYNAMIC:
		p.twice = true;
		p.domain = ZEP_DOMAIN_ALONE;
		break;
	case ZEP_DYNAMIC:
		p.domain = ZEP_DOMAIN_ALONE;
		break;
	case ZEP_SHARED_DYNAMIC:
		p.domain = ZEP_DOMAIN_PAIRED;
		break;
	case ZEP_MPI_THREADS:
		p.cq_ways = p.qp_ways = threads;
		break;
	case ZEP_STATIC:
	case ZEP_CATEGORIES:
		break;
	}
	return p;
}

/* Does every child belong to one parent only? */
static bool nests(const struct zep_plan *p, unsigned child, unsigned parent)
{
	for (unsigned t = 1; t < p->threads; t++)
		if (t / child == (t - 1) / child && t / parent != (t - 1) / parent)
			return false;
	return true;
}

static int check_nesting(const struct zep_plan *p, struct zerr *err)
{
	const struct {
		const char *child, *parent;
		unsigned ways, parent_ways;
	} pairs[] = {
		{"a protection domain", "context", p->pd_ways, p->ctx_ways},
		{"a memory region", "protection domain", p->mr_ways, p->pd_ways},
		{"a completion queue", "context", p->cq_ways, p->ctx_ways},
		{"a queue pair", "protection domain", p->qp_ways, p->pd_ways},
		{"a queue pair", "completion queue", p->qp_ways, p->cq_ways},
	};
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (!nests(p, pairs[i].ways, pairs[i].parent_ways))
			return zerr_set(err, -EINVAL, "%s shared %u ways needs a %s shared as widely, not %u ways",
				pairs[i].child, pairs[i].ways, pairs[i].parent, pairs[i].parent_ways);
	return 0;
}

int zep_category_check(const struct zep_plan *p, struct zerr *err)
{
	const unsigned ways[] = {p->ctx_ways, p->pd_ways, p->mr_ways, p->cq_ways, p->qp_ways, p->buf_ways};
	if (p->threads < 1 || p->threads > ZEP_THREADS_MAX)
		return zerr_set(err, -EINVAL, "%u threads, not 1 to %d", p->threads, ZEP_THREADS_MAX);
	if (p->paths < 1 || p->paths > 64 || p->regions < 1 || p->regions > 64 || p->buf_bytes < 1)
		return zerr_set(err, -EINVAL, "%u queue pairs and %u buffers of %zu bytes a thread: not 1 to 64 each",
			p->paths, p->regions, p->buf_bytes);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (ways[i] < 1 || ways[i] > p->threads)
			return zerr_set(err, -EINVAL, "%u threads cannot share anything %u ways", p->threads, ways[i]);
	if (p->domain != ZEP_DOMAIN_NONE && p->qp_ways > 1)
		return zerr_set(err, -EINVAL, "a thread domain is for one thread: not with shared queue pairs");
	return check_nesting(p, err);
}

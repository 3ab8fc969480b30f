/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of mlx5 for UAR pages, uUARs and memory, see uarmodel.h. */
#include "common/endpoint/uarmodel.h"

#include <errno.h>
#include <stdlib.h>

#define UUARS_OF_PAGE 2u /* that software may use */
/* In rdma-core, providers/mlx5: if there are more static uUARs than these, some are of low latency. */
#define NOT_LOW_MAX 12u
#define UUARS_MAX 512

/* Table I of the paper; thread domains and parent domains are not in it. */
static const uint64_t bytes_of[ZEP_KINDS] = {
	[ZEP_CTX] = 256 << 10,
	[ZEP_PD] = 144,
	[ZEP_MR] = 144,
	[ZEP_CQ] = 9 << 10,
	[ZEP_QP] = 80 << 10,
};

struct context {
	uint64_t first_page;
	unsigned static_pages, dynamic_pages;
	unsigned next_low, next_medium; /* uUARs */
	struct zep_place last_td;
	bool half; /* the last page for thread domains has room for one more */
};

struct object { /* everything else */
	struct context *ctx;
	struct zep_place place;
	bool placed; /* thread domains, and parent domains with one */
};

static int parse(const char *text, const char *name, unsigned preset, unsigned least, unsigned *value, struct zerr *err)
{
	char *end;
	long v = preset;
	if (text) {
		errno = 0;
		v = strtol(text, &end, 10);
		if (errno || end == text || *end || v < (long)least || v > UUARS_MAX)
			return zerr_set(err, -EINVAL, "%s is '%.40s', not %u to %d", name, text, least, UUARS_MAX);
	}
	*value = (unsigned)v;
	return 0;
}

int uarmodel_init(struct uarmodel *m, const char *total_uuars, const char *low_uuars, struct zerr *err)
{
	*m = (struct uarmodel){.made = 0};
	int rc = parse(total_uuars, "MLX5_TOTAL_UUARS", UARMODEL_UUARS, 1, &m->uuars, err);
	if (rc == 0)
		rc = parse(low_uuars, "MLX5_NUM_LOW_LAT_UUARS", UARMODEL_LOW, 0, &m->low, err);
	if (rc < 0)
		return rc;
	m->uuars += m->uuars % UUARS_OF_PAGE;
	if (m->uuars > NOT_LOW_MAX && m->low < m->uuars - NOT_LOW_MAX)
		m->low = m->uuars - NOT_LOW_MAX;
	if (m->low >= m->uuars)
		return zerr_set(err, -EINVAL, "%u of %u uUARs of low latency: all but one at most", m->low, m->uuars);
	return 0;
}

static int take_pages(struct uarmodel *m, unsigned n, uint64_t *first, struct zerr *err)
{
	if (m->pages + n > UARMODEL_DEVICE_PAGES)
		return zerr_set(err, -ENOMEM, "the device has no more than %d UAR pages", UARMODEL_DEVICE_PAGES);
	*first = m->made;
	m->made += n;
	m->pages += n;
	return 0;
}

static int open_ctx(void *to, void **ctx, struct zerr *err)
{
	struct uarmodel *m = to;
	struct context *c = calloc(1, sizeof(*c));
	if (!c)
		return zerr_set(err, -ENOMEM, "out of memory");
	c->static_pages = m->uuars / UUARS_OF_PAGE;
	c->next_low = m->uuars - m->low;
	c->next_medium = 1;
	int rc = take_pages(m, c->static_pages, &c->first_page, err);
	if (rc < 0) {
		free(c);
		return rc;
	}
	m->bytes += bytes_of[ZEP_CTX];
	*ctx = c;
	return 0;
}

static int make(struct uarmodel *m, enum zep_kind kind, struct context *ctx, struct object **o, struct zerr *err)
{
	*o = calloc(1, sizeof(**o));
	if (!*o)
		return zerr_set(err, -ENOMEM, "out of memory");
	(*o)->ctx = ctx;
	m->bytes += bytes_of[kind];
	return 0;
}

static int alloc_pd(void *to, void *ctx, void **pd, struct zerr *err)
{
	return make(to, ZEP_PD, ctx, (struct object **)pd, err);
}

static int alloc_td(void *to, void *ctx, void **td, struct zerr *err)
{
	struct context *c = ctx;
	struct object *o;
	int rc = 0;
	if (c->half) {
		c->last_td.uuar++;
	} else if (c->dynamic_pages == UARMODEL_DYNAMIC_PAGES) {
		return zerr_set(err, -ENOMEM, "a context has no more than %d UAR pages for thread domains",
			UARMODEL_DYNAMIC_PAGES);
	} else {
		rc = take_pages(to, 1, &c->last_td.page, err);
		if (rc < 0)
			return rc;
		c->last_td.uuar = c->last_td.page * UUARS_OF_PAGE;
		c->dynamic_pages++;
	}
	c->half = !c->half;
	rc = make(to, ZEP_TD, c, &o, err);
	if (rc == 0) {
		o->place = c->last_td;
		o->placed = true;
		*td = o;
	}
	return rc;
}

static int alloc_parent(void *to, void *ctx, void *pd, void *td, void **parent, struct zerr *err)
{
	const struct object *domain = td;
	struct object *o;
	(void)pd;
	int rc = make(to, ZEP_PARENT, ctx, &o, err);
	if (rc == 0) {
		o->place = domain->place;
		o->placed = true;
		*parent = o;
	}
	return rc;
}

static int reg_mr(void *to, void *pd, void *addr, size_t len, void **mr, struct zerr *err)
{
	(void)addr, (void)len;
	return make(to, ZEP_MR, ((struct object *)pd)->ctx, (struct object **)mr, err);
}

static int create_cq(void *to, void *ctx, unsigned depth, bool single, void **cq, struct zerr *err)
{
	(void)depth, (void)single;
	return make(to, ZEP_CQ, ctx, (struct object **)cq, err);
}

/* Appendix B: low latency one by one, then medium latency in turns; high latency where there is none of medium. */
static unsigned next_static(const struct uarmodel *m, struct context *c)
{
	const unsigned nmedium = m->uuars - m->low - 1;
	if (c->next_low < m->uuars)
		return c->next_low++;
	if (nmedium == 0)
		return 0;
	unsigned uuar = c->next_medium;
	c->next_medium = uuar == nmedium ? 1 : uuar + 1;
	return uuar;
}

static int create_qp(void *to, void *pd, void *cq, const struct zep_plan *plan, void **qp, struct zerr *err)
{
	const struct object *domain = pd;
	struct context *c = domain->ctx;
	struct object *o;
	(void)cq, (void)plan;
	int rc = make(to, ZEP_QP, c, &o, err);
	if (rc < 0)
		return rc;
	if (domain->placed) {
		o->place = domain->place;
	} else {
		unsigned uuar = next_static(to, c);
		o->place.page = c->first_page + uuar / UUARS_OF_PAGE;
		o->place.uuar = c->first_page * UUARS_OF_PAGE + uuar;
	}
	*qp = o;
	return 0;
}

/* The pages of a context for thread domains stay with it until it is closed, as the provider keeps them. */
static void destroy(void *to, enum zep_kind kind, void *object)
{
	struct uarmodel *m = to;
	if (kind == ZEP_CTX) {
		const struct context *c = object;
		m->pages -= c->static_pages + c->dynamic_pages;
	}
	m->bytes -= bytes_of[kind];
	free(object);
}

static int locate(void *to, void *qp, struct zep_place *place)
{
	(void)to;
	*place = ((struct object *)qp)->place;
	return 0;
}

static int allocated(void *to, uint64_t *pages, uint64_t *uuars)
{
	const struct uarmodel *m = to;
	*pages = m->pages;
	*uuars = m->pages * UUARS_OF_PAGE;
	return 0;
}

static int bytes(void *to, uint64_t *n)
{
	*n = ((struct uarmodel *)to)->bytes;
	return 0;
}

const struct zep_ops uarmodel_ops = {
	.open_ctx = open_ctx,
	.alloc_pd = alloc_pd,
	.alloc_td = alloc_td,
	.alloc_parent = alloc_parent,
	.reg_mr = reg_mr,
	.create_cq = create_cq,
	.create_qp = create_qp,
	.destroy = destroy,
	.locate = locate,
	.allocated = allocated,
	.bytes = bytes,
};

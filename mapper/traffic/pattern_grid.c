/* SPDX-License-Identifier: BSD-3-Clause */
/* Stencils and many-to-many, see pattern_grid.h. */
#include <errno.h>

#include "mapper/traffic/pattern_grid.h"

static uint32_t stencil_messages(const void *arg, uint32_t rank, struct traffic_message *out)
{
	const struct pattern *p = arg;
	uint32_t n = 0, stride = 1, rest = rank;

	for (uint32_t i = p->ndims; i-- > 0;) {
		uint32_t size = p->dims[i], at = rest % size;

		rest /= size;
		if (size > 1 && (at > 0 || p->periodic))
			out[n++] = (struct traffic_message){at ? rank - stride : rank + (size - 1) * stride, 1};
		if (size > 1 && (at < size - 1 || p->periodic))
			out[n++] =
				(struct traffic_message){at < size - 1 ? rank + stride : rank - (size - 1) * stride, 1};
		stride *= size;
	}
	return n;
}

static uint32_t m2m_messages(const void *arg, uint32_t rank, struct traffic_message *out)
{
	const struct pattern *p = arg;
	uint32_t size = p->dims[1], stride = p->dims[2], at = rank / stride % size;
	uint32_t first = rank - at * stride, n = 0;

	for (uint32_t i = 0; i < size; i++) {
		out[n] = (struct traffic_message){first + i * stride, 1};
		n += i != at;
	}
	return n;
}

/* The largest divisor of n that is at most its k-th root. */
static uint32_t divisor_below_root(uint32_t n, unsigned k)
{
	uint32_t best = 1;

	for (uint64_t d = 1; d <= n; d++) {
		uint64_t power = 1;

		for (unsigned i = 0; i < k; i++)
			power = power > n ? power : power * d;
		if (power > n)
			break;
		if (n % d == 0)
			best = (uint32_t)d;
	}
	return best;
}

/* Chooses dimensions that were not given: the paper's inner ones if at least one plane of them fits (ranks beyond whole
 * planes stay idle). Otherwise the grid is as near to a cube as the number of ranks allows. */
static int grid_dims(struct pattern *p, struct spec *spec, uint32_t ranks, const uint32_t *inner, struct zerr *err)
{
	const char *value = spec->words[0].value;
	uint32_t plane = 1, left = ranks;
	unsigned n;
	int rc = spec_dims(spec, value, p->dims, p->ndims, &n, err);

	if (rc)
		return rc;
	if (value && n != p->ndims)
		return zerr_set(err, -EINVAL, "%s: %s needs %u dimensions", spec->where, p->ops->name, p->ndims);
	if (!value && inner) {
		for (unsigned i = 1; i < p->ndims; i++)
			plane *= p->dims[i] = inner[i];
		p->dims[0] = ranks / plane;
	}
	if (!value && (!inner || !p->dims[0])) {
		for (unsigned i = p->ndims - 1; i > 0; i--) {
			p->dims[i] = divisor_below_root(left, i + 1);
			left /= p->dims[i];
		}
		p->dims[0] = left;
	}
	p->source.ranks = 1;
	for (unsigned i = 0; i < p->ndims; i++)
		p->source.ranks *= p->dims[i];
	return 0;
}

static int stencil_create(struct pattern *p, struct spec *spec, uint32_t ranks, const uint32_t *inner, uint64_t bytes,
	struct zerr *err)
{
	static const char *const choices[] = {"no", "yes", NULL};
	int rc = spec_choice(spec, "periodic", choices, 1, &p->periodic, err);

	if (!rc)
		rc = spec_u64(spec, "bytes", bytes, 1, 1ull << 40, &p->bytes, err);
	p->source.degree = 2 * p->ndims;
	p->source.messages = stencil_messages;
	return rc ? rc : grid_dims(p, spec, ranks, inner, err);
}

static int stencil2d_create(struct pattern *p, struct spec *spec, uint32_t ranks, struct zerr *err)
{
	p->ndims = 2;
	return stencil_create(p, spec, ranks, NULL, 64 << 10, err);
}

static int stencil4d_create(struct pattern *p, struct spec *spec, uint32_t ranks, struct zerr *err)
{
	static const uint32_t inner[4] = {0, 48, 48, 48};

	p->ndims = 4;
	return stencil_create(p, spec, ranks, inner, 2048 << 10, err);
}

static int m2m_create(struct pattern *p, struct spec *spec, uint32_t ranks, struct zerr *err)
{
	static const uint32_t inner[3] = {0, 128, 384};
	int rc = spec_u64(spec, "bytes", 100 << 10, 1, 1ull << 40, &p->bytes, err);

	p->ndims = 3;
	if (!rc)
		rc = grid_dims(p, spec, ranks, inner, err);
	p->source.degree = rc ? 0 : p->dims[1]; /* one more than is sent, because m2m_messages() writes ahead */
	p->source.messages = m2m_messages;
	return rc;
}

const struct pattern_ops pattern_grid_2d = {
	.name = "2d",
	.title = "2D Stencil",
	.help = "2d[:XxY] periodic:yes bytes:64K; 4 neighbours",
	.create = stencil2d_create,
};

const struct pattern_ops pattern_grid_4d = {
	.name = "4d",
	.title = "4D Stencil",
	.help = "4d[:XxYxZxW] periodic:yes bytes:2M; 8 neighbours; else Xx48x48x48",
	.create = stencil4d_create,
};

const struct pattern_ops pattern_grid_m2m = {
	.name = "m2m",
	.title = "Many to many",
	.help = "m2m[:XxYxZ] bytes:100K; all-to-all along Y; else Xx128x384",
	.create = m2m_create,
};

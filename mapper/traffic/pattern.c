/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of patterns, and the creation of a pattern. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/traffic/graph.h"
#include "mapper/traffic/pattern.h"
#include "mapper/traffic/pattern_graph.h"
#include "mapper/traffic/pattern_grid.h"
#include "mapper/traffic/pattern_random.h"

const struct pattern_ops *const pattern_table[] = {&pattern_random_umesh, &pattern_grid_2d, &pattern_grid_4d,
	&pattern_grid_m2m, &pattern_random_spread, &pattern_graph, NULL};

static const struct pattern_ops *pattern_find(const char *name)
{
	for (const struct pattern_ops *const *p = pattern_table; *p; p++)
		if (!strcmp((*p)->name, name))
			return *p;
	return NULL;
}

int pattern_wants(struct spec *spec, uint64_t *ranks, struct zerr *err)
{
	const struct pattern_ops *ops = pattern_find(spec->words[0].key);
	const char *value = spec->words[0].value;
	uint32_t dims[4];
	unsigned n;
	int rc;

	*ranks = 0;
	if (!ops)
		return zerr_set(err, -EINVAL, "%s: \"%s\" is no pattern", spec->where, spec->words[0].key);
	if (ops == &pattern_graph && (!value || !*value))
		return zerr_set(err, -EINVAL, "%s: graph: which file?", spec->where);
	if (ops == &pattern_graph)
		return graph_peek(value, ranks, err);
	if (!value)
		return 0;
	if (ops == &pattern_random_umesh || ops == &pattern_random_spread)
		return zerr_set(err, -EINVAL, "%s: %s has no dimensions; say ranks:%s", spec->where, ops->name, value);
	rc = spec_dims(spec, value, dims, 4, &n, err);
	if (rc)
		return rc;
	*ranks = 1;
	for (unsigned i = 0; i < n; i++) {
		*ranks *= dims[i];
		if (*ranks > UINT32_MAX)
			return zerr_set(err, -EINVAL, "%s: more than 2^32 ranks", spec->where);
	}
	return 0;
}

int pattern_create(struct spec *spec, uint32_t ranks, uint64_t seed, struct pattern **out, struct zerr *err)
{
	const struct pattern_ops *ops = pattern_find(spec->words[0].key);
	struct pattern *p = calloc(1, sizeof(*p));
	int rc;

	*out = NULL;
	if (!p)
		return zerr_set(err, -ENOMEM, "not enough memory");
	p->ops = ops;
	p->source.ranks = ranks;
	p->source.arg = p;
	p->seed = seed;
	rc = spec_u64(spec, "seed", seed, 0, UINT64_MAX, &p->seed, err);
	if (!rc)
		rc = ops->create(p, spec, ranks, err);
	if (!rc && p->bytes)
		p->source.unit = p->bytes;
	if (rc) {
		pattern_destroy(p);
		return rc;
	}
	*out = p;
	return 0;
}

void pattern_destroy(struct pattern *p)
{
	if (!p)
		return;
	pattern_graph_destroy(p->graph);
	free(p);
}

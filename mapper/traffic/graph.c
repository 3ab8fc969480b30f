/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads communication graphs of any format. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/traffic/graph.h"
#include "mapper/traffic/graph_text.h"
#include "common/graph/graph_scan.h"
#include "common/graph/graph_load.h"

/* Was anything recorded in the phase? */
static bool has_phase(const struct zgraph *g, int64_t phase)
{
	for (size_t i = 0; i < g->nlayers; i++)
		if (g->layers[i].phase == phase)
			return true;
	for (size_t i = 0; i < g->ncalls; i++)
		if (g->calls[i].phase == phase)
			return true;
	return false;
}

static int recorded_load(struct zgraph **out, const char *path, const struct zgraph_select *select, struct zerr *err)
{
	int rc = zgraph_load(out, path, select, err);

	if (!rc && select && select->phase >= 0 && !has_phase(*out, select->phase)) {
		rc = zerr_set(err, -EINVAL, "%s: there is no phase %lld in it", path, (long long)select->phase);
		zgraph_destroy(*out);
		*out = NULL;
	}
	return rc;
}

int graph_load(struct zgraph **out, const char *path, const struct zgraph_select *select, struct zerr *err)
{
	int rc = zgraph_scan_probe(path, err);

	*out = NULL;
	if (rc < 0)
		return rc;
	if (rc)
		return recorded_load(out, path, select, err);
	rc = graph_text_read(out, path, select && select->keep_self, err);
	if (!rc && select &&
		((select->phase >= 0 && select->phase != 1) ||
			(select->classes && !(select->classes & 1u << ZGRAPH_P2P)))) {
		zgraph_destroy(*out);
		*out = NULL;
		rc = zerr_set(err, -EINVAL, "%s: has phase 1 and point-to-point only, as every file of its format",
			path);
	}
	return rc;
}

static int peek_header(void *ctx, const struct zgraph_header *h, struct zerr *err)
{
	(void)err;
	*(uint64_t *)ctx = h->ranks;
	return 1;
}

int graph_peek(const char *path, uint64_t *ranks, struct zerr *err)
{
	static const struct zgraph_visitor visit = {.header = peek_header};
	int rc = zgraph_scan_probe(path, err);

	*ranks = 0;
	if (rc == 0)
		return graph_text_peek(path, ranks, err);
	if (rc > 0)
		rc = zgraph_scan(path, &visit, ranks, err);
	return rc > 0 ? 0 : rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads METIS and Matrix Market files. Every line is checked; an error names file and line. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "mapper/traffic/graph_text.h"
#include "common/base/lines.h"

struct reader {
	FILE *f;
	const char *path;
	char *line, *at;
	size_t cap;
	unsigned long number;
	struct zerr *err;
	uint64_t ranks, entries; /* entries: the number in the header */
	bool market, symmetric, weights, sizes;
	unsigned constraints; /* METIS: weights of a vertex */
	unsigned long *lines; /* METIS: [ranks], the line of each vertex */
	struct zgraph_edge *edges;
	size_t n, edges_cap;
};

static int reader_fail(struct reader *r, const char *why)
{
	return zerr_set(r->err, -EINVAL, "%s:%lu: %s", r->path, r->number, why);
}

/* Reads the next line that is no comment. Returns 1; 0 at the end; -EIO. */
static int line_next(struct reader *r)
{
	for (;;) {
		ssize_t len = getline(&r->line, &r->cap, r->f);

		if (len < 0)
			return ferror(r->f) ? zerr_set(r->err, -EIO, "%s: cannot be read", r->path) : 0;
		r->number++;
		r->at = r->line;
		if (strlen(r->line) != (size_t)len) /* the rest of the line would go unseen */
			return reader_fail(r, "a zero byte: this is no text");
		if (*r->line != '%')
			return 1;
	}
}

static bool line_empty(struct reader *r)
{
	r->at += strspn(r->at, " \t\r\n");
	return !*r->at;
}

static int number_next(struct reader *r, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;

	r->at += strspn(r->at, " \t");
	if (!isdigit((unsigned char)*r->at))
		return -EINVAL;
	errno = 0;
	*out = strtoull(r->at, &end, 10);
	if (errno || (*end && !isspace((unsigned char)*end)) || *out < min || *out > max)
		return -EINVAL;
	r->at = end;
	return 0;
}

static int edge_add(struct reader *r, uint64_t src, uint64_t dst, uint64_t weight)
{
	if (!weight)
		return 0;
	if (r->n == r->edges_cap) {
		size_t cap = r->edges_cap ? 2 * r->edges_cap : 4096;
		struct zgraph_edge *more = realloc(r->edges, cap * sizeof(*more));

		if (!more)
			return zerr_set(r->err, -ENOMEM, "%s: not enough memory", r->path);
		r->edges = more;
		r->edges_cap = cap;
	}
	r->edges[r->n++] = (struct zgraph_edge){(uint32_t)src, (uint32_t)dst, weight, 1};
	return 0;
}

/* --- headers --- */

static int metis_header(struct reader *r)
{
	uint64_t format = 0, constraints = 1;

	if (number_next(r, 1, ZGRAPH_RANKS_MAX, &r->ranks) || number_next(r, 0, UINT64_MAX / 4, &r->entries))
		return reader_fail(r, "this is no communication graph: no recording (a program writes one with "
				      "ZIPPER_PROFILE=FILE, see "
				      "libzipper(7)), and no METIS or Matrix Market file");
	if (!line_empty(r) && number_next(r, 0, 111, &format))
		return reader_fail(r,
			"the third number of a METIS header is 0 or 1 digits: sizes, weights, edge weights");
	if (format % 10 > 1 || format / 10 % 10 > 1)
		return reader_fail(r,
			"the third number of a METIS header is 0 or 1 digits: sizes, weights, edge weights");
	if (!line_empty(r) && number_next(r, 1, 64, &constraints))
		return reader_fail(r, "the fourth number of a METIS header is the number of weights of a vertex");
	if (!line_empty(r))
		return reader_fail(r, "more than four numbers in a METIS header");
	r->weights = format % 10;
	r->constraints = format / 10 % 10 ? (unsigned)constraints : 0;
	r->sizes = format / 100;
	return 0;
}

static int market_header(struct reader *r)
{
	char object[16], format[16], field[16], symmetry[20];
	uint64_t columns;
	int rc;

	if (sscanf(r->at, "%%%%MatrixMarket %15s %15s %15s %19s", object, format, field, symmetry) != 4 ||
		strcasecmp(object, "matrix") || strcasecmp(format, "coordinate"))
		return reader_fail(r, "only \"matrix coordinate\" is a graph");
	r->weights = strcasecmp(field, "pattern");
	r->symmetric = strcasecmp(symmetry, "general");
	if ((r->symmetric && strcasecmp(symmetry, "symmetric")) ||
		(r->weights && strcasecmp(field, "real") && strcasecmp(field, "double") &&
			strcasecmp(field, "integer")))
		return reader_fail(r, "only real, integer or pattern, and general or symmetric, can be traffic");
	do {
		rc = line_next(r);
		if (rc < 0)
			return rc;
	} while (rc && line_empty(r));
	if (!rc || number_next(r, 1, ZGRAPH_RANKS_MAX, &r->ranks) || number_next(r, r->ranks, r->ranks, &columns) ||
		number_next(r, 0, UINT64_MAX / 4, &r->entries) || !line_empty(r))
		return reader_fail(r, "not the size of a square matrix (rows, columns, entries)");
	return 0;
}

/* Opens the file and reads its header. */
static int reader_open(struct reader *r, const char *path, struct zerr *err)
{
	ssize_t len;

	*r = (struct reader){.path = path, .err = err};
	r->f = fopen(path, "r");
	if (!r->f)
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	len = getline(&r->line, &r->cap, r->f);
	if (len < 0)
		return zerr_set(err, -EINVAL, "%s:1: empty file", path);
	r->number = 1;
	if (strlen(r->line) != (size_t)len)
		return reader_fail(r, "a zero byte: this is no text");
	r->at = zlines_skip_mark(r->line);
	r->market = !strncmp(r->at, "%%MatrixMarket", 14);
	if (r->market)
		return market_header(r);
	if (*r->at == '%') {
		int rc = line_next(r);

		if (rc <= 0)
			return rc ? rc : reader_fail(r, "no header");
	}
	return metis_header(r);
}

static void reader_close(struct reader *r)
{
	if (r->f)
		fclose(r->f);
	free(r->line);
	free(r->lines);
	free(r->edges);
}

/* --- bodies --- */

static int metis_body(struct reader *r)
{
	uint64_t ends = 0, v, skip;
	int rc;

	r->lines = malloc(r->ranks * sizeof(*r->lines));
	if (!r->lines)
		return zerr_set(r->err, -ENOMEM, "%s: not enough memory", r->path);
	for (uint32_t u = 0; u < r->ranks; u++) {
		rc = line_next(r);
		if (rc <= 0)
			return rc ? rc : reader_fail(r, "the file ends before the last vertex");
		r->lines[u] = r->number;
		for (unsigned i = 0; i < r->sizes + r->constraints; i++)
			if (number_next(r, 0, UINT64_MAX, &skip))
				return reader_fail(r, "a size or weight of the vertex is missing");
		while (!line_empty(r)) {
			uint64_t weight = 1;

			if (number_next(r, 1, r->ranks, &v))
				return reader_fail(r, "not a vertex of the graph");
			if (v == u + 1)
				return reader_fail(r, "an edge from a vertex to itself");
			if (r->weights && number_next(r, 0, UINT64_MAX / 2, &weight))
				return reader_fail(r, "not a weight of an edge");
			rc = edge_add(r, u, v - 1, weight);
			if (rc)
				return rc;
			ends++;
		}
	}
	while ((rc = line_next(r)) > 0)
		if (!line_empty(r))
			return reader_fail(r, "more vertices than the header says");
	if (rc)
		return rc;
	if (ends != 2 * r->entries)
		return reader_fail(r, "the number of edges is not that of the header");
	return 0;
}

/* In METIS' format each edge stands at both of its ends, with one weight. Rows ascend, so the ends of an edge are met
 * in the same order from either side. */
static int metis_check(const struct reader *r, const struct zgraph *g)
{
	uint64_t *next = malloc(g->ranks * sizeof(*next));
	int rc = 0;

	if (!next)
		return zerr_set(r->err, -ENOMEM, "%s: not enough memory", r->path);
	memcpy(next, g->off, g->ranks * sizeof(*next));
	for (uint32_t u = 0; u < g->ranks && !rc; u++)
		for (uint64_t e = g->off[u]; e < g->off[u + 1] && !rc; e++) {
			uint32_t v = g->peer[e];
			uint64_t back = next[v]++;

			if (back == g->off[v + 1] || g->peer[back] > u)
				rc = zerr_set(r->err, -EINVAL,
					"%s:%lu: vertex %u has an edge to %u, but %u has none back", r->path,
					r->lines[u], u + 1, v + 1, v + 1);
			else if (g->peer[back] < u)
				rc = zerr_set(r->err, -EINVAL,
					"%s:%lu: vertex %u has an edge to %u, but %u has none back", r->path,
					r->lines[v], v + 1, g->peer[back] + 1, g->peer[back] + 1);
			else if (g->bytes[back] != g->bytes[e])
				rc = zerr_set(r->err, -EINVAL,
					"%s:%lu: the edge between vertices %u and %u has another weight at each end",
					r->path, r->lines[v > u ? v : u], u + 1, v + 1);
		}
	free(next);
	return rc;
}

static int market_weight(struct reader *r, uint64_t *units)
{
	char *end;
	double v;

	*units = 1;
	if (!r->weights || !number_next(r, 0, UINT64_MAX, units)) /* whole numbers are exact */
		return 0;
	v = strtod(r->at, &end);
	if (end == r->at || !(v >= 0) || v > 0x1p62)
		return reader_fail(r, "not a weight (a number from 0 to 2^62)");
	r->at = end;
	*units = (uint64_t)llround(v);
	return v > 0 && !*units ? reader_fail(r, "a weight that is less than half a byte") : 0;
}

static int market_body(struct reader *r)
{
	uint64_t entries = 0, i, j, units;
	int rc;

	while ((rc = line_next(r)) > 0) {
		if (line_empty(r))
			continue;
		if (number_next(r, 1, r->ranks, &i) || number_next(r, 1, r->ranks, &j))
			return reader_fail(r, "not a row and a column of the matrix");
		rc = market_weight(r, &units);
		if (rc)
			return rc;
		if (!line_empty(r))
			return reader_fail(r, "something behind the entry");
		if (++entries > r->entries)
			return reader_fail(r, "more entries than the header says");
		rc = edge_add(r, i - 1, j - 1, units);
		if (!rc && r->symmetric && i != j)
			rc = edge_add(r, j - 1, i - 1, units);
		if (rc)
			return rc;
	}
	if (rc)
		return rc;
	return entries < r->entries ? reader_fail(r, "fewer entries than the header says") : 0;
}

/* --- the graph --- */

int graph_text_read(struct zgraph **out, const char *path, bool keep_self, struct zerr *err)
{
	struct reader r = {0};
	int rc = reader_open(&r, path, err);

	*out = NULL;
	if (!rc)
		rc = r.market ? market_body(&r) : metis_body(&r);
	if (!rc) {
		rc = zgraph_build(out, (uint32_t)r.ranks, r.edges, r.n, keep_self, err);
		if (rc)
			zerr_prefix(err, rc, "%s", path);
	}
	if (!rc && !r.market) {
		rc = metis_check(&r, *out);
		if (rc) {
			zgraph_destroy(*out);
			*out = NULL;
		}
	}
	reader_close(&r);
	return rc;
}

int graph_text_peek(const char *path, uint64_t *ranks, struct zerr *err)
{
	struct reader r;
	int rc = reader_open(&r, path, err);

	*ranks = r.ranks;
	reader_close(&r);
	return rc;
}

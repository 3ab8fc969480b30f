/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the report of "zipmap show", see show_report.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/traffic/graph_undirected.h"
#include "common/control/ctl.h"
#include "mapper/draw/show_report.h"
#include "mapper/draw/show_split.h"
#include "mapper/draw/show_time.h"

void show_report_edges(FILE *f, const struct zgraph *g)
{
	for (uint32_t r = 0; r < g->ranks; r++)
		for (uint64_t i = g->off[r]; i < g->off[r + 1]; i++)
			fprintf(f, "%" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 "\n", r, g->peer[i], g->bytes[i],
				g->messages[i]);
}

static void report_layers(FILE *f, const struct zgraph *g)
{
	fprintf(f, "%-10s %-10s %12s %20s %16s %12s %16s\n", "phase", "class", "pairs", "bytes", "messages",
		"mean bytes", "bytes to itself");
	for (size_t i = 0; i < g->nlayers; i++) {
		const struct zgraph_layer *l = &g->layers[i];

		fprintf(f, "%-10" PRIu32 " %-10s %12" PRIu64 " %20" PRIu64 " %16" PRIu64 " %12.0f %16" PRIu64 "\n",
			l->phase, zgraph_class_names[l->class], l->edges, l->bytes, l->messages,
			(double)l->bytes / (double)l->messages, l->self_bytes);
	}
}

/* --- heaviest pairs --- */

struct heavy {
	uint32_t from, to;
	uint64_t bytes, messages;
};

static bool heavier(const struct heavy *a, const struct heavy *b, bool messages)
{
	uint64_t x = messages ? a->messages : a->bytes, y = messages ? b->messages : b->bytes;

	if (x != y)
		return x > y;
	return a->from != b->from ? a->from < b->from : a->to < b->to;
}

/* Moves element i of a heap to where it belongs. The root is the lightest. */
static void sift(struct heavy *h, size_t n, size_t i, bool messages)
{
	for (;;) {
		size_t least = i;

		for (size_t c = 2 * i + 1; c < n && c < 2 * i + 3; c++)
			if (heavier(&h[least], &h[c], messages))
				least = c;
		if (least == i)
			return;
		struct heavy t = h[i];
		h[i] = h[least];
		h[least] = t;
		i = least;
	}
}

static int report_heaviest(FILE *f, const struct zgraph *g, const struct show_options *o, struct zerr *err)
{
	size_t top = o->top < g->edges ? o->top : (size_t)g->edges, n = 0;
	struct heavy *h = malloc((top + 1) * sizeof(*h));

	if (!h)
		return zerr_set(err, -ENOMEM, "not enough memory");
	for (uint32_t r = 0; r < g->ranks && top; r++)
		for (uint64_t i = g->off[r]; i < g->off[r + 1]; i++) {
			struct heavy e = {r, g->peer[i], g->bytes[i], g->messages[i]};

			if (n < top) {
				h[n++] = e;
				for (size_t k = n == top ? n / 2 : 0; k-- > 0;)
					sift(h, n, k, o->messages);
			} else if (heavier(&e, &h[0], o->messages)) {
				h[0] = e;
				sift(h, n, 0, o->messages);
			}
		}
	/* the lightest goes to the end again and again, so that the heaviest comes first */
	for (size_t k = n; k > 1; k--) {
		struct heavy t = h[0];
		h[0] = h[k - 1];
		h[k - 1] = t;
		sift(h, k - 1, 0, o->messages);
	}
	if (n)
		fprintf(f, "\n%-10s %-10s %12s %20s %16s\n", "from", "to", "share", "bytes", "messages");
	for (size_t k = 0; k < n; k++) {
		double weight = (double)(o->messages ? h[k].messages : h[k].bytes);
		double all = (double)(o->messages ? g->total_messages : g->total_bytes);

		fprintf(f, "%-10" PRIu32 " %-10" PRIu32 " %11.2f%% %20" PRIu64 " %16" PRIu64 "\n", h[k].from, h[k].to,
			all > 0 ? 100 * weight / all : 0, h[k].bytes, h[k].messages);
	}
	free(h);
	return 0;
}

/* --- degrees --- */

static int u64_compare(const void *va, const void *vb)
{
	uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return (a > b) - (a < b);
}

static void report_distribution(FILE *f, const char *what, uint64_t *v, uint32_t n)
{
	double sum = 0;

	qsort(v, n, sizeof(*v), u64_compare);
	for (uint32_t i = 0; i < n; i++)
		sum += (double)v[i];
	fprintf(f, "%-34s %14" PRIu64 " %14" PRIu64 " %14" PRIu64 " %14.1f %14" PRIu64 " %14" PRIu64 "\n", what, v[0],
		v[(n - 1) / 4], v[(n - 1) / 2], sum / n, v[(n - 1) - (n - 1) / 4], v[n - 1]);
}

/* One number for each rank: from its row of sent messages, or from its row of both directions. */
enum measure { RECEIVERS, PARTNERS, LONG_PARTNERS, SENT, EXCHANGED };

static uint64_t measure_of(enum measure m, const struct zgraph *g, uint32_t rank, uint64_t cutoff)
{
	uint64_t n = 0;

	for (uint64_t i = g->off[rank]; i < g->off[rank + 1]; i++)
		n += m == SENT || m == EXCHANGED ? g->bytes[i]
						 : m != LONG_PARTNERS || g->bytes[i] / g->messages[i] >= cutoff;
	return n;
}

static int report_degrees(FILE *f, const struct zgraph *g, const struct show_options *o, struct zerr *err)
{
	static const char *const names[] = {"ranks that a rank sends to", "partners of a rank (TDC)", NULL,
		"bytes that a rank sends", "bytes that a rank exchanges"};
	uint64_t *v = malloc(g->ranks * sizeof(*v));
	struct zgraph *both = NULL;
	int rc = v ? graph_undirected(&both, g, err) : zerr_set(err, -ENOMEM, "not enough memory");

	if (rc)
		goto out;
	fprintf(f, "\n%-34s %14s %14s %14s %14s %14s %14s\n", "", "min", "quartile", "median", "average", "quartile",
		"max");
	for (enum measure m = RECEIVERS; m <= EXCHANGED; m++) {
		char name[64];

		for (uint32_t r = 0; r < g->ranks; r++)
			v[r] = measure_of(m, m == RECEIVERS || m == SENT ? g : both, r, o->cutoff);
		snprintf(name, sizeof(name), "... by messages >= %" PRIu64 " bytes", o->cutoff);
		report_distribution(f, names[m] ? names[m] : name, v, g->ranks);
	}
out:
	zgraph_destroy(both);
	free(v);
	return rc;
}

static void report_calls(FILE *f, const struct zgraph *g)
{
	if (!g->ncalls)
		return;
	fprintf(f, "\n%-10s %-22s %12s %20s %16s\n", "phase", "calls of", "size", "bytes", "calls");
	for (size_t i = 0; i < g->ncalls; i++) {
		const struct zgraph_call *c = &g->calls[i];

		fprintf(f, "%-10" PRIu32 " %-22s %12" PRIu32 " %20" PRIu64 " %16" PRIu64 "\n", c->phase,
			zgraph_kind_names[c->kind], c->size, c->bytes, c->calls);
	}
}

int show_report(FILE *f, const char *name, const struct zgraph *g, const struct show_options *o, struct zerr *err)
{
	fprintf(f, "%s: %" PRIu32 " ranks, %" PRIu64 " pairs, %" PRIu64 " bytes in %" PRIu64 " messages", name,
		g->ranks, g->edges, g->total_bytes, g->total_messages);
	fprintf(f, g->title[0] ? "; recorded of %s\n\n" : "\n\n", g->title);
	report_layers(f, g);
	int rc = report_heaviest(f, g, o, err);
	if (!rc)
		rc = report_degrees(f, g, o, err);
	if (rc)
		return rc;
	report_calls(f, g);
	show_time_print(f, g);
	if (o->clusters || (g->ranks > 1 && g->ranks <= ZCTL_RANKS_MAX))
		rc = show_split_print(f, name, g, o->clusters ? o->clusters : "2", err);
	return rc;
}

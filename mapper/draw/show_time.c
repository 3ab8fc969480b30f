/* SPDX-License-Identifier: BSD-3-Clause */
/* Times as a table. See show_time.h. */
#include "mapper/draw/show_time.h"

#include <inttypes.h>
#include <stdlib.h>

#include "mapper/draw/amount.h"

#define NS 1e-9

static double total_run(const struct zgraph *g)
{
	return (double)g->span[ZGRAPH_SPAN_RUN].ns * NS;
}

static struct show_time time_of(const struct zgraph *g, enum zgraph_span span)
{
	const struct zgraph_total *t = &g->span[span];
	const double run = total_run(g), sum = (double)t->ns * NS;

	return (struct show_time){.name = zgraph_span_names[span],
		.calls = t->calls,
		.least = (double)t->least * NS,
		.mean = sum / g->ranks,
		.most = (double)t->most * NS,
		.share = run > 0 ? sum / run : 0};
}

/* The time in MPI has no entry of its own in the file. */
static struct show_time time_in_mpi(const struct zgraph *g)
{
	struct show_time mpi = {.name = "in MPI"};
	double sum = 0;

	for (int k = ZGRAPH_SPAN_MPI; k < ZGRAPH_SPANS; k++)
		mpi.calls += g->span[k].calls;
	for (uint32_t r = 0; r < g->ranks; r++) {
		const double s = (double)g->rank[r].mpi * NS;

		sum += s;
		mpi.least = r == 0 || s < mpi.least ? s : mpi.least;
		mpi.most = s > mpi.most ? s : mpi.most;
	}
	mpi.mean = sum / g->ranks;
	mpi.share = total_run(g) > 0 ? sum / total_run(g) : 0;
	return mpi;
}

void show_time_sums(const struct zgraph *g, struct show_time *run, struct show_time *mpi, struct show_time *bridge)
{
	*run = time_of(g, ZGRAPH_SPAN_RUN);
	*mpi = time_in_mpi(g);
	*bridge = time_of(g, ZGRAPH_SPAN_BRIDGE);
}

static int longer(const void *va, const void *vb)
{
	const struct show_time *a = va, *b = vb;

	return (a->share < b->share) - (a->share > b->share);
}

int show_time_calls(const struct zgraph *g, struct show_time out[ZGRAPH_SPANS])
{
	int n = 0;

	for (int k = ZGRAPH_SPAN_MPI; k < ZGRAPH_SPANS; k++)
		if (g->span[k].calls)
			out[n++] = time_of(g, (enum zgraph_span)k);
	qsort(out, (size_t)n, sizeof(*out), longer);
	return n;
}

static void row_print(FILE *f, const char *indent, const struct show_time *t)
{
	char least[32], mean[32], most[32];

	fprintf(f, "%s%-*s %16" PRIu64 " %12s %12s %12s %9.2f %%\n", indent, *indent ? 20 : 22, t->name, t->calls,
		amount_seconds(least, sizeof(least), t->least), amount_seconds(mean, sizeof(mean), t->mean),
		amount_seconds(most, sizeof(most), t->most), 100 * t->share);
}

/* The share of a rank's run that it spends in MPI. */
static double share_of(const struct zgraph_rank *r)
{
	return r->run ? 100 * (double)r->mpi / (double)r->run : 0;
}

static void sentence_print(FILE *f, const struct zgraph *g, const struct show_time *mpi, const struct show_time *bridge)
{
	uint32_t least = 0, most = 0;

	for (uint32_t r = 1; r < g->ranks; r++) {
		least = share_of(&g->rank[r]) < share_of(&g->rank[least]) ? r : least;
		most = share_of(&g->rank[r]) > share_of(&g->rank[most]) ? r : most;
	}
	fprintf(f, "\n%.1f %% of the run is in MPI: from %.1f %% on rank %" PRIu32 " to %.1f %% on rank %" PRIu32 "\n",
		100 * mpi->share, share_of(&g->rank[least]), least, share_of(&g->rank[most]), most);
	if (bridge->calls)
		fprintf(f, "%.1f %% of the run is waiting for other clusters\n", 100 * bridge->share);
}

void show_time_print(FILE *f, const struct zgraph *g)
{
	struct show_time run, mpi, bridge, call[ZGRAPH_SPANS];

	if (!g->rank || !g->span[ZGRAPH_SPAN_RUN].calls)
		return;
	show_time_sums(g, &run, &mpi, &bridge);
	const int n = show_time_calls(g, call);
	fprintf(f, "\n%-22s %16s %12s %12s %12s %11s\n", "time of a rank", "calls", "min", "mean", "max", "of the run");
	row_print(f, "", &run);
	row_print(f, "", &mpi);
	for (int i = 0; i < n; i++)
		row_print(f, "  ", &call[i]);
	if (bridge.calls) {
		bridge.name = "waiting for clusters";
		row_print(f, "", &bridge);
	}
	sentence_print(f, g, &mpi, &bridge);
}

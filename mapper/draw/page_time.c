/* SPDX-License-Identifier: BSD-3-Clause */
/* Times in the page: bars by kind of call, and columns by rank. See page_part.h. */
#include "mapper/draw/page_part.h"

#include <math.h>

#include "mapper/draw/amount.h"
#include "mapper/draw/show_time.h"
#include "mapper/draw/svg.h"

#define KINDS_SHOWN 12
#define ROW 22.0
#define NAMES 150.0 /* width of the names of the kinds */
#define VALUES 230.0
#define COLUMNS_MAX 250
#define COLUMNS_HEIGHT 160.0
#define AXIS 46.0

static const char *const colour_mpi = "#4a78b0", *const colour_bridge = "#cc3333", *const colour_rest = "#dfe6ee";

/* The mean of a rank as a bar, and a line from the least to the most. */
static void kind_draw(FILE *f, const struct show_time *t, double y, double scale)
{
	char mean[32], text[96];
	const double middle = y + ROW / 2;

	svg_text(f, NAMES - 8, middle + 4, 12, "end", t->name);
	svg_rectangle(f, NAMES, y + 4, fmax(t->mean * scale, 0.5), ROW - 8, colour_mpi, "none");
	svg_line(f, NAMES + t->least * scale, middle, NAMES + t->most * scale, middle, PAGE_INK, 1.5, NULL);
	svg_line(f, NAMES + t->least * scale, middle - 4, NAMES + t->least * scale, middle + 4, PAGE_INK, 1.5, NULL);
	svg_line(f, NAMES + t->most * scale, middle - 4, NAMES + t->most * scale, middle + 4, PAGE_INK, 1.5, NULL);
	snprintf(text, sizeof(text), "%s, %.1f %% of the run", amount_seconds(mean, sizeof(mean), t->mean),
		100 * t->share);
	svg_text(f, NAMES + t->most * scale + 8, middle + 4, 12, "start", text);
}

static void kinds_draw(FILE *f, const struct zgraph *g)
{
	struct show_time call[ZGRAPH_SPANS];
	int n = show_time_calls(g, call);
	double most = 0;

	n = n < KINDS_SHOWN ? n : KINDS_SHOWN;
	for (int i = 0; i < n; i++)
		most = fmax(most, call[i].most);
	if (most <= 0)
		return;
	fputs("<h3>In MPI, by kind of call</h3>\n<p>Bars: the mean of the ranks. Lines: from the rank with the least "
	      "to the rank with the most.</p>\n",
		f);
	svg_begin(f, PAGE_WIDTH, n * ROW);
	for (int i = 0; i < n; i++)
		kind_draw(f, &call[i], i * ROW, (PAGE_WIDTH - NAMES - VALUES) / most);
	svg_end(f);
}

static void axis_draw(FILE *f, uint32_t ranks)
{
	char text[32];

	for (int percent = 0; percent <= 100; percent += 25) {
		const double y = 8 + COLUMNS_HEIGHT * (100 - percent) / 100;

		svg_line(f, AXIS - 4, y, PAGE_WIDTH, y, "#cccccc", 0.6, NULL);
		snprintf(text, sizeof(text), "%d %%", percent);
		svg_text(f, AXIS - 8, y + 4, 11, "end", text);
	}
	svg_text(f, AXIS, COLUMNS_HEIGHT + 24, 11, "start", "rank 0");
	snprintf(text, sizeof(text), "rank %u", ranks - 1);
	svg_text(f, PAGE_WIDTH, COLUMNS_HEIGHT + 24, 11, "end", text);
}

static void column_draw(FILE *f, double x, double w, double mpi, double bridge)
{
	const double bottom = 8 + COLUMNS_HEIGHT, high = COLUMNS_HEIGHT * fmin(mpi, 1);
	const double red = COLUMNS_HEIGHT * fmin(bridge, 1);

	svg_rectangle(f, x, 8, w, COLUMNS_HEIGHT, colour_rest, "none");
	if (high > 0)
		svg_rectangle(f, x, bottom - high, w, high, colour_mpi, "none");
	if (red > 0)
		svg_rectangle(f, x, bottom - red, w, red, colour_bridge, "none");
}

/* A column for each rank, or for several. */
static void ranks_draw(FILE *f, const struct zgraph *g)
{
	const uint32_t block = (g->ranks + COLUMNS_MAX - 1) / COLUMNS_MAX, n = (g->ranks + block - 1) / block;
	const double w = (PAGE_WIDTH - AXIS) / n;

	fprintf(f,
		"<h3>Share of the run in MPI, by rank</h3>\n<p><span class=\"key\" style=\"background:%s\"></span> in "
		"MPI <span class=\"key\" style=\"background:%s\"></span> of it, waiting for other clusters "
		"<span class=\"key\" style=\"background:%s\"></span> outside of MPI",
		colour_mpi, colour_bridge, colour_rest);
	if (block > 1)
		fprintf(f, ". A column is %u ranks", block);
	fputs("</p>\n", f);
	svg_begin(f, PAGE_WIDTH, COLUMNS_HEIGHT + 32);
	for (uint32_t c = 0; c < n; c++) {
		double run = 0, mpi = 0, bridge = 0;

		for (uint32_t r = c * block; r < (c + 1) * block && r < g->ranks; r++) {
			run += (double)g->rank[r].run;
			mpi += (double)g->rank[r].mpi;
			bridge += (double)g->rank[r].bridge;
		}
		if (run > 0)
			column_draw(f, AXIS + c * w, w > 4 ? w - 1 : w, mpi / run, bridge / run);
	}
	axis_draw(f, g->ranks);
	svg_end(f);
}

void page_time(FILE *f, const struct zgraph *g)
{
	if (!g->rank || !g->span[ZGRAPH_SPAN_RUN].ns)
		return;
	fputs("<h2>Time</h2>\n", f);
	kinds_draw(f, g);
	ranks_draw(f, g);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The best map beside the simple layouts in the page. See page_part.h. */
#include "mapper/draw/page_part.h"

#include <inttypes.h>
#include <math.h>

#include "mapper/draw/amount.h"
#include "mapper/draw/map_draw.h"
#include "mapper/draw/svg.h"

#define ROW 34.0
#define NAMES 90.0
#define VALUES 160.0

static const struct {
	enum map_candidate which;
	const char *name;
} rows[] = {{MAP_FROM_PAIRS, "pairs"}, {MAP_FROM_BLOCK, "block"}, {MAP_RESULT, "best map"}};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static uint64_t bytes_of(const struct map_made *made)
{
	uint64_t sum = 0;

	for (int k = 0; k < MAP_KINDS; k++)
		sum += made->prediction.kind[k].bytes;
	return sum;
}

/* The bytes by their way, the bridged ones first. */
static void ways_draw(FILE *f, const struct map_made *made, double y)
{
	const double all = (double)bytes_of(made), width = PAGE_WIDTH - NAMES - VALUES;
	double x = NAMES;

	for (int k = MAP_KINDS; k-- > 0 && all > 0;) {
		const double w = width * (double)made->prediction.kind[k].bytes / all;

		if (w > 0)
			svg_rectangle(f, x, y + 6, w, ROW - 12, map_draw_colours[k], "none");
		x += w;
	}
}

static void row_draw(FILE *f, const char *name, const struct map_made *made, double y)
{
	char bytes[32], text[96];

	svg_text(f, NAMES - 8, y + ROW / 2 + 4, 12, "end", name);
	if (!made->layout.n) {
		svg_text(f, NAMES, y + ROW / 2 + 4, 12, "start", "does not fit");
		return;
	}
	ways_draw(f, made, y);
	snprintf(text, sizeof(text), "%s bridged",
		amount_bytes(bytes, sizeof(bytes), made->prediction.kind[MAP_BRIDGED].bytes));
	svg_text(f, PAGE_WIDTH - VALUES + 8, y + ROW / 2 + 4, 12, "start", text);
}

static void table_write(FILE *f, const struct map_make *m)
{
	char a[32], b[32], c[32], d[32], t[32];

	fputs("<table>\n<tr><th></th><th>bridged</th><th>messages</th><th>direct</th><th>between nodes</th><th>in "
	      "nodes</th><th>predicted time</th></tr>\n",
		f);
	for (size_t i = 0; i < ROWS; i++) {
		const struct map_made *made = &m->made[rows[i].which];
		const struct map_prediction *p = &made->prediction;

		if (!made->layout.n) {
			fprintf(f, "<tr><td>%s</td><td colspan=\"6\" class=\"text\">does not fit: ", rows[i].name);
			svg_escape(f, made->why.text);
			fputs("</td></tr>\n", f);
			continue;
		}
		fprintf(f,
			"<tr><td>%s</td><td>%s</td><td>%" PRIu64
			"</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>\n",
			rows[i].name, amount_bytes(a, sizeof(a), p->kind[MAP_BRIDGED].bytes),
			p->kind[MAP_BRIDGED].messages, amount_bytes(b, sizeof(b), p->kind[MAP_DIRECT].bytes),
			amount_bytes(c, sizeof(c), p->kind[MAP_NATIVE].bytes),
			amount_bytes(d, sizeof(d), p->kind[MAP_INSIDE].bytes),
			amount_seconds(t, sizeof(t), map_predict_seconds(p)));
	}
	fputs("</table>\n", f);
}

void page_maps(FILE *f, const struct map_make *m)
{
	static const char *const names[MAP_KINDS] = {"within nodes", "between nodes of a cluster",
		"direct, over a zipper node", "bridged by zipperd"};

	fputs("<h2>The best map beside the simple ones</h2>\n<p>", f);
	for (int k = MAP_KINDS; k-- > 0;)
		fprintf(f, "<span class=\"key\" style=\"background:%s\"></span> %s ", map_draw_colours[k], names[k]);
	fputs("</p>\n", f);
	svg_begin(f, PAGE_WIDTH, ROWS * ROW);
	for (size_t i = 0; i < ROWS; i++)
		row_draw(f, rows[i].name, &m->made[rows[i].which], (double)i * ROW);
	svg_end(f);
	table_write(f, m);
	fputs("<p>Pairs: equally many ranks in each cluster, in their order. Block: ranks fill the nodes in their "
	      "order, as "
	      "without a map. The time is an estimate for all messages of the run, if nothing overlaps: of the rank "
	      "with "
	      "most to do, and of the busiest port or zipper.</p>\n",
		f);
}

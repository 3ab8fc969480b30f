/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame of the page: its head, the numbers at its top, and the calls at its end. See page.h. */
#include "mapper/draw/page.h"

#include <errno.h>
#include <inttypes.h>

#include "mapper/draw/amount.h"
#include "mapper/draw/map_draw.h"
#include "mapper/draw/page_part.h"
#include "mapper/draw/show_time.h"
#include "mapper/draw/svg.h"

#define DRAWN_MAX 20000 /* ranks in the picture of the map */

static const char style[] =
	"body{font-family:sans-serif;color:" PAGE_INK
	";max-width:1040px;margin:24px auto;padding:0 16px;line-height:1.45}\n"
	"h1{margin:0 0 4px}h2{margin:36px 0 8px;border-bottom:1px solid #ddd}h3{margin:20px 0 4px}\n"
	".pale{color:" PAGE_PALE "}p{margin:6px 0}\n"
	".tiles{display:flex;flex-wrap:wrap;gap:12px;margin:18px 0}\n"
	".tile{border:1px solid #ddd;border-radius:6px;padding:10px 14px;min-width:130px}\n"
	".tile b{display:block;font-size:22px;font-weight:600}.tile span{color:" PAGE_PALE ";font-size:13px}\n"
	".key{display:inline-block;width:12px;height:12px;margin:0 2px 0 8px;vertical-align:-1px}\n"
	"table{border-collapse:collapse;margin:10px 0;font-size:14px}\n"
	"th,td{padding:3px 12px;text-align:right;border-bottom:1px solid #eee}td.text{text-align:left}\n"
	"th{color:" PAGE_PALE ";font-weight:normal}svg{display:block;max-width:100%;height:auto}\n"
	".wide{overflow-x:auto}.wide svg{max-width:none}\n";

static const char *title_of(const struct map_make *m)
{
	return m->o->title ? m->o->title : *m->traffic->title ? m->traffic->title : m->o->graph;
}

static void head_write(FILE *f, const struct map_make *m)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>", f);
	svg_escape(f, title_of(m));
	fprintf(f, ": communication</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
	svg_escape(f, title_of(m));
	fprintf(f, "</h1>\n<p class=\"pale\">%" PRIu32 " ranks; recorded in ", m->traffic->ranks);
	svg_escape(f, m->o->graph);
	if (m->o->phase >= 0)
		fprintf(f, ", phase %" PRId64, m->o->phase);
	fprintf(f, "; in %" PRIu32 " cluster%s", m->site.nclusters, m->site.nclusters == 1 ? "" : "s");
	if (m->o->hosts) {
		fputs(" of ", f);
		svg_escape(f, m->o->hosts);
	}
	fputs("</p>\n", f);
}

static void tile_write(FILE *f, const char *value, const char *name)
{
	fprintf(f, "<div class=\"tile\"><b>%s</b><span>%s</span></div>\n", value, name);
}

static bool is_timed(const struct zgraph *g)
{
	return g->rank && g->span[ZGRAPH_SPAN_RUN].ns;
}

static void tiles_write(FILE *f, const struct map_make *m)
{
	const struct zgraph *g = m->traffic;
	const struct map_prediction *p = &m->made[MAP_RESULT].prediction;
	struct show_time run, mpi, bridge;
	char text[64];

	fputs("<div class=\"tiles\">\n", f);
	if (is_timed(g)) {
		show_time_sums(g, &run, &mpi, &bridge);
		tile_write(f, amount_seconds(text, sizeof(text), run.most), "run time");
		snprintf(text, sizeof(text), "%.1f %%", 100 * mpi.share);
		tile_write(f, text, "of it in MPI");
		snprintf(text, sizeof(text), "%.1f %%", 100 * bridge.share);
		if (bridge.calls)
			tile_write(f, text, "waiting for other clusters");
	}
	tile_write(f, amount_bytes(text, sizeof(text), g->total_bytes), "sent");
	snprintf(text, sizeof(text), "%" PRIu64, g->total_messages);
	tile_write(f, text, "messages");
	snprintf(text, sizeof(text), "%" PRIu64, g->edges);
	tile_write(f, text, "pairs of ranks");
	snprintf(text, sizeof(text), "%.1f %%", amount_percent(p->kind[MAP_BRIDGED].bytes, g->total_bytes));
	tile_write(f, text, "of the bytes bridged, best map");
	fputs("</div>\n", f);
}

/* The predicted time of the best map, beside the run. */
static void answer_write(FILE *f, const struct map_make *m)
{
	const struct zgraph *g = m->traffic;
	const struct map_prediction *p = &m->made[MAP_RESULT].prediction;
	char bytes[32], messages[32], links[32];

	fprintf(f, "<p>With the best map, %s in %" PRIu64 " messages are bridged. ",
		amount_bytes(bytes, sizeof(bytes), p->kind[MAP_BRIDGED].bytes), p->kind[MAP_BRIDGED].messages);
	fprintf(f,
		"All messages of the run are predicted to take %s on the rank with most to do, and their bytes %s in ",
		amount_seconds(messages, sizeof(messages), p->messages_s),
		amount_seconds(links, sizeof(links), p->links_s));
	svg_escape(f, *p->busiest ? p->busiest : "the busiest link");
	if (is_timed(g))
		fprintf(f, ": together %.2g %% of the run",
			100 * map_predict_seconds(p) / ((double)g->span[ZGRAPH_SPAN_RUN].ns * 1e-9 / g->ranks));
	fputs(". The time that ranks wait for each other is not in it.</p>\n", f);
}

static int map_write(FILE *f, const struct map_make *m, struct zerr *err)
{
	int rc;

	fputs("<h2>The map</h2>\n", f);
	if (m->traffic->ranks > DRAWN_MAX) {
		fprintf(f, "<p>Too many ranks for a picture: more than %d.</p>\n", DRAWN_MAX);
		return 0;
	}
	fputs("<div class=\"wide\">\n", f);
	rc = map_draw(m, MAP_RESULT, title_of(m), f, err);
	fputs("</div>\n", f);
	return rc;
}

static void calls_write(FILE *f, const struct zgraph *g)
{
	char bytes[32];

	if (!g->ncalls)
		return;
	fputs("<h2>Collectives</h2>\n<p>Calls are summed over ranks.</p>\n<table>\n<tr><th>phase</th><th>calls "
	      "of</th><th>size</th><th>calls</th><th>bytes</th></tr>\n",
		f);
	for (size_t i = 0; i < g->ncalls; i++)
		fprintf(f,
			"<tr><td>%" PRIu32 "</td><td>%s</td><td>%" PRIu32 "</td><td>%" PRIu64 "</td><td>%s</td></tr>\n",
			g->calls[i].phase, zgraph_kind_names[g->calls[i].kind], g->calls[i].size, g->calls[i].calls,
			amount_bytes(bytes, sizeof(bytes), g->calls[i].bytes));
	fputs("</table>\n", f);
}

int page_write(FILE *f, const struct map_make *m, struct zerr *err)
{
	int rc;

	head_write(f, m);
	tiles_write(f, m);
	answer_write(f, m);
	page_time(f, m->traffic);
	rc = page_matrix(f, m->traffic);
	if (rc)
		return zerr_set(err, rc, "not enough memory");
	page_maps(f, m);
	page_crossings(f, m);
	rc = map_write(f, m, err);
	calls_write(f, m->traffic);
	fputs("</body>\n</html>\n", f);
	return rc;
}

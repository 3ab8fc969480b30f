/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of senders and receivers in the page. See page_part.h. */
#include "mapper/draw/page_part.h"

#include <math.h>

#include "mapper/draw/amount.h"
#include "mapper/draw/matrix.h"
#include "mapper/draw/svg.h"

#define BINS 128
#define SIDE 512.0 /* pixels */
#define LEFT 60.0
#define TOP 24.0
#define SCALE_X (LEFT + SIDE + 50)
#define SCALE_STEPS 64

/* Pale blue to dark blue to red, as in "zipmap show --matrix". at: 0 to 1. */
static const char *colour(double at, char text[8])
{
	static const struct {
		double at;
		int red, green, blue;
	} stops[] = {{0, 0xdb, 0xe9, 0xf6}, {0.35, 0x6b, 0xae, 0xd6}, {0.65, 0x08, 0x51, 0x9c},
		{0.85, 0xcb, 0x18, 0x1d}, {1, 0x67, 0x00, 0x0d}};
	int i = 1;

	while (i < 4 && at > stops[i].at)
		i++;
	const double t = fmin(fmax((at - stops[i - 1].at) / (stops[i].at - stops[i - 1].at), 0), 1);
	snprintf(text, 8, "#%02x%02x%02x", (unsigned)(stops[i - 1].red + t * (stops[i].red - stops[i - 1].red)) & 0xff,
		(unsigned)(stops[i - 1].green + t * (stops[i].green - stops[i - 1].green)) & 0xff,
		(unsigned)(stops[i - 1].blue + t * (stops[i].blue - stops[i - 1].blue)) & 0xff);
	return text;
}

/* The place of a value between the least one and the most, by its logarithm: 0 to 1. */
static double place(const struct matrix *m, double v)
{
	return m->most > m->least ? log(v / m->least) / log(m->most / m->least) : 0.5;
}

static void cells_draw(FILE *f, const struct matrix *m)
{
	const double w = SIDE / m->n;
	char text[8];

	for (unsigned i = 0; i < m->n; i++)
		for (unsigned j = 0; j < m->n; j++) {
			const double v = m->cell[(size_t)i * m->n + j];

			if (v > 0)
				fprintf(f, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n",
					LEFT + j * w, TOP + i * w, w, w, colour(place(m, v), text));
		}
	svg_rectangle(f, LEFT, TOP, SIDE, SIDE, "none", PAGE_PALE);
}

static void axes_draw(FILE *f, uint32_t ranks)
{
	char text[16];

	svg_text(f, LEFT + SIDE / 2, TOP - 8, 12, "middle", "receiving rank");
	fprintf(f,
		"<text transform=\"translate(%.1f %.1f) rotate(-90)\" font-size=\"12\" text-anchor=\"middle\">sending "
		"rank</text>\n",
		LEFT - 30, TOP + SIDE / 2);
	snprintf(text, sizeof(text), "%u", ranks - 1);
	svg_text(f, LEFT - 6, TOP + 10, 11, "end", "0");
	svg_text(f, LEFT - 6, TOP + SIDE, 11, "end", text);
	svg_text(f, LEFT, TOP + SIDE + 16, 11, "start", "0");
	svg_text(f, LEFT + SIDE, TOP + SIDE + 16, 11, "end", text);
}

static void scale_draw(FILE *f, const struct matrix *m)
{
	char text[32], rgb[8];

	for (int i = 0; i < SCALE_STEPS; i++)
		svg_rectangle(f, SCALE_X, TOP + SIDE * (SCALE_STEPS - 1 - i) / SCALE_STEPS, 20,
			SIDE / SCALE_STEPS + 0.5, colour((i + 0.5) / SCALE_STEPS, rgb), "none");
	svg_text(f, SCALE_X + 28, TOP + 10, 11, "start", amount_bytes(text, sizeof(text), (uint64_t)m->most));
	svg_text(f, SCALE_X + 28, TOP + SIDE, 11, "start", amount_bytes(text, sizeof(text), (uint64_t)m->least));
}

int page_matrix(FILE *f, const struct zgraph *g)
{
	struct matrix m;
	int rc = matrix_make(&m, g, BINS, false);

	if (rc)
		return rc;
	fputs("<h2>Bytes between ranks</h2>\n", f);
	if (m.block > 1)
		fprintf(f, "<p>A cell is %u by %u ranks.</p>\n", m.block, m.block);
	if (m.most <= 0) {
		fputs("<p>No rank sends bytes to another one.</p>\n", f);
	} else {
		svg_begin(f, PAGE_WIDTH, TOP + SIDE + 24);
		cells_draw(f, &m);
		axes_draw(f, g->ranks);
		scale_draw(f, &m);
		svg_end(f);
	}
	matrix_free(&m);
	return 0;
}

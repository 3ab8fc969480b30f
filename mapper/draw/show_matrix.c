/* SPDX-License-Identifier: BSD-3-Clause */
/* Draws the communication matrix by gnuplot, see show_matrix.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/draw/gnuplot.h"
#include "mapper/draw/matrix.h"
#include "mapper/draw/show_matrix.h"

#define PIXELS 720 /* of the matrix */

struct drawing {
	struct matrix m;
	uint32_t ranks;
	const char *title;
	bool messages;
};

/* Writes a box for each cell that is not empty: sharp in SVG at any size, and few boxes for sparse graphs. */
static void data_write(FILE *f, const void *arg)
{
	const struct drawing *d = arg;
	const struct matrix *m = &d->m;

	fputs("$cells << EOD\n", f);
	for (unsigned i = 0; i < m->n; i++)
		for (unsigned j = 0; j < m->n; j++) {
			double v = m->cell[(size_t)i * m->n + j], x = (double)j * m->block, y = (double)i * m->block;

			if (v > 0)
				fprintf(f, "%.10g %.10g %.10g %.10g %.10g %.10g %.9g\n", x, y, x - 0.5,
					fmin(x + m->block, d->ranks) - 0.5, y - 0.5, fmin(y + m->block, d->ranks) - 0.5,
					v);
		}
	fputs("EOD\n", f);
}

/* Writes a logarithmic scale. If it has fewer than two powers of ten, its ends are labelled instead. With a single
 * value it is a scale around that value. */
static void scale_write(FILE *f, const struct drawing *d)
{
	double low = d->m.most > 0 ? d->m.least : 1, high = d->m.most > 0 ? d->m.most : 10;
	bool one = high / low < 1.001;
	char from[32], to[32];
	size_t room = 3; /* characters between the scale and its title */

	fputs("set logscale cb\nset format cb '%.0s%c'\n", f);
	if (one || floor(log10(high)) < ceil(log10(low)) + 1) {
		snprintf(from, sizeof(from), "%.9g", low);
		snprintf(to, sizeof(to), "%.9g", high);
		fprintf(f, "set cbtics ('%s' %s, '%s' %s)\n", from, from, to, to);
		room = strlen(to) > room ? strlen(to) : room;
	}
	fprintf(f, "set cbrange [%.9g:%.9g]\nset cblabel '%s' offset %zu,0\n", one ? low / 2 : low,
		one ? high * 2 : high, d->messages ? "messages" : "bytes", room - 3);
	fputs("set palette defined (0 '#dbe9f6', 0.35 '#6baed6', 0.65 '#08519c', 0.85 '#cb181d', 1 '#67000d')\n", f);
}

static void drawing_write(FILE *f, const void *arg)
{
	const struct drawing *d = arg;

	fputs("set title ", f);
	gnuplot_quoted(f, d->title);
	if (d->m.block > 1)
		fprintf(f, ".', a cell is %u x %u ranks'", d->m.block, d->m.block);
	fprintf(f, " noenhanced\nset size square\nset xrange [-0.5:%u-0.5]\nset yrange [%u-0.5:-0.5]\n", d->ranks,
		d->ranks);
	if (d->ranks <= 20)
		fputs("set xtics 1\nset ytics 1\n", f);
	fputs("set lmargin at screen 0.11\nset rmargin at screen 0.83\nset tmargin at screen 0.93\n"
	      "set bmargin at screen 0.10\nset xlabel 'receiving rank' offset 0,0.3\nset ylabel 'sending rank'\n"
	      "set tics out nomirror\n",
		f);
	if (d->ranks > 10000)
		fputs("set xtics rotate by 45 right\n", f);
	scale_write(f, d);
	if (d->m.most > 0)
		fputs("plot $cells using 1:2:3:4:5:6:7 with boxxyerror fs solid 1 noborder lc palette notitle\n", f);
	else
		fputs("set label 2 'no messages' at graph 0.5, graph 0.5 center\nplot -1 notitle\n", f);
}

int show_matrix(const char *base, const char *name, const struct zgraph *g, const struct show_options *o,
	struct zerr *err)
{
	struct drawing d = {.ranks = g->ranks,
		.title = o->title    ? o->title
			 : *g->title ? g->title
				     : name,
		.messages = o->messages};
	int rc = matrix_make(&d.m, g, o->bins, o->messages);

	if (rc)
		return zerr_set(err, rc, "not enough memory");
	rc = gnuplot_draw(&(struct gnuplot_picture){.base = base,
				  .width = PIXELS + 230,
				  .height = PIXELS + 110,
				  .font = 14,
				  .data = data_write,
				  .plot = drawing_write,
				  .arg = &d},
		err);
	matrix_free(&d.m);
	return rc;
}

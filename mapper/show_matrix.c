/* SPDX-License-Identifier: BSD-3-Clause */
/* The communication matrix as a picture, by gnuplot. See show.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gnuplot.h"
#include "show.h"

#define PIXELS 720 /* of the matrix */

struct matrix {
	unsigned n;	/* cells in each direction */
	uint32_t block; /* ranks of a cell */
	double *cell;	/* [n * n], by sender and receiver */
	double least, most; /* of cells that are not empty */
};

static int matrix_make(struct matrix *m, const struct zgraph *g, const struct show_options *o)
{
	m->block = (g->ranks + o->bins - 1) / o->bins;
	m->n = (g->ranks + m->block - 1) / m->block;
	m->cell = calloc((size_t)m->n * m->n, sizeof(*m->cell));
	if (!m->cell)
		return -ENOMEM;
	for (uint32_t r = 0; r < g->ranks; r++)
		for (uint64_t i = g->off[r]; i < g->off[r + 1]; i++)
			m->cell[(size_t)(r / m->block) * m->n + g->peer[i] / m->block] +=
				(double)(o->messages ? g->messages[i] : g->bytes[i]);
	m->least = HUGE_VAL;
	m->most = 0;
	for (size_t i = 0; i < (size_t)m->n * m->n; i++) {
		m->most = m->cell[i] > m->most ? m->cell[i] : m->most;
		m->least = m->cell[i] > 0 && m->cell[i] < m->least ? m->cell[i] : m->least;
	}
	return 0;
}

/* A box for each cell that is not empty: sharp in SVG at any size, and few for sparse graphs. */
static void data_write(FILE *f, const struct matrix *m, uint32_t ranks)
{
	fputs("$cells << EOD\n", f);
	for (unsigned i = 0; i < m->n; i++)
		for (unsigned j = 0; j < m->n; j++) {
			double v = m->cell[(size_t)i * m->n + j], x = (double)j * m->block, y = (double)i * m->block;

			if (v > 0)
				fprintf(f, "%g %g %g %g %g %g %.9g\n", x, y, x - 0.5, fmin(x + m->block, ranks) - 0.5,
					y - 0.5, fmin(y + m->block, ranks) - 0.5, v);
		}
	fputs("EOD\n", f);
}

static void program_write(FILE *f, const char *base, const char *title, const struct matrix *m, uint32_t ranks,
	bool messages)
{
	static const char *const terminals[][2] = { { "svg size %d,%d font 'Helvetica,14' background 'white'", ".svg" },
		{ "pngcairo size %d,%d font 'Helvetica,11'", ".png" } };
	/* one value only: a scale around it, as a logarithmic one needs a length */
	double low = m->most > 0 ? m->least : 1, high = m->most > 0 ? m->most : 10;

	if (high / low < 1.001) {
		low /= 2;
		high *= 2;
	}
	data_write(f, m, ranks);
	for (int t = 0; t < 2; t++) {
		fputs("reset\nset terminal ", f);
		fprintf(f, terminals[t][0], PIXELS + 230, PIXELS + 110);
		fputs("\nset output ", f);
		gnuplot_quoted(f, base);
		fprintf(f, ".'%s'\nset title ", terminals[t][1]);
		gnuplot_quoted(f, title);
		if (m->block > 1)
			fprintf(f, ".', a cell is %u x %u ranks'", m->block, m->block);
		fprintf(f, " noenhanced\nset size square\nset xrange [-0.5:%u-0.5]\nset yrange [%u-0.5:-0.5]\n", ranks, ranks);
		if (ranks <= 20)
			fputs("set xtics 1\nset ytics 1\n", f);
		fputs("set lmargin at screen 0.11\nset rmargin at screen 0.83\nset tmargin at screen 0.93\n"
		      "set bmargin at screen 0.10\nset xlabel 'receiving rank' offset 0,0.3\nset ylabel 'sending rank'\nset tics out nomirror\n"
		      "set xtics rotate by 45 right\nset logscale cb\n", f);
		fprintf(f, "set cbrange [%.9g:%.9g]\nset format cb '%%.0s%%c'\nset cblabel '%s'\n", low, high,
			messages ? "messages" : "bytes");
		fputs("set palette defined (0 '#dbe9f6', 0.35 '#6baed6', 0.65 '#08519c', 0.85 '#cb181d', 1 '#67000d')\n", f);
		if (m->most > 0)
			fputs("plot $cells using 1:2:3:4:5:6:7 with boxxyerror fs solid 1 noborder lc palette notitle\n", f);
		else
			fputs("set label 2 'no messages' at graph 0.5, graph 0.5 center\nplot -1 notitle\n", f);
		fputs("unset output\n", f);
	}
}

int show_matrix(const char *base, const char *name, const struct zgraph *g, const struct show_options *o,
	struct zerr *err)
{
	struct matrix m = { 0 };
	char *path = NULL;
	FILE *f = NULL;
	int rc = matrix_make(&m, g, o);

	if (rc || asprintf(&path, "%s.gnuplot", base) < 0) {
		path = NULL;
		rc = zerr_set(err, -ENOMEM, "not enough memory");
		goto out;
	}
	f = fopen(path, "w");
	if (!f) {
		rc = zerr_set(err, -errno, "%s: %s", path, strerror(errno));
		goto out;
	}
	program_write(f, base, o->title ? o->title : name, &m, g->ranks, o->messages);
	rc = ferror(f);
	if (fclose(f) || rc)
		rc = zerr_set(err, -EIO, "%s: cannot be written", path);
	else
		rc = gnuplot_run(path, err);
out:
	free(path);
	free(m.cell);
	return rc;
}

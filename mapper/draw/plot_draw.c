/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a gnuplot program with its data inside, and runs it. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/draw/gnuplot.h"
#include "mapper/draw/plot_draw.h"
#include "mapper/model/routing_table.h"

#define MIB 1048576.0
#define GAP 1.2		 /* between groups of one routing, in boxes */
#define PANEL_HEIGHT 400 /* pixels */
#define BOX_WIDTH 28	 /* pixels a box, plus margins */
#define KINDS_MAX LINK_STATS_KINDS
#define DECADES 6.0 /* of the axis, at most; zero is drawn at its foot */
#define ROOM 4.0    /* of the axis above the highest maximum, for the names of the routings */

struct kinds {
	char *text, *name[KINDS_MAX];
	size_t n;
};

static int kinds_parse(struct kinds *k, const struct plot *p, const char *list, struct zerr *err)
{
	char *save, *word;

	k->n = 0;
	k->text = strdup(list);
	if (!k->text)
		return zerr_set(err, -ENOMEM, "not enough memory");
	for (word = strtok_r(k->text, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		size_t i = 0;

		while (i < p->n && strcmp(p->rows[i].links, word))
			i++;
		if (i == p->n || k->n == KINDS_MAX) {
			zerr_set(err, -EINVAL, "nothing to draw for links \"%s\"", word);
			free(k->text);
			return -EINVAL;
		}
		k->name[k->n++] = word;
	}
	if (!k->n) {
		free(k->text);
		return zerr_set(err, -EINVAL, "nothing to draw");
	}
	return 0;
}

static const char *routing_title(const char *name)
{
	const struct routing *r = routing_table_find(name);

	if (!strcmp(name, "own"))
		return "Job-specific";
	return r ? r->title : name;
}

/* --- box plots --- */

/* Walks over the rows of a kind, routing by routing in the order of first appearance. Calls each() with the row and its
 * place on the axis. Returns the length of the axis. */
static double rows_walk(const struct plot *p, const char *kind, FILE *f,
	void (*each)(FILE *, const struct plot_row *, double x, bool first, size_t *group), size_t *group)
{
	double x = 0;

	for (size_t i = 0; i < p->n; i++) {
		bool first = true, seen = false;

		for (size_t j = 0; j < i && !seen; j++)
			seen = !strcmp(p->rows[j].links, kind) && !strcmp(p->rows[j].routing, p->rows[i].routing);
		if (strcmp(p->rows[i].links, kind) || seen)
			continue;
		for (size_t j = i; j < p->n; j++) {
			const struct plot_row *r = &p->rows[j];

			if (strcmp(r->links, kind) || strcmp(r->routing, p->rows[i].routing))
				continue;
			if (each)
				each(f, r, x, first, group);
			first = false;
			x += 1;
		}
		x += GAP;
	}
	return x - GAP;
}

static void row_data(FILE *f, const struct plot_row *r, double x, bool first, size_t *group)
{
	(void)first;
	(void)group;
	fprintf(f, "%g %.9g %.9g %.9g %.9g %.9g %.9g\n", x, r->min / MIB, r->q1 / MIB, r->median / MIB,
		r->average / MIB, r->q3 / MIB, r->max / MIB);
}

static void row_tic(FILE *f, const struct plot_row *r, double x, bool first, size_t *group)
{
	(void)first;
	(void)group;
	fputs("set xtics add (", f);
	gnuplot_quoted(f, r->placement);
	fprintf(f, " %g)\n", x);
}

static void row_label(FILE *f, const struct plot_row *r, double x, bool first, size_t *group)
{
	if (!first)
		return;
	fprintf(f, "set label %zu ", ++*group);
	gnuplot_quoted(f, routing_title(r->routing));
	fprintf(f, " at first %g, graph 0.965 left font ',10' noenhanced\n", x - 0.4);
}

static void scale_find(const struct plot *p, const struct kinds *k, double *low, double *high, double *least)
{
	double smallest = HUGE_VAL;

	*high = 0;
	*least = HUGE_VAL;
	for (size_t i = 0; i < p->n; i++) {
		const struct plot_row *r = &p->rows[i];
		const double v[] = {r->min, r->q1, r->median, r->average};

		for (size_t m = 0; m < k->n; m++) {
			if (strcmp(r->links, k->name[m]))
				continue;
			for (int n = 0; n < 4; n++)
				smallest = v[n] > 0 && v[n] < smallest ? v[n] : smallest;
			*high = r->max > *high ? r->max : *high;
			if (m == 0)
				*least = r->max < *least ? r->max : *least;
		}
	}
	*high = *high > 0 ? *high / MIB : 1;
	*low = smallest < HUGE_VAL ? smallest / MIB : *high / 10;
	*low = fmax(*low, *high / pow(10, DECADES));
	*low = pow(10, floor(log10(*low)));
	*high *= ROOM;
	*least /= MIB;
}

static void boxes_panel(FILE *f, const struct plot *p, const char *kind, size_t panel, double least)
{
	size_t group = 0;
	double length = rows_walk(p, kind, NULL, NULL, NULL);

	fprintf(f, "$data%zu << EOD\n", panel);
	rows_walk(p, kind, f, row_data, NULL);
	fprintf(f, "EOD\nset xrange [-0.8:%g]\nunset label\nset xtics rotate by 90 right font ',9' noenhanced ()\n",
		length - 0.2);
	rows_walk(p, kind, f, row_tic, NULL);
	rows_walk(p, kind, f, row_label, &group);
	fputs("set ylabel 'Traffic of a link (MiB), '.", f);
	gnuplot_quoted(f, kind);
	fprintf(f,
		".' links' noenhanced\nplot %.9g with lines dt 3 lw 1.5 lc rgb '#0000c0' %s, \\\n"
		"  $data%zu using 1:(f($3)):(f($2)):(f($7)):(f($6)) notitle with candlesticks "
		"fs solid 0.25 lc rgb '#404040' whiskerbars 0.6, \\\n"
		"  '' using 1:(f($4)):(f($4)):(f($4)):(f($4)) with candlesticks lc rgb '#c00000' lw 2 notitle, \\\n"
		"  NaN with lines lc rgb '#c00000' lw 2 %s, \\\n"
		"  $data%zu using 1:(f($5)) with points pt 7 ps 0.6 lc rgb '#008000' %s, \\\n"
		"  '' using 1:(f($7)) with points pt 9 ps 0.6 lc rgb '#404040' %s\n",
		least, panel ? "notitle" : "title 'lowest maximum'", panel, panel ? "notitle" : "title 'median'", panel,
		panel ? "notitle" : "title 'average'", panel ? "notitle" : "title 'maximum'");
}

static void boxes_write(FILE *f, const struct plot *p, const struct kinds *k)
{
	double low, high, least;

	scale_find(p, k, &low, &high, &least);
	fprintf(f,
		"set logscale y\nset yrange [%.9g:%.9g]\nset format y '%%g'\nset boxwidth 0.6\n"
		"set tmargin 4\nf(v) = v > %.9g ? v : %.9g\nset grid ytics lc rgb '#d0d0d0'\nset xtics nomirror\n",
		low, high, low, low);
	for (size_t m = 0; m < k->n; m++)
		boxes_panel(f, p, k->name[m], m, least);
}

/* --- histograms --- */

static void histogram_write(FILE *f, const struct plot *p, const struct kinds *k)
{
	double high = 0, most = 1;
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (strcmp(p->rows[i].links, k->name[0]))
			continue;
		high = p->rows[i].max > high ? p->rows[i].max : high;
		for (unsigned b = 0; b < p->rows[i].bins; b++)
			most = p->rows[i].bin[b] > most ? p->rows[i].bin[b] : most;
	}
	fprintf(f,
		"set logscale y\nset yrange [0.7:%.9g]\nset xrange [0:%.9g]\nset style fill solid 0.5\n"
		"set xtics rotate by 35 right font ',8'\nset ylabel 'Links'\nset format y '10^{%%L}'\n"
		"set xlabel 'Traffic of a link (MiB), '.",
		most * 2, high > 0 ? high / MIB : 1);
	gnuplot_quoted(f, k->name[0]);
	fputs(".' links' noenhanced\n", f);
	for (size_t i = 0; i < p->n; i++) {
		const struct plot_row *r = &p->rows[i];

		if (strcmp(r->links, k->name[0]))
			continue;
		fprintf(f, "$bins%zu << EOD\n", n);
		for (unsigned b = 0; b < r->bins; b++)
			fprintf(f, "%.9g %.9g\n", (b + 0.5) * r->max / r->bins / MIB, r->bin[b]);
		fprintf(f, "EOD\nset boxwidth %.9g\nset title ", r->max > 0 ? r->max / r->bins / MIB : 1);
		gnuplot_quoted(f, routing_title(r->routing));
		fputs(".' '.", f);
		gnuplot_quoted(f, r->placement);
		fprintf(f, " noenhanced\nplot $bins%zu using 1:2 with boxes lc rgb '#4060a0' notitle\n", n++);
	}
}

static int histogram_check(const struct plot *p, const struct kinds *k, struct zerr *err)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->rows[i].links, k->name[0]) && !p->rows[i].bins)
			return zerr_set(err, -EINVAL, "no histogram of links \"%s\" of %s, %s", k->name[0],
				p->rows[i].placement, p->rows[i].routing);
	return 0;
}

/* --- the program around --- */

struct size {
	unsigned width, height, rows, columns;
};

static struct size picture_size(const struct plot *p, enum plot_form form, const struct kinds *k)
{
	double length = rows_walk(p, k->name[0], NULL, NULL, NULL);
	struct size s = {.rows = (unsigned)k->n, .columns = 1};
	unsigned n = 0;

	if (form == PLOT_BOXES) {
		s.width = (unsigned)(160 + BOX_WIDTH * (length < 12 ? 12 : length));
		s.height = PANEL_HEIGHT * s.rows + 40;
		return s;
	}
	for (size_t i = 0; i < p->n; i++)
		n += !strcmp(p->rows[i].links, k->name[0]);
	s.columns = n < 3 ? n : 3;
	s.rows = (n + s.columns - 1) / s.columns;
	s.width = 420 * s.columns;
	s.height = 320 * s.rows + 40;
	return s;
}

struct drawing {
	const struct plot *plot;
	const struct kinds *kinds;
	struct size size;
	enum plot_form form;
	const char *title;
};

static void drawing_write(FILE *f, const void *arg)
{
	const struct drawing *d = arg;

	fputs("set key at graph 1, graph 1.01 right bottom horizontal\n", f); /* between the title and the panel */
	fprintf(f, "set multiplot layout %u,%u title ", d->size.rows, d->size.columns);
	gnuplot_quoted(f, d->title);
	fputs(" noenhanced\n", f);
	if (d->form == PLOT_BOXES)
		boxes_write(f, d->plot, d->kinds);
	else
		histogram_write(f, d->plot, d->kinds);
	fputs("unset multiplot\n", f);
}

int plot_draw(const struct plot *p, enum plot_form form, const char *kinds, const char *title, const char *base,
	struct zerr *err)
{
	struct kinds k;
	int rc = kinds_parse(&k, p, kinds, err);

	if (rc)
		return rc;
	struct drawing d = {p, &k, picture_size(p, form, &k), form, title};
	if (form == PLOT_HISTOGRAM)
		rc = histogram_check(p, &k, err);
	if (!rc)
		rc = gnuplot_draw(&(struct gnuplot_picture){.base = base,
					  .width = d.size.width,
					  .height = d.size.height,
					  .font = 12,
					  .plot = drawing_write,
					  .arg = &d},
			err);
	free(k.text);
	return rc;
}

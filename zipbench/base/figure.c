/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a gnuplot program with its data inside, and runs it; see figure.h. */
#include "zipbench/base/figure.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define PANEL_WIDTH 560 /* pixels */
#define HEIGHT 430

extern char **environ;

void figure_panel_init(struct figure_panel *p, const char *title, const char *xlabel, const char *ylabel)
{
	memset(p, 0, sizeof(*p));
	snprintf(p->title, sizeof(p->title), "%s", title);
	snprintf(p->xlabel, sizeof(p->xlabel), "%s", xlabel);
	snprintf(p->ylabel, sizeof(p->ylabel), "%s", ylabel);
	for (int s = 0; s < FIGURE_SERIES_MAX; s++)
		for (int i = 0; i < FIGURE_X_MAX; i++)
			p->y[s][i] = NAN;
}

static unsigned find(char (*names)[FIGURE_NAME_MAX], unsigned *n, unsigned max, const char *name)
{
	unsigned i = 0;
	while (i < *n && strcmp(names[i], name) != 0)
		i++;
	if (i == *n && i < max) {
		snprintf(names[i], FIGURE_NAME_MAX, "%s", name);
		++*n;
	}
	return i;
}

void figure_put(struct figure_panel *p, const char *series, const char *x, double y)
{
	unsigned s = find(p->series, &p->nseries, FIGURE_SERIES_MAX, series);
	unsigned i = find(p->x, &p->nx, FIGURE_X_MAX, x);
	if (s < FIGURE_SERIES_MAX && i < FIGURE_X_MAX)
		p->y[s][i] = y;
}

/* Writes text in single quotes, with quotes in it doubled. */
static void quoted(FILE *f, const char *text)
{
	fputc('\'', f);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', f);
		fputc(*text, f);
	}
	fputc('\'', f);
}

static void write_data(FILE *f, unsigned number, const struct figure_panel *p)
{
	fprintf(f, "$panel%u << END\n", number);
	for (unsigned i = 0; i < p->nx; i++) {
		fprintf(f, "\"%s\"", p->x[i]);
		for (unsigned s = 0; s < p->nseries; s++)
			isnan(p->y[s][i]) ? fputs(" NaN", f) : fprintf(f, " %.9g", p->y[s][i]);
		fputc('\n', f);
	}
	fputs("END\n", f);
}

static void write_panel(FILE *f, unsigned number, const struct figure_panel *p)
{
	fputs("set title ", f);
	quoted(f, p->title);
	fputs("\nset xlabel ", f);
	quoted(f, p->xlabel);
	fputs("\nset ylabel ", f);
	quoted(f, p->ylabel);
	if (p->log && p->low > 0)
		fprintf(f, "\nset logscale y 2\nset yrange [%g:*]\n", p->low);
	else
		fputs(p->log ? "\nset logscale y 2\nset yrange [*:*]\n" : "\nunset logscale\nset yrange [0:*]\n", f);
	fputs(p->bars ? "set style data histogram\nset style histogram clustered gap 1\nset style fill solid 0.8\n"
		      : "set style data linespoints\n",
		f);
	fputs(p->nx > 5 ? "set xtics rotate by -30\n" : "set xtics norotate\n", f);
	fputs("plot ", f);
	for (unsigned s = 0; s < p->nseries; s++) {
		fprintf(f, "%s$panel%u using %s%u:xtic(1) lw 2 title ", s ? ", " : "", number,
			p->bars ? "" : "0:", s + 2);
		quoted(f, p->series[s]);
	}
	fputc('\n', f);
}

static void write_pages(FILE *f, const char *base, const struct figure_panel *p, unsigned n)
{
	static const char *const kinds[][2] = {{"svg", "svg"}, {"pngcairo", "png"}};
	for (unsigned i = 0; i < n; i++)
		write_data(f, i, &p[i]);
	fputs("set key below font ',10'\nset grid ytics lc rgb '#dddddd'\nset offsets 0.2, 0.2, 0, 0\n", f);
	for (unsigned k = 0; k < 2; k++) {
		fprintf(f, "set terminal %s size %u,%d font 'sans,11' noenhanced\nset output ", kinds[k][0],
			PANEL_WIDTH * (n > 3 ? 2 : n), HEIGHT * (n > 3 ? (int)(n + 1) / 2 : 1));
		char path[4096];
		snprintf(path, sizeof(path), "%s.%s", base, kinds[k][1]);
		quoted(f, path);
		fprintf(f, "\nset multiplot layout %u,%u\n", n > 3 ? (n + 1) / 2 : 1, n > 3 ? 2 : n);
		for (unsigned i = 0; i < n; i++)
			write_panel(f, i, &p[i]);
		fputs("unset multiplot\nset output\n", f);
	}
}

static int run_gnuplot(char *program, struct zerr *err)
{
	char *argv[] = {(char[]){"gnuplot"}, program, NULL};
	pid_t pid;
	int status, rc = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
	if (rc != 0)
		return zerr_set(err, -rc, "gnuplot cannot be started: %s", strerror(rc));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return zerr_set(err, -errno, "gnuplot: %s", strerror(errno));
	return status == 0 ? 0 : zerr_set(err, -EIO, "gnuplot could not draw %s", program);
}

int figure_draw(const char *base, const struct figure_panel *p, unsigned n, struct zerr *err)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s.gnuplot", base);
	FILE *f = fopen(path, "we");
	if (!f)
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	write_pages(f, base, p, n);
	if (ferror(f) | fclose(f))
		return zerr_set(err, -EIO, "%s: cannot be written", path);
	return run_gnuplot(path, err);
}

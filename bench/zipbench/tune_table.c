/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipbench tune": which candidates are faster than the defaults, as rules of zipper.tuning(5). */
#include <stdlib.h>
#include <string.h>

#include "tune.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(struct tune_samples *s)
{
	qsort(s->us, s->n, sizeof(double), compare);
	return s->n ? s->us[s->n / 2] : 0;
}

/* The best of the candidates with this setting, or 0: none is faster than the defaults by the margin, and faster than
 * these were in the better half of their rounds. */
static int best(struct tune *b, const char *setting, size_t target, int size)
{
	int found = 0;
	struct tune_samples *defaults = &b->samples[0][target][size];
	double limit = median(defaults) * (1 - b->o.margin / 100);
	if (b->o.margin >= 0 && defaults->us[defaults->n / 4] < limit)
		limit = defaults->us[defaults->n / 4];
	for (int c = 1; c < b->ncandidates; c++) {
		double us = median(&b->samples[c][target][size]);
		if (!b->candidate[c].concerns[target] || strcmp(b->candidate[c].setting, setting) != 0 || us == 0 ||
			us >= limit)
			continue;
		limit = us;
		found = c;
	}
	return found;
}

static double bytes_of(const struct tune *b, size_t target, int size)
{
	return b->size[size] * (tune_targets[target].times_ranks ? b->ranks : 1);
}

/* For so many clusters alone, and for the members that no other layout with as many clusters stands for. */
static void write_conditions(struct tune *b, int layout)
{
	const char *here = b->layout[layout];
	int n = tune_clusters(here);
	if (n < 2)
		return; /* nothing is known of it */
	fprintf(b->out, " clusters>=%d clusters<%d", n, n + 1);
	if (layout > 0 && tune_clusters(b->layout[layout - 1]) == n)
		fprintf(b->out, " members_max>=%d", tune_members_max(here));
	if (layout + 1 < b->nlayouts && tune_clusters(b->layout[layout + 1]) == n)
		fprintf(b->out, " members_max<%d", tune_members_max(b->layout[layout + 1]));
}

/* A rule for sizes from .. to - 1. */
static void write_rule(struct tune *b, int layout, size_t target, int c, int from, int to)
{
	fputs(tune_targets[target].name, b->out);
	write_conditions(b, layout);
	fprintf(b->out, " bytes>=%.0f", bytes_of(b, target, from));
	if (to < b->nsizes)
		fprintf(b->out, " bytes<%.0f", bytes_of(b, target, to));
	fprintf(b->out, " %s=%s\t# us:", b->candidate[c].setting, b->candidate[c].value);
	for (int i = from; i < to; i++)
		fprintf(b->out, " %.1f (%.1f)", median(&b->samples[c][target][i]), median(&b->samples[0][target][i]));
	fputc('\n', b->out);
	b->rules_written++;
}

static void write_setting(struct tune *b, int layout, size_t target, const char *setting)
{
	for (int from = 0, to; from < b->nsizes; from = to) {
		int c = best(b, setting, target, from);
		for (to = from + 1; to < b->nsizes && best(b, setting, target, to) == c; to++)
			;
		if (c)
			write_rule(b, layout, target, c, from, to);
	}
}

void tune_write_layout(struct tune *b, int layout)
{
	fprintf(b->out, "\n# layout %s\n", b->layout[layout]);
	for (size_t t = 0; t < TUNE_TARGETS; t++)
		for (int c = 1; c < b->ncandidates; c++) {
			bool first = b->candidate[c].concerns[t];
			for (int e = 1; e < c && first; e++)
				first = !b->candidate[e].concerns[t] ||
					strcmp(b->candidate[e].setting, b->candidate[c].setting) != 0;
			if (first)
				write_setting(b, layout, t, b->candidate[c].setting);
		}
}

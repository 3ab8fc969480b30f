/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the candidates that are faster than the defaults, and writes rules of zipper.tuning(5); see tune_table.h. */
#include "zipbench/tune/tune_table.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "zipbench/base/sort.h"
#include "zipbench/tune/tune_layout.h"
#include "zipbench/tune/tune_want.h"

static double median(struct tune_samples *s)
{
	sort_samples(s->us, s->n);
	return s->n ? s->us[s->n / 2] : 0;
}

/* The time that a candidate must stay below: that of the defaults less the margin, and that of their better half of
 * rounds. */
static double limit_of(const struct tune *b, struct tune_samples *defaults)
{
	const double limit = median(defaults) * (1 - b->o.margin / 100);
	return b->o.margin >= 0 && defaults->us[defaults->n / 4] < limit ? defaults->us[defaults->n / 4] : limit;
}

/* The index of the best candidate with this setting, or 0: none is faster than the defaults. */
static int best(struct tune *b, const char *setting, size_t target, int size)
{
	int found = 0;
	double limit = limit_of(b, &b->samples[0][target][size]);
	for (int c = 1; c < b->ncandidates; c++) {
		double us = median(&b->samples[c][target][size]);
		if (!b->samples[c][target][size].wanted || strcmp(b->candidate[c].setting, setting) != 0 || us == 0 ||
			us >= limit)
			continue;
		limit = us;
		found = c;
	}
	return found;
}

/* The rule holds for this number of clusters, and for the members that no other layout of as many clusters covers. */
static void write_conditions(struct tune *b, int layout)
{
	const char *here = b->layout[layout];
	int n = tune_layout_clusters(here);
	if (n < 2)
		return; /* nothing is known of the layout */
	fprintf(b->out, " clusters>=%d clusters<%d", n, n + 1);
	if (layout > 0 && tune_layout_clusters(b->layout[layout - 1]) == n)
		fprintf(b->out, " members_max>=%d", tune_layout_members_max(here));
	if (layout + 1 < b->nlayouts && tune_layout_clusters(b->layout[layout + 1]) == n)
		fprintf(b->out, " members_max<%d", tune_layout_members_max(b->layout[layout + 1]));
}

/* Writes the times of some points behind a rule. */
static void write_times(struct tune *b, size_t target, int c, int from, int to)
{
	for (int i = from; i < to; i++)
		fprintf(b->out, " %.1f (%.1f)", median(&b->samples[c][target][i]), median(&b->samples[0][target][i]));
}

/* Writes a rule for the sizes from .. to - 1. */
static void write_rule(struct tune *b, int layout, size_t target, int c, int from, int to)
{
	const struct tune_target *t = &tune_targets[target];
	fputs(t->name, b->out);
	write_conditions(b, layout);
	fprintf(b->out, " bytes>=%.0f", tune_want_bytes(b, layout, t, from));
	if (to < b->nsizes)
		fprintf(b->out, " bytes<%.0f", tune_want_bytes(b, layout, t, to));
	fprintf(b->out, " %s=%s\t# us:", b->candidate[c].setting, b->candidate[c].value);
	write_times(b, target, c, from, to);
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

/* The gain of a candidate for a target, over all points where it makes a difference: a sum of logarithms. 0: it is
 * nowhere faster in the sense of best(), or somewhere slower by the margin. */
static double gain(struct tune *b, size_t target, int c)
{
	const double margin = fabs(b->o.margin) / 100;
	double sum = 0;
	bool faster = false;
	for (int i = 0; i < 2 * b->nsizes; i++) {
		if (!b->samples[c][target][i].wanted)
			continue;
		const double us = median(&b->samples[c][target][i]), by_default = median(&b->samples[0][target][i]);
		if (us == 0 || by_default == 0 || us > by_default * (1 + margin))
			return 0;
		faster |= us < limit_of(b, &b->samples[0][target][i]);
		sum += log(by_default / us);
	}
	return faster ? sum : 0;
}

/* Writes one rule for all sizes, with the candidate that gains most. */
static void write_whole(struct tune *b, int layout, size_t target, const char *setting)
{
	const struct tune_target *t = &tune_targets[target];
	double most = b->o.margin < 0 ? -DBL_MAX : 0;
	int found = 0;
	for (int c = 1; c < b->ncandidates; c++) {
		const double g = strcmp(b->candidate[c].setting, setting) == 0 ? gain(b, target, c) : 0;
		if (g != 0 && g > most) {
			most = g;
			found = c;
		}
	}
	if (!found)
		return;
	fputs(t->name, b->out);
	write_conditions(b, layout);
	fprintf(b->out, " %s=%s\t# us:", setting, b->candidate[found].value);
	for (int i = 0; i < 2 * b->nsizes; i++)
		if (b->samples[found][target][i].wanted) {
			fprintf(b->out, " %s %.0f", t->op[i / b->nsizes], b->size[i % b->nsizes]);
			write_times(b, target, found, i, i + 1);
		}
	fputc('\n', b->out);
	b->rules_written++;
}

void tune_table_write(struct tune *b, int layout)
{
	fprintf(b->out, "\n# layout %s\n", b->layout[layout]);
	for (size_t t = 0; t < TUNE_TARGETS; t++)
		for (int c = 1; c < b->ncandidates; c++) {
			bool first = b->candidate[c].concerns[t];
			for (int e = 1; e < c && first; e++)
				first = !b->candidate[e].concerns[t] ||
					strcmp(b->candidate[e].setting, b->candidate[c].setting) != 0;
			if (first && tune_targets[t].whole)
				write_whole(b, layout, t, b->candidate[c].setting);
			else if (first)
				write_setting(b, layout, t, b->candidate[c].setting);
		}
}

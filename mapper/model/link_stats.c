/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes order statistics by sorting: two million numbers take a fraction of a second. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/model/link_stats.h"

#define BIT(class) (1u << NET_##class)

/* The nodes' own links are not in "all", because the paper counts the links of the network. A crossbar has only node
 * links; they are called up and down there. */
#define ALL (~(BIT(NONE) | BIT(INJECT) | BIT(EJECT)))

const struct link_stats_kind link_stats_kinds[LINK_STATS_KINDS] = {
	{"all", ALL},
	{"L1", BIT(ROW) | BIT(COLUMN)},
	{"row", BIT(ROW)},
	{"column", BIT(COLUMN)},
	{"L2", BIT(GLOBAL)},
	{"tree", BIT(UP) | BIT(DOWN)},
	{"torus", BIT(TORUS)},
	{"hyperx", BIT(HYPERX)},
	{"peer", BIT(PEER)},
	{"zipper", BIT(PORT) | BIT(FORWARD)},
	{"node", BIT(INJECT) | BIT(EJECT)},
};

static int value_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(const double *value, uint64_t n, double p)
{
	double at = p * (double)(n - 1);
	uint64_t low = (uint64_t)at;

	return low + 1 < n ? value[low] + (at - (double)low) * (value[low + 1] - value[low]) : value[n - 1];
}

static void histogram_fill(struct link_stats *s, const double *value)
{
	for (uint64_t i = 0; i < s->count; i++) {
		double at = s->max > 0 ? value[i] / s->max * s->bins : 0;
		unsigned bin = at < s->bins ? (unsigned)at : s->bins - 1;

		s->bin[bin]++;
	}
}

int link_stats_make(struct link_stats *s, const struct net *net, const double *load, const struct link_stats_kind *kind,
	unsigned bins)
{
	double *value;

	memset(s, 0, sizeof(*s));
	for (uint32_t l = 0; l < net->links; l++)
		if (kind->classes >> net->link_class[l] & 1)
			s->count += net->cables[net->link_class[l]];
	if (!s->count)
		return 0;
	value = malloc(s->count * sizeof(*value));
	s->bin = calloc(bins, sizeof(*s->bin));
	s->bins = bins;
	if (!value || !s->bin) {
		free(value);
		link_stats_free(s);
		return -ENOMEM;
	}
	s->count = 0;
	for (uint32_t l = 0; l < net->links; l++) {
		unsigned cables = net->cables[net->link_class[l]];

		if (!(kind->classes >> net->link_class[l] & 1))
			continue;
		s->sum += load[l];
		for (unsigned i = 0; i < cables; i++)
			value[s->count++] = load[l] / cables;
	}
	qsort(value, s->count, sizeof(*value), value_compare);
	s->min = value[0];
	s->max = value[s->count - 1];
	s->q1 = quantile(value, s->count, 0.25);
	s->median = quantile(value, s->count, 0.5);
	s->q3 = quantile(value, s->count, 0.75);
	s->mean = s->sum / (double)s->count;
	histogram_fill(s, value);
	free(value);
	return 0;
}

void link_stats_free(struct link_stats *s)
{
	free(s->bin);
	memset(s, 0, sizeof(*s));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what a replay has found, see replay_report.h. */
#include "mapper/draw/replay_report.h"

#include <inttypes.h>
#include <math.h>

#include "mapper/draw/amount.h"
#include "mapper/replay/transfer.h"

#define NAME_SIZE (NET_LINK_NAME_SIZE + 16)

enum column { COMPUTE, ENDS, LATENCY, LINKS, COLUMNS };

static enum column column_of(const struct net *net, const struct replay_piece *p)
{
	switch (p->cause) {
	case WHY_COMPUTE:
		return COMPUTE;
	case WHY_LATENCY:
		return LATENCY;
	case WHY_LINK:
		return p->id < net->links ? LINKS : ENDS;
	default:
		return ENDS;
	}
}

static const char *piece_name(const struct net *net, const struct replay_piece *p, char *buf, size_t size)
{
	char link[NET_LINK_NAME_SIZE];
	bool is_end;

	switch (p->cause) {
	case WHY_COMPUTE:
		snprintf(buf, size, "rank %u computes", p->id);
		break;
	case WHY_OVERHEAD:
		snprintf(buf, size, "rank %u sends and receives", p->id);
		break;
	case WHY_LATENCY:
		snprintf(buf, size, "latency");
		break;
	case WHY_LOCAL:
		snprintf(buf, size, "messages inside node %u", p->id);
		break;
	default:
		transfers_name(net, p->id, link, sizeof(link), &is_end);
		snprintf(buf, size, "%s%s", is_end ? "" : "link ", link);
	}
	return buf;
}

/* Sums up the pieces of a phase, or of all phases with UINT32_MAX. Returns the time. */
static double columns_sum(const struct net *net, const struct replay_result *r, uint32_t phase, double sum[COLUMNS])
{
	double all = 0;

	for (int c = 0; c < COLUMNS; c++)
		sum[c] = 0;
	for (uint32_t i = 0; i < r->pieces; i++) {
		if (phase != UINT32_MAX && r->piece[i].phase != phase)
			continue;
		sum[column_of(net, &r->piece[i])] += r->piece[i].seconds;
		all += r->piece[i].seconds;
	}
	return all;
}

static void row_print(FILE *f, const char *name, double seconds, const double sum[COLUMNS])
{
	char buf[32];

	fprintf(f, "%-20s %10s", name, amount_seconds(buf, sizeof(buf), seconds));
	for (int c = 0; c < COLUMNS; c++)
		fprintf(f, " %7.1f%%", seconds > 0 ? 100 * sum[c] / seconds : 0);
}

static void causes_print(FILE *f, const struct net *net, const struct replay_result *r, uint32_t phase,
	const char *name, unsigned top)
{
	char buf[32], what[NAME_SIZE];
	unsigned n = 0;

	for (uint32_t i = 0; i < r->pieces && n < top; i++) {
		const struct replay_piece *p = &r->piece[i];

		if (p->phase != phase)
			continue;
		fprintf(f, "%s%-20s %10s %7.1f%%  %s\n", n ? "" : "\n", n ? "" : name,
			amount_seconds(buf, sizeof(buf), p->seconds), 100 * p->seconds / r->phase[phase].seconds,
			piece_name(net, p, what, sizeof(what)));
		n++;
	}
}

void replay_report_print(FILE *f, const struct program *p, const struct net *net, const struct replay_result *r,
	unsigned top)
{
	double sum[COLUMNS], seconds;
	char a[32], b[32];

	fprintf(f, "%u ranks, %" PRIu64 " messages, %" PRIu64 " of them inside nodes, %s\n\n", p->ranks, r->messages,
		r->local_messages, amount_bytes(a, sizeof(a), r->bytes));
	fprintf(f, "%-20s %10s %8s %8s %8s %8s %10s %10s\n", "phase", "time", "compute", "ends", "latency", "links",
		"rank: mean", "longest");
	for (uint32_t i = 0; i < r->phases; i++) {
		const struct replay_phase *phase = &r->phase[i];

		if (!(phase->longest > 0))
			continue;
		row_print(f, p->phases.name[i], columns_sum(net, r, i, sum), sum);
		fprintf(f, " %10s %10s rank %u\n", amount_seconds(a, sizeof(a), phase->mean),
			amount_seconds(b, sizeof(b), phase->longest), phase->slowest);
	}
	seconds = columns_sum(net, r, UINT32_MAX, sum);
	row_print(f, "program", seconds, sum);
	fprintf(f, "%21s  rank %u\n", "", r->last);
	for (uint32_t i = 0; i < r->phases; i++)
		causes_print(f, net, r, i, p->phases.name[i], top);
	if (r->unreceived)
		fprintf(f, "\n%" PRIu64 " messages are never received\n", r->unreceived);
}

void replay_report_csv(FILE *f, const struct program *p, const struct net *net, const struct replay_result *r)
{
	char what[NAME_SIZE];
	double sum[COLUMNS];

	fputs("phase,seconds,compute,ends,latency,links,rank_mean,rank_longest,rank,decides,decides_seconds\n", f);
	for (uint32_t i = 0; i < r->phases; i++) {
		const struct replay_phase *phase = &r->phase[i];
		uint32_t first = 0;

		if (!(phase->longest > 0))
			continue;
		while (first < r->pieces && r->piece[first].phase != i)
			first++;
		fprintf(f, "%s,%.9g", p->phases.name[i], columns_sum(net, r, i, sum));
		for (int c = 0; c < COLUMNS; c++)
			fprintf(f, ",%.9g", sum[c]);
		fprintf(f, ",%.9g,%.9g,%u", phase->mean, phase->longest, phase->slowest);
		if (first < r->pieces)
			fprintf(f, ",\"%s\",%.9g\n", piece_name(net, &r->piece[first], what, sizeof(what)),
				r->piece[first].seconds);
		else
			fputs(",,0\n", f);
	}
}

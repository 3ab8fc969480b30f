/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints what a replay has found, see replay_report.h. */
#include "mapper/draw/replay_report.h"

#include <inttypes.h>
#include <math.h>

#include "mapper/base/csv.h"
#include "mapper/draw/amount.h"
#include "mapper/replay/transfer.h"

#define NAME_SIZE (NET_LINK_NAME_SIZE + 16)
#define NAME_WIDTH 20

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

/* Where the pieces of a phase end, which begin at `from`. */
static uint32_t pieces_end(const struct replay_result *r, uint32_t from, uint32_t phase)
{
	while (from < r->pieces && r->piece[from].phase == phase)
		from++;
	return from;
}

/* Sums up the pieces from..end-1. Returns the time. */
static double columns_sum(const struct net *net, const struct replay_result *r, uint32_t from, uint32_t end,
	double sum[COLUMNS])
{
	double all = 0;

	for (int c = 0; c < COLUMNS; c++)
		sum[c] = 0;
	for (uint32_t i = from; i < end; i++) {
		sum[column_of(net, &r->piece[i])] += r->piece[i].seconds;
		all += r->piece[i].seconds;
	}
	return all;
}

/* A name in a column; a trace may have control characters in it. */
static void name_print(FILE *f, const char *name)
{
	int n = 0;

	for (; *name; name++, n++)
		fputc((unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name, f);
	fprintf(f, "%*s", n < NAME_WIDTH ? NAME_WIDTH - n : 0, "");
}

static void row_print(FILE *f, const char *name, double seconds, const double sum[COLUMNS])
{
	char buf[32];

	name_print(f, name);
	fprintf(f, " %10s", amount_seconds(buf, sizeof(buf), seconds));
	for (int c = 0; c < COLUMNS; c++)
		fprintf(f, " %7.1f%%", seconds > 0 ? 100 * sum[c] / seconds : 0);
}

/* The first `top` of the pieces from..end-1, which are those of one phase. */
static void causes_print(FILE *f, const struct net *net, const struct replay_result *r, uint32_t from, uint32_t end,
	const char *name, unsigned top)
{
	char buf[32], what[NAME_SIZE];

	for (uint32_t i = from; i < end && i - from < top; i++) {
		const struct replay_piece *p = &r->piece[i];

		if (i == from)
			fputc('\n', f);
		name_print(f, i == from ? name : "");
		fprintf(f, " %10s %7.1f%%  %s\n", amount_seconds(buf, sizeof(buf), p->seconds),
			100 * p->seconds / r->phase[p->phase].seconds, piece_name(net, p, what, sizeof(what)));
	}
}

void replay_report_print(FILE *f, const struct program *p, const struct net *net, const struct replay_result *r,
	unsigned top)
{
	double sum[COLUMNS], seconds;
	uint32_t at = 0, end;
	char a[32], b[32];

	fprintf(f, "%u ranks, %" PRIu64 " messages, %" PRIu64 " of them inside nodes, %s\n\n", p->ranks, r->messages,
		r->local_messages, amount_bytes(a, sizeof(a), r->bytes));
	fprintf(f, "%-20s %10s %8s %8s %8s %8s %10s %10s\n", "phase", "time", "compute", "ends", "latency", "links",
		"rank: mean", "longest");
	for (uint32_t i = 0; i < r->phases; i++, at = end) {
		const struct replay_phase *phase = &r->phase[i];

		end = pieces_end(r, at, i);
		if (!(phase->longest > 0))
			continue;
		row_print(f, p->phases.name[i], columns_sum(net, r, at, end, sum), sum);
		fprintf(f, " %10s %10s rank %u\n", amount_seconds(a, sizeof(a), phase->mean),
			amount_seconds(b, sizeof(b), phase->longest), phase->slowest);
	}
	seconds = columns_sum(net, r, 0, r->pieces, sum);
	row_print(f, "program", seconds, sum);
	fprintf(f, "%21s  rank %u\n", "", r->last);
	at = 0;
	for (uint32_t i = 0; i < r->phases; i++, at = end) {
		end = pieces_end(r, at, i);
		causes_print(f, net, r, at, end, p->phases.name[i], top);
	}
}

void replay_report_csv(FILE *f, const struct program *p, const struct net *net, const struct replay_result *r)
{
	uint32_t at = 0, end;
	char what[NAME_SIZE];
	double sum[COLUMNS], seconds;

	fputs("phase,seconds,compute,ends,latency,links,rank_mean,rank_longest,rank,decides,decides_seconds\n", f);
	for (uint32_t i = 0; i < r->phases; i++, at = end) {
		const struct replay_phase *phase = &r->phase[i];

		end = pieces_end(r, at, i);
		if (!(phase->longest > 0))
			continue;
		seconds = columns_sum(net, r, at, end, sum);
		csv_text(f, p->phases.name[i]);
		fprintf(f, ",%.9g", seconds);
		for (int c = 0; c < COLUMNS; c++)
			fprintf(f, ",%.9g", sum[c]);
		fprintf(f, ",%.9g,%.9g,%u", phase->mean, phase->longest, phase->slowest);
		fputc(',', f);
		if (at < end)
			csv_text(f, piece_name(net, &r->piece[at], what, sizeof(what)));
		fprintf(f, ",%.9g\n", at < end ? r->piece[at].seconds : 0);
	}
}

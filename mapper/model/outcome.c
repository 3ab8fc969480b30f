/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes outcomes. */
#include <string.h>

#include "mapper/base/csv.h"
#include "mapper/model/outcome.h"

#define MIB 1048576.0

static const char *const class_names[NET_CLASSES] = {
	[NET_NONE] = "none",
	[NET_ROW] = "row",
	[NET_COLUMN] = "column",
	[NET_GLOBAL] = "L2",
	[NET_UP] = "up",
	[NET_DOWN] = "down",
	[NET_INJECT] = "inject",
	[NET_EJECT] = "eject",
	[NET_PORT] = "port",
	[NET_FORWARD] = "forward",
	[NET_TORUS] = "torus",
	[NET_HYPERX] = "hyperx",
	[NET_PEER] = "peer",
};

void outcome_print_head(FILE *f)
{
	fprintf(f, "%-6s %-4s %-7s %9s %10s %10s %10s %10s %10s %10s\n", "place", "rout", "links", "count", "min MiB",
		"q1", "median", "average", "q3", "max");
}

void outcome_print(const struct outcome *o, FILE *f)
{
	const struct model_result *r = &o->result;

	for (int k = 0; k < LINK_STATS_KINDS; k++) {
		const struct link_stats *s = &o->stats[k];

		if (s->count)
			fprintf(f, "%-6s %-4s %-7s %9llu %10.3f %10.3f %10.3f %10.3f %10.3f %10.3f\n", o->placement,
				o->routing, link_stats_kinds[k].name, (unsigned long long)s->count, s->min / MIB,
				s->q1 / MIB, s->median / MIB, s->mean / MIB, s->q3 / MIB, s->max / MIB);
	}
	fprintf(f, "# %llu messages, %.1f MiB leave their router, %.3f hops a byte; at least %.6f s; %.1f s to predict",
		(unsigned long long)o->messages, (double)o->bytes / MIB, o->bytes ? r->byte_hops / (double)o->bytes : 0,
		r->seconds, o->wall);
	if (r->iterations)
		fprintf(f, ", %u iterations%s", r->iterations, r->converged ? "" : " (not converged)");
	if (r->draws)
		fprintf(f, ", paths are drawn for up to %u messages of a pair", r->draws);
	if (r->turns > 1)
		fprintf(f, ", messages take turns: 1 of %u", r->turns);
	if (r->starved)
		fprintf(f, ", %llu messages got nothing and are split evenly", (unsigned long long)r->starved);
	fputc('\n', f);
}

void outcome_csv_head(FILE *f, unsigned bins)
{
	fprintf(f, "network,jobs,placement,routing,links,count,min,q1,median,average,q3,max,sum,messages,bytes,"
		   "byte_hops,seconds,iterations,converged,turns,starved,wall");
	for (unsigned i = 0; i < bins; i++)
		fprintf(f, ",bin%u", i);
	fputc('\n', f);
}

void outcome_csv(const struct outcome *o, FILE *f)
{
	for (int k = 0; k < LINK_STATS_KINDS; k++) {
		const struct link_stats *s = &o->stats[k];

		if (!s->count)
			continue;
		csv_text(f, o->network);
		fputc(',', f);
		csv_text(f, o->jobs);
		fprintf(f,
			",%s,%s,%s,%llu,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%llu,%llu,%.17g,%.9g,%u,%d,%u,%llu,%."
			"3f",
			o->placement, o->routing, link_stats_kinds[k].name, (unsigned long long)s->count, s->min, s->q1,
			s->median, s->mean, s->q3, s->max, s->sum, (unsigned long long)o->messages,
			(unsigned long long)o->bytes, o->result.byte_hops, o->result.seconds, o->result.iterations,
			o->result.converged, o->result.turns, (unsigned long long)o->result.starved, o->wall);
		for (unsigned i = 0; i < s->bins; i++)
			fprintf(f, ",%llu", (unsigned long long)s->bin[i]);
		fputc('\n', f);
	}
}

static void json_text(const char *name, const char *text, FILE *f)
{
	fprintf(f, "  \"%s\": \"", name);
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20)
			fprintf(f, "\\u%04x", (unsigned)*text);
		else if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else
			fputc(*text, f);
	}
	fputs("\",\n", f);
}

static void json_stats(const struct link_stats *s, FILE *f)
{
	fprintf(f,
		"{\"count\": %llu, \"min\": %.17g, \"q1\": %.17g, \"median\": %.17g, \"average\": %.17g, "
		"\"q3\": %.17g, \"max\": %.17g, \"sum\": %.17g, \"histogram\": [",
		(unsigned long long)s->count, s->min, s->q1, s->median, s->mean, s->q3, s->max, s->sum);
	for (unsigned i = 0; i < s->bins; i++)
		fprintf(f, "%s%llu", i ? ", " : "", (unsigned long long)s->bin[i]);
	fputs("]}", f);
}

void outcome_json(const struct outcome *o, FILE *f)
{
	const char *comma = "";

	fputs("{\n", f);
	json_text("network", o->network, f);
	json_text("jobs", o->jobs, f);
	json_text("placement", o->placement, f);
	json_text("routing", o->routing, f);
	fprintf(f,
		"  \"messages\": %llu, \"local_messages\": %llu, \"bytes\": %llu, \"local_bytes\": %llu,\n"
		"  \"pairs\": %llu, \"byte_hops\": %.17g, \"seconds\": %.9g,\n"
		"  \"iterations\": %u, \"converged\": %s, \"turns\": %u, \"starved\": %llu, \"wall\": %.3f,\n"
		"  \"links\": {",
		(unsigned long long)o->messages, (unsigned long long)o->local_messages, (unsigned long long)o->bytes,
		(unsigned long long)o->local_bytes, (unsigned long long)o->items, o->result.byte_hops,
		o->result.seconds, o->result.iterations, o->result.converged ? "true" : "false", o->result.turns,
		(unsigned long long)o->result.starved, o->wall);
	for (int k = 0; k < LINK_STATS_KINDS; k++) {
		if (!o->stats[k].count)
			continue;
		fprintf(f, "%s\n    \"%s\": ", comma, link_stats_kinds[k].name);
		json_stats(&o->stats[k], f);
		comma = ",";
	}
	fputs("\n  }\n}", f);
}

void outcome_links_head(FILE *f)
{
	fputs("placement,routing,link,class,bytes,seconds\n", f);
}

void outcome_links(const struct outcome *o, const struct net *net, const double *load, FILE *f)
{
	char name[NET_LINK_NAME_SIZE];

	for (uint32_t l = 0; l < net->links; l++) {
		if (net->link_class[l] == NET_NONE)
			continue;
		net->ops->link_name(net, l, name, sizeof(name));
		fprintf(f, "%s,%s,%s,%s,%.17g,%.9g\n", o->placement, o->routing, name, class_names[net->link_class[l]],
			load[l], load[l] / (double)net->capacity[l]);
	}
}

void outcome_free(struct outcome *o)
{
	for (int k = 0; k < LINK_STATS_KINDS; k++)
		link_stats_free(&o->stats[k]);
	memset(o, 0, sizeof(*o));
}

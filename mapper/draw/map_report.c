/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the comparison, and writes the map, see map_report.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/draw/amount.h"
#include "mapper/draw/map_report.h"
#include "mapper/base/outfile.h"

#define SHOWN 10 /* crossings and rails in the table */

/* --- the table --- */

static void row_print(const char *name, const struct map_made *made, FILE *f)
{
	const struct map_prediction *p = &made->prediction;
	char a[32], b[32], c[32], d[32], t[32];

	if (!made->layout.n) {
		fprintf(f, "%-9s does not fit: %s\n", name, made->why.text);
		return;
	}
	fprintf(f, "%-9s %12s %12" PRIu64 " %12s %12s %12s %12s\n", name,
		amount_bytes(a, sizeof(a), p->kind[MAP_BRIDGED].bytes), p->kind[MAP_BRIDGED].messages,
		amount_bytes(b, sizeof(b), p->kind[MAP_DIRECT].bytes),
		amount_bytes(c, sizeof(c), p->kind[MAP_NATIVE].bytes),
		amount_bytes(d, sizeof(d), p->kind[MAP_INSIDE].bytes),
		amount_seconds(t, sizeof(t), map_predict_seconds(p)));
}

/* Where there are several zippers: prints which ones are used, and which clusters therefore have no ranks. */
static void zippers_print(const struct map_make *m, FILE *f)
{
	static const char spread[] = "bridged messages are spread over the zippers ";
	static const char hops[] = "bridged messages go through one or more of the zippers ";
	const struct map_prediction *p = &m->made[MAP_RESULT].prediction;
	const uint64_t kept = m->o->strategy == MAP_KEEP ? map_job_clusters(&m->made[MAP_RESULT].layout) : 0;
	bool first = true;

	if (m->o->all_zippers)
		fputs("as if all zippers forwarded for one job\n", f);
	else if (m->hosts.nzippers > 1 && p->zippers.n == 1)
		fprintf(f, "bridged messages go through zipper %s\n", m->hosts.zippers[p->zippers.ways.zipper[0]].host);
	else if (p->zippers.n > 1)
		for (uint32_t i = 0; i < p->zippers.n; i++)
			fprintf(f, "%s%s%s",
				i		       ? ", "
				: p->zippers.ways.hops ? hops
						       : spread,
				m->hosts.zippers[p->zippers.ways.zipper[i]].host, i + 1 < p->zippers.n ? "" : "\n");
	for (uint32_t c = 0; c < m->site.nclusters; c++) {
		bool used = kept >> c & 1;

		for (uint32_t i = 0; i < m->site.nnodes && !kept; i++)
			used |= m->site.nodes[i].cluster == c && m->site.nodes[i].slots;
		if (!used) {
			fprintf(f, "%s%s", first ? "no ranks in cluster " : ", ", m->hosts.clusters[c].name);
			first = false;
		}
	}
	fputs(first ? "" : "\n", f);
}

static void site_print(const struct map_make *m, FILE *f)
{
	uint32_t zippers = 0, slots = 0;

	for (uint32_t i = 0; i < m->site.nnodes; i++)
		if (m->site.nodes[i].zipper) {
			zippers++;
			slots += m->site.nodes[i].slots;
		}
	fprintf(f, "%u ranks, %" PRIu64 " pairs that talk; %u clusters, %u nodes", m->graph.n,
		m->graph.off[m->graph.n] / 2, m->site.nclusters, m->site.nnodes);
	if (zippers)
		fprintf(f, ", %u of them zipper nodes with %u slots", zippers, slots);
	fputs("\n", f);
	zippers_print(m, f);
	fputc('\n', f);
}

static void rails_print(const struct map_make *m, FILE *f)
{
	const struct map_prediction *p = &m->made[MAP_RESULT].prediction;
	uint32_t used = 0;
	char a[32];

	for (uint32_t i = 0; i < p->nrails; i++) {
		if (!p->rails[i].load.messages && !p->rails[i].load.bytes)
			continue;
		if (used++ < SHOWN)
			fprintf(f, "rail %s %s>%s: %s, %" PRIu64 " messages\n",
				m->hosts.zippers[p->rails[i].zipper].host, m->site.fabric[p->rails[i].from],
				m->site.fabric[p->rails[i].to], amount_bytes(a, sizeof(a), p->rails[i].load.bytes),
				p->rails[i].load.messages);
	}
	if (used > SHOWN)
		fprintf(f, "and %u more rails\n", used - SHOWN);
}

static double crossing_seconds(const struct map_make *m, const struct map_crossing *c)
{
	return c->forwards * ((double)c->load.messages * m->o->rates.latency[MAP_BRIDGED] +
				     (double)c->load.bytes / m->o->rates.forward);
}

static void crossings_print(const struct map_make *m, FILE *f)
{
	const struct map_prediction *p = &m->made[MAP_RESULT].prediction;
	char a[32], t[32];

	if (!p->crossings) {
		fputs("nothing has to be bridged\n", f);
		return;
	}
	fprintf(f, "%" PRIu64 " pairs of ranks are bridged; the heaviest:\n", p->crossings);
	for (size_t i = 0; i < p->ncrossings && i < SHOWN; i++) {
		const struct map_crossing *c = &p->crossing[i];

		fprintf(f, "    %u to %u: %s, %" PRIu64 " messages, %u forward%s: %s\n", c->from, c->to,
			amount_bytes(a, sizeof(a), c->load.bytes), c->load.messages, c->forwards,
			c->forwards == 1 ? "" : "s", amount_seconds(t, sizeof(t), crossing_seconds(m, c)));
	}
}

static void kept_print(const struct map_make *m, const char *prefix, FILE *f)
{
	for (uint32_t i = 0; i < m->site.nnodes; i++) {
		const struct map_node *n = &m->site.nodes[i];
		const struct map_hardware *h = n->hardware == MAP_NONE ? NULL : &m->site.machines[n->hardware].hardware;

		if (!h || !h->nkept)
			continue;
		fprintf(f, "%s%s: cores ", prefix, n->name);
		for (uint32_t k = 0; k < h->nkept; k++)
			fprintf(f, "%s%u", k ? "," : "", h->kept[k]);
		fprintf(f, " are kept for zipperd%s%s\n", *h->near ? ", near " : "", h->near);
	}
}

/* The map with the least bridged traffic is not always the fastest. */
static void faster_print(const struct map_make *m, FILE *f)
{
	double now = map_predict_seconds(&m->made[MAP_RESULT].prediction), least = now;
	const char *name = NULL;
	char t[32];

	for (int i = MAP_FROM_PAIRS; i <= MAP_FROM_BLOCK; i++)
		if (m->made[i].layout.n && map_predict_seconds(&m->made[i].prediction) < least) {
			least = map_predict_seconds(&m->made[i].prediction);
			name = i == MAP_FROM_PAIRS ? "pairs" : "block";
		}
	if (name && least < 0.99 * now && m->o->strategy == MAP_AUTO)
		fprintf(f,
			"%s bridges no less, but is predicted to need %s less time; --strategy fastest goes by that\n",
			name, amount_seconds(t, sizeof(t), now - least));
}

void map_report_print(const struct map_make *m, FILE *f)
{
	const struct map_made *now = &m->made[MAP_RESULT];
	char t[32], u[32];

	site_print(m, f);
	if (m->busy.whole + m->busy.partly)
		fprintf(f, "other jobs keep %u nodes busy, and %u in part; %u slots are left\n", m->busy.whole,
			m->busy.partly, m->site.slots);
	fprintf(f, "%-9s %12s %12s %12s %12s %12s %12s\n", "", "bridged", "messages", "direct", "between", "in nodes",
		"time");
	row_print("pairs", &m->made[MAP_FROM_PAIRS], f);
	row_print("block", &m->made[MAP_FROM_BLOCK], f);
	if (m->o->improve && m->o->strategy != MAP_KEEP)
		row_print("before", &m->made[MAP_FROM_OLD], f);
	row_print("this map", now, f);
	fprintf(f, "\ntime: %s for the messages of a rank, %s for the %s\n",
		amount_seconds(t, sizeof(t), now->prediction.messages_s),
		amount_seconds(u, sizeof(u), now->prediction.links_s),
		*now->prediction.busiest ? now->prediction.busiest : "links");
	faster_print(m, f);
	if (m->fabric.net)
		fprintf(f, "a byte that leaves its node goes over %.2f links of the network on average\n",
			now->prediction.links_mean);
	if (m->fabric_moved)
		fprintf(f, "by the network, the ranks of %u nodes have changed places\n", m->fabric_moved);
	rails_print(m, f);
	crossings_print(m, f);
	kept_print(m, "", f);
	if (m->o->improve && !m->improved && m->o->strategy != MAP_KEEP)
		fputs("nothing better was found: the map stays as it is\n", f);
}

/* --- the file --- */

static void head_write(const struct map_make *m, FILE *f)
{
	const struct map_prediction *p = &m->made[MAP_RESULT].prediction;

	fprintf(f, "# zipmap: strategy %s, seed %" PRIu64 "\n", map_search_strategies[m->o->strategy], m->o->seed);
	for (int i = MAP_KINDS; i-- > 0;)
		fprintf(f, "#ZIP predicted %s %" PRIu64 " bytes %" PRIu64 " messages\n", map_kind_names[i],
			p->kind[i].bytes, p->kind[i].messages);
	fprintf(f, "#ZIP predicted time %.9f s\n", map_predict_seconds(p));
	if (m->fabric.net)
		fprintf(f, "#ZIP predicted links %.6f a byte, busiest %s\n", p->links_mean, p->busiest);
	for (uint32_t i = 0; i < p->zippers.n; i++)
		fprintf(f, "#ZIP predicted zipper %s\n", m->hosts.zippers[p->zippers.ways.zipper[i]].host);
	for (uint32_t i = 0; i < p->nrails; i++)
		fprintf(f, "#ZIP rail %s %s>%s %" PRIu64 " bytes %" PRIu64 " messages\n",
			m->hosts.zippers[p->rails[i].zipper].host, m->site.fabric[p->rails[i].from],
			m->site.fabric[p->rails[i].to], p->rails[i].load.bytes, p->rails[i].load.messages);
	for (size_t i = 0; i < p->ncrossings; i++) {
		const struct map_crossing *c = &p->crossing[i];

		fprintf(f, "#ZIP crossing %u>%u %" PRIu64 " bytes %" PRIu64 " messages %u forwards %.9f s\n", c->from,
			c->to, c->load.bytes, c->load.messages, c->forwards, crossing_seconds(m, c));
	}
	if (p->crossings > p->ncrossings)
		fprintf(f, "#ZIP crossings %" PRIu64 " more\n", p->crossings - p->ncrossings);
	kept_print(m, "#ZIP ", f);
}

/* Ranks of each node placed so far, and all its ranks: do they all get a core of their own? */
struct cores {
	uint32_t *used, *ranks; /* [nnodes] */
};

static int core_of(const struct map_make *m, struct cores *c, uint32_t node)
{
	const struct map_node *n = &m->site.nodes[node];
	const struct map_hardware *h = n->hardware == MAP_NONE ? NULL : &m->site.machines[n->hardware].hardware;

	return h && !n->shared && c->ranks[node] <= h->ncores ? (int)h->core[c->used[node]++] : -1;
}

static void ranks_write(const struct map_make *m, struct cores *c, FILE *f)
{
	const struct map_layout *l = &m->made[MAP_RESULT].layout;

	for (uint32_t v = 0; v < l->n; v++)
		c->ranks[l->node[v]]++;
	for (uint32_t v = 0, end; v < l->n; v = end) {
		const struct map_node *n = &m->site.nodes[l->node[v]];
		const char *cluster = n->zipper ? m->hosts.clusters[l->cluster[v]].name : "-";
		int core = core_of(m, c, l->node[v]);

		end = v + 1;
		while (core < 0 && end < l->n && l->node[end] == l->node[v] && l->cluster[end] == l->cluster[v])
			end++;
		if (end - v > 1)
			fprintf(f, "%u-%u %s", v, end - 1, n->name);
		else
			fprintf(f, "%u %s", v, n->name);
		if (core >= 0)
			fprintf(f, " %s %d", cluster, core);
		else if (n->zipper)
			fprintf(f, " %s", cluster);
		fputc('\n', f);
	}
}

int map_report_write(const struct map_make *m, const char *path, struct zerr *err)
{
	struct cores c = {calloc(m->site.nnodes, sizeof(uint32_t)), calloc(m->site.nnodes, sizeof(uint32_t))};
	struct outfile o;
	int rc = c.used && c.ranks ? outfile_open(&o, path, err) : zerr_set(err, -ENOMEM, "not enough memory");

	if (!rc) {
		head_write(m, o.f);
		ranks_write(m, &c, o.f);
		rc = outfile_close(&o, 0, err);
	}
	free(c.used);
	free(c.ranks);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Traffic between clusters with the best map, in the page. See page_part.h. */
#include "mapper/draw/page_part.h"

#include <inttypes.h>

#include "mapper/draw/amount.h"
#include "mapper/draw/svg.h"

#define SHOWN 20 /* pairs of ranks */

static bool crosses(const struct map_make *m)
{
	const struct map_prediction *p = &m->made[MAP_RESULT].prediction;

	for (uint32_t a = 0; a < m->site.nclusters; a++)
		for (uint32_t b = 0; b < m->site.nclusters; b++)
			if (p->between[a][b].messages)
				return true;
	return false;
}

static void clusters_write(FILE *f, const struct map_make *m)
{
	const struct map_prediction *p = &m->made[MAP_RESULT].prediction;
	char text[32];

	fputs("<h3>By cluster, bridged and direct</h3>\n<table>\n<tr><th>from</th><th>to</th><th>bytes</th>"
	      "<th>messages</th></tr>\n",
		f);
	for (uint32_t a = 0; a < m->site.nclusters; a++)
		for (uint32_t b = 0; b < m->site.nclusters; b++) {
			const struct map_sum *s = &p->between[a][b];

			if (!s->messages)
				continue;
			fputs("<tr><td>", f);
			svg_escape(f, m->hosts.clusters[a].name);
			fputs("</td><td>", f);
			svg_escape(f, m->hosts.clusters[b].name);
			fprintf(f, "</td><td>%s</td><td>%" PRIu64 "</td></tr>\n",
				amount_bytes(text, sizeof(text), s->bytes), s->messages);
		}
	fputs("</table>\n", f);
}

static void pairs_write(FILE *f, const struct map_make *m)
{
	const struct map_prediction *p = &m->made[MAP_RESULT].prediction;
	char bytes[32], time[32];

	if (!p->crossings)
		return;
	fprintf(f,
		"<h3>Ranks whose messages are bridged</h3>\n<p>%" PRIu64
		" pairs; the heaviest:</p>\n<table>\n<tr><th>from rank</th><th>to "
		"rank</th><th>bytes</th><th>messages</th>"
		"<th>time in zippers</th></tr>\n",
		p->crossings);
	for (size_t i = 0; i < p->ncrossings && i < SHOWN; i++) {
		const struct map_crossing *c = &p->crossing[i];
		const double s = c->forwards * ((double)c->load.messages * m->o->rates.latency[MAP_BRIDGED] +
						       (double)c->load.bytes / m->o->rates.forward);

		fprintf(f, "<tr><td>%u</td><td>%u</td><td>%s</td><td>%" PRIu64 "</td><td>%s</td></tr>\n", c->from,
			c->to, amount_bytes(bytes, sizeof(bytes), c->load.bytes), c->load.messages,
			amount_seconds(time, sizeof(time), s));
	}
	fputs("</table>\n", f);
}

void page_crossings(FILE *f, const struct map_make *m)
{
	fputs("<h2>Traffic between clusters</h2>\n", f);
	if (!crosses(m)) {
		fputs("<p>With the best map nothing goes from one cluster to another.</p>\n", f);
		return;
	}
	clusters_write(f, m);
	pairs_write(f, m);
}

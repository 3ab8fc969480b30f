/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks in their order, in several clusters. See show_split.h. */
#include "mapper/draw/show_split.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/hosts/invent.h"
#include "mapper/draw/amount.h"
#include "mapper/map/map_predict.h"

/* Crossing messages in both directions. */
struct both {
	uint64_t sent, received;
};

struct split {
	int n, share[ZCTL_PARTS_MAX];
	uint8_t *cluster;   /* [ranks] */
	struct both *busy;  /* [ranks]: messages */
	uint32_t busiest;   /* the rank with most messages in one direction */
	struct both *bytes; /* [n]: bytes of each cluster, which a zipper has a port to */
	struct map_sum crossing;
};

static int shares_read(struct split *s, const struct zgraph *g, const char *clusters, struct zerr *err)
{
	if (g->ranks > ZCTL_RANKS_MAX)
		return zerr_set(err, -E2BIG, "--clusters: the graph has more than %u ranks", ZCTL_RANKS_MAX);
	int rc = zinvent_shares(clusters, (int)g->ranks, "the graph has", s->share, &s->n, err);
	if (!rc && s->share[s->n - 1] == 0)
		rc = zerr_set(err, -EINVAL, "--clusters %d: the graph has %" PRIu32 " rank%s", s->n, g->ranks,
			g->ranks == 1 ? "" : "s");
	return rc;
}

static uint64_t larger(const struct both *b)
{
	return b->sent > b->received ? b->sent : b->received;
}

static void count(struct split *s, const struct zgraph *g)
{
	uint32_t at = 0;

	for (int c = 0; c < s->n; c++)
		for (int i = 0; i < s->share[c]; i++)
			s->cluster[at++] = (uint8_t)c;
	for (uint32_t r = 0; r < g->ranks; r++)
		for (uint64_t i = g->off[r]; i < g->off[r + 1]; i++) {
			const uint32_t peer = g->peer[i];

			if (s->cluster[r] == s->cluster[peer])
				continue;
			map_sum_add(&s->crossing, g->bytes[i], g->messages[i]);
			s->busy[r].sent += g->messages[i];
			s->busy[peer].received += g->messages[i];
			s->bytes[s->cluster[r]].sent += g->bytes[i];
			s->bytes[s->cluster[peer]].received += g->bytes[i];
		}
	for (uint32_t r = 0; r < g->ranks; r++)
		if (larger(&s->busy[r]) > larger(&s->busy[s->busiest]))
			s->busiest = r;
}

/* "ranks 0-3 and 4-7" */
static void ranges_print(FILE *f, const struct split *s)
{
	int first = 0;

	for (int c = 0; c < s->n; c++) {
		fprintf(f, "%s%d", c == 0 ? "" : c + 1 < s->n ? ", " : " and ", first);
		first += s->share[c];
		if (s->share[c] > 1)
			fprintf(f, "-%d", first - 1);
	}
}

/* The time of the messages that cross, as zipmap map predicts it: sending and receiving overlap. */
static void cost_print(FILE *f, const struct split *s, const struct zgraph *g)
{
	struct map_rates rates;
	char t[32], u[32];

	map_predict_default_rates(&rates);
	uint64_t most = 0;
	for (int c = 0; c < s->n; c++)
		most = larger(&s->bytes[c]) > most ? larger(&s->bytes[c]) : most;
	const double messages = (double)larger(&s->busy[s->busiest]) * rates.latency[MAP_BRIDGED];
	const double bytes = (double)most / rates.bandwidth;
	fprintf(f, "that would take %s on rank %" PRIu32 ", which has most messages, and %s in a zipper",
		amount_seconds(t, sizeof(t), messages), s->busiest, amount_seconds(u, sizeof(u), bytes));
	if (g->rank && g->span[ZGRAPH_SPAN_RUN].ns) {
		const double run = (double)g->span[ZGRAPH_SPAN_RUN].ns * 1e-9 / g->ranks;

		fprintf(f, ": %.2g %% of the run", 100 * (messages + bytes) / run);
	}
	fputc('\n', f);
}

int show_split_print(FILE *f, const char *name, const struct zgraph *g, const char *clusters, struct zerr *err)
{
	struct split s = {.n = 0};
	char b[32];
	int rc = shares_read(&s, g, clusters, err);

	if (!rc) {
		s.cluster = malloc(g->ranks);
		s.busy = calloc(g->ranks, sizeof(*s.busy));
		s.bytes = calloc((size_t)s.n, sizeof(*s.bytes));
		rc = s.cluster && s.busy && s.bytes ? 0 : zerr_set(err, -ENOMEM, "not enough memory");
	}
	if (!rc) {
		count(&s, g);
		fprintf(f, "\nin %d clusters (ranks ", s.n);
		ranges_print(f, &s);
		fprintf(f,
			"), %.1f %% of the bytes and %.1f %% of the messages would cross: %s, %" PRIu64 " messages\n",
			amount_percent(s.crossing.bytes, g->total_bytes),
			amount_percent(s.crossing.messages, g->total_messages),
			amount_bytes(b, sizeof(b), s.crossing.bytes), s.crossing.messages);
		if (s.crossing.messages)
			cost_print(f, &s, g);
		fprintf(f, "zipmap --clusters %s -g %s looks for clusters with less between them\n", clusters, name);
	}
	free(s.cluster);
	free(s.busy);
	free(s.bytes);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds up the two directions of a communication graph, see graph_undirected.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "mapper/traffic/graph_undirected.h"

struct arrays {
	uint64_t *off, *bytes, *messages;
	uint32_t *peer;
};

static void arrays_free(struct arrays *a)
{
	free(a->off);
	free(a->peer);
	free(a->bytes);
	free(a->messages);
}

static int arrays_make(struct arrays *a, uint32_t ranks, uint64_t edges)
{
	*a = (struct arrays){.off = calloc((size_t)ranks + 2, sizeof(*a->off)),
		.peer = malloc((edges + 1) * sizeof(*a->peer)),
		.bytes = malloc((edges + 1) * sizeof(*a->bytes)),
		.messages = malloc((edges + 1) * sizeof(*a->messages))};
	return a->off && a->peer && a->bytes && a->messages ? 0 : -ENOMEM;
}

/* Row r of t becomes the messages that r received. Its entries ascend by sender, because the rows are read in their
 * order. */
static void transpose(struct arrays *t, const struct zgraph *g)
{
	for (uint64_t i = 0; i < g->edges; i++)
		t->off[g->peer[i] + 2]++;
	for (uint32_t r = 0; r < g->ranks; r++)
		t->off[r + 2] += t->off[r + 1];
	for (uint32_t r = 0; r < g->ranks; r++)
		for (uint64_t i = g->off[r]; i < g->off[r + 1]; i++) {
			uint64_t at = t->off[g->peer[i] + 1]++;

			t->peer[at] = r;
			t->bytes[at] = g->bytes[i];
			t->messages[at] = g->messages[i];
		}
}

/* Row r of u becomes the merge of the messages that r sent and received. */
static int merge_row(struct arrays *u, uint64_t *n, const struct zgraph *g, const struct arrays *t, uint32_t r)
{
	uint64_t i = g->off[r], j = t->off[r];

	for (; i < g->off[r + 1] || j < t->off[r + 1]; (*n)++) {
		bool out = i < g->off[r + 1] && (j == t->off[r + 1] || g->peer[i] <= t->peer[j]);
		bool in = j < t->off[r + 1] && (i == g->off[r + 1] || t->peer[j] <= g->peer[i]);
		uint64_t bytes[2] = {out ? g->bytes[i] : 0, in ? t->bytes[j] : 0};
		uint64_t messages[2] = {out ? g->messages[i] : 0, in ? t->messages[j] : 0};

		u->peer[*n] = out ? g->peer[i] : t->peer[j];
		if (__builtin_add_overflow(bytes[0], bytes[1], &u->bytes[*n]) ||
			__builtin_add_overflow(messages[0], messages[1], &u->messages[*n]))
			return -EOVERFLOW;
		i += out;
		j += in;
	}
	return 0;
}

int graph_undirected(struct zgraph **out, const struct zgraph *g, struct zerr *err)
{
	struct zgraph *sum = calloc(1, sizeof(*sum));
	struct arrays t = {0}, u = {0};
	uint64_t n = 0;
	int rc = sum ? arrays_make(&t, g->ranks, g->edges) : -ENOMEM;

	*out = NULL;
	if (!rc)
		rc = arrays_make(&u, g->ranks, 2 * g->edges);
	if (!rc)
		transpose(&t, g);
	for (uint32_t r = 0; !rc && r < g->ranks; r++) {
		rc = merge_row(&u, &n, g, &t, r);
		u.off[r + 1] = n;
	}
	arrays_free(&t);
	if (rc) {
		arrays_free(&u);
		free(sum);
		return zerr_set(err, rc,
			rc == -ENOMEM ? "not enough memory" : "more than 2^64 bytes between two ranks");
	}
	*sum = (struct zgraph){.ranks = g->ranks,
		.edges = n,
		.off = u.off,
		.peer = u.peer,
		.bytes = u.bytes,
		.messages = u.messages,
		.total_bytes = g->total_bytes,
		.total_messages = g->total_messages};
	*out = sum;
	return 0;
}

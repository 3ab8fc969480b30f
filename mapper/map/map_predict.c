/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the edges of a graph by the way that messages travel under a layout. Threads take ranges of ranks; sums are
 * integers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/map/map_predict.h"
#include "mapper/map/map_rails.h"
#include "mapper/base/par.h"
#include "mapper/site/map_ways.h"

#define CHUNK 4096u /* ranks that a thread takes at a time */

/* Rates of InfiniBand at the time of the thesis, and the time measured for a forward by zipperd on one machine. */
void map_predict_default_rates(struct map_rates *r)
{
	*r = (struct map_rates){.latency = {0.5e-6, 1.5e-6, 2e-6, 5e-6},
		.bandwidth = 5120.0 * (1 << 20),
		.forward = 5120.0 * (1 << 20)};
}

/* Bytes that ranks themselves send and get over a port. */
struct load {
	uint64_t out, in;
};

/* The sums of one thread. */
struct share {
	struct map_sum kind[MAP_KINDS], between[64][64];
	struct map_sum way[64]
			  [64]; /* bridged messages, from the fabric where they start to the fabric where they end */
	uint64_t forwarded, crossings;
	struct load *load; /* [ports] */
	/* [ports]: bytes of rails that do not pass the port, because they come from ranks of the zipper's own node, or
	 * go to them */
	uint64_t *near_out, *near_in;
	uint64_t *received_ns; /* [ranks]: integers, so that the order of threads does not matter */
	double slowest;
	struct map_crossing *heap; /* the heaviest crossings; the lightest of them on top */
	size_t nheap;
	uint32_t lost_from, lost_to; /* ranks that cannot reach each other, or MAP_NONE */
};

struct task {
	const struct zgraph *g;
	const struct map_site *s;
	const struct map_layout *l;
	const struct map_rates *rates;
	uint64_t clusters; /* clusters with ranks */
	const struct map_ports *ports;
	const struct map_prediction *rails; /* rails and zippers */
	uint8_t forwards[64]
			[64]; /* between the jobs of two clusters; or, where all zippers forward, between two fabrics */
	uint64_t ns[MAP_KINDS]; /* the latencies of the rates */
	size_t list;
	struct share *share;
};

/* --- crossings --- */

/* This is a total order, so that threads do not matter. */
static bool lighter(const struct map_crossing *a, const struct map_crossing *b)
{
	if (a->load.bytes != b->load.bytes)
		return a->load.bytes < b->load.bytes;
	if (a->load.messages != b->load.messages)
		return a->load.messages < b->load.messages;
	return a->from != b->from ? a->from > b->from : a->to > b->to;
}

static int by_weight(const void *a, const void *b)
{
	return lighter(a, b) ? 1 : -1;
}

static void heap_sink(struct map_crossing *heap, size_t n, struct map_crossing c)
{
	size_t at = 0, child;

	while ((child = 2 * at + 1) < n) {
		child += child + 1 < n && lighter(&heap[child + 1], &heap[child]);
		if (!lighter(&heap[child], &c))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = c;
}

static void crossing_note(struct share *w, size_t list, struct map_crossing c)
{
	size_t at;

	w->crossings++;
	if (w->nheap == list) {
		if (list && lighter(&w->heap[0], &c))
			heap_sink(w->heap, w->nheap, c);
		return;
	}
	for (at = w->nheap++; at && lighter(&c, &w->heap[(at - 1) / 2]); at = (at - 1) / 2)
		w->heap[at] = w->heap[(at - 1) / 2];
	w->heap[at] = c;
}

/* --- edges --- */

static void forwards_find(struct task *t, const struct map_zippers *z)
{
	for (uint32_t a = 0; a < t->s->nclusters; a++)
		for (uint32_t b = 0; b < t->s->nclusters; b++)
			if (t->s->all_zippers)
				t->forwards[a][b] = map_ways_hops(t->s, a, b);
			else if (a != b && t->clusters >> a & t->clusters >> b & 1)
				t->forwards[a][b] = (uint8_t)map_job_zippers_forwards(z, a, b);
}

/* Loads the ports at both ends of a message. */
static void ports_add(const struct task *t, struct share *w, uint32_t u, uint32_t v, enum map_kind kind, uint64_t bytes)
{
	const uint32_t *node = t->l->node;
	uint32_t from, to;
	uint64_t near_a = 0, near_b = 0;

	if (node[u] == node[v] && kind != MAP_BRIDGED)
		return;
	map_kind_ends(t->s, t->l, t->clusters, kind, u, v, &from, &to);
	if (kind == MAP_BRIDGED && !t->s->all_zippers) {
		near_a = map_rails_near(t->rails, t->s, node[u], from, to, bytes, w->near_in);
		near_b = map_rails_near(t->rails, t->s, node[v], to, from, bytes, w->near_out);
	}
	w->load[map_ports_find(t->ports, t->s, node[u], from)].out += bytes - near_a;
	w->load[map_ports_find(t->ports, t->s, node[v], to)].in += bytes - near_b;
}

static double edge_add(const struct task *t, struct share *w, uint32_t u, uint32_t v, uint64_t bytes, uint64_t messages)
{
	const struct map_layout *l = t->l;
	enum map_kind kind = map_kind_find(t->s, l, t->clusters, u, v);
	unsigned hops = 1;

	map_sum_add(&w->kind[kind], bytes, messages);
	ports_add(t, w, u, v, kind, bytes);
	if (kind >= MAP_DIRECT)
		map_sum_add(&w->between[l->cluster[u]][l->cluster[v]], bytes, messages);
	if (kind == MAP_BRIDGED) {
		uint32_t from, to;

		map_kind_ends(t->s, l, t->clusters, kind, u, v, &from, &to);
		hops = t->forwards[from][to];
		if (hops == MAP_FAR) {
			w->lost_from = u;
			w->lost_to = v;
		}
		map_sum_add(&w->way[from][to], bytes, messages);
		w->forwarded += bytes * hops;
		crossing_note(w, t->list, (struct map_crossing){u, v, {bytes, messages}, hops});
	}
	w->received_ns[v] += messages * hops * t->ns[kind];
	return (double)messages * hops * t->rates->latency[kind];
}

static void chunk_sum(void *arg, size_t item, unsigned worker)
{
	const struct task *t = arg;
	struct share *w = &t->share[worker];
	uint32_t first = (uint32_t)item * CHUNK, end = t->g->ranks - first < CHUNK ? t->g->ranks : first + CHUNK;

	for (uint32_t u = first; u < end; u++) {
		double seconds = 0;

		for (uint64_t e = t->g->off[u]; e < t->g->off[u + 1]; e++)
			seconds += edge_add(t, w, u, t->g->peer[e], t->g->bytes[e], t->g->messages[e]);
		w->slowest = seconds > w->slowest ? seconds : w->slowest;
	}
}

/* --- results --- */

static void ways_load(struct map_prediction *p, const struct map_site *s, const struct share *w)
{
	for (uint32_t from = 0; from < s->nclusters; from++)
		for (uint32_t to = 0; to < s->nclusters; to++)
			if (w->way[from][to].messages || w->way[from][to].bytes)
				map_rails_load(p, s, from, to, w->way[from][to]);
}

/* Shares of few bytes do not come out even. The result is never negative. */
static uint64_t less(uint64_t sum, uint64_t near)
{
	return sum > near ? sum - near : 0;
}

/* Loads ports with the bytes of rails, and with those that ranks send. */
static void ports_load(struct map_prediction *p, const struct share *w)
{
	for (uint32_t r = 0; r < p->nrails; r++) {
		p->ports.port[p->rails[r].in].in += p->rails[r].load.bytes;
		p->ports.port[p->rails[r].out].out += p->rails[r].load.bytes;
	}
	for (uint32_t i = 0; i < p->ports.n; i++) {
		struct map_port *port = &p->ports.port[i];

		port->own_out = w->load[i].out;
		port->own_in = w->load[i].in;
		port->out = w->load[i].out + less(port->out, w->near_out[i]);
		port->in = w->load[i].in + less(port->in, w->near_in[i]);
	}
}

void map_predict_busiest(struct map_prediction *p, const struct map_site *s, const struct map_rates *r, bool rails,
	const bool *ports)
{
	for (uint32_t i = 0; rails && i < p->nrails; i++) {
		const struct map_rail *rail = &p->rails[i];

		if ((double)rail->load.bytes / r->forward <= p->links_s)
			continue;
		p->links_s = (double)rail->load.bytes / r->forward;
		snprintf(p->busiest, sizeof(p->busiest), "%.40s %.32s>%.32s", s->hosts->zippers[rail->zipper].host,
			s->fabric[rail->from], s->fabric[rail->to]);
	}
	for (uint32_t i = 0; i < p->ports.n; i++) {
		const struct map_port *port = &p->ports.port[i];
		uint64_t out = ports ? port->own_out : port->out, in = ports ? port->own_in : port->in;
		uint64_t most = out > in ? out : in;

		if ((ports && !ports[i]) || (double)most / r->bandwidth <= p->links_s)
			continue;
		p->links_s = (double)most / r->bandwidth;
		map_ports_name(&p->ports, s, i, p->busiest, sizeof(p->busiest));
	}
}

static void receivers_find(struct map_prediction *p, const struct task *t)
{
	for (uint32_t v = 0; v < t->g->ranks; v++) {
		double seconds = (double)t->share[0].received_ns[v] * 1e-9;

		p->messages_s = seconds > p->messages_s ? seconds : p->messages_s;
	}
}

/* Adds all shares to the first one. */
static void shares_join(const struct task *t, unsigned threads)
{
	struct share *all = &t->share[0];

	for (unsigned k = 1; k < threads; k++) {
		const struct share *w = &t->share[k];

		for (int i = 0; i < MAP_KINDS; i++)
			map_sum_add(&all->kind[i], w->kind[i].bytes, w->kind[i].messages);
		for (uint32_t a = 0; a < 64; a++)
			for (uint32_t b = 0; b < 64; b++) {
				map_sum_add(&all->between[a][b], w->between[a][b].bytes, w->between[a][b].messages);
				map_sum_add(&all->way[a][b], w->way[a][b].bytes, w->way[a][b].messages);
			}
		for (uint32_t i = 0; i < t->ports->n; i++) {
			all->load[i].out += w->load[i].out;
			all->load[i].in += w->load[i].in;
			all->near_out[i] += w->near_out[i];
			all->near_in[i] += w->near_in[i];
		}
		for (uint32_t v = 0; v < t->g->ranks; v++)
			all->received_ns[v] += w->received_ns[v];
		for (size_t i = 0; i < w->nheap; i++) {
			crossing_note(all, t->list, w->heap[i]);
			all->crossings--;
		}
		all->crossings += w->crossings;
		all->forwarded += w->forwarded;
		all->slowest = w->slowest > all->slowest ? w->slowest : all->slowest;
		if (w->lost_from != MAP_NONE && all->lost_from == MAP_NONE) {
			all->lost_from = w->lost_from;
			all->lost_to = w->lost_to;
		}
	}
}

static int shares_create(struct task *t, unsigned threads)
{
	t->share = calloc(threads, sizeof(*t->share));
	for (unsigned k = 0; t->share && k < threads; k++) {
		struct share *w = &t->share[k];

		w->lost_from = MAP_NONE;
		w->load = calloc(t->ports->n, sizeof(*w->load));
		w->near_out = calloc(t->ports->n, sizeof(*w->near_out));
		w->near_in = calloc(t->ports->n, sizeof(*w->near_in));
		w->heap = malloc((t->list + 1) * sizeof(*w->heap));
		w->received_ns = calloc((size_t)t->g->ranks + 1, sizeof(*w->received_ns));
		if (!w->load || !w->near_out || !w->near_in || !w->heap || !w->received_ns)
			return -ENOMEM;
	}
	return t->share ? 0 : -ENOMEM;
}

static void shares_free(struct task *t, unsigned threads)
{
	for (unsigned k = 0; t->share && k < threads; k++) {
		free(t->share[k].load);
		free(t->share[k].near_out);
		free(t->share[k].near_in);
		free(t->share[k].received_ns);
		free(t->share[k].heap);
	}
	free(t->share);
}

/* Moves the joined share into the result. */
static void share_take(struct map_prediction *p, struct share *w)
{
	memcpy(p->kind, w->kind, sizeof(p->kind));
	memcpy(p->between, w->between, sizeof(p->between));
	p->forwarded = w->forwarded;
	p->messages_s = w->slowest;
	p->crossing = w->heap;
	p->ncrossings = w->nheap;
	p->crossings = w->crossings;
	w->heap = NULL;
	qsort(p->crossing, p->ncrossings, sizeof(*p->crossing), by_weight);
}

int map_predict(struct map_prediction *p, const struct zgraph *g, const struct map_site *s, const struct map_layout *l,
	const struct map_rates *rates, size_t list, unsigned threads, struct zerr *err)
{
	struct task t = {.g = g,
		.s = s,
		.l = l,
		.rates = rates,
		.ports = &p->ports,
		.rails = p,
		.clusters = map_job_clusters(l),
		.list = list < g->edges ? list : g->edges};
	int rc;

	*p = (struct map_prediction){0};
	rc = s->all_zippers ? 0 : map_job_zippers(s, l, &p->zippers, err);
	if (rc)
		return rc;
	forwards_find(&t, &p->zippers);
	for (int k = 0; k < MAP_KINDS; k++)
		t.ns[k] = (uint64_t)(rates->latency[k] * 1e9 + 0.5);
	rc = map_ports_create(&p->ports, s);
	if (!rc)
		rc = shares_create(&t, threads);
	if (!rc)
		rc = map_rails_make(p, s);
	if (rc) {
		zerr_set(err, rc, "not enough memory for the prediction");
	} else {
		par_run(threads, (g->ranks + CHUNK - 1) / CHUNK, chunk_sum, &t);
		shares_join(&t, threads);
		if (t.share[0].lost_from != MAP_NONE)
			rc = zerr_set(err, -ENETUNREACH,
				"rank %u in cluster %s and rank %u in cluster %s send to each other, "
				"and no zipper joins the two",
				t.share[0].lost_from, s->hosts->clusters[l->cluster[t.share[0].lost_from]].name,
				t.share[0].lost_to, s->hosts->clusters[l->cluster[t.share[0].lost_to]].name);
	}
	if (!rc) {
		ways_load(p, s, &t.share[0]);
		ports_load(p, &t.share[0]);
		share_take(p, &t.share[0]);
		receivers_find(p, &t);
		map_predict_busiest(p, s, rates, true, NULL);
	}
	shares_free(&t, threads);
	if (rc)
		map_predict_free(p);
	return rc;
}

void map_predict_free(struct map_prediction *p)
{
	map_job_zippers_free(&p->zippers);
	free(p->rails);
	map_ports_free(&p->ports);
	free(p->crossing);
	*p = (struct map_prediction){0};
}

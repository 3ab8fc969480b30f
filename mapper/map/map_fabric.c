/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts with the network model the load of links under a layout, see map_fabric.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/net/topology.h"
#include "mapper/net/joined_path.h"
#include "mapper/map/map_fabric.h"
#include "mapper/map/map_points.h"
#include "mapper/model/model.h"
#include "mapper/traffic/traffic.h"

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "not enough memory for the network");
}

int map_fabric_create(struct map_fabric *f, const struct map_site *s, const char *text, const struct routing *routing,
	struct zerr *err)
{
	int rc;

	*f = (struct map_fabric){.site = s, .routing = routing};
	rc = topology_create(text, &f->net, err);
	if (rc)
		return rc;
	f->point = malloc(s->nnodes * sizeof(*f->point));
	return f->point ? map_points_find(f->net, s, f->point, err) : no_memory(err);
}

void map_fabric_free(struct map_fabric *f)
{
	if (f->net)
		net_destroy(f->net);
	free(f->point);
	*f = (struct map_fabric){0};
}

/* The number of messages that an edge is cut into: a message has at most 2^32 - 1 units, which are bytes here. */
static uint64_t pieces(uint64_t bytes)
{
	return bytes / UINT32_MAX + (bytes % UINT32_MAX != 0);
}

/* Messages of ranks at their points of the network. Messages that stay at a point do not load links. */
struct source {
	const struct zgraph *g;
	const uint32_t *point; /* [ranks] */
};

static uint32_t rank_messages(const void *arg, uint32_t rank, struct traffic_message *out)
{
	const struct source *s = arg;
	const struct zgraph *g = s->g;
	uint32_t n = 0;

	for (uint64_t e = g->off[rank]; e < g->off[rank + 1]; e++)
		for (uint64_t left = s->point[g->peer[e]] == s->point[rank] ? 0 : g->bytes[e]; left;) {
			uint32_t piece = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;

			out[n++] = (struct traffic_message){g->peer[e], piece};
			left -= piece;
		}
	return n;
}

static int traffic_make(const struct map_fabric *f, const struct zgraph *g, const struct map_layout *l,
	struct traffic *t, struct zerr *err)
{
	uint32_t *point = malloc(l->n * sizeof(*point));
	struct source messages = {g, point};
	struct traffic_source source = {.ranks = g->ranks, .unit = 1, .messages = rank_messages, .arg = &messages};
	uint64_t bytes = 0;
	int rc = point ? 0 : no_memory(err);

	for (uint32_t v = 0; v < l->n && !rc; v++)
		point[v] = f->point[l->node[v]];
	for (uint32_t v = 0; v < l->n && !rc; v++) {
		uint64_t n = 0;

		for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++)
			if (point[g->peer[e]] != point[v]) {
				n += pieces(g->bytes[e]);
				bytes += g->bytes[e];
			}
		source.degree = n > source.degree ? (uint32_t)n : source.degree;
	}
	/* checked before edges are cut into millions of pieces */
	if (!rc && bytes > TRAFFIC_BYTES_MAX)
		rc = zerr_set(err, -ERANGE, "more than 2^52 bytes between nodes: the network model takes no more");
	if (!rc)
		rc = traffic_build(t, f->net->points, &source, point, 1, f->threads, err);
	free(point);
	return rc;
}

static void nothing(void *arg, const char *what, double done)
{
	(void)arg;
	(void)what;
	(void)done;
}

int map_fabric_forward(struct net *net, const struct map_site *s, const struct map_layout *l, struct zerr *err)
{
	struct map_zippers z = {0};
	int rc = 0;

	if (net->ops != &joined_ops)
		return 0;
	if (!s->all_zippers)
		rc = map_job_zippers(s, l, &z, err);
	joined_forward_by((struct joined *)net, NULL);
	for (uint32_t i = 0; i < z.n && !rc; i++) {
		const char *name = s->hosts->zippers[z.ways.zipper[i]].host;

		if (joined_forward_by((struct joined *)net, name))
			rc = zerr_set(err, -EINVAL, "%s: there is no zipper:%s, which forwards for the job by %s",
				net->where, name, s->hosts->path);
	}
	map_job_zippers_free(&z);
	return rc;
}

int map_fabric_links(const struct map_fabric *f, const struct zgraph *g, const struct map_layout *l, double *seconds,
	double *mean, char *busiest, size_t size, struct zerr *err)
{
	struct model_opts opts;
	struct model_result result = {0};
	struct traffic t;
	struct model_flow flow = {f->routing, &t};
	int rc = map_fabric_forward(f->net, f->site, l, err);

	if (!rc)
		rc = traffic_make(f, g, l, &t, err);
	if (rc)
		return rc;
	model_defaults(&opts);
	opts.threads = f->threads;
	opts.seed = f->seed;
	opts.progress = nothing;
	rc = model_predict(f->net, &flow, 1, &opts, &result, err);
	if (!rc) {
		double most = 0;

		*seconds = result.seconds;
		*mean = result.bytes ? result.byte_hops / (double)result.bytes : 0;
		snprintf(busiest, size, "none");
		for (uint32_t i = 0; i < f->net->links; i++)
			if (f->net->link_class[i] != NET_NONE && result.load[i] / (double)f->net->capacity[i] > most) {
				most = result.load[i] / (double)f->net->capacity[i];
				f->net->ops->link_name(f->net, i, busiest, size);
			}
	}
	model_result_free(&result);
	traffic_free(&t);
	return rc;
}

/* Have the nodes of a topology links of their own? */
static bool has_node_links(const struct net *net)
{
	for (uint32_t i = 0; i < net->links; i++)
		if (net->link_class[i] == NET_UP || net->link_class[i] == NET_INJECT)
			return true;
	return false;
}

/* Chooses the ports that count: nodes' ports to the network of their point, where the network itself has no such links.
 * The other ports of a zipper node are links of a joined network. */
static void ports_choose(const struct map_fabric *f, const struct map_ports *ports, bool *counts)
{
	const struct joined *j = f->net->ops == &joined_ops ? (const struct joined *)f->net : NULL;
	bool silent[JOINED_MEMBERS_MAX] = {false};

	for (uint32_t i = 0; i < (j ? j->nmembers : 1); i++)
		silent[i] = !has_node_links(j ? j->member[i].net : f->net);
	for (uint32_t i = 0; i < ports->n; i++) {
		const struct map_port *port = &ports->port[i];
		uint32_t member = j && port->node != MAP_NONE ? joined_path_spot(j, f->point[port->node]).member : 0;

		counts[i] = port->node != MAP_NONE && silent[member] &&
			    (!j || !strcmp(j->member[member].name, f->site->fabric[port->fabric]));
	}
}

int map_fabric_predict(const struct map_fabric *f, const struct zgraph *g, const struct map_layout *l,
	const struct map_rates *rates, struct map_prediction *p, struct zerr *err)
{
	bool *counts = malloc(p->ports.n * sizeof(*counts));
	int rc = counts ? 0 : no_memory(err);

	if (!rc)
		rc = map_fabric_links(f, g, l, &p->links_s, &p->links_mean, p->busiest, sizeof(p->busiest), err);
	if (!rc) {
		ports_choose(f, &p->ports, counts);
		map_predict_busiest(p, f->site, rates, rates->forward_told, rates->bandwidth_told ? NULL : counts);
	}
	free(counts);
	return rc;
}

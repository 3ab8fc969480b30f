/* SPDX-License-Identifier: BSD-3-Clause */
/* Nodes of a hostfile as points of a network, what a layout puts on its links, and better places for whole nodes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/net/joined.h"
#include "mapper/map/map_fabric.h"
#include "mapper/model/model.h"
#include "mapper/base/rng.h"
#include "mapper/traffic/traffic.h"

#define IMPROVE_NODES_MAX 2048u /* beyond, the tables of all pairs of nodes would be too large */
#define SWEEPS_MAX 50
#define KICKS_MAX 300u
#define KICK_WORK (UINT64_C(1) << 30) /* steps after which no more is tried */

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "not enough memory for the network");
}

/* --- points --- */

static int part_find(const struct joined *j, const char *name)
{
	for (uint32_t p = 0; p < j->nparts; p++)
		if (!strcmp(j->part[p].name, name))
			return (int)p;
	return -1;
}

/* A zipper node is its zipper's place in the part of its own cluster, or else in any that it is attached to. */
static int zipper_point(const struct joined *j, const struct map_site *s, const struct map_node *n, uint32_t *point,
	struct zerr *err)
{
	for (uint32_t z = 0; z < j->nzippers; z++) {
		const struct zipper *zip = &j->zipper[z];
		int own = part_find(j, s->hosts->clusters[n->cluster].name);

		if (strcmp(zip->name, n->name))
			continue;
		for (uint32_t p = 0; p < j->nparts; p++) {
			uint32_t part = own < 0 ? p : ((uint32_t)own + p) % j->nparts;

			if (zip->point[part] != JOINED_NONE) {
				*point = j->part[part].first_point + zip->point[part];
				return 0;
			}
		}
	}
	return zerr_set(err, -EINVAL, "%s: there is no zipper:%s, which is a zipper node in %s", j->net.where, n->name,
		s->hosts->path);
}

/* Where points are nodes it can be told that a host and a zipper are meant to be the same one. */
static int clash_check(const struct joined *j, uint32_t part, uint32_t node, const struct map_node *n, struct zerr *err)
{
	if (j->part[part].net->points != j->part[part].net->nodes)
		return 0;
	for (uint32_t z = 0; z < j->nzippers; z++)
		if (j->zipper[z].point[part] == node)
			return zerr_set(err, -EINVAL,
				"%s: node %u of part %s is zipper %s and host %s: zippers stand behind the hosts",
				j->net.where, node, j->part[part].name, j->zipper[z].name, n->name);
	return 0;
}

int map_fabric_points(const struct net *whole, const struct map_site *s, uint32_t *point, struct zerr *err)
{
	const struct joined *j = whole->ops == &net_joined ? (const struct joined *)whole : NULL;
	uint32_t next[64] = {0};

	if (!j && s->nclusters > 1)
		return zerr_set(err, -EINVAL, "%s: several clusters need a part:NAME each", whole->where);
	for (uint32_t i = 0; i < s->nnodes; i++) {
		const struct map_node *n = &s->nodes[i];
		const char *cluster = s->hosts->clusters[n->cluster].name;
		const struct net *net = whole;
		uint32_t first = 0, at;
		int part = 0, rc;

		if (j && n->zipper) {
			rc = zipper_point(j, s, n, &point[i], err);
			if (rc)
				return rc;
			continue;
		}
		if (j) {
			part = part_find(j, cluster);
			if (part < 0)
				return zerr_set(err, -EINVAL, "%s: there is no part:%s", whole->where, cluster);
			net = j->part[part].net;
			first = j->part[part].first_node;
		}
		at = next[n->cluster]++;
		if (at >= net->nodes)
			return zerr_set(err, -EINVAL, "%s: %u nodes are too few for the hosts of cluster %s",
				whole->where, net->nodes, cluster);
		rc = j ? clash_check(j, (uint32_t)part, at, n, err) : 0;
		if (rc)
			return rc;
		point[i] = whole->ops->point(whole, first + at);
	}
	return 0;
}

int map_fabric_create(struct map_fabric *f, const struct map_site *s, const char *text, const struct routing *routing,
	struct zerr *err)
{
	int rc;

	*f = (struct map_fabric){.site = s, .routing = routing};
	rc = net_create(text, &f->net, err);
	if (rc)
		return rc;
	f->point = malloc(s->nnodes * sizeof(*f->point));
	return f->point ? map_fabric_points(f->net, s, f->point, err) : no_memory(err);
}

void map_fabric_free(struct map_fabric *f)
{
	if (f->net)
		net_destroy(f->net);
	free(f->point);
	*f = (struct map_fabric){0};
}

/* --- prediction --- */

/* Pieces of an edge: a message has at most 2^32 - 1 units, which are bytes here. */
static uint64_t pieces(uint64_t bytes)
{
	return bytes / UINT32_MAX + (bytes % UINT32_MAX != 0);
}

/* Messages of ranks on their points of the network; what stays at a point is no business of its links. */
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
			uint32_t part = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;

			out[n++] = (struct traffic_message){g->peer[e], part};
			left -= part;
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
	/* before they are cut into millions of pieces */
	if (!rc && bytes > MODEL_BYTES_MAX)
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

	if (net->ops != &net_joined)
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
	map_zippers_free(&z);
	return rc;
}

/* The time of the busiest link, and which it is; links on the way of a byte that leaves its node, on average. */
static int links_predict(const struct map_fabric *f, const struct zgraph *g, const struct map_layout *l,
	double *seconds, double *mean, char *busiest, size_t size, struct zerr *err)
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

/* A node's port to the network that its point is in: is the network silent about it? The other ports of a zipper node
 * are links of a joined network. */
static void ports_choose(const struct map_fabric *f, const struct map_ports *ports, bool *counts)
{
	const struct joined *j = f->net->ops == &net_joined ? (const struct joined *)f->net : NULL;
	bool silent[JOINED_PARTS_MAX];

	for (uint32_t i = 0; i < (j ? j->nparts : 1); i++)
		silent[i] = !has_node_links(j ? j->part[i].net : f->net);
	for (uint32_t i = 0; i < ports->n; i++) {
		const struct map_port *port = &ports->port[i];
		uint32_t part = j && port->node != MAP_NONE ? joined_spot(j, f->point[port->node]).part : 0;

		counts[i] = port->node != MAP_NONE && silent[part] &&
			    (!j || !strcmp(j->part[part].name, f->site->fabric[port->fabric]));
	}
}

int map_fabric_predict(const struct map_fabric *f, const struct zgraph *g, const struct map_layout *l,
	const struct map_rates *rates, struct map_prediction *p, struct zerr *err)
{
	bool *counts = malloc(p->ports.n * sizeof(*counts));
	int rc = counts ? 0 : no_memory(err);

	if (!rc)
		rc = links_predict(f, g, l, &p->links_s, &p->links_mean, p->busiest, sizeof(p->busiest), err);
	if (!rc) {
		ports_choose(f, &p->ports, counts);
		map_predict_busiest(p, f->site, rates, rates->forward_told, rates->bandwidth_told ? NULL : counts);
	}
	free(counts);
	return rc;
}

/* --- improvement --- */

/* The ranks of a node are its crew. Crews change places; what they send to each other stays. */
struct crews {
	const struct map_fabric *f;
	const struct map_site *s;
	uint32_t n;		/* nodes */
	uint64_t *bytes;	/* [n * n]: between two crews, both directions */
	uint8_t *hops;		/* [n * n]: links between two nodes */
	uint32_t *place, *size; /* [n]: node of a crew; its ranks */
	bool *fixed;		/* [n]: a rule holds one of its ranks */
	uint64_t work;		/* steps that gains have taken so far */
};

static uint8_t hops_count(const struct net *net, uint32_t from, uint32_t to)
{
	uint32_t link[NET_SLOTS_MAX];
	uint8_t n = 0;

	if (from == to || !net->ops->direct_count(net, from, to))
		return 0;
	net->ops->direct(net, from, to, 0, link);
	for (uint32_t i = 0; i < net->direct_slots; i++)
		n += net->link_class[link[i]] != NET_NONE;
	return n;
}

static int crews_create(struct crews *c, const struct map_fabric *f, const struct map_problem *p,
	const struct zgraph *g, const struct map_layout *l)
{
	uint32_t n = p->site->nnodes;

	*c = (struct crews){.f = f, .s = p->site, .n = n};
	c->bytes = calloc((size_t)n * n, sizeof(*c->bytes));
	c->hops = malloc((size_t)n * n);
	c->place = malloc(n * sizeof(*c->place));
	c->size = calloc(n, sizeof(*c->size));
	c->fixed = calloc(n, sizeof(*c->fixed));
	if (!c->bytes || !c->hops || !c->place || !c->size || !c->fixed)
		return -ENOMEM;
	for (uint32_t a = 0; a < n; a++) {
		c->place[a] = a;
		for (uint32_t b = 0; b < n; b++)
			c->hops[a * n + b] = hops_count(f->net, f->point[a], f->point[b]);
	}
	for (uint32_t v = 0; v < l->n; v++) {
		uint32_t a = l->node[v];

		c->size[a]++;
		c->fixed[a] |= p->rules->pin[v] != MAP_NONE || p->rules->need[v];
		for (uint64_t e = g->off[v]; e < g->off[v + 1]; e++) {
			c->bytes[a * n + l->node[g->peer[e]]] += g->bytes[e];
			c->bytes[l->node[g->peer[e]] * n + a] += g->bytes[e];
		}
	}
	return 0;
}

static void crews_free(struct crews *c)
{
	free(c->bytes);
	free(c->hops);
	free(c->place);
	free(c->size);
	free(c->fixed);
}

/* What bytes times links become if two crews change places. */
static __int128 exchange_gain(const struct crews *c, uint32_t a, uint32_t b)
{
	const uint8_t *at_a = c->hops + (size_t)c->place[a] * c->n, *at_b = c->hops + (size_t)c->place[b] * c->n;
	const uint64_t *of_a = c->bytes + (size_t)a * c->n, *of_b = c->bytes + (size_t)b * c->n;
	__int128 gain = 0;

	for (uint32_t k = 0; k < c->n; k++) {
		int nearer = at_a[c->place[k]] - at_b[c->place[k]];

		if (k != a && k != b)
			gain += ((__int128)of_a[k] - (__int128)of_b[k]) * nearer;
	}
	return gain;
}

static bool may_exchange(const struct crews *c, uint32_t a, uint32_t b)
{
	const struct map_node *na = &c->s->nodes[c->place[a]], *nb = &c->s->nodes[c->place[b]];

	return na->class == nb->class && na->class != MAP_NONE && !c->fixed[a] && !c->fixed[b] &&
	       (c->size[a] || c->size[b]) && c->size[a] <= nb->slots && c->size[b] <= na->slots;
}

static __int128 exchange(struct crews *c, uint32_t a, uint32_t b)
{
	__int128 gain = exchange_gain(c, a, b);
	uint32_t place = c->place[a];

	c->place[a] = c->place[b];
	c->place[b] = place;
	return gain;
}

/* Exchanges that gain, until there is none. What was gained. */
static __int128 crews_descend(struct crews *c)
{
	__int128 gained = 0;
	bool better = true;

	for (int sweep = 0; sweep < SWEEPS_MAX && better; sweep++) {
		better = false;
		for (uint32_t a = 0; a < c->n; a++)
			for (uint32_t b = 0; b < a; b++)
				if (may_exchange(c, a, b) && exchange_gain(c, a, b) > 0) {
					gained += exchange(c, a, b);
					better = true;
				}
		c->work += (uint64_t)c->n * c->n * c->n / 2;
	}
	return gained;
}

/* A descent gets stuck where two pairs of nodes would have to change places at once, as in a fat tree: so some
 * exchanges by chance, and another descent, over and over. */
static int crews_improve(struct crews *c, uint64_t seed)
{
	uint32_t *best = malloc(c->n * sizeof(*best));

	if (!best)
		return -ENOMEM;
	crews_descend(c);
	for (unsigned kick = 0; kick < KICKS_MAX && c->work < KICK_WORK; kick++) {
		__int128 gained = 0;

		memcpy(best, c->place, c->n * sizeof(*best));
		for (unsigned i = 0; i < 2 + kick % 5; i++) {
			uint64_t bits = rng_at(seed, RNG_MAP, 4, 8 * (uint64_t)kick + i);
			uint32_t a = rng_below((uint32_t)bits, c->n), b = rng_below((uint32_t)(bits >> 32), c->n);

			if (a != b && may_exchange(c, a, b))
				gained += exchange(c, a, b);
		}
		gained += crews_descend(c);
		if (gained <= 0)
			memcpy(c->place, best, c->n * sizeof(*best));
	}
	free(best);
	return 0;
}

int map_fabric_improve(const struct map_fabric *f, const struct map_problem *p, const struct zgraph *g,
	struct map_layout *l, uint32_t *moved, struct zerr *err)
{
	double before, after, mean;
	char name[128];
	struct map_layout other;
	struct crews c;
	int rc;

	*moved = 0;
	if (p->site->nnodes > IMPROVE_NODES_MAX)
		return 0;
	rc = crews_create(&c, f, p, g, l) ? no_memory(err) : map_layout_copy(&other, l, err);
	if (rc) {
		crews_free(&c);
		return rc;
	}
	rc = crews_improve(&c, f->seed) ? no_memory(err) : 0;
	for (uint32_t a = 0; a < c.n; a++)
		*moved += c.place[a] != a && c.size[a];
	for (uint32_t v = 0; v < l->n; v++)
		other.node[v] = c.place[l->node[v]];
	if (!rc)
		rc = links_predict(f, g, l, &before, &mean, name, sizeof(name), err);
	if (!rc)
		rc = links_predict(f, g, &other, &after, &mean, name, sizeof(name), err);
	if (!rc && after <= before)
		memcpy(l->node, other.node, l->n * sizeof(*l->node));
	else
		*moved = 0;
	map_layout_free(&other);
	crews_free(&c);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a map, step by step, see map_make.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mapper/map/map_crews.h"
#include "mapper/traffic/graph.h"
#include "mapper/map/map_job.h"
#include "mapper/map/map_layout_read.h"
#include "mapper/map/map_make.h"
#include "mapper/map/map_place.h"
#include "common/hosts/invent.h"
#include "common/graph/graph_scan.h"
#include "common/graph/graph_load.h"

static int no_memory(struct zerr *err)
{
	return zerr_set(err, -ENOMEM, "not enough memory");
}

static void say(void *arg, const char *what, map_cost cost)
{
	const struct map_make *m = arg;

	if (m->o->verbose)
		fprintf(stderr, "zipmap map: [%.1f s] bridged %llu, direct %llu: %s\n",
			(double)clock() / CLOCKS_PER_SEC, (unsigned long long)map_cost_bridged(cost),
			(unsigned long long)(uint64_t)cost, what);
}

static void phase(const struct map_make *m, const char *what)
{
	if (m->o->verbose)
		fprintf(stderr, "zipmap map: [%.1f s] %s\n", (double)clock() / CLOCKS_PER_SEC, what);
}

/* --- reading --- */

/* The cost of a message beyond its bytes. Formats without messages have one message for each edge, which means nothing.
 */
static int message_cost(const struct map_options *o, uint64_t *cost, struct zerr *err)
{
	int recorded = zgraph_scan_probe(o->graph, err);

	if (recorded < 0)
		return recorded;
	*cost = o->message_cost >= 0 ? (uint64_t)o->message_cost
		: recorded	     ? (uint64_t)(o->rates.latency[MAP_BRIDGED] * o->rates.forward)
				     : 0;
	return 0;
}

static int graph_get(struct map_make *m, struct zerr *err)
{
	const struct zgraph_select select = {.phase = m->o->phase};
	uint64_t cost;
	int rc = message_cost(m->o, &cost, err);

	if (!rc)
		rc = graph_load(&m->traffic, m->o->graph, &select, err);
	if (!rc && m->traffic->ranks == 0)
		rc = zerr_set(err, -EINVAL, "%s: no rank in it", m->o->graph);
	return rc ? rc : map_graph_create(&m->graph, m->traffic, cost, m->o->threads, err);
}

static int old_read(struct map_make *m, struct zerr *err)
{
	struct map_layout *l = &m->made[MAP_FROM_OLD].layout;
	int rc = map_layout_read(l, m->o->improve, &m->hosts, true, err);

	if (!rc && l->n != m->graph.n)
		rc = zerr_set(err, -EINVAL, "%s has %u ranks, %s has %u", m->o->improve, l->n, m->o->graph, m->graph.n);
	return rc;
}

static int predict(struct map_make *m, enum map_candidate which, struct zerr *err)
{
	struct map_made *made = &m->made[which];
	int rc = map_predict(&made->prediction, m->traffic, &m->site, &made->layout, &m->o->rates, m->o->list,
		m->o->threads, err);

	if (!rc && m->fabric.net)
		rc = map_fabric_predict(&m->fabric, m->traffic, &made->layout, &m->o->rates, &made->prediction, err);
	return rc;
}

/* Makes the hosts of --clusters, with exactly a slot for each rank. Without the option there are two clusters, or one
 * for a single rank. */
static int hosts_invent(struct map_make *m, struct zerr *err)
{
	int share[ZCTL_PARTS_MAX], n = 0, rc;

	if (m->traffic->ranks > ZCTL_RANKS_MAX)
		return zerr_set(err, -E2BIG, "%s: more than %u ranks", m->o->graph, ZCTL_RANKS_MAX);
	const char *clusters = m->o->clusters ? m->o->clusters : m->traffic->ranks > 1 ? "2" : "1";
	rc = zinvent_shares(clusters, (int)m->traffic->ranks, "the graph has", share, &n, err);
	if (!rc && share[n - 1] == 0)
		rc = zerr_set(err, -EINVAL, "--clusters %d: the graph has %u rank%s", n, m->traffic->ranks,
			m->traffic->ranks == 1 ? "" : "s");
	return rc ? rc : zinvent_hosts(&m->hosts, n, share, 0, err);
}

int map_make_read(struct map_make *m, const struct map_options *o, struct zerr *err)
{
	struct map_site_opts site = {.reserve = o->reserve, .all_zippers = o->all_zippers, .rails = o->rails};
	int rc;

	*m = (struct map_make){.o = o};
	rc = o->hosts ? zhostfile_read(&m->hosts, o->hosts, err) : 0;
	if (!rc)
		rc = graph_get(m, err);
	if (!rc && !o->hosts)
		rc = hosts_invent(m, err);
	if (!rc)
		rc = map_rules_create(&m->rules, m->graph.n, &o->wishes, err);
	site.features = (const char *const *)m->rules.features;
	site.nfeatures = m->rules.nfeatures;
	if (!rc)
		rc = map_site_create(&m->site, &m->hosts, &site, err);
	m->problem = (struct map_problem){&m->graph, &m->site, &m->rules, o->seed};
	if (!rc && o->fabric)
		rc = map_fabric_create(&m->fabric, &m->site, o->fabric, o->routing, err);
	m->fabric.threads = o->threads;
	m->fabric.seed = o->seed;
	if (!rc && o->improve)
		rc = old_read(m, err);
	if (!rc && o->improve)
		rc = predict(m, MAP_FROM_OLD, err);
	return rc;
}

/* --- candidates --- */

/* Makes a simple layout, for comparison and as a start. A layout that does not fit is no error. */
static int simple_make(struct map_make *m, enum map_candidate which, struct zerr *err)
{
	struct map_made *made = &m->made[which];
	int rc = map_layout_create(&made->layout, m->graph.n, err);

	if (!rc)
		rc = (which == MAP_FROM_PAIRS ? map_layout_pairs : map_layout_block)(&made->layout, &m->problem,
			&made->why);
	if (rc == -ENOSPC) {
		map_layout_free(&made->layout);
		return 0;
	}
	if (rc)
		return zerr_set(err, rc, "%s", *made->why.text ? made->why.text : err->text);
	map_layout_join(&made->layout, &m->problem);
	rc = predict(m, which, &made->why);
	if (rc == -ENETUNREACH) {
		map_layout_free(&made->layout);
		rc = 0;
	}
	return rc ? zerr_set(err, rc, "%s", made->why.text) : 0;
}

/* Does the strategy choose among all candidates? */
static bool takes_all(const struct map_make *m)
{
	return m->o->strategy == MAP_AUTO || m->o->strategy == MAP_FASTEST;
}

/* Demands that the search cannot meet by single moves may be met by the plain order of ranks and nodes: a heavy map is
 * better than none. If that fails too, the reason of the search stays. */
static int plain_make(struct map_make *m, struct zerr *err)
{
	struct map_layout plain;
	int rc = map_layout_create(&plain, m->graph.n, err);

	if (rc)
		return rc;
	rc = map_layout_block(&plain, &m->problem, NULL);
	if (!rc)
		rc = map_place_refine(&plain, &m->problem, err);
	if (rc) {
		map_layout_free(&plain);
		return rc;
	}
	map_layout_free(&m->made[MAP_RESULT].layout);
	m->made[MAP_RESULT].layout = plain;
	return 0;
}

static int search_make(struct map_make *m, struct zerr *err)
{
	struct map_search_opts opts = {.strategy = m->o->strategy,
		.effort = m->o->effort,
		.progress = say,
		.progress_arg = m};
	struct map_layout *l = &m->made[MAP_RESULT].layout;
	uint8_t *from[3] = {NULL}, *class = malloc(m->graph.n);
	map_cost cost;
	int rc = class ? map_layout_create(l, m->graph.n, err) : no_memory(err);

	for (int i = 0; i < 3 && !rc; i++) {
		if (!m->made[i].layout.n || (i != MAP_FROM_OLD && !takes_all(m)))
			continue;
		from[i] = malloc(m->graph.n);
		rc = from[i] ? map_layout_classes(&m->made[i].layout, &m->problem, from[i], err) : no_memory(err);
		opts.from[i] = rc ? NULL : from[i];
		rc = rc == -ENOSPC ? 0 : rc;
	}
	if (!rc)
		rc = map_search(&m->problem, &opts, class, &cost, err);
	phase(m, "ranks have their clusters");
	if (!rc)
		rc = map_place_ranks(l, &m->problem, class, err);
	if (rc == -ENOSPC)
		rc = plain_make(m, err);
	phase(m, "ranks have their nodes");
	if (!rc)
		map_layout_join(l, &m->problem);
	for (int i = 0; i < 3; i++)
		free(from[i]);
	free(class);
	return rc;
}

/* Limits every node to `level` slots. Returns the sum of all slots. */
static uint64_t slots_limit(struct map_site *s, const uint32_t *slots, uint32_t level)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < s->nnodes; i++) {
		s->nodes[i].slots = slots[i] < level ? slots[i] : level;
		sum += s->nodes[i].slots;
	}
	return sum;
}

/* Spreads ranks with as many slots as ranks: every node gets `level` slots, or one less, or all that it has. */
static int spread_evenly(struct map_make *m, const uint32_t *slots, uint32_t level, struct zerr *err)
{
	uint64_t spare = slots_limit(&m->site, slots, level) - m->graph.n;
	int rc;

	for (uint32_t i = m->site.nnodes; i-- > 0 && spare;)
		if (slots[i] >= level) {
			m->site.nodes[i].slots--;
			spare--;
		}
	rc = map_rules_check(&m->rules, &m->site, err);
	return rc ? rc : search_make(m, err);
}

/* Spreads ranks where demands do not allow an even spread: with slots to choose from, but no more on a node than
 * necessary. */
static int spread_loosely(struct map_make *m, const uint32_t *slots, uint32_t level, struct zerr *err)
{
	const uint64_t all = slots_limit(&m->site, slots, UINT32_MAX);
	uint64_t sum;
	int rc;

	map_layout_free(&m->made[MAP_RESULT].layout);
	do {
		sum = slots_limit(&m->site, slots, level++);
		rc = map_rules_check(&m->rules, &m->site, err);
	} while (rc == -ENOSPC && sum < all);
	return rc ? rc : search_make(m, err);
}

static int spread_make(struct map_make *m, struct zerr *err)
{
	uint32_t *slots = malloc(m->site.nnodes * sizeof(*slots)), level = 1;
	int rc;

	if (!slots)
		return no_memory(err);
	for (uint32_t i = 0; i < m->site.nnodes; i++)
		slots[i] = m->site.nodes[i].slots;
	while (slots_limit(&m->site, slots, level) < m->graph.n)
		level++;
	rc = spread_evenly(m, slots, level, err);
	if (rc == -ENOSPC)
		rc = spread_loosely(m, slots, level, err);
	free(slots);
	return rc;
}

/* Is a better than b? The cost between classes decides, then the weight between nodes. */
static bool better(const struct map_make *m, const struct map_layout *a, const struct map_layout *b)
{
	map_cost x = map_layout_cost(a, &m->problem), y = map_layout_cost(b, &m->problem);

	return x != y ? x < y : map_layout_internode(a, &m->graph) < map_layout_internode(b, &m->graph);
}

/* Takes a simple layout, or the old map, with its ranks exchanged inside the classes, if it is better than the result
 * of the search: it may have less weight between nodes. */
static int compare_with(struct map_make *m, enum map_candidate which, struct zerr *err)
{
	struct map_layout *l = &m->made[MAP_RESULT].layout, copy;
	uint8_t *class;
	int rc = 0;

	if (!m->made[which].layout.n ||
		map_layout_cost(&m->made[which].layout, &m->problem) > map_layout_cost(l, &m->problem))
		return 0;
	class = malloc(m->graph.n);
	rc = class ? map_layout_classes(&m->made[which].layout, &m->problem, class, NULL) : no_memory(err);
	free(class);
	if (rc == -ENOSPC)
		return 0;
	if (!rc)
		rc = map_layout_copy(&copy, &m->made[which].layout, err);
	if (rc)
		return rc;
	rc = map_place_refine(&copy, &m->problem, err);
	map_layout_join(&copy, &m->problem);
	if (!rc && better(m, &copy, l)) {
		map_layout_free(l);
		*l = copy;
	} else {
		map_layout_free(&copy);
	}
	return rc;
}

/* With an old map: if the result is not better, the old map becomes the result. */
static int old_keep(struct map_make *m, struct zerr *err)
{
	struct map_made *old = &m->made[MAP_FROM_OLD], *now = &m->made[MAP_RESULT];
	uint8_t *class = malloc(m->graph.n);
	int allowed = class ? map_layout_classes(&old->layout, &m->problem, class, NULL) : -ENOMEM;
	double before = map_predict_seconds(&old->prediction), after = map_predict_seconds(&now->prediction);
	uint64_t direct_before = old->prediction.kind[MAP_DIRECT].bytes + old->prediction.kind[MAP_DIRECT].messages;
	uint64_t direct_after = now->prediction.kind[MAP_DIRECT].bytes + now->prediction.kind[MAP_DIRECT].messages;

	free(class);
	if (allowed && allowed != -ENOSPC)
		return no_memory(err);
	if (m->o->strategy == MAP_FASTEST)
		m->improved = allowed || after < before;
	else
		m->improved = allowed || better(m, &now->layout, &old->layout) ||
			      (!better(m, &old->layout, &now->layout) &&
				      (direct_after < direct_before || (m->fabric.net && after < before * 0.999)));
	if (m->improved)
		return 0;
	map_layout_free(&now->layout);
	map_predict_free(&now->prediction);
	if (map_layout_copy(&now->layout, &old->layout, err))
		return -ENOMEM;
	return predict(m, MAP_RESULT, err);
}

/* May the layout be used? The old map may break demands. */
static bool layout_allowed(const struct map_make *m, const struct map_layout *l)
{
	uint8_t *class = l->n ? malloc(l->n) : NULL;
	bool yes = class && map_layout_classes(l, &m->problem, class, NULL) == 0;

	free(class);
	return yes;
}

/* Replaces the result by a candidate that is predicted to need less time. */
static int fastest_take(struct map_make *m, struct zerr *err)
{
	struct map_made *now = &m->made[MAP_RESULT];
	int rc = 0;

	for (int i = 0; i < MAP_RESULT && !rc; i++) {
		const struct map_made *made = &m->made[i];

		if (!layout_allowed(m, &made->layout) ||
			map_predict_seconds(&made->prediction) >= map_predict_seconds(&now->prediction))
			continue;
		map_layout_free(&now->layout);
		map_predict_free(&now->prediction);
		rc = map_layout_copy(&now->layout, &made->layout, err);
		rc = rc ? rc : predict(m, MAP_RESULT, err);
	}
	return rc;
}

/* The cores of a node that zipperd leaves over, where the number of its cores is given; otherwise any number. */
static uint32_t unreserved(const struct map_make *m, const struct map_node *n)
{
	const struct map_machine *of = n->hardware == MAP_NONE ? NULL : &m->site.machines[n->hardware];
	bool told = of && (m->o->reserve >= 0 || m->hosts.nodes[of->node].reserve >= 0);

	return told && of->hardware.nkept ? of->hardware.ncores : UINT32_MAX;
}

/* Checks that a map which is kept as it is meets the demands: no move can mend it. To be called before slots are taken
 * away for other reasons. */
static int kept_check(const struct map_make *m, struct zerr *err)
{
	const struct map_layout *l = &m->made[MAP_FROM_OLD].layout;
	uint32_t(*given)[MAP_FEATURES_MAX] = calloc(m->site.nnodes, sizeof(*given));
	uint32_t *ranks = calloc(m->site.nnodes, sizeof(*ranks));
	int rc = given && ranks ? 0 : no_memory(err);

	for (uint32_t v = 0; v < l->n && !rc; v++) {
		const struct map_node *n = &m->site.nodes[l->node[v]];

		if (!n->slots)
			rc = zerr_set(err, -EINVAL, "%s: rank %u is on %s, which takes no ranks", m->o->improve, v,
				n->name);
		else if (m->rules.pin[v] != MAP_NONE && m->rules.pin[v] != l->node[v])
			rc = zerr_set(err, -EINVAL, "%s: rank %u is on %s, and pinned to %s", m->o->improve, v, n->name,
				m->site.nodes[m->rules.pin[v]].name);
		else if (++ranks[l->node[v]] > n->slots && n->shared)
			rc = zerr_set(err, -EINVAL,
				"%s: rank %u is one too many for %s, where other jobs leave %u slots", m->o->improve, v,
				n->name, n->slots);
		else if (ranks[l->node[v]] > unreserved(m, n))
			rc = zerr_set(err, -EINVAL,
				"%s: rank %u is one too many for %s, which has %u cores beside those of zipperd",
				m->o->improve, v, n->name, unreserved(m, n));
		for (uint32_t f = 0; f < m->site.nfeatures && !rc; f++)
			if (m->rules.need[v] >> f & 1 && ++given[l->node[v]][f] > n->limit[f])
				rc = zerr_set(err, -EINVAL, "%s: rank %u needs %s, which %s does not have%s",
					m->o->improve, v, m->site.features[f], n->name,
					n->limit[f] ? " for so many" : "");
	}
	free(given);
	free(ranks);
	return rc;
}

static int result_make(struct map_make *m, struct zerr *err)
{
	const enum map_strategy way = m->o->strategy;
	struct map_made *now = &m->made[MAP_RESULT];
	int rc = 0;

	if (way == MAP_PAIRS || way == MAP_BLOCK) {
		const struct map_made *simple = &m->made[way == MAP_PAIRS ? MAP_FROM_PAIRS : MAP_FROM_BLOCK];

		if (!simple->layout.n)
			return zerr_set(err, -ENOSPC, "%s: %s", map_search_strategies[way], simple->why.text);
		rc = map_layout_copy(&now->layout, &simple->layout, err);
		return rc ? rc : predict(m, MAP_RESULT, err);
	}
	if (way == MAP_KEEP) {
		rc = map_layout_copy(&now->layout, &m->made[MAP_FROM_OLD].layout, err);
		return rc ? rc : predict(m, MAP_RESULT, err);
	}
	rc = way == MAP_SPREAD ? spread_make(m, err) : search_make(m, err);
	for (int i = 0; i < 3 && !rc; i++)
		if (takes_all(m) || i == MAP_FROM_OLD)
			rc = compare_with(m, (enum map_candidate)i, err);
	if (!rc && m->fabric.net)
		rc = map_crews_improve(&m->fabric, &m->problem, m->traffic, &now->layout, &m->fabric_moved, err);
	if (!rc)
		rc = predict(m, MAP_RESULT, err);
	return !rc && way == MAP_FASTEST ? fastest_take(m, err) : rc;
}

/* Takes away what other jobs keep busy. */
static int busy_take(struct map_make *m, struct zerr *err)
{
	struct busy busy = {0};
	int rc = m->o->busy ? busy_add(&busy, m->o->busy, err) : 0;

	if (rc)
		zerr_prefix(err, rc, "--busy");
	if (!rc && m->o->busy_file)
		rc = busy_read(&busy, m->o->busy_file, err);
	if (!rc)
		rc = map_busy_apply(&m->site, &busy, &m->busy, err);
	busy_free(&busy);
	return rc;
}

int map_make_run(struct map_make *m, const struct map_options *o, struct zerr *err)
{
	int rc = map_make_read(m, o, err);

	phase(m, "files are read");
	if (!rc)
		rc = busy_take(m, err);
	if (!rc)
		rc = map_rules_apply(&m->rules, &m->site, &o->wishes, err);
	if (!rc && o->strategy == MAP_KEEP)
		rc = kept_check(m, err);
	if (!rc && !o->all_zippers)
		rc = map_job_choose(&m->site, &m->rules, err);
	if (!rc)
		rc = map_rules_check(&m->rules, &m->site, err);
	if (!rc)
		rc = map_rules_hasten(&m->rules, &m->site, err);
	if (!rc)
		rc = simple_make(m, MAP_FROM_PAIRS, err);
	if (!rc)
		rc = simple_make(m, MAP_FROM_BLOCK, err);
	phase(m, "pairs and block are predicted");
	if (!rc)
		rc = result_make(m, err);
	if (!rc && o->improve && o->strategy != MAP_KEEP)
		rc = old_keep(m, err);
	return rc;
}

void map_make_free(struct map_make *m)
{
	for (int i = 0; i < MAP_CANDIDATES; i++) {
		map_layout_free(&m->made[i].layout);
		map_predict_free(&m->made[i].prediction);
	}
	map_fabric_free(&m->fabric);
	map_site_free(&m->site);
	map_rules_free(&m->rules);
	map_graph_free(&m->graph);
	zgraph_destroy(m->traffic);
	zhostfile_free(&m->hosts);
}

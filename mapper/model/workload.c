/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs: their sizes, their nodes, their messages. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mapper/base/rng.h"
#include "mapper/model/workload.h"
#include "mapper/model/routing_table.h"

static const struct {
	const char *name, *text;
} presets[] = {
	{"1", "umesh share:20; 2d share:10; 4d share:40; m2m share:20; spread share:10"},
	{"2", "umesh share:10; 2d share:10; 4d share:20; m2m share:40; spread share:20"},
	{"3", "umesh share:20; 2d share:40; 4d share:10; m2m share:10; spread share:20"},
	{"4", "umesh share:40; 2d share:10; 4d share:20; m2m share:20; spread share:10"},
};

const char *workload_preset(const char *name)
{
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		if (!strcmp(name, presets[i].name))
			return presets[i].text;
	return NULL;
}

/* The part of n that a percentage is. */
static int share_parse(const struct spec *spec, const char *text, uint64_t n, const char *what, uint64_t *part,
	struct zerr *err)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) || !(v > 0) || v > 100)
		return zerr_set(err, -EINVAL, "%s: share: \"%s\" is not a percentage", spec->where, text);
	/* 33.33 % of 300 nodes are 99 nodes. The product is rounded to the nearest node, so that binary fractions do
	 * not cost one. */
	*part = (uint64_t)(v * (double)n / 100 + 0.5);
	if (!*part)
		return zerr_set(err, -EINVAL, "%s: share: \"%s\" percent of %llu %s are none", spec->where, text,
			(unsigned long long)n, what);
	return 0;
}

/* The nodes and cores that earlier jobs leave. Where all free nodes are wholly free, cores are those of the nodes. */
struct left {
	const struct net *net;
	const struct job_room *room;
	uint32_t nodes;
	uint64_t cores;
};

static int size_refuse(const struct spec *spec, const struct left *left, uint64_t nodes, uint64_t ranks,
	struct zerr *err)
{
	if (left->room->partly)
		return zerr_set(err, -EINVAL, "%s: %llu ranks do not fit on %llu free cores", spec->where,
			(unsigned long long)ranks, (unsigned long long)left->cores);
	return zerr_set(err, -EINVAL, "%s: %llu ranks on %llu nodes do not fit on %u free nodes of %u cores",
		spec->where, (unsigned long long)ranks, (unsigned long long)nodes, left->nodes, left->net->cores);
}

/* Finds how many nodes and ranks a job gets. */
static int job_size(struct spec *spec, const struct left *left, bool alone, bool placed, uint64_t *nodes,
	uint64_t *ranks, struct zerr *err)
{
	const char *share = spec_string(spec, "share");
	uint32_t cores = left->net->cores;
	uint64_t wants;
	int rc;

	if ((rc = spec_u64(spec, "nodes", 0, 1, left->room->nodes, nodes, err)) ||
		(rc = spec_u64(spec, "ranks", 0, 1, placed ? UINT32_MAX : left->room->cores, ranks, err)) ||
		(rc = pattern_wants(spec, &wants, err)))
		return rc;
	if (share && *nodes)
		return zerr_set(err, -EINVAL, "%s: share or nodes, not both", spec->where);
	if (share && !left->room->partly && (rc = share_parse(spec, share, left->room->nodes, "nodes", nodes, err)))
		return rc;
	if (wants && *ranks && wants != *ranks)
		return zerr_set(err, -EINVAL, "%s: the dimensions make %llu ranks, not %llu", spec->where,
			(unsigned long long)wants, (unsigned long long)*ranks);
	if (wants)
		*ranks = wants;
	if (share && !*nodes && !*ranks && (rc = share_parse(spec, share, left->room->cores, "cores", ranks, err)))
		return rc;
	if (!*nodes && *ranks)
		*nodes = (*ranks + cores - 1) / cores;
	if (!*nodes && !alone)
		return zerr_set(err, -EINVAL,
			"%s: how large? Of several jobs each needs share, nodes, ranks or "
			"dimensions",
			spec->where);
	if (!*ranks)
		*ranks = *nodes ? *nodes * cores : left->cores;
	if (!*nodes)
		*nodes = left->nodes;
	if (placed)
		*nodes = left->nodes;
	else if (left->room->partly ? *ranks > left->cores : *nodes > left->nodes || *ranks > *nodes * cores)
		return size_refuse(spec, left, *nodes, *ranks, err);
	if (*ranks > UINT32_MAX - 1)
		return zerr_set(err, -EINVAL, "%s: more than 2^32 ranks", spec->where);
	return 0;
}

/* Takes the job's nodes and cores from what is left. */
static int job_create(struct job *job, struct spec *spec, struct left *left, bool alone, bool placed, uint64_t seed,
	struct zerr *err)
{
	const char *routing = spec_string(spec, "routing");
	uint64_t nodes, ranks;
	int rc;

	if (routing && !(job->routing = routing_table_find(routing)))
		return zerr_set(err, -EINVAL, "%s: \"%s\" is no routing", spec->where, routing);
	rc = job_size(spec, left, alone, placed, &nodes, &ranks, err);
	if (rc)
		return rc;
	job->first = left->room->nodes - left->nodes;
	job->nodes = (uint32_t)nodes;
	if (left->room->partly) {
		left->cores -= placed ? 0 : ranks;
	} else {
		left->nodes -= (uint32_t)nodes;
		left->cores = (uint64_t)left->nodes * left->net->cores;
	}
	rc = pattern_create(spec, (uint32_t)ranks, seed, &job->pattern, err);
	return rc ? rc : spec_finish(spec, err);
}

int workload_create(struct workload *w, const struct net *net, struct spec_list *l, uint64_t seed, bool placed,
	struct zerr *err)
{
	struct job_room all;

	job_room_whole(&all, net);
	return workload_create_in(w, net, &all, l, seed, placed, err);
}

int workload_create_in(struct workload *w, const struct net *net, const struct job_room *room, struct spec_list *l,
	uint64_t seed, bool placed, struct zerr *err)
{
	struct left left = {net, room, room->nodes, room->cores};
	int rc = 0;

	w->njobs = 0;
	w->jobs = calloc(l->n ? l->n : 1, sizeof(*w->jobs));
	if (!w->jobs)
		return zerr_set(err, -ENOMEM, "not enough memory");
	for (size_t i = 0; i < l->n && !rc; i++)
		rc = job_create(&w->jobs[w->njobs++], &l->specs[i], &left, l->n == 1, placed, rng_mix(seed + i), err);
	if (rc)
		workload_free(w);
	return rc;
}

void workload_free(struct workload *w)
{
	for (unsigned i = 0; i < w->njobs; i++)
		pattern_destroy(w->jobs[i].pattern);
	free(w->jobs);
	memset(w, 0, sizeof(*w));
}

int workload_traffic(const struct net *net, const struct job *job, const uint32_t *order, const uint32_t *map,
	unsigned threads, struct traffic *t, struct zerr *err)
{
	uint32_t n = map ? job->pattern->source.ranks : job->nodes;
	uint32_t *point = malloc((n ? n : 1) * sizeof(*point));
	int rc;

	memset(t, 0, sizeof(*t));
	if (!point)
		return zerr_set(err, -ENOMEM, "not enough memory");
	for (uint32_t i = 0; i < n; i++)
		point[i] = map ? map[i] : net->ops->point(net, order[job->first + i]);
	rc = traffic_build(t, net->points, &job->pattern->source, point, map ? 1 : net->cores, threads, err);
	free(point);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* "zipmap model": builds the traffic once for each placement, then predicts each routing and writes the results. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mapper/net/topology.h"
#include "mapper/draw/gnuplot.h"
#include "mapper/model/model.h"
#include "mapper/command/model_map.h"
#include "mapper/command/model_options.h"
#include "mapper/model/outcome.h"
#include "mapper/base/outfile.h"
#include "mapper/draw/plot_draw.h"
#include "mapper/model/workload.h"
#include "mapper/command/commands.h"

#define BAR_WIDTH 40

struct run {
	struct model_options options;
	struct net *net;
	struct workload workload;
	struct job_room room;
	uint32_t *order, *map;		 /* [nodes] of a placement; [ranks], points of a map, or NULL */
	struct traffic *traffic;	 /* [njobs] */
	struct outfile csv, json, links; /* f is NULL where the file is not wanted */
	struct plot plot;
	unsigned done, all; /* predictions */
	char now[64];	    /* placement and routing, for the progress bar */
	unsigned drawn;	    /* percentage that the bar shows */
};

static double clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- progress, on a terminal only --- */

static void bar_draw(void *arg, const char *what, double done)
{
	struct run *r = arg;
	int filled = (int)(done * BAR_WIDTH);
	unsigned percent = (unsigned)(done * 100);

	if (percent == r->drawn)
		return;
	r->drawn = percent;
	fprintf(stderr, "\r\033[K%u/%u %s %-11s [%.*s%*s] %3u%%", r->done + 1, r->all, r->now, what, filled,
		"########################################", BAR_WIDTH - filled, "", percent);
}

static void bar_clear(struct run *r)
{
	if (r->options.model.progress == bar_draw)
		fprintf(stderr, "\r\033[K");
}

/* --- one prediction --- */

/* Where every job has a routing of its own, each placement has one prediction. */
static bool workload_routed(const struct workload *w)
{
	for (unsigned i = 0; i < w->njobs; i++)
		if (!w->jobs[i].routing)
			return false;
	return true;
}

static int outcome_write(struct run *r, const struct outcome *o, const double *load)
{
	bar_clear(r);
	outcome_print(o, stdout);
	fflush(stdout);
	if (r->csv.f)
		outcome_csv(o, r->csv.f);
	if (r->json.f) {
		fputs(r->done ? ",\n" : "\n", r->json.f);
		outcome_json(o, r->json.f);
	}
	if (r->links.f)
		outcome_links(o, r->net, load, r->links.f);
	return r->options.plot ? plot_add(&r->plot, o) : 0;
}

static int prediction_run(struct run *r, const char *placement, const struct routing *routing, double built,
	struct zerr *err)
{
	struct model_flow *flows = calloc(r->workload.njobs, sizeof(*flows));
	struct outcome o = {.network = r->options.network,
		.jobs = r->options.jobs,
		.placement = placement,
		.routing = routing->name};
	double begin = clock_now();
	int rc;

	if (!flows)
		return zerr_set(err, -ENOMEM, "not enough memory");
	if (workload_routed(&r->workload))
		o.routing = "own";
	for (unsigned i = 0; i < r->workload.njobs; i++) {
		const struct traffic *t = &r->traffic[i];

		flows[i].routing = r->workload.jobs[i].routing ? r->workload.jobs[i].routing : routing;
		flows[i].traffic = t;
		o.messages += t->messages;
		o.local_messages += t->local_messages;
		o.bytes += t->bytes;
		o.local_bytes += t->local_bytes;
		o.items += t->items;
	}
	snprintf(r->now, sizeof(r->now), "%s %s", placement, o.routing);
	r->drawn = UINT32_MAX;
	rc = model_predict(r->net, flows, r->workload.njobs, &r->options.model, &o.result, err);
	for (int k = 0; k < LINK_STATS_KINDS && !rc; k++) {
		rc = link_stats_make(&o.stats[k], r->net, o.result.load, &link_stats_kinds[k], r->options.bins);
		if (rc)
			zerr_set(err, rc, "not enough memory for the statistics");
	}
	o.wall = clock_now() - begin + built;
	if (!rc) {
		rc = outcome_write(r, &o, o.result.load);
		if (rc)
			zerr_set(err, rc, "not enough memory for the plot");
		r->done++;
	}
	model_result_free(&o.result);
	outcome_free(&o);
	free(flows);
	return rc;
}

static void traffic_drop(struct run *r)
{
	for (unsigned i = 0; i < r->workload.njobs; i++)
		traffic_free(&r->traffic[i]);
}

/* Builds the traffic of a job. *at: the place in the order behind the jobs before, where nodes are free in part. */
static int job_traffic(struct run *r, unsigned i, const char *placement, uint32_t *at, struct zerr *err)
{
	const struct job *job = &r->workload.jobs[i];
	uint32_t ranks = job->pattern->source.ranks, *map = NULL;
	int rc = 0;

	if (r->room.partly && !(map = malloc((size_t)ranks * sizeof(*map))))
		return zerr_set(err, -ENOMEM, "not enough memory");
	if (map && !job_room_fill(&r->room, r->net, r->order, at, ranks, map))
		rc = zerr_set(err, -ENOSPC,
			"%s: job %u does not fit: jobs share no node, and those before left too few", placement, i + 1);
	if (!rc)
		rc = workload_traffic(r->net, job, r->order, map ? map : r->map, r->options.model.threads,
			&r->traffic[i], err);
	free(map);
	return rc;
}

/* Runs all routings for the nodes in r->order, or for the ranks in r->map. */
static int placement_run(struct run *r, const char *name, struct zerr *err)
{
	double begin = clock_now(), built;
	uint32_t at = 0;
	int rc = 0;

	for (unsigned i = 0; i < r->workload.njobs && !rc; i++)
		rc = job_traffic(r, i, name, &at, err);
	built = clock_now() - begin;
	for (unsigned i = 0; i < r->options.nroutings && !rc; i++)
		rc = prediction_run(r, name, r->options.routings[i], built, err);
	traffic_drop(r);
	return rc;
}

static int run_all(struct run *r, struct zerr *err)
{
	const struct model_options *o = &r->options;
	int rc = 0;

	outcome_print_head(stdout);
	r->all = o->nroutings * (o->map ? 1 : o->nplacements);
	if (o->map)
		return placement_run(r, "map", err);
	for (unsigned i = 0; i < o->nplacements && !rc; i++) {
		o->placements[i]->order(o->placements[i], r->net, o->model.seed, r->order);
		job_room_filter(&r->room, r->net, r->order);
		rc = placement_run(r, o->placements[i]->name, err);
	}
	return rc;
}

/* --- set-up --- */

/* Finds the nodes that other jobs leave. */
static int room_create(struct run *r, struct zerr *err)
{
	const struct model_options *o = &r->options;
	struct busy busy = {0};
	int rc = o->busy ? busy_add(&busy, o->busy, err) : 0;

	if (rc)
		zerr_prefix(err, rc, "--busy");
	if (!rc && o->busy_file)
		rc = busy_read(&busy, o->busy_file, err);
	if (!rc)
		rc = job_room_create(&r->room, r->net, &busy, err);
	busy_free(&busy);
	return rc;
}

static int run_create(struct run *r, struct zerr *err)
{
	struct model_options *o = &r->options;
	int rc = topology_create(o->network, &r->net, err);

	if (!rc)
		rc = room_create(r, err);
	if (!rc)
		rc = workload_create_in(&r->workload, r->net, &r->room, &o->job_specs, o->model.seed, o->hosts, err);
	if (rc)
		return rc;
	if (workload_routed(&r->workload))
		o->nroutings = 1;
	r->order = malloc(r->net->nodes * sizeof(*r->order));
	r->traffic = calloc(r->workload.njobs, sizeof(*r->traffic));
	if (!r->order || !r->traffic)
		return zerr_set(err, -ENOMEM, "not enough memory");
	if (o->map) {
		uint32_t ranks = r->workload.jobs[0].pattern->source.ranks;

		r->map = malloc(ranks * sizeof(*r->map));
		if (!r->map)
			return zerr_set(err, -ENOMEM, "not enough memory");
		rc = model_map_read(r->net, o->map, o->hosts, ranks, r->map, NULL, err);
	}
	if (!rc && o->csv)
		rc = outfile_open(&r->csv, o->csv, err);
	if (!rc && o->json)
		rc = outfile_open(&r->json, o->json, err);
	if (!rc && o->links)
		rc = outfile_open(&r->links, o->links, err);
	if (!rc && o->plot)
		rc = gnuplot_try(o->plot, err);
	if (r->csv.f)
		outcome_csv_head(r->csv.f, o->bins);
	if (r->json.f)
		fputc('[', r->json.f);
	if (r->links.f)
		outcome_links_head(r->links.f);
	if (!o->quiet && isatty(STDERR_FILENO)) {
		o->model.progress = bar_draw;
		o->model.progress_arg = r;
	}
	return rc;
}

static int run_destroy(struct run *r, int rc, struct zerr *err)
{
	if (r->json.f)
		fputs("\n]\n", r->json.f);
	if (r->csv.f)
		rc = outfile_close(&r->csv, rc, err);
	if (r->json.f)
		rc = outfile_close(&r->json, rc, err);
	if (r->links.f)
		rc = outfile_close(&r->links, rc, err);
	plot_free(&r->plot);
	free(r->order);
	free(r->map);
	free(r->traffic);
	workload_free(&r->workload);
	job_room_free(&r->room);
	net_destroy(r->net);
	model_options_free(&r->options);
	return rc;
}

int model_command(int argc, char **argv)
{
	struct run r = {0};
	struct zerr err = {""};
	int rc = model_options_parse(&r.options, argc, argv, &err), code = 0;

	if (rc < 0) {
		fprintf(stderr, "zipmap model: %s\n", err.text);
		code = 2;
	} else if (!rc) {
		rc = run_create(&r, &err);
		if (!rc)
			rc = run_all(&r, &err);
		bar_clear(&r);
		if (!rc && r.options.plot)
			rc = plot_draw(&r.plot, PLOT_BOXES, r.options.plot_links, r.options.plot_title, r.options.plot,
				&err);
		rc = run_destroy(&r, rc, &err);
		if (!rc && (fflush(stdout) || ferror(stdout)))
			rc = zerr_set(&err, -EIO, "standard output: cannot be written");
		if (rc)
			fprintf(stderr, "zipmap model: %s\n", err.text);
		return rc ? 1 : 0;
	}
	model_options_free(&r.options);
	return code;
}

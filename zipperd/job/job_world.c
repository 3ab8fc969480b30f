/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers the ranks of a job and tells them, see job_world.h. */
#include "zipperd/job/job_world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/conn/capacity.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/conn/crew.h"
#include "zipperd/conn/quota.h"
#include "zipperd/job/job_direct.h"
#include "zipperd/job/job_end.h"

/* By the launcher's map. Its runs cover all vranks, so if an lrank is there twice another one is missing. */
static int number_by_launcher(struct job *j, struct zerr *err)
{
	const struct zctl_run *last = &j->runs[j->nruns - 1];
	if (last->vrank + last->count != j->total)
		return zerr_set(err, -EINVAL, "the launcher's map has %u ranks, but %u have joined",
			last->vrank + last->count, j->total);
	for (uint32_t i = 0; i < j->nruns; i++)
		for (uint32_t k = 0; k < j->runs[i].count; k++) {
			struct rank *r = &j->part[j->runs[i].part].rank[j->runs[i].lrank + k];
			if (r->vrank != ZCTL_VRANK_ANY)
				return zerr_set(err, -EINVAL, "the launcher's map has %s rank %u twice",
					j->part[r->part].name, r->lrank);
			r->vrank = j->runs[i].vrank + k;
			j->by_vrank[r->vrank] = r;
		}
	return 0;
}

/* By wishes: every rank has read its own vrank from a map. All must have read the same map. */
static int number_by_wish(struct job *j, struct zerr *err)
{
	for (uint32_t i = 0; i < j->nparts; i++)
		for (uint32_t l = 0; l < j->part[i].size; l++) {
			struct rank *r = &j->part[i].rank[l], *other = NULL;
			if (r->wish < j->total)
				other = j->by_vrank[r->wish];
			if (r->wish == ZCTL_VRANK_ANY)
				return zerr_set(err, -EINVAL, "%s rank %u was started without a map, others with one",
					j->part[i].name, l);
			if (r->wish >= j->total)
				return zerr_set(err, -EINVAL,
					"the map makes %s rank %u rank %u, but there are only %u ranks",
					j->part[i].name, l, r->wish, j->total);
			if (other)
				return zerr_set(err, -EINVAL, "maps make both %s rank %u and %s rank %u rank %u",
					j->part[other->part].name, other->lrank, j->part[i].name, l, r->wish);
			j->by_vrank[r->wish] = r;
		}
	return 0;
}

static bool has_wishes(const struct job *j)
{
	for (uint32_t i = 0; i < j->nparts; i++)
		for (uint32_t l = 0; l < j->part[i].size; l++)
			if (j->part[i].rank[l].wish != ZCTL_VRANK_ANY)
				return true;
	return false;
}

static void number_in_order(struct job *j)
{
	uint32_t next = 0;
	for (uint32_t i = 0; i < j->nparts; i++)
		for (uint32_t l = 0; l < j->part[i].size; l++)
			j->by_vrank[next++] = &j->part[i].rank[l];
}

/* Ranks of a mixed job keep the order of the native world. */
static void number_as_native(struct job *j)
{
	for (uint32_t v = 0; v < j->total; v++) {
		struct rank *r = &j->world[v];
		j->by_vrank[v] = r;
		r->lrank = j->part[r->part].size++;
	}
}

/* Numbers the ranks by a map where there is one. Without a map part follows part. */
static int number_ranks(struct job *j, struct zerr *err)
{
	int rc = 0;
	if (!j->mixed)
		for (uint32_t i = 0; i < j->nparts; i++)
			j->total += j->part[i].size;
	j->by_vrank = calloc(j->total, sizeof(struct rank *));
	if (!j->by_vrank)
		return -ENOMEM;
	if (j->mixed)
		number_as_native(j);
	else if (j->runs)
		rc = number_by_launcher(j, err);
	else if (has_wishes(j))
		rc = number_by_wish(j, err);
	else
		number_in_order(j);
	if (rc != 0)
		return rc;
	for (uint32_t v = 0; v < j->total; v++)
		j->by_vrank[v]->vrank = v;
	return 0;
}

_Static_assert(ZCTL_RANKS_MAX *(uint64_t)ZCTL_ENDPOINTS_MAX < ZWIRE_NOBODY, "every station has a number");
static uint32_t count_stations(const struct job *j)
{
	return j->endpoints * j->total;
}

/* May the job have several tracks? All ranks must know of them. And a zipper on the way to this one carries a circuit
 * for each channel, and cannot promise the connections for that. */
static bool may_have_several(const struct job *j)
{
	for (uint32_t v = 0; v < j->total; v++)
		if (j->by_vrank[v]->conn->hello.protocol < ZCTL_PROTOCOL_TRACKS)
			return false;
	return !strchr(j->entries, '+');
}

/* The workers of all tracks but the first begin now, as ranks rely on them from WORLD on; the first begins with a
 * channel. Returns for how many tracks there are workers, at least 1. */
static uint32_t start_workers(struct job *j, uint32_t tracks)
{
	struct zerr err;
	for (uint32_t a = 0; a < j->nparts; a++)
		for (uint32_t b = 0; b < a; b++)
			for (uint32_t t = 1; job_carries(j, a, b) && t < tracks; t++)
				if (!crew_worker(j->daemon, j->part[a].fabric, j->part[b].fabric, j->number + t,
					    &err)) {
					zlog(ZLOG_WARN, "job %s has %u workers for each direction only: %s", j->key, t,
						err.text);
					tracks = t;
				}
	return tracks;
}

/* Other jobs come later: more tracks than one take at most half of the connections that are left then. A job that comes
 * back has as many as before. */
static uint32_t choose_tracks(struct job *j)
{
	const uint64_t room = job_room(j), least = job_needs(j, j->endpoints, 1);
	uint32_t tracks = crew_width(j->daemon);
	if (j->had_tracks > 0)
		tracks = j->had_tracks < tracks ? j->had_tracks : tracks;
	else if (!may_have_several(j) || room <= least)
		tracks = 1;
	while (j->had_tracks == 0 && tracks > 1 && job_needs(j, j->endpoints, tracks) > least + (room - least) / 2)
		tracks--;
	return start_workers(j, tracks);
}

/* Notes which station is which destination, and the other way round. */
static int place_stations(struct job *j, uint32_t tracks)
{
	j->place = calloc(count_stations(j), sizeof(struct place));
	j->opened = calloc((size_t)tracks * count_stations(j), sizeof(*j->opened));
	j->lane = calloc((size_t)tracks * j->nparts * j->nparts, sizeof(*j->lane));
	if (!j->place || !j->opened || !j->lane)
		return -ENOMEM;
	j->tracks = tracks;
	for (uint32_t i = 0; i < j->nparts; i++) {
		j->part[i].station_of = calloc((size_t)j->endpoints * j->part[i].size, sizeof(uint32_t));
		if (!j->part[i].station_of)
			return -ENOMEM;
	}
	for (uint32_t station = 0; station < count_stations(j); station++) {
		const struct rank *r = job_rank_of(j, station);
		uint32_t dest = job_dest_of(r, station / j->total);
		j->place[station] = (struct place){.part = r->part, .dest = dest};
		j->part[r->part].station_of[dest] = station;
	}
	return 0;
}

static int make_runs(const struct job *j, struct zctl_world *w)
{
	w->runs = calloc(j->total, sizeof(*w->runs));
	if (!w->runs)
		return -ENOMEM;
	for (uint32_t v = 0; v < j->total; v++) {
		const struct rank *r = j->by_vrank[v];
		struct zctl_run *last = w->nruns ? &w->runs[w->nruns - 1] : NULL;
		if (last && last->part == r->part && last->lrank + last->count == r->lrank)
			last->count++;
		else
			w->runs[w->nruns++] =
				(struct zctl_run){.vrank = v, .count = 1, .part = r->part, .lrank = r->lrank};
	}
	return 0;
}

/* The windows of all stations take at most half of the memory. But two fragments have room in each: with less, a sender
 * would wait after every fragment. Few of many ranks have that much under way at a time, and where all have it, their
 * senders wait for memory. */
uint32_t job_world_window(const struct settings *c, int64_t left, uint64_t stations)
{
	const int64_t share = left > 0 ? left / 2 / (int64_t)stations : 0;
	const int64_t least = 2 * (int64_t)settings_fragment(c);
	const int64_t window = share > least ? share : least;
	return (uint32_t)(window < c->rdv_window ? window : c->rdv_window);
}

/* The window of one station. The jobs share the memory, and each user's jobs the memory of that user. */
static uint32_t choose_window(const struct job *j)
{
	const struct settings *c = &j->daemon->settings;
	int64_t left = c->memory, of_user = (int64_t)atomic_load(&quota_memory(j->user)->limit);
	for (struct list *node = j->daemon->all_jobs.next; node != &j->daemon->all_jobs; node = node->next) {
		const struct job *other = list_entry(node, struct job, link);
		left -= (int64_t)other->window_bytes;
		of_user -= other->user == j->user ? (int64_t)other->window_bytes : 0;
	}
	return job_world_window(c, left < of_user ? left : of_user, count_stations(j));
}

/* MPI_UNIVERSE_SIZE of all native jobs together; 0 if one of them does not know its own. */
static uint32_t sum_universes(const struct job *j)
{
	uint64_t sum = 0;
	if (j->mixed)
		return j->world[0].universe;
	for (uint32_t i = 0; i < j->nparts; i++) {
		if (j->part[i].rank[0].universe == 0)
			return 0;
		sum += j->part[i].rank[0].universe;
	}
	return sum < INT32_MAX ? (uint32_t)sum : INT32_MAX;
}

/* All ranks can send and receive the tags up to the lowest limit. */
static uint32_t lowest_tag_ub(const struct job *j)
{
	uint32_t lowest = 0;
	for (uint32_t v = 0; v < j->total; v++) {
		const uint32_t own = j->by_vrank[v]->tag_ub;
		if (own != 0 && (lowest == 0 || own < lowest))
			lowest = own;
	}
	return lowest;
}

static int send_world(struct job *j)
{
	struct zctl_msg msg = {.type = ZCTL_WORLD};
	struct zctl_world *w = &msg.u.world;
	const struct settings *c = &j->daemon->settings;
	uint8_t *buf = malloc(ZWIRE_MAX_PAYLOAD);
	int rc = -ENOMEM;
	w->eager_bytes = (uint32_t)c->eager_bytes;
	w->frag_bytes = (uint32_t)c->frag_bytes;
	w->rdv_window = j->rdv_window;
	w->universe = sum_universes(j);
	w->tag_ub = lowest_tag_ub(j);
	w->incarnation = j->incarnation;
	w->run = j->run;
	w->tracks = j->tracks;
	for (uint32_t v = 1; v < j->total; v++)
		w->external32 |= j->by_vrank[v]->abi != j->by_vrank[0]->abi;
	w->nparts = j->nparts;
	w->parts = calloc(j->nparts, sizeof(*w->parts));
	if (!buf || !w->parts || make_runs(j, w) != 0 || job_direct_list(j, &w->attached, &w->nattached) != 0)
		goto out;
	for (uint32_t i = 0; i < j->nparts; i++) {
		memcpy(w->parts[i].name, j->part[i].name, sizeof(w->parts[i].name));
		w->parts[i].size = j->part[i].size;
	}
	rc = 0;
	for (uint32_t v = 0; rc >= 0 && v < j->total; v++) {
		struct conn *conn = j->by_vrank[v]->conn;
		w->vrank = v;
		rc = zctl_encode_as(buf, ZWIRE_MAX_PAYLOAD, conn->hello.protocol, &msg);
		if (rc >= 0)
			conn_send_bytes(conn, buf, (size_t)rc);
	}
out:
	zctl_free(&msg);
	free(buf);
	return rc < 0 ? rc : 0;
}

void job_world_start(struct job *j)
{
	char text[ZCTL_TEXT_MAX + 1];
	for (uint32_t i = 0; i < j->nparts; i++)
		if (j->part[i].joined == 0) { /* a mixed job, in which no host belongs to the part */
			snprintf(text, sizeof(text), "part %s has no ranks", j->part[i].name);
			job_end(j, 1, text);
			return;
		}
	struct zerr err = {.text = ""};
	while (j->run == 0)
		zauth_module.random((uint8_t *)&j->run, sizeof(j->run));
	int rc = number_ranks(j, &err);
	const uint32_t tracks = rc == 0 ? choose_tracks(j) : 1;
	if (rc == 0)
		rc = job_fits(j, j->endpoints, tracks, &err);
	if (rc == 0)
		rc = place_stations(j, tracks);
	if (rc == 0) {
		j->rdv_window = choose_window(j);
		j->window_bytes = (uint64_t)j->rdv_window * count_stations(j);
		rc = send_world(j);
	}
	if (rc != 0 && err.text[0]) {
		snprintf(text, sizeof(text), "%.*s", ZCTL_TEXT_MAX, err.text);
		if (rc == -EDQUOT) /* a job that comes back tries again */
			job_end_here(j, text);
		else
			job_end(j, 1, text);
		return;
	}
	if (rc != 0) {
		snprintf(text, sizeof(text), "the world's table of %u ranks cannot be sent: %s", j->total,
			strerror(-rc));
		job_end(j, 1, text);
		return;
	}
	j->state = JOB_RUNNING;
	j->deadline_ms = 0;
	zlog(ZLOG_INFO, "job %s: %u ranks in %u parts have joined", j->key, j->total, j->nparts);
	job_tell_launcher(j, ZCTL_EV_WORLD, j->total, "");
}

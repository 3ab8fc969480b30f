/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer to STATUS, see status.h. */
#include "zipperd/control/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/conn/crew.h"
#include "zipperd/job/job_past.h"
#include "zipperd/job/job_record.h"

/* No job begins in a message that has so many bytes in memory; they are fewer on the wire. One job with all its parts
 * and the directions that one message may have is less than what is left to ZWIRE_MAX_PAYLOAD. */
#define PAGE_BYTES (128u << 10)

struct page {
	const struct conn *asker;
	bool all;
	struct zctl_status_reply *out;
	bool full;
};

static bool sees(const struct page *p, const char *user, const char *id)
{
	const struct zctl_hello *h = &p->asker->hello;
	return (p->all || strcmp(h->user, user) == 0) && (!h->job[0] || strcmp(h->job, id) == 0);
}

static bool is_full(const struct zctl_status_reply *out)
{
	return out->njobs == ZCTL_STATUS_JOBS || out->nlanes == ZCTL_STATUS_LANES ||
	       out->nworkers * sizeof(*out->worker) + out->njobs * sizeof(*out->job) +
			       out->nparts * sizeof(*out->part) + out->nlanes * sizeof(*out->lane) >
		       PAGE_BYTES;
}

/* The page ends here: behind this job, or within its directions. */
static void end_page(struct page *p, bool ended, uint32_t job, uint32_t lane)
{
	p->full = true;
	p->out->more = (struct zctl_place){.ended = ended, .job = job, .lane = lane};
}

/* at: the first of its directions that is wanted. */
static void add_present(struct page *p, const struct job *j, uint32_t at)
{
	struct zctl_status_reply *out = p->out;
	struct zctl_job_status *rec = &out->job[out->njobs++];
	job_record_fill(j, rec);
	job_record_fill_parts(j, &out->part[out->nparts]);
	out->nparts += rec->nparts;
	rec->nlanes = job_record_fill_lanes(j, &at, &out->lane[out->nlanes], ZCTL_STATUS_LANES - out->nlanes);
	out->nlanes += rec->nlanes;
	if (at > 0 || is_full(out))
		end_page(p, false, j->number, at);
}

static void add_past(struct page *p, const struct past_job *j, uint32_t at)
{
	struct zctl_status_reply *out = p->out;
	struct zctl_job_status *rec = &out->job[out->njobs++];
	const uint32_t room = ZCTL_STATUS_LANES - out->nlanes, left = j->job.nlanes - at;
	*rec = j->job;
	memcpy(&out->part[out->nparts], j->part, rec->nparts * sizeof(*j->part));
	out->nparts += rec->nparts;
	rec->nlanes = left < room ? left : room;
	memcpy(&out->lane[out->nlanes], j->lane + at, rec->nlanes * sizeof(*j->lane));
	out->nlanes += rec->nlanes;
	if (left > room || is_full(out))
		end_page(p, true, j->serial, left > room ? at + room : 0);
}

static void add_all_present(struct page *p, const struct daemon *d, const struct zctl_place *from)
{
	for (const struct list *node = d->all_jobs.next; node != &d->all_jobs && !p->full; node = node->next) {
		const struct job *j = list_entry(node, struct job, link);
		const bool within = from->lane > 0 && j->number == from->job;
		char user[sizeof(j->key)];
		snprintf(user, sizeof(user), "%.*s", (int)(j->id - j->key) - 1, j->key);
		if ((j->number > from->job || within) && sees(p, user, j->id))
			add_present(p, j, within ? from->lane : 0);
	}
}

/* A job whose directions go on is the first one behind the serial before. */
static void add_all_past(struct page *p, struct daemon *d, const struct zctl_place *from)
{
	const uint32_t first = from->lane > 0 && from->job > 0 ? from->job - 1 : from->job;
	const struct past_job *j = job_past_next(d, first);
	for (; j && !p->full; j = job_past_next(d, j->serial)) {
		const bool within = from->lane > 0 && j->serial == from->job && from->lane < j->job.nlanes;
		if (sees(p, j->job.user, j->job.id))
			add_past(p, j, within ? from->lane : 0);
	}
}

static void fill_own(struct zctl_status_reply *out, const struct daemon *d)
{
	const struct settings *c = &d->settings;
	snprintf(out->release, sizeof(out->release), "%s", PACKAGE_VERSION);
	out->uptime_ms = (uint64_t)(d->now_ms - d->started_ms);
	out->draining = d->draining_jobs;
	out->connections = (uint32_t)d->nconnections;
	out->max_connections = (uint32_t)c->max_connections;
	for (const struct list *node = d->all_jobs.next; node != &d->all_jobs; node = node->next)
		out->jobs += !job_gives_way(list_entry(node, struct job, link));
	out->max_jobs = (uint32_t)c->max_jobs;
	for (const struct list *node = d->strangers.next; node != &d->strangers; node = node->next)
		out->strangers++;
	for (const struct list *node = d->circuits.next; node != &d->circuits; node = node->next)
		out->circuits++;
	out->refused = d->nrefused;
	out->memory_used = atomic_load_explicit(&d->budget.used, memory_order_relaxed);
	out->memory = d->budget.limit;
}

/* To an earlier protocol, which knows of one worker for each direction, all of them are one. */
static uint32_t list_workers(const struct conn *conn, struct zctl_worker_status *list)
{
	const uint32_t all = crew_list(conn->daemon, list);
	uint32_t n = 0;
	if (conn->hello.protocol >= ZCTL_PROTOCOL_TRACKS)
		return all;
	for (uint32_t i = 0; i < all; i++) {
		uint32_t k = 0;
		while (k < n && (strcmp(list[k].from, list[i].from) != 0 || strcmp(list[k].to, list[i].to) != 0))
			k++;
		if (k == n)
			list[n++] = list[i];
		else
			list[k].cpu_ns += list[i].cpu_ns;
	}
	return n;
}

void status_reply(struct conn *conn, const struct zctl_place *from)
{
	struct daemon *d = conn->daemon;
	struct zctl_msg msg = {.type = ZCTL_STATUS_REPLY};
	struct zctl_status_reply *out = &msg.u.status_reply;
	struct page p = {.asker = conn, .all = conn_administers(conn), .out = out};
	out->worker = calloc(ZCTL_WORKERS_MAX, sizeof(*out->worker));
	out->job = calloc(ZCTL_STATUS_JOBS, sizeof(*out->job));
	out->part = calloc((size_t)ZCTL_STATUS_JOBS * ZCTL_PARTS_MAX, sizeof(*out->part));
	out->lane = calloc(ZCTL_STATUS_LANES, sizeof(*out->lane));
	if (!out->worker || !out->job || !out->part || !out->lane) {
		conn_refuse(conn, ENOMEM, "out of memory");
	} else {
		out->all = p.all;
		fill_own(out, d);
		if (from->ended == 0 && from->job == 0)
			out->nworkers = list_workers(conn, out->worker);
		if (from->ended == 0)
			add_all_present(&p, d, from);
		if (!p.full)
			add_all_past(&p, d, from->ended ? from : &(struct zctl_place){.job = 0});
		conn_send(conn, &msg);
	}
	zctl_free(&msg);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* When all ranks of a job are there: numbers them and tells everybody, see job.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "log.h"

/* Numbers the ranks: those of a mixed job keep the order of the native world, else part follows part. */
static int number_ranks(struct job *j)
{
	uint32_t next = 0;
	if (!j->mixed)
		for (uint32_t i = 0; i < j->nparts; i++)
			j->total += j->part[i].size;
	j->by_vrank = calloc(j->total, sizeof(struct rank *));
	j->place = calloc(j->total, sizeof(struct place));
	if (!j->by_vrank || !j->place)
		return -ENOMEM;
	if (j->mixed) {
		for (uint32_t v = 0; v < j->total; v++) {
			struct rank *r = &j->world[v];
			j->by_vrank[next++] = r;
			r->lrank = j->part[r->part].size++;
		}
	} else {
		for (uint32_t i = 0; i < j->nparts; i++)
			for (uint32_t l = 0; l < j->part[i].size; l++)
				j->by_vrank[next++] = &j->part[i].rank[l];
	}
	for (uint32_t i = 0; i < j->nparts; i++) {
		j->part[i].vrank_of = calloc(j->part[i].size, sizeof(uint32_t));
		if (!j->part[i].vrank_of)
			return -ENOMEM;
	}
	for (uint32_t v = 0; v < j->total; v++) {
		struct rank *r = j->by_vrank[v];
		r->vrank = v;
		j->place[v] = (struct place){.part = r->part, .lrank = r->lrank};
		j->part[r->part].vrank_of[r->lrank] = v;
	}
	return 0;
}

static int make_runs(const struct job *j, struct zctl_world *w)
{
	w->runs = calloc(j->total, sizeof(*w->runs));
	if (!w->runs)
		return -ENOMEM;
	for (uint32_t v = 0; v < j->total; v++) {
		struct zctl_run *last = w->nruns ? &w->runs[w->nruns - 1] : NULL;
		if (last && last->part == j->place[v].part &&
			last->lrank + last->count == j->place[v].lrank)
			last->count++;
		else
			w->runs[w->nruns++] = (struct zctl_run){.vrank = v,
				.count = 1,
				.part = j->place[v].part,
				.lrank = j->place[v].lrank};
	}
	return 0;
}

/* Windows so large that all ranks of this job together take at most half of what other jobs' windows leave. */
static uint32_t choose_window(const struct job *j)
{
	const struct settings *c = &j->daemon->settings;
	int64_t left = c->memory;
	for (struct list *node = j->daemon->all_jobs.next; node != &j->daemon->all_jobs; node = node->next)
		left -= (int64_t)list_entry(node, struct job, link)->window_bytes;
	int64_t window = left / 2 / j->total;
	if (window > c->rdv_window)
		window = c->rdv_window;
	return (uint32_t)(window < c->frag_bytes ? c->frag_bytes : window);
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
	memcpy(w->token, j->token, sizeof(w->token));
	for (uint32_t v = 1; v < j->total; v++)
		w->external32 |= j->by_vrank[v]->abi != j->by_vrank[0]->abi;
	w->nparts = j->nparts;
	w->parts = calloc(j->nparts, sizeof(*w->parts));
	if (!buf || !w->parts || make_runs(j, w) != 0)
		goto out;
	for (uint32_t i = 0; i < j->nparts; i++) {
		memcpy(w->parts[i].name, j->part[i].name, sizeof(w->parts[i].name));
		w->parts[i].size = j->part[i].size;
	}
	rc = 0;
	for (uint32_t v = 0; rc >= 0 && v < j->total; v++) {
		w->vrank = v;
		rc = zctl_encode(buf, ZWIRE_MAX_PAYLOAD, &msg);
		if (rc >= 0)
			peer_send_bytes(j->by_vrank[v]->peer, buf, (size_t)rc);
	}
out:
	zctl_free(&msg);
	free(buf);
	return rc < 0 ? rc : 0;
}

void job_start(struct job *j)
{
	char text[ZCTL_TEXT_MAX + 1];
	for (uint32_t i = 0; i < j->nparts; i++)
		if (j->part[i].joined == 0) { /* in a mixed job: none of its hosts is there */
			snprintf(text, sizeof(text), "part %s has no ranks", j->part[i].name);
			job_end(j, 1, text);
			return;
		}
	int rc = number_ranks(j);
	if (rc == 0) {
		j->rdv_window = choose_window(j);
		j->window_bytes = (uint64_t)j->rdv_window * j->total;
		rc = send_world(j);
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs from their creation to their end, see job.h. */
#include "zipperd/control/job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zipperd/control/crew.h"
#include "zipperd/control/listener.h"
#include "common/base/log.h"
#include "common/control/ctl_name.h"
#include "zipperd/control/capacity.h"

#define REMEMBER_MS 3000   /* how long late ranks of a failed job learn why */
#define LAST_WORDS_MS 5000 /* time for a rank to end itself after DEAD */
#define SUSPECT_MS 1000	   /* a lost channel may be explained by a BYE that is on its way */

const char *rank_describe(const struct rank *r, char *buf, size_t cap)
{
	const struct job *j = r->job;
	const char *part = r->part < j->nparts ? j->part[r->part].name : "?";
	if (j->state == JOB_FORMING)
		snprintf(buf, cap, "rank %u of part %s on %s", r->lrank, part, r->host ? r->host : "?");
	else
		snprintf(buf, cap, "rank %u (%s rank %u on %s)", r->vrank, part, r->lrank, r->host ? r->host : "?");
	return buf;
}

struct rank *job_rank_of(const struct job *j, uint32_t station)
{
	return j->by_vrank[station % j->total];
}

uint32_t job_dest_of(const struct rank *r, uint32_t endpoint)
{
	return endpoint * r->job->part[r->part].size + r->lrank;
}

/* --- making and freeing --- */

static void format_key(char *key, size_t cap, const char *user, const char *id)
{
	snprintf(key, cap, "%s/%s", user, id);
}

struct job *job_find(struct daemon *d, const char *user, const char *id)
{
	char key[2 * (ZCTL_NAME_MAX + 1)];
	struct job *j;
	format_key(key, sizeof(key), user, id);
	HASH_FIND_STR(d->jobs, key, j);
	return j;
}

static void forget(struct job *j)
{
	if (j->hashed)
		HASH_DEL(j->daemon->jobs, j);
	j->hashed = false;
	j->deadline_ms = 0;
}

void job_forget(struct job *j)
{
	forget(j);
	job_free_if_unused(j);
}

static int set_parts(struct daemon *d, struct job *j, const char *parts, const char *entries, struct zerr *err)
{
	char name[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1], entry[ZCTL_PARTS_MAX][ZCTL_NAME_MAX + 1];
	uint32_t hops[ZCTL_PARTS_MAX];
	int n = zctl_name_split_parts(parts, name, ZCTL_PARTS_MAX);
	if (n < 2)
		return zerr_set(err, -EINVAL, "'%.100s' are not the names of two parts or more", parts);
	if (zctl_name_split_entries(entries, parts, entry, hops) != n)
		return zerr_set(err, -EINVAL, "'%.100s' are not the fabrics by which the parts %.100s come", entries,
			parts);
	for (int i = 0; i < n; i++) {
		struct job_part *p = &j->part[i];
		memcpy(p->name, name[i], sizeof(name[i]));
		p->fabric = settings_find_fabric(&d->settings, entry[i]);
		if (p->fabric < 0)
			return zerr_set(err, -ENOENT, "this zipperd serves no fabric '%s' (but %s%s%s%s)", entry[i],
				d->settings.fabric[0], d->settings.nfabrics > 1 ? ", " : "",
				d->settings.nfabrics > 1 ? d->settings.fabric[1] : "",
				d->settings.nfabrics > 2 ? ", ..." : "");
	}
	j->nparts = (uint32_t)n;
	snprintf(j->part_names, sizeof(j->part_names), "%s", parts);
	snprintf(j->entries, sizeof(j->entries), "%s", entries);
	return 0;
}

struct job *job_create(struct daemon *d, const char *user, const char *id, const char *parts, const char *entries,
	struct zerr *err)
{
	if (d->stopping) {
		zerr_set(err, -ESHUTDOWN, "zipperd is shutting down");
		return NULL;
	}
	if (d->njobs >= d->settings.max_jobs) {
		zerr_set(err, -EBUSY, "this zipperd has %d jobs already (max_jobs)", d->njobs);
		return NULL;
	}
	struct job *j = calloc(1, sizeof(*j));
	if (!j) {
		zerr_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	if (set_parts(d, j, parts, entries, err) != 0) {
		free(j);
		return NULL;
	}
	j->daemon = d;
	j->ender = ZWIRE_NOBODY;
	j->number = ++d->last_job;
	j->timeout_ms = d->settings.join_timeout_ms;
	j->started_ms = d->now_ms;
	j->deadline_ms = d->now_ms + j->timeout_ms;
	zauth_module.random(j->token, sizeof(j->token));
	format_key(j->key, sizeof(j->key), user, id);
	j->id = strchr(j->key, '/') + 1;
	HASH_ADD_STR(d->jobs, key, j);
	j->hashed = true;
	list_add(&d->all_jobs, &j->link);
	d->njobs++;
	return j;
}

static void free_ranks(struct rank *rank, uint32_t n)
{
	for (uint32_t i = 0; rank && i < n; i++) {
		free(rank[i].host);
		free(rank[i].ports);
		free(rank[i].local);
	}
	free(rank);
}

void job_free_if_unused(struct job *j)
{
	struct daemon *d = j->daemon;
	if (j->state != JOB_OVER || j->launcher || j->nlanes || j->nchannels || j->hashed)
		return;
	for (uint32_t i = 0; i < j->nparts * j->nparts; i++)
		lane_destroy(j->lane[i]);
	for (uint32_t i = 0; i < j->nparts; i++) {
		free_ranks(j->part[i].rank, j->part[i].size);
		free(j->part[i].station_of);
	}
	free_ranks(j->world, j->total);
	free(j->by_vrank);
	free(j->place);
	free(j->runs);
	free(j->direct);
	list_del(&j->link);
	d->njobs--;
	zauth_module.wipe(j, sizeof(*j));
	free(j);
}

/* --- the end --- */

void job_tell_launcher(struct job *j, enum zctl_event_kind kind, uint32_t number, const char *text)
{
	struct zctl_msg msg = {.type = ZCTL_EVENT};
	if (!j->launcher)
		return;
	msg.u.event.kind = (uint8_t)kind;
	msg.u.event.number = number;
	snprintf(msg.u.event.text, sizeof(msg.u.event.text), "%s", text);
	peer_send(j->launcher, &msg);
}

static void end_rank(struct rank *r, bool running, uint32_t code, const char *text)
{
	struct list *node, *after;
	struct peer *p = r->peer;
	if (p && running) {
		struct zctl_msg msg = {.type = ZCTL_DEAD};
		msg.u.dead.code = code;
		msg.u.dead.part = r->job->ender;
		snprintf(msg.u.dead.text, sizeof(msg.u.dead.text), "%s", text);
		peer_send(p, &msg);
		peer_dismiss(p, LAST_WORDS_MS);
	} else if (p) {
		peer_refuse(p, ECANCELED, "%s", text);
	}
	if (running)
		list_for_each(node, after, &r->channels)
			channel_drop(list_entry(node, struct channel, of_rank));
}

/* The lanes come back when their workers have seen to everything in them. */
static void drop_lanes(struct job *j)
{
	for (uint32_t i = 0; i < j->nparts * j->nparts; i++)
		if (j->lane[i])
			crew_send(j->daemon, j->lane[i]->worker,
				&(struct command){.kind = CMD_DROP_LANE, .lane = j->lane[i]});
}

static void for_all_ranks(struct job *j, bool running, uint32_t code, const char *text)
{
	if (running) {
		for (uint32_t v = 0; v < j->total; v++)
			end_rank(j->by_vrank[v], true, code, text);
		return;
	}
	for (uint32_t v = 0; j->world && v < j->total; v++)
		end_rank(&j->world[v], false, code, text);
	for (uint32_t i = 0; i < j->nparts; i++)
		for (uint32_t v = 0; j->part[i].rank && v < j->part[i].size; v++)
			end_rank(&j->part[i].rank[v], false, code, text);
}

void job_end(struct job *j, uint32_t code, const char *text)
{
	bool running = j->state == JOB_RUNNING;
	if (j->state == JOB_OVER)
		return;
	zlog(ZLOG_WARN, "job %s: %s", j->key, text);
	snprintf(j->text, sizeof(j->text), "%s", text);
	job_tell_launcher(j, ZCTL_EV_DEAD, code, j->text);
	j->state = JOB_OVER;
	j->over_ms = j->daemon->now_ms;
	for_all_ranks(j, running, code, j->text);
	drop_lanes(j);
	j->suspect = NULL;
	j->deadline_ms = 0;
	j->window_bytes = 0;
	if (running)
		stats_log(j);
	/* Ranks that are still on their way to JOIN shall hear the reason; one that runs has none of them. */
	if (running || j->had_launcher || j->daemon->stopping)
		forget(j);
	else
		j->deadline_ms = j->daemon->now_ms + REMEMBER_MS;
	job_free_if_unused(j);
}

static void endf(struct job *j, uint32_t code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void endf(struct job *j, uint32_t code, const char *fmt, ...)
{
	char text[ZCTL_TEXT_MAX + 1];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	job_end(j, code, text);
}

/* All ranks have said BYE. */
static void finish(struct job *j)
{
	j->state = JOB_OVER;
	stats_log(j);
	for (uint32_t v = 0; v < j->total; v++) {
		struct list *node, *after;
		list_for_each(node, after, &j->by_vrank[v]->channels)
			channel_drop(list_entry(node, struct channel, of_rank));
	}
	drop_lanes(j);
	j->suspect = NULL;
	j->window_bytes = 0;
	forget(j);
	job_free_if_unused(j);
}

/* --- what happens to ranks --- */

void job_rank_bye(struct rank *r)
{
	struct job *j = r->job;
	char who[160];
	if (j->state == JOB_FORMING) {
		r->joined = false;
		endf(j, 1, "%s left before the job had begun", rank_describe(r, who, sizeof(who)));
		return;
	}
	if (j->state != JOB_RUNNING || r->done)
		return;
	r->done = true;
	for (uint32_t from = 0; from < j->nparts; from++) {
		struct lane *l = j->lane[from * j->nparts + r->part];
		for (uint32_t e = 0; l && e < j->endpoints; e++)
			crew_send(j->daemon, l->worker,
				&(struct command){.kind = CMD_DEST_BYE, .lane = l, .dest = job_dest_of(r, e)});
	}
	job_tell_launcher(j, ZCTL_EV_RANK_DONE, ++j->ndone, "");
	if (j->suspect == r)
		j->suspect = NULL;
	if (j->ndone == j->total)
		finish(j);
}

void job_rank_lost(struct rank *r, const char *how)
{
	struct job *j = r->job;
	char who[160];
	if (j->state == JOB_OVER || r->done)
		return;
	j->ender = r->part;
	endf(j, 1, "%s died (%s)", rank_describe(r, who, sizeof(who)), how);
}

void job_rank_abort(struct rank *r, const struct zctl_dead *why)
{
	struct job *j = r->job;
	char who[160];
	rank_describe(r, who, sizeof(who));
	if (j->state != JOB_OVER)
		j->ender = r->part;
	/* It knows already. */
	peer_dismiss(r->peer, LAST_WORDS_MS);
	endf(j, why->code, "%s aborted with code %d%s%.100s", who, (int)why->code, why->text[0] ? ": " : "", why->text);
}

void job_rank_quit(struct rank *r, const struct zctl_dead *why)
{
	struct job *j = r->job;
	char who[160];
	rank_describe(r, who, sizeof(who));
	peer_dismiss(r->peer, LAST_WORDS_MS);
	endf(j, why->code, "%s has lost this zipper: %.100s", who, why->text);
}

/* --- launchers --- */

void job_launcher_gone(struct job *j, const char *how)
{
	if (j->state != JOB_OVER)
		endf(j, 1, "the launcher %s", how);
	else
		job_free_if_unused(j);
}

void job_launcher_abort(struct job *j, const struct zctl_dead *why)
{
	endf(j, why->code, "%s", why->text[0] ? why->text : "the launcher ended the job");
}

static int check_sizes(const struct daemon *d, const struct job *j, const struct zctl_create *c, struct zerr *err)
{
	uint64_t total = 0;
	for (uint32_t i = 0; i < j->nparts; i++)
		total += c->sizes[i];
	if (total > (uint64_t)d->settings.max_ranks)
		return zerr_set(err, -E2BIG, "%llu ranks are more than this zipperd's max_ranks (%lld)",
			(unsigned long long)total, (long long)d->settings.max_ranks);
	return 0;
}

void job_launcher_create(struct daemon *d, struct peer *p, struct zctl_create *c)
{
	struct zerr err = {.text = ""};
	struct job *j = job_find(d, p->hello.user, p->hello.job);
	if (j && j->state == JOB_OVER) {
		job_forget(j); /* the launcher makes a new one of that name */
		j = NULL;
	}
	if (j) {
		peer_refuse(p, EEXIST, "job %s exists already", j->key);
		return;
	}
	j = job_create(d, p->hello.user, p->hello.job, c->parts, c->entries, &err);
	if (!j) {
		peer_refuse(p, EINVAL, "job %s/%s: %s", p->hello.user, p->hello.job, err.text);
		return;
	}
	memcpy(j->expected, c->sizes, sizeof(j->expected));
	j->launcher = p;
	if (check_sizes(d, j, c, &err) != 0 || capacity_check(j, 1, &err) != 0) {
		peer_refuse(p, E2BIG, "job %s: %s", j->key, err.text);
		j->launcher = NULL;
		j->state = JOB_OVER;
		job_forget(j);
		return;
	}
	j->runs = c->runs;
	j->nruns = c->nruns;
	c->runs = NULL;
	if (c->join_timeout_ms)
		j->timeout_ms = c->join_timeout_ms;
	j->deadline_ms = d->now_ms + j->timeout_ms;
	j->had_launcher = true;
	p->launches = j;
	peer_settle(p);
	peer_send(p, &(struct zctl_msg){.type = ZCTL_CREATED});
}

/* --- time --- */

void job_suspect(struct rank *r, const char *how)
{
	struct job *j = r->job;
	if (j->state != JOB_RUNNING || r->done || j->suspect)
		return;
	j->suspect = r;
	j->suspect_ms = j->daemon->now_ms + SUSPECT_MS;
	snprintf(j->suspect_how, sizeof(j->suspect_how), "%s", how);
}

static void expire(struct job *j)
{
	int64_t now = j->daemon->now_ms;
	if (j->suspect && j->suspect_ms <= now) {
		job_rank_lost(j->suspect, j->suspect_how);
	} else if (j->deadline_ms && j->deadline_ms <= now && j->state == JOB_FORMING) {
		char missing[ZCTL_TEXT_MAX + 1];
		job_missing(j, missing, sizeof(missing));
		endf(j, 1, "not all ranks have joined within %g s: %s", (double)j->timeout_ms / 1000, missing);
	} else if (j->deadline_ms && j->deadline_ms <= now) {
		job_forget(j);
	}
}

void jobs_expire(struct daemon *d)
{
	struct list *node, *after;
	list_for_each(node, after, &d->all_jobs) /* each can only free itself */
		expire(list_entry(node, struct job, link));
}

bool jobs_timed(const struct daemon *d)
{
	for (const struct list *node = d->all_jobs.next; node != &d->all_jobs; node = node->next) {
		const struct job *j = list_entry(node, struct job, link);
		if (j->deadline_ms || j->suspect)
			return true;
	}
	return false;
}

void jobs_end_all(struct daemon *d, const char *text)
{
	struct list *node, *after;
	list_for_each(node, after, &d->all_jobs) {
		struct job *j = list_entry(node, struct job, link);
		if (j->state == JOB_OVER) {
			job_forget(j);
		} else {
			job_end(j, 1, text);
		}
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of jobs, see job.h. */
#include "zipperd/job/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/control/ctl_name.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/conn/quota.h"
#include "zipperd/job/job_names.h"
#include "zipperd/job/job_past.h"

struct rank *job_rank_of(const struct job *j, uint32_t station)
{
	return j->by_vrank[station % j->total];
}

uint32_t job_dest_of(const struct rank *r, uint32_t endpoint)
{
	return endpoint * r->job->part[r->part].size + r->lrank;
}

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

void job_unname(struct job *j)
{
	if (j->hashed)
		HASH_DEL(j->daemon->jobs, j);
	j->hashed = false;
	j->deadline_ms = 0;
}

void job_forget(struct job *j)
{
	job_unname(j);
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

int job_may_begin(const struct daemon *d, struct zerr *err)
{
	if (!d->draining_jobs)
		return 0;
	return zerr_set(err, -ESHUTDOWN,
		"this zipperd takes no new jobs, as an administrator drains it (zipstat drain): try again later, or go "
		"by another zipper");
}

/* Jobs that are over give their places, for late ranks learn less rather than new jobs are refused. user: of this one,
 * or NULL: of all. */
static void forget_ended(struct daemon *d, const struct user *user)
{
	struct list *node, *after;
	list_for_each(node, after, &d->all_jobs) {
		struct job *j = list_entry(node, struct job, link);
		if (j->state == JOB_OVER && (!user || j->user == user))
			job_forget(j);
	}
}

static int take_place(struct job *j, int64_t now_ms, struct zerr *err)
{
	if (quota_is_full(j->user, QUOTA_JOBS))
		forget_ended(j->daemon, j->user);
	return quota_take(j->user, QUOTA_JOBS, now_ms, err);
}

struct job *job_create(struct daemon *d, const char *user, const char *id, const char *parts, const char *entries,
	struct zerr *err)
{
	if (d->stopping) {
		zerr_set(err, -ESHUTDOWN, "zipperd is shutting down");
		return NULL;
	}
	if (d->njobs >= d->settings.max_jobs)
		forget_ended(d, NULL);
	if (d->njobs >= d->settings.max_jobs) {
		zerr_set(err, -EBUSY, "this zipperd has %d jobs already (max_jobs)", d->njobs);
		return NULL;
	}
	struct job *j = calloc(1, sizeof(*j));
	if (!j) {
		zerr_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	j->user = quota_user(d->quotas, user);
	j->daemon = d;
	if (set_parts(d, j, parts, entries, err) != 0 || take_place(j, d->now_ms, err) != 0) {
		free(j);
		return NULL;
	}
	j->ender = ZWIRE_NOBODY;
	j->number = ++d->last_job;
	j->timeout_ms = d->settings.join_timeout_ms;
	j->started_ms = d->now_ms;
	j->deadline_ms = d->now_ms + j->timeout_ms;
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
	if (rank)
		zauth_module.wipe(rank, n * sizeof(*rank)); /* their keys */
	free(rank);
}

bool job_gives_way(const struct job *j)
{
	return j->state == JOB_OVER && !j->launcher && !j->nlanes && !j->nchannels;
}

void job_free_if_unused(struct job *j)
{
	struct daemon *d = j->daemon;
	struct zerr none;
	if (!job_gives_way(j) || j->hashed)
		return;
	job_past_keep(j);
	for (uint32_t i = 0; i < j->tracks * j->nparts * j->nparts; i++)
		lane_destroy(j->lane[i]);
	free(j->lane);
	for (uint32_t i = 0; i < j->nparts; i++) {
		free_ranks(j->part[i].rank, j->part[i].size);
		free(j->part[i].station_of);
	}
	free_ranks(j->world, j->total);
	free(j->by_vrank);
	free(j->place);
	free(j->opened);
	free(j->runs);
	free(j->direct);
	job_names_free(j);
	list_del(&j->link);
	d->njobs--;
	quota_give(j->user, QUOTA_JOBS);
	quota_promise(j->user, &j->promise, 0, d->now_ms, &none);
	zauth_module.wipe(j, sizeof(*j));
	free(j);
}

uint64_t job_needs(const struct job *j, uint32_t endpoints, uint32_t tracks)
{
	uint64_t need = j->launcher != NULL;
	for (uint32_t a = 0; a < j->nparts; a++) {
		uint64_t size = j->part[a].size ? j->part[a].size : j->expected[a], others = 0;
		for (uint32_t b = 0; b < j->nparts; b++)
			others += b != a && job_carries(j, a, b);
		if (j->part[a].shares)
			size = j->part[a].direct;
		need += size * (1 + (uint64_t)endpoints * tracks * others);
	}
	return need;
}

uint64_t job_room(const struct job *j)
{
	uint64_t promised = 0, most = (uint64_t)j->daemon->settings.max_connections;
	const uint64_t of_user = quota_rest(j->user, j->promise);
	for (struct list *node = j->daemon->all_jobs.next; node != &j->daemon->all_jobs; node = node->next) {
		const struct job *other = list_entry(node, struct job, link);
		promised += other != j ? other->promise : 0;
	}
	const uint64_t here = most > promised ? most - promised : 0;
	return here < of_user ? here : of_user;
}

int job_fits(struct job *j, uint32_t endpoints, uint32_t tracks, struct zerr *err)
{
	int64_t most = j->daemon->settings.max_connections;
	const uint64_t need = job_needs(j, endpoints, tracks);
	uint64_t ranks = 0;
	for (uint32_t a = 0; a < j->nparts; a++)
		ranks += j->part[a].size ? j->part[a].size : j->expected[a];
	if (need <= (uint64_t)most)
		return quota_promise(j->user, &j->promise, need, j->daemon->now_ms, err);
	return zerr_set(err, -E2BIG, "%llu ranks may need %llu connections, but max_connections is %lld here%s",
		(unsigned long long)ranks, (unsigned long long)need, (long long)most,
		j->daemon->wanted_connections ? " (ulimit -n)" : "");
}

int job_check_ranks(const struct daemon *d, uint64_t total, struct zerr *err)
{
	if (total > (uint64_t)d->settings.max_ranks)
		return zerr_set(err, -E2BIG, "%llu ranks are more than this zipperd's max_ranks (%lld)",
			(unsigned long long)total, (long long)d->settings.max_ranks);
	return 0;
}

void job_count_state(struct rank *r, uint8_t state)
{
	if (r->state)
		r->job->doing[r->state]--;
	if (state)
		r->job->doing[state]++;
	r->state = state;
}

void job_tell_launcher(struct job *j, enum zctl_event_kind kind, uint32_t number, const char *text)
{
	struct zctl_msg msg = {.type = ZCTL_EVENT};
	if (!j->launcher)
		return;
	msg.u.event.kind = (uint8_t)kind;
	msg.u.event.number = number;
	snprintf(msg.u.event.text, sizeof(msg.u.event.text), "%s", text);
	conn_send(j->launcher, &msg);
}

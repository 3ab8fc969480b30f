/* SPDX-License-Identifier: BSD-3-Clause */
/* The accounts of users, see quota.h. */
#include "zipperd/conn/quota.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <uthash.h>

#include "common/base/log.h"
#include "zipperd/conn/limit.h"

static const struct {
	const char *option, *things;
} names[QUOTA_KINDS] = {
	[QUOTA_JOBS] = {"user_jobs", "jobs"},
	[QUOTA_CONNECTIONS] = {"user_connections", "connections"},
	[QUOTA_CIRCUITS] = {"user_circuits", "circuits that wait for their other end"},
};

struct user {
	UT_hash_handle hh;
	char name[ZCTL_NAME_MAX + 1];
	struct quotas *all;
	int64_t has[QUOTA_KINDS];
	uint64_t promised; /* connections, to its jobs */
	uint32_t weight;
	struct share memory;
	struct limit refused; /* of log lines */
};

struct quotas {
	struct user *table;
	int64_t limit[QUOTA_KINDS];
	uint64_t memory;
	const struct settings *settings;
};

int quota_init(struct quotas **out, struct zerr *err)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : zerr_set(err, -ENOMEM, "out of memory");
}

void quota_fini(struct quotas *q)
{
	struct user *u, *next;
	if (!q)
		return;
	HASH_ITER(hh, q->table, u, next) {
		HASH_DEL(q->table, u);
		free(u);
	}
	free(q);
}

/* set: in the settings; all of it: what the settings give to all users together. */
static int64_t choose(int64_t set, int64_t all, int64_t part, bool alone)
{
	if (set > 0)
		return set;
	if (alone)
		return INT64_MAX;
	return all / part > 0 ? all / part : 1;
}

void quota_configure(struct quotas *q, const struct settings *c, bool alone)
{
	q->limit[QUOTA_JOBS] = choose(c->user_jobs, c->max_jobs, 4, alone);
	q->limit[QUOTA_CONNECTIONS] = choose(c->user_connections, c->max_connections, 2, alone);
	q->limit[QUOTA_CIRCUITS] = c->user_circuits;
	q->memory = (uint64_t)choose(c->user_memory, c->memory, 2, alone);
	q->settings = c;
	for (struct user *u = q->table; u; u = u->hh.next) {
		atomic_store(&u->memory.limit, q->memory);
		u->weight = settings_weight(c, u->name);
	}
}

struct user *quota_user(struct quotas *q, const char *name)
{
	struct user *u;
	HASH_FIND_STR(q->table, name, u);
	if (u || !(u = calloc(1, sizeof(*u))))
		return u;
	snprintf(u->name, sizeof(u->name), "%s", name);
	u->all = q;
	u->weight = settings_weight(q->settings, name);
	atomic_store(&u->memory.limit, q->memory);
	HASH_ADD_STR(q->table, name, u);
	return u;
}

static int refuse(struct user *u, int64_t now_ms, struct zerr *err)
{
	uint32_t dropped;
	if (!limit_pass(&u->refused, now_ms, &dropped))
		return -EDQUOT;
	if (dropped)
		zlog(ZLOG_WARN, "user %s: %u more refusals", u->name, dropped);
	zlog(ZLOG_WARN, "refused: %s", err->text);
	return -EDQUOT;
}

static int take(struct user *u, enum quota kind, int64_t limit, int64_t now_ms, struct zerr *err)
{
	if (u->has[kind] < limit) {
		u->has[kind]++;
		return 0;
	}
	zerr_set(err, -EDQUOT,
		"user %s has %" PRId64 " %s on this zipperd, which is the most (%s): end some of them, or ask its "
		"administrator for more",
		u->name, u->has[kind], names[kind].things, names[kind].option);
	return refuse(u, now_ms, err);
}

bool quota_is_full(const struct user *u, enum quota kind)
{
	return u && u->has[kind] >= u->all->limit[kind];
}

int quota_take(struct user *u, enum quota kind, int64_t now_ms, struct zerr *err)
{
	return u ? take(u, kind, u->all->limit[kind], now_ms, err) : zerr_set(err, -ENOMEM, "out of memory");
}

int quota_take_promised(struct user *u, int64_t now_ms, struct zerr *err)
{
	const int64_t limit = u->all->limit[QUOTA_CONNECTIONS], promised = (int64_t)u->promised;
	return take(u, QUOTA_CONNECTIONS, promised > limit ? promised : limit, now_ms, err);
}

void quota_give(struct user *u, enum quota kind)
{
	if (u)
		u->has[kind]--;
}

int quota_promise(struct user *u, uint64_t *promise, uint64_t need, int64_t now_ms, struct zerr *err)
{
	const uint64_t others = u->promised - *promise, limit = (uint64_t)u->all->limit[QUOTA_CONNECTIONS];
	if (need > *promise && others + need > limit) {
		zerr_set(err, -EDQUOT,
			"user_connections of user %s is %" PRIu64 ": the job may need %" PRIu64
			", the user's other jobs %" PRIu64 "; start it when they have ended",
			u->name, limit, need, others);
		return refuse(u, now_ms, err);
	}
	u->promised = others + need;
	*promise = need;
	return 0;
}

uint64_t quota_rest(const struct user *u, uint64_t promise)
{
	const uint64_t others = u->promised - promise, limit = (uint64_t)u->all->limit[QUOTA_CONNECTIONS];
	return limit > others ? limit - others : 0;
}

uint32_t quota_weight(const struct user *u)
{
	return u->weight;
}

struct share *quota_memory(struct user *u)
{
	return &u->memory;
}

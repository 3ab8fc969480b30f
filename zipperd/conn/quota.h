/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The accounts of users: how much of each limited thing a user has. An account is made when its user first proves who
 * that is, and stays: there are as many as users with keys. The data path knows nothing of it but the share of memory
 * (share.h). Control thread.
 */
#ifndef ZIPPERD_QUOTA_H
#define ZIPPERD_QUOTA_H

#include <stdbool.h>

#include "common/base/err.h"
#include "zipperd/lane/share.h"
#include "zipperd/settings/settings.h"

struct quotas;
struct user;

enum quota { QUOTA_JOBS, QUOTA_CONNECTIONS, QUOTA_CIRCUITS, QUOTA_KINDS };

/* 0 or -ENOMEM with text. */
int quota_init(struct quotas **, struct zerr *);
void quota_fini(struct quotas *);
/* Computes the limits. alone: one user has all of it, except for what the settings say in numbers. */
void quota_configure(struct quotas *, const struct settings *, bool alone);
/* The account of that user. NULL: out of memory. */
struct user *quota_user(struct quotas *, const char *name);
/* Has the user as many as the limit allows? Then quota_take would refuse. user NULL: false. */
bool quota_is_full(const struct user *, enum quota);
/* Counts one more. 0, or -EDQUOT with text for the user, and a line in the log. user NULL: -ENOMEM. */
int quota_take(struct user *, enum quota, int64_t now_ms, struct zerr *);
/* The same for a connection that was promised to a job. The limit may have become lower since then. */
int quota_take_promised(struct user *, int64_t now_ms, struct zerr *);
void quota_give(struct user *, enum quota);
/* A job's promise of connections becomes need: the job may open them later without a question. 0 or as quota_take. A
 * smaller promise is always possible. */
int quota_promise(struct user *, uint64_t *promise, uint64_t need, int64_t now_ms, struct zerr *);
/* So many connections the user's jobs may still be promised, besides those of the job with that promise. */
uint64_t quota_rest(const struct user *, uint64_t promise);
/* The weight of the user's lanes (deficit.h). */
uint32_t quota_weight(const struct user *);
/* The memory in which messages to the user's ranks, and of the user's circuits, may wait. */
struct share *quota_memory(struct user *);

#endif

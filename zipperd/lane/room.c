/* SPDX-License-Identifier: BSD-3-Clause */
/* Room for messages at their destination, see room.h. */
#include "zipperd/lane/room.h"

#include <errno.h>

#include "zipperd/lane/lane.h"
#include "zipperd/lane/refusal.h"
#include "zipperd/lane/worker.h"

static int refuse_arrival(struct worker *w, struct dest *d, const struct zwire_env *env, enum refusal_state due)
{
	struct buf *none = NULL;
	int rc = refusal_note(w, d, env->src, env->seq, due, &none);
	return rc == 0 ? ROOM_REFUSED : rc;
}

/* For messages that are never refused: the receiver's grant, and a share more for the small ones. Ranks that keep to
 * the protocol stay below. A rank that does not stalls, and cannot take all memory. */
static bool has_room_unsequenced(const struct dest *d, uint64_t bytes)
{
	const struct lane_limits *l = &d->lane->limits;
	return d->queued_bytes - d->sequenced_bytes + bytes <= l->rdv_window + l->dest_share;
}

static bool has_room(const struct dest *d, uint64_t bytes)
{
	return d->sequenced_bytes == 0 ||
	       (d->sequenced_bytes + bytes <= d->lane->limits.dest_share && share_allows(&d->lane->memory, bytes));
}

/* A sequenced message: ROOM_THERE, ROOM_REFUSED or -EAGAIN. */
static int check_sequenced(struct worker *w, struct dest *d, const struct zwire_env *env)
{
	if (d->gone)
		return refuse_arrival(w, d, env, REFUSAL_BYE_DUE);
	bool room = has_room(d, ZWIRE_ENV_BYTES + (uint64_t)env->len);
	struct refusal *r = d->nrefused ? refusal_find(d->lane, env->src, d) : NULL;
	if (r && env->seq > r->seq)
		return ROOM_REFUSED;
	if (r && env->seq == r->seq && room) {
		refusal_del(&w->pool, r);
		refusal_resume(w, d);
		return ROOM_THERE;
	}
	if (room) /* without a refusal, or before the refused message: it had gone by another zipper, which was lost */
		return ROOM_THERE;
	if (r && env->seq < r->seq)
		r->seq = env->seq; /* and everything behind it */
	return refuse_arrival(w, d, env, REFUSAL_NAK_DUE);
}

int room_check(struct worker *w, struct dest *d, const struct zwire_env *env)
{
	if (rules_is_sequenced(env->kind) || (env->kind == ZWIRE_RAILS && d->gone))
		return check_sequenced(w, d, env);
	if (d->gone)
		return ROOM_REFUSED; /* the destination waits for nothing any more */
	return has_room_unsequenced(d, ZWIRE_ENV_BYTES + (uint64_t)env->len) ? ROOM_THERE : -ENOBUFS;
}

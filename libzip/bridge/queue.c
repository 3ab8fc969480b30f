/* SPDX-License-Identifier: BSD-3-Clause */
/* Posted receives and unexpected messages, see queue.h. */
#include "libzip/bridge/queue.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "common/wire/wire.h"
#include "libzip/shim/pool.h"
#include "libzip/stream/op.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/world/comm.h"

int zqueue_init(struct zstation *s)
{
	return zmatch_init(&s->match);
}

void zqueue_fini(struct zstation *s)
{
	s->detached = NULL;
	zmatch_fini(&s->match);
}

struct zmatch_key zqueue_key(const struct zcomm *c, enum zcomm_context context, int rank, int tag)
{
	uint32_t any = (rank == MPI_ANY_SOURCE ? ZMATCH_ANY_SOURCE : 0) |
		       (tag == MPI_ANY_TAG && context == ZCOMM_PT2PT ? ZMATCH_ANY_TAG : 0);

	return zmatch_key_make(c->id | context, any & ZMATCH_ANY_SOURCE ? 0 : (uint32_t)c->vrank[rank], tag, any);
}

void zqueue_post(struct zop *op)
{
	struct zmatch_key key = zqueue_key(op->req.comm, op->context, op->rank, op->tag);

	zmatch_post(&zop_station(op)->match, &op->match, &key);
	op->posted = true;
}

void zqueue_withdraw(struct zop *op)
{
	zmatch_withdraw(&zop_station(op)->match, &op->match);
	op->posted = false;
}

struct zqueued *zqueue_find(const struct zcomm *c, int rank, int tag)
{
	struct zmatch_key key = zqueue_key(c, ZCOMM_PT2PT, rank, tag);

	return (struct zqueued *)zmatch_find_unexpected(&zstations[c->station].match, &key);
}

int zqueue_source(const struct zqueued *a, const struct zcomm *c)
{
	return zcomm_rank_of(c, (int)a->from->vrank);
}

int zqueue_keep(struct zremote *from, struct zchannel *way, const struct zwire_env *env, const void *payload)
{
	struct zqueued *a = zpool_get(sizeof(*a) + env->len);

	if (!a)
		return -EAGAIN; /* the link shows the message again when there may be memory */
	a->from = from;
	a->way = way;
	a->context = env->comm;
	a->xfer = env->xfer;
	a->total = env->offset;
	a->tag = env->tag;
	a->flags = env->flags;
	a->eager = env->kind == ZWIRE_EAGER;
	a->keyed = !a->eager && env->len > 0;
	if (env->len > 0) /* else payload may be NULL */
		memcpy(a->payload, payload, env->len);
	zmatch_add_unexpected(&from->station->match, &a->match, a->context, from->vrank, a->tag);
	return 0;
}

void zqueue_take_out(struct zqueued *a)
{
	zmatch_del_unexpected(&a->from->station->match, &a->match);
}

void zqueue_detach(struct zqueued *a)
{
	zqueue_take_out(a);
	a->next = a->from->station->detached;
	a->from->station->detached = a;
}

void zqueue_forget(struct zqueued *a)
{
	struct zqueued **at = &a->from->station->detached;

	while (*at != a)
		at = &(*at)->next;
	*at = a->next;
}

struct visit {
	void (*visit)(struct zqueued *, void *ctx);
	void *ctx;
};

static void visit_unexpected(struct zmatch_unexpected *u, void *ctx)
{
	const struct visit *v = ctx;

	v->visit((struct zqueued *)(void *)u, v->ctx);
}

void zqueue_each(struct zstation *s, void (*visit)(struct zqueued *, void *ctx), void *ctx)
{
	struct visit v = {visit, ctx};

	zmatch_each_unexpected(&s->match, visit_unexpected, &v);
	for (struct zqueued *a = s->detached; a; a = a->next)
		visit(a, ctx);
}

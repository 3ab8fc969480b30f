/* SPDX-License-Identifier: BSD-3-Clause */
/* Making schedules: their memory, what they keep alive, and adding steps. Under the shim's lock. */
#include <stdlib.h>
#include <string.h>

#include "libzip/coll/inside/coll_op.h"
#include "libzip/type/datatype.h"
#include "libzip/shim/pool.h"
#include "libzip/schedule/schedule_step.h"
#include "libzip/shim/shim.h"
#include "libzip/type/typehold.h"

static void sched_destroy(struct zreq *);
static const struct zreq_ops sched_ops = {.name = "collective", .destroy = sched_destroy, .collective = true};

struct zsched *zsched_create(struct zcomm *c, const char *function)
{
	struct zsched *s = (struct zsched *)(void *)zreq_create(&sched_ops, sizeof *s, c);
	if (!s)
		return NULL;
	s->comm = zcomm_own(c);
	s->far = c->local ? c : NULL;
	s->context = ZCOMM_COLL;
	s->function = function;
	s->steps = s->inline_steps;
	s->cap = INLINE_STEPS;
	zstatus_empty(&s->req.status);
	return s;
}

static void sched_destroy(struct zreq *r)
{
	struct zsched *s = (struct zsched *)(void *)r;
	while (s->types) {
		struct kept_type *k = s->types;
		s->types = k->next;
		if (k->ours)
			ztype_drop(k->type);
		else
			ztype_release(k->type);
	}
	if (s->op)
		zcoll_op_release(s->op);
	while (s->chunks) {
		struct chunk *c = s->chunks;
		s->chunks = c->next;
		zpool_put(c);
	}
	if (s->steps != s->inline_steps)
		free(s->steps);
}

void zsched_destroy(struct zsched *s)
{
	zreq_release(&s->req);
}

struct zcomm *zsched_comm(const struct zsched *s)
{
	return s->comm;
}

void zsched_across(struct zsched *s, bool across)
{
	s->across = across && s->far;
}

struct zcomm *zsched_peers(const struct zsched *s)
{
	return s->across ? s->far : s->comm;
}

struct zcomm *zsched_inter(const struct zsched *s)
{
	return s->far;
}

void zsched_detach(struct zsched *s, enum zcomm_context context, int tag)
{
	s->detached = true;
	s->context = context;
	s->tag = tag;
}

void *zsched_alloc(struct zsched *s, size_t bytes)
{
	size_t a = alignof(max_align_t), at = (s->used + a - 1) / a * a;
	if (bytes <= INLINE_BYTES && at + bytes <= INLINE_BYTES) {
		s->used = at + bytes;
		return s->arena + at;
	}
	if (bytes > SIZE_MAX - sizeof(struct chunk))
		return NULL;
	struct chunk *c = zpool_get(sizeof *c + bytes);
	if (!c)
		return NULL;
	c->next = s->chunks;
	s->chunks = c;
	return c->bytes;
}

static int keep(struct zsched *s, MPI_Datatype type, bool ours)
{
	struct kept_type *k = zsched_alloc(s, sizeof *k);
	if (!k)
		return MPI_ERR_NO_MEM;
	*k = (struct kept_type){.next = s->types, .type = type, .ours = ours};
	s->types = k;
	return MPI_SUCCESS;
}

int zsched_own_type(struct zsched *s, MPI_Datatype type)
{
	int rc = keep(s, type, true);
	if (rc != MPI_SUCCESS)
		zn.Type_free(&type);
	return rc;
}

void zsched_set_lasting(struct zsched *s)
{
	s->lasting = true;
}

int zsched_keep_type(struct zsched *s, MPI_Datatype type)
{
	if (!s->lasting || ztype_find(type)->builtin)
		return MPI_SUCCESS;
	int rc = ztype_hold(type);
	if (rc == MPI_SUCCESS && (rc = keep(s, type, false)) != MPI_SUCCESS)
		ztype_release(type);
	return rc;
}

int zsched_keep_op(struct zsched *s, MPI_Op op)
{
	if (!s->lasting)
		return MPI_SUCCESS;
	s->op = op;
	return zcoll_op_hold(op);
}

struct zstep *zstep_add(struct zsched *s, enum step_kind kind)
{
	if (s->nsteps == s->cap) {
		struct zstep *n = malloc(2 * (size_t)s->cap * sizeof *n);
		if (!n)
			return NULL;
		memcpy(n, s->steps, (size_t)s->nsteps * sizeof *n);
		if (s->steps != s->inline_steps)
			free(s->steps);
		s->steps = n;
		s->cap *= 2;
	}
	struct zstep *t = &s->steps[s->nsteps++];
	memset(t, 0, sizeof *t);
	t->kind = kind;
	t->round = s->round;
	t->across = s->across;
	t->native = MPI_REQUEST_NULL;
	return t;
}

int zsched_send(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, int dest)
{
	struct zstep *t = zstep_add(s, STEP_SEND);
	if (!t)
		return MPI_ERR_NO_MEM;
	t->buf = (void *)buf;
	t->count = count;
	t->type = type;
	t->peer = dest;
	return MPI_SUCCESS;
}

int zsched_recv(struct zsched *s, void *buf, MPI_Count count, MPI_Datatype type, int source)
{
	int rc = zsched_send(s, buf, count, type, source);
	if (rc == MPI_SUCCESS)
		s->steps[s->nsteps - 1].kind = STEP_RECV;
	return rc;
}

int zsched_recv_upto(struct zsched *s, void *buf, MPI_Count bytes, int source, MPI_Count *got)
{
	int rc = zsched_recv(s, buf, bytes, MPI_BYTE, source);
	if (rc != MPI_SUCCESS)
		return rc;
	s->steps[s->nsteps - 1].upto = true;
	s->steps[s->nsteps - 1].u.got = got;
	*got = 0;
	return MPI_SUCCESS;
}

struct zarriving *zsched_recv_bytes(struct zsched *s, void *buf, MPI_Count bytes, int source)
{
	struct zarriving *a = zsched_alloc(s, sizeof *a);
	struct zstep *t = a ? zstep_add(s, STEP_ARRIVING) : NULL;
	if (!t)
		return NULL;
	*a = (struct zarriving){.buf = buf, .bytes = bytes};
	t->buf = a;
	t->peer = source;
	return a;
}

int zsched_await(struct zsched *s, struct zarriving *a, MPI_Count bytes)
{
	struct zstep *t = zstep_add(s, STEP_AWAIT);
	if (!t)
		return MPI_ERR_NO_MEM;
	t->buf = a;
	t->count = bytes;
	return MPI_SUCCESS;
}

int zsched_native(struct zsched *s, int (*start)(void *arg, MPI_Request *native), void *arg)
{
	struct zstep *t = zstep_add(s, STEP_NATIVE);
	if (!t)
		return MPI_ERR_NO_MEM;
	t->buf = arg;
	t->u.start = start;
	return MPI_SUCCESS;
}

int zsched_watch(struct zsched *s, bool (*look)(struct zsched *, void *arg), void *arg)
{
	struct zstep *t = zstep_add(s, STEP_WATCH);
	if (!t)
		return MPI_ERR_NO_MEM;
	t->buf = arg;
	t->u.look = look;
	return MPI_SUCCESS;
}

int zsched_steps(const struct zsched *s)
{
	return s->nsteps;
}

bool zsched_is_done(const struct zsched *s, int step)
{
	return s->steps[step].done;
}

void zsched_open_from(struct zsched *s, int step)
{
	for (int i = step; i < s->nsteps; i++)
		s->steps[i].open = true;
}

int zsched_open(struct zsched *s)
{
	zsched_open_from(s, s->nsteps - 1);
	return s->nsteps - 1;
}

int zsched_close(struct zsched *s, int step)
{
	struct zstep *t = zstep_add(s, STEP_CLOSE);
	if (!t)
		return MPI_ERR_NO_MEM;
	t->peer = step;
	return MPI_SUCCESS;
}

int zsched_call(struct zsched *s, int (*fn)(struct zsched *, void *arg), void *arg)
{
	struct zstep *t = zstep_add(s, STEP_CALL);
	if (!t)
		return MPI_ERR_NO_MEM;
	t->buf = arg;
	t->u.fn = fn;
	return MPI_SUCCESS;
}

void zsched_round(struct zsched *s)
{
	s->round++;
}

void zsched_on_done(struct zsched *s, void (*fn)(void *arg, int *error), void *arg)
{
	s->on_done = fn;
	s->on_done_arg = arg;
}

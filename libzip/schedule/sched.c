/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules: their memory, the datatypes and operations that they keep, and their error. */
#include "libzip/schedule/sched.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "libzip/schedule/sched_state.h"
#include "libzip/shim/pool.h"
#include "libzip/shim/shim.h"
#include "libzip/type/data.h"
#include "libzip/type/redop.h"
#include "libzip/type/typehold.h"
#include "libzip/world/status.h"

static void sched_destroy(struct zreq *);
static const char *why(const struct zreq *r)
{
	return zsched_error_text((const struct zsched *)(const void *)r);
}
static const struct zreq_ops sched_ops = {.name = "collective",
	.why = why,
	.destroy = sched_destroy,
	.collective = true};

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
			ztypehold_drop(k->type);
		else
			ztypehold_release(k->type);
	}
	if (s->op)
		zredop_release(s->op);
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

struct zcomm *zsched_partners(const struct zsched *s)
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
	int rc = ztypehold_take(type);
	if (rc == MPI_SUCCESS && (rc = keep(s, type, false)) != MPI_SUCCESS)
		ztypehold_release(type);
	return rc;
}

int zsched_keep_op(struct zsched *s, MPI_Op op)
{
	if (!s->lasting)
		return MPI_SUCCESS;
	s->op = op;
	return zredop_hold(op);
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

struct zreq *zsched_request(struct zsched *s)
{
	return &s->req;
}

void zsched_fail(struct zsched *s, int class, const char *why)
{
	if (s->error != MPI_SUCCESS)
		return;
	s->error = class;
	s->why = why;
}

void zsched_fail_own(struct zsched *s, int class, int code)
{
	if (s->error != MPI_SUCCESS)
		return;
	s->error = class;
	s->own = code;
}

void zsched_fail_raised(struct zsched *s, int class, int code)
{
	if (s->error != MPI_SUCCESS)
		return;
	s->error = class;
	s->code = code;
}

void zsched_fail_text(struct zsched *s, int class, const char *fmt, ...)
{
	va_list args;
	if (s->error != MPI_SUCCESS)
		return;
	s->error = class;
	s->code_text = zsched_alloc(s, MPI_MAX_ERROR_STRING);
	if (!s->code_text)
		return;
	va_start(args, fmt);
	vsnprintf(s->code_text, MPI_MAX_ERROR_STRING, fmt, args);
	va_end(args);
}

void zsched_fail_amount(struct zsched *s, int rank, MPI_Count bytes, MPI_Count expected)
{
	zsched_fail_text(s, MPI_ERR_TRUNCATE,
		"members gave different amounts of data: %lld bytes came from rank %d, and %lld were expected",
		(long long)bytes, rank, (long long)expected);
}

bool zsched_failed(const struct zsched *s)
{
	return s->error != MPI_SUCCESS;
}

int zsched_class(const struct zsched *s)
{
	return s->error;
}

int zsched_result(const struct zsched *s, bool *raised)
{
	*raised = s->code != MPI_SUCCESS;
	return s->code != MPI_SUCCESS ? s->code : s->own != MPI_SUCCESS ? s->own : s->error;
}

const char *zsched_error_text(const struct zsched *s)
{
	return s->why ? s->why : s->code_text ? s->code_text : "a step of the collective failed";
}

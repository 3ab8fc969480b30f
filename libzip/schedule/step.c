/* SPDX-License-Identifier: BSD-3-Clause */
/* Adding steps to schedules. */
#include "libzip/schedule/step.h"

#include <stdlib.h>
#include <string.h>

#include "libzip/schedule/sched_state.h"

/* A new step of the current round, all zero apart from kind, round and across. NULL: no memory. */
static struct zstep *add(struct zsched *s, enum step_kind kind)
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

int zstep_send(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, int dest)
{
	struct zstep *t = add(s, STEP_SEND);
	if (!t)
		return MPI_ERR_NO_MEM;
	t->buf = (void *)buf;
	t->count = count;
	t->type = type;
	t->partner = dest;
	return MPI_SUCCESS;
}

/* To members in other parts, as one message. */
static int add_multicast(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, const int *dest, int n,
	int64_t patience_ms)
{
	if (n < 2)
		return n == 1 ? zstep_send(s, buf, count, type, dest[0]) : MPI_SUCCESS;
	struct zreceivers *to = zsched_alloc(s, sizeof *to + (size_t)n * sizeof *dest);
	struct zstep *t = to ? add(s, STEP_MULTICAST) : NULL;
	if (!t)
		return MPI_ERR_NO_MEM;
	to->patience_ms = patience_ms;
	to->n = n;
	memcpy(to->dest, dest, (size_t)n * sizeof *dest);
	t->buf = (void *)buf;
	t->count = count;
	t->type = type;
	t->u.to = to;
	return MPI_SUCCESS;
}

int zstep_multicast(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, const int *dest, int n,
	int64_t patience_ms)
{
	int nfar = 0, rc = MPI_SUCCESS;
	if (!s->across)
		return add_multicast(s, buf, count, type, dest, n, patience_ms);
	int *far = zsched_alloc(s, ((size_t)n + 1) * sizeof *far);
	if (!far)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
		if (zcomm_is_local_rank(s->far, dest[i]))
			rc = zstep_send(s, buf, count, type, dest[i]);
		else
			far[nfar++] = dest[i];
	}
	return rc == MPI_SUCCESS ? add_multicast(s, buf, count, type, far, nfar, patience_ms) : rc;
}

int zstep_recv(struct zsched *s, void *buf, MPI_Count count, MPI_Datatype type, int source)
{
	int rc = zstep_send(s, buf, count, type, source);
	if (rc == MPI_SUCCESS)
		s->steps[s->nsteps - 1].kind = STEP_RECV;
	return rc;
}

int zstep_recv_upto(struct zsched *s, void *buf, MPI_Count bytes, int source, MPI_Count *got)
{
	int rc = zstep_recv(s, buf, bytes, MPI_BYTE, source);
	if (rc != MPI_SUCCESS)
		return rc;
	s->steps[s->nsteps - 1].upto = true;
	s->steps[s->nsteps - 1].u.got = got;
	*got = 0;
	return MPI_SUCCESS;
}

struct zarriving *zstep_recv_bytes(struct zsched *s, void *buf, MPI_Count bytes, int source)
{
	struct zarriving *a = zsched_alloc(s, sizeof *a);
	struct zstep *t = a ? add(s, STEP_ARRIVING) : NULL;
	if (!t)
		return NULL;
	*a = (struct zarriving){.buf = buf, .bytes = bytes};
	t->buf = a;
	t->partner = source;
	return a;
}

int zstep_await(struct zsched *s, struct zarriving *a, MPI_Count bytes)
{
	struct zstep *t = add(s, STEP_AWAIT);
	if (!t)
		return MPI_ERR_NO_MEM;
	t->buf = a;
	t->count = bytes;
	return MPI_SUCCESS;
}

int zstep_native(struct zsched *s, int (*start)(void *arg, MPI_Request *native), void *arg)
{
	struct zstep *t = add(s, STEP_NATIVE);
	if (!t)
		return MPI_ERR_NO_MEM;
	t->buf = arg;
	t->u.start = start;
	return MPI_SUCCESS;
}

int zstep_watch(struct zsched *s, bool (*look)(struct zsched *, void *arg), void *arg)
{
	struct zstep *t = add(s, STEP_WATCH);
	if (!t)
		return MPI_ERR_NO_MEM;
	t->buf = arg;
	t->u.look = look;
	return MPI_SUCCESS;
}

int zstep_next(const struct zsched *s)
{
	return s->nsteps;
}

bool zstep_is_done(const struct zsched *s, int step)
{
	return s->steps[step].done;
}

void zstep_open_from(struct zsched *s, int step)
{
	for (int i = step; i < s->nsteps; i++)
		s->steps[i].open = true;
}

int zstep_open(struct zsched *s)
{
	zstep_open_from(s, s->nsteps - 1);
	return s->nsteps - 1;
}

int zstep_close(struct zsched *s, int step)
{
	struct zstep *t = add(s, STEP_CLOSE);
	if (!t)
		return MPI_ERR_NO_MEM;
	t->partner = step;
	return MPI_SUCCESS;
}

int zstep_call(struct zsched *s, int (*fn)(struct zsched *, void *arg), void *arg)
{
	struct zstep *t = add(s, STEP_CALL);
	if (!t)
		return MPI_ERR_NO_MEM;
	t->buf = arg;
	t->u.fn = fn;
	return MPI_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The recorder's hooks. See record.h. */
#include "libzip/record/record.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "libzip/record/record_coll.h"
#include "libzip/record/record_comm.h"
#include "libzip/record/record_file.h"
#include "libzip/record/record_plan.h"
#include "libzip/record/record_table.h"
#include "libzip/shim/shim.h"
#include "libzip/world/world.h"

#define PHASE_FIRST 1 /* a program begins as if it had called MPI_Pcontrol(1) (MPI-4.0 section 14.2.4) */

static struct zrecord_table table;
static uint32_t phase = PHASE_FIRST; /* 0: not recording */
static bool locking;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool to_file;
static uint64_t native_msgs, native_bytes;

static inline void lock(void)
{
	if (locking)
		pthread_mutex_lock(&mutex);
}

static inline void unlock(void)
{
	if (locking)
		pthread_mutex_unlock(&mutex);
}

static uint64_t bytes_of(MPI_Count count, MPI_Datatype type)
{
	MPI_Count size = 0;

	return count > 0 && zn.Type_size_x(type, &size) == MPI_SUCCESS && size > 0 ? (uint64_t)count * (uint64_t)size
										   : 0;
}

static void add_vrank(enum zgraph_class class, int vrank, uint64_t bytes, uint64_t messages)
{
	if (vrank >= 0)
		zrecord_table_edge(&table, phase, class, (uint32_t)vrank, bytes, messages);
	else
		zrecord_table_call(&table, phase, ZGRAPH_OUTSIDE, 0, messages, bytes);
}

/* --- point-to-point and one-sided --- */

void zrecord_send(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm)
{
	if (dest < 0) /* MPI_PROC_NULL */
		return;
	uint64_t bytes = bytes_of(count, type);
	lock();
	struct zrecord_comm *c = phase ? zrecord_comm_find(comm) : NULL;
	if (c && dest < c->npeers)
		add_vrank(ZGRAPH_P2P, c->vrank[dest], bytes, 1);
	unlock();
}

static void one_sided(enum zgraph_class class, MPI_Count count, MPI_Datatype type, int target, MPI_Win win)
{
	/* MPI_Get_accumulate(MPI_NO_OP) has nothing to put */
	if (target < 0 || count <= 0)
		return;
	uint64_t bytes = bytes_of(count, type);
	lock();
	struct zrecord_comm *c = phase ? zrecord_comm_find_win(win) : NULL;
	if (c && target < c->npeers)
		add_vrank(class, c->vrank[target], bytes, 1);
	unlock();
}

void zrecord_put(MPI_Count count, MPI_Datatype type, int target, MPI_Win win)
{
	one_sided(ZGRAPH_PUT, count, type, target, win);
}

void zrecord_get(MPI_Count count, MPI_Datatype type, int target, MPI_Win win)
{
	one_sided(ZGRAPH_GET, count, type, target, win);
}

/* --- collectives: added up, and decomposed when there is no room for another sum or the communicator goes --- */

static void pair_to_table(void *ctx, const struct zrecord_comm *c, int peer, uint64_t bytes, uint64_t messages)
{
	const uint32_t *of_phase = ctx;

	if (peer >= 0)
		zrecord_table_edge(&table, *of_phase, ZGRAPH_COLL, (uint32_t)c->vrank[peer], bytes, messages);
}

static uint32_t call_size(const struct zrecord_comm *c)
{
	return (uint32_t)(c->inter ? c->size + c->npeers : c->size);
}

static void sums_expand(struct zrecord_comm *c)
{
	for (int i = 0; i < c->nsums; i++) {
		struct zrecord_sum *s = &c->sums[i];
		zrecord_table_call(&table, s->phase, s->kind, call_size(c), s->calls, s->bytes);
		zrecord_coll_expand(c, s, pair_to_table, &s->phase);
	}
	c->nsums = 0;
}

static void sum_add(struct zrecord_comm *c, const struct zrecord_sum *one)
{
	int i = 0;

	if (!c->sums)
		c->sums = malloc(ZRECORD_SUMS * sizeof(*c->sums));
	if (!c->sums)
		return;
	while (i < c->nsums &&
		(c->sums[i].kind != one->kind || c->sums[i].root != one->root || c->sums[i].phase != one->phase))
		i++;
	if (i == ZRECORD_SUMS) {
		sums_expand(c);
		i = 0;
	}
	if (i == c->nsums) {
		c->sums[c->nsums++] = *one;
		return;
	}
	c->sums[i].calls += one->calls;
	c->sums[i].bytes += one->bytes;
	c->sums[i].sends += one->sends;
	c->sums[i].units += one->units;
}

void zrecord_coll(const struct zrecord_args *a)
{
	struct zrecord_sum one;

	lock();
	struct zrecord_comm *c = phase ? zrecord_comm_find(a->comm) : NULL;
	if (c) {
		zrecord_coll_count(a, c, &one, pair_to_table, &phase);
		one.phase = phase;
		sum_add(c, &one);
	}
	unlock();
}

/* --- persistent --- */

void zrecord_send_init(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm, MPI_Request request)
{
	if (dest < 0)
		return;
	uint64_t bytes = bytes_of(count, type);
	lock();
	struct zrecord_comm *c = zrecord_comm_find(comm);
	struct zrecord_plan *p = c && dest < c->npeers ? zrecord_plan_create(request) : NULL;
	if (p) {
		p->class = ZGRAPH_P2P;
		zrecord_plan_add(p, c->vrank[dest], bytes, 1);
	}
	unlock();
}

static void pair_to_plan(void *ctx, const struct zrecord_comm *c, int peer, uint64_t bytes, uint64_t messages)
{
	if (peer >= 0)
		zrecord_plan_add(ctx, c->vrank[peer], bytes, messages);
}

void zrecord_coll_init(const struct zrecord_args *a, MPI_Request request)
{
	struct zrecord_sum one;

	lock();
	struct zrecord_comm *c = zrecord_comm_find(a->comm);
	struct zrecord_plan *p = c ? zrecord_plan_create(request) : NULL;
	if (p) {
		zrecord_coll_count(a, c, &one, pair_to_plan, p);
		zrecord_coll_expand(c, &one, pair_to_plan, p);
		p->class = ZGRAPH_COLL;
		p->counted = true;
		p->kind = a->kind;
		p->size = call_size(c);
		p->handed = one.bytes;
	}
	unlock();
}

void zrecord_starts(int n, const MPI_Request *requests)
{
	lock();
	for (int i = 0; phase && i < n; i++) {
		const struct zrecord_plan *p = zrecord_plan_find(requests[i]);
		if (p && p->counted)
			zrecord_table_call(&table, phase, p->kind, p->size, 1, p->handed);
		for (size_t e = 0; p && e < p->n; e++)
			add_vrank(p->class, p->edges[e].vrank, p->edges[e].bytes, p->edges[e].messages);
	}
	unlock();
}

/* --- handles that go --- */

void zrecord_request_gone(MPI_Request request)
{
	lock();
	if (zrecord_plan_find(request))
		zrecord_plan_destroy(request);
	unlock();
}

static void handle_gone(uint64_t handle)
{
	lock();
	struct zrecord_comm *c = zrecord_comm_take(handle);
	if (c)
		sums_expand(c);
	zrecord_comm_free(c);
	unlock();
}

void zrecord_comm_gone(MPI_Comm comm)
{
	handle_gone(zabi_bits(comm));
}

void zrecord_win_gone(MPI_Win win)
{
	handle_gone(zabi_bits(win));
}

/* --- begin, phases, end --- */

int zrecord_phase(int level)
{
	lock();
	const uint32_t was = phase;
	phase = level < 0 ? PHASE_FIRST : (uint32_t)level;
	if (zshim_hooks & ZSHIM_TIME)
		zrecord_time_phase(phase);
	unlock();
	return (int)was;
}

int zrecord_start(const char *file, bool threaded, struct zerr *err)
{
	int rc = file ? zrecord_file_open(file, err) : 0;

	if (rc)
		return zerr_prefix(err, rc, "ZIPPER_PROFILE");
	to_file = file != NULL;
	locking = threaded;
	zshim_hooks |= ZSHIM_RECORD | (to_file ? ZSHIM_TIME : 0);
	if (to_file)
		zrecord_time_begin(phase);
	return 0;
}

static bool is_native(uint32_t vrank)
{
	return zworld_is_local((int)vrank);
}

void zrecord_native(uint64_t *msgs, uint64_t *bytes)
{
	*msgs = native_msgs;
	*bytes = native_bytes;
}

static int make_row(uint8_t **row, size_t *len)
{
	struct zgraph_time *times;
	size_t n;
	int rc = zrecord_time_list(&times, &n);

	if (rc == 0)
		rc = zrecord_table_encode(&table, times, n, row, len);
	free(times);
	return rc;
}

void zrecord_finish(void)
{
	struct zerr err = {.text = ""};
	struct zrecord_comm *c;
	uint8_t *row = NULL;
	size_t len = 0;

	if (!(zshim_hooks & ZSHIM_RECORD))
		return;
	if (to_file)
		zrecord_time_end();
	zshim_hooks &= ~(ZSHIM_RECORD | ZSHIM_TIME);
	while ((c = zrecord_comm_take_any())) {
		sums_expand(c);
		zrecord_comm_free(c);
	}
	if (zworld.merged)
		zrecord_table_sum(&table, ZGRAPH_P2P, is_native, &native_bytes, &native_msgs);
	if (to_file && make_row(&row, &len) != 0)
		len = 1; /* without a row: out of memory */
	if (to_file && zrecord_file_write(row, len, &err) != 0)
		zerr_print("libzipper: rank %d: MPI_Finalize: ZIPPER_PROFILE: no graph of this run: %s\n",
			zrecord_file_rank(), err.text);
	free(row);
	zrecord_table_free(&table);
	zrecord_time_free();
	zrecord_plan_destroy_all();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one-sided operations. See win_call.h. On a target in my part an operation is the native one; on another target it
 * is a message. Native MPI checks the arguments in any case, also for other targets and for MPI_PROC_NULL.
 */
#include "libzip/win/win_call.h"

#include "common/base/clock.h"
#include "libzip/type/data.h"
#include "libzip/progress/progress.h"
#include "libzip/shim/shim.h"
#include "libzip/win/win_check.h"
#include "libzip/win/win_lock.h"

#define STIR_NS 10000000 /* below NAP_SHARE_SERVING times the first nap (progress.c) */

static int call_plain(const struct zwin_call *c, int target, MPI_Win win)
{
	switch (c->kind) {
	case ZWIN_PUT:
		return zn.Put_c(c->origin, c->origin_count, c->origin_type, target, c->disp, c->target_count,
			c->target_type, win);
	case ZWIN_GET:
		return zn.Get_c(c->result, c->result_count, c->result_type, target, c->disp, c->target_count,
			c->target_type, win);
	case ZWIN_ACCUMULATE:
		return zn.Accumulate_c(c->origin, c->origin_count, c->origin_type, target, c->disp, c->target_count,
			c->target_type, c->op, win);
	case ZWIN_SWAP:
		return zn.Compare_and_swap(c->origin, c->compare, c->result, c->target_type, target, c->disp, win);
	default:
		if (c->fetch)
			return zn.Fetch_and_op(c->origin, c->result, c->target_type, target, c->disp, c->op, win);
		return zn.Get_accumulate_c(c->origin, c->origin_count, c->origin_type, c->result, c->result_count,
			c->result_type, target, c->disp, c->target_count, c->target_type, c->op, win);
	}
}

static int call_with_request(const struct zwin_call *c, int target, MPI_Win win, MPI_Request *request)
{
	switch (c->kind) {
	case ZWIN_PUT:
		return zn.Rput_c(c->origin, c->origin_count, c->origin_type, target, c->disp, c->target_count,
			c->target_type, win, request);
	case ZWIN_GET:
		return zn.Rget_c(c->result, c->result_count, c->result_type, target, c->disp, c->target_count,
			c->target_type, win, request);
	case ZWIN_ACCUMULATE:
		return zn.Raccumulate_c(c->origin, c->origin_count, c->origin_type, target, c->disp, c->target_count,
			c->target_type, c->op, win, request);
	default:
		return zn.Rget_accumulate_c(c->origin, c->origin_count, c->origin_type, c->result, c->result_count,
			c->result_type, target, c->disp, c->target_count, c->target_type, c->op, win, request);
	}
}

static int call_natively(const struct zwin_call *c, int target, MPI_Win win, MPI_Request *request)
{
	return request ? call_with_request(c, target, win, request) : call_plain(c, target, win);
}

static bool moves_nothing(const struct zwin_call *c)
{
	const bool put = c->kind == ZWIN_PUT || c->kind == ZWIN_ACCUMULATE;

	return c->target_count * ztype_find(c->target_type)->size == 0 ||
	       (put ? c->origin_count * ztype_find(c->origin_type)->size
		    : c->result_count * ztype_find(c->result_type)->size) == 0;
}

/* The native call only checks the arguments; a request that it returns stands for nothing. */
static int go_elsewhere(struct zwin *w, struct zwin_peer *p, const struct zwin_call *c, MPI_Request *request)
{
	if (!w->dynamic && c->disp < 0)
		return zwin_raise(w, MPI_ERR_DISP, c->name, "displacement is %lld", (long long)c->disp);
	int rc = call_natively(c, MPI_PROC_NULL, w->handle, request);
	if (rc != MPI_SUCCESS || moves_nothing(c))
		return rc;
	if (request)
		zn.Wait(request, MPI_STATUS_IGNORE);
	return zwin_raise(w, zwin_origin_start(w, p, c, request), c->name, "cannot start it on rank %d", c->target);
}

/* Native MPI may need the target's hands for an operation. So now and then the target is told not to sleep. */
static void stir(struct zwin *w, struct zwin_peer *p)
{
	if (p->rank == w->comm->rank)
		return;
	const int64_t now = zclock_ns();
	if (p->stirred_ns != 0 && now - p->stirred_ns < STIR_NS)
		return;
	p->stirred_ns = now;
	zwin_message_tell(w, p, ZWIN_STIR, 0, 0); /* a failure for lack of memory only costs time */
}

int zwin_call_run(const struct zwin_call *c, MPI_Win win, MPI_Request *request)
{
	struct zwin *w = zwin_find(win);
	struct zwin_peer *p;
	int rc = zwin_check_rank(w, c->target, c->name);

	if (rc != MPI_SUCCESS)
		return rc;
	if (c->target == MPI_PROC_NULL)
		return call_natively(c, MPI_PROC_NULL, win, request);
	rc = zwin_lock_may_access(w, c->target, c->name, &p);
	if (rc != MPI_SUCCESS)
		return rc;
	if (!zwin_is_local(w, c->target))
		return go_elsewhere(w, p, c, request);
	p->native_dirty = true;
	zwin_touch(w, p);
	stir(w, p);
	rc = call_natively(c, zwin_native_rank(w, c->target), win, request);
	zprogress_now_and_then();
	return rc;
}

/* --- of one element --- */

#define ONE(NAME, KIND)                                                                                                \
	.name = NAME, .kind = KIND, .origin = origin_addr, .origin_count = 1, .origin_type = datatype,                 \
	.result = result_addr, .result_count = 1, .result_type = datatype, .target = target_rank, .disp = target_disp, \
	.target_count = 1, .target_type = datatype

int zip_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
	MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
	const struct zwin_call c = {ONE("MPI_Fetch_and_op", ZWIN_GET_ACCUMULATE), .op = op, .fetch = true};

	return zwin_call_run(&c, win, NULL);
}

int zip_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
	int target_rank, MPI_Aint target_disp, MPI_Win win)
{
	const struct zwin_call c = {ONE("MPI_Compare_and_swap", ZWIN_SWAP), .compare = compare_addr};

	return zwin_call_run(&c, win, NULL);
}

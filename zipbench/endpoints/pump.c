/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting and completions, see pump.h. A wr_id names the pump, the path, and the number of messages that the
 * completion stands for. */
#include "zipbench/endpoints/pump.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "common/endpoint/ep_set.h"
#include "zipbench/endpoints/crew.h"
#include "common/transport/verbs/device/vcollect.h"

static uint64_t make_id(unsigned pump, unsigned path, uint32_t messages)
{
	return (uint64_t)pump << 40 | (uint64_t)path << 32 | messages;
}

int pump_open_all(struct pumps *l, const struct zep_set *s, unsigned poll)
{
	const struct zep_plan *p = &s->plan;
	const unsigned groups = (p->threads + p->qp_ways - 1) / p->qp_ways;
	*l = (struct pumps){.n = p->threads,
		.poll = poll < 1	   ? 1
			: poll > PUMP_POLL ? PUMP_POLL
					   : poll,
		.yields = crew_is_crowded(p->threads)};
	l->pump = aligned_alloc(PUMP_LINE, p->threads * sizeof(*l->pump));
	l->room = aligned_alloc(PUMP_LINE, (size_t)groups * p->paths * sizeof(*l->room));
	if (!l->pump || !l->room || p->paths > PUMP_PATHS) {
		pump_close_all(l);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < groups * p->paths; i++)
		atomic_init(&l->room[i].left, (int)p->send_depth);
	memset(l->pump, 0, p->threads * sizeof(*l->pump));
	for (unsigned t = 0; t < p->threads; t++) {
		struct pump *pump = &l->pump[t];
		pump->all = l;
		pump->index = t;
		pump->cq = zep_set_cq(s, t);
		pump->ex = zep_set_is_extended(s) ? zep_set_cq(s, t) : NULL;
		pump->shared_cq = p->cq_ways > 1;
		pump->shared_qp = p->qp_ways > 1;
		for (unsigned path = 0; path < p->paths; path++) {
			pump->qp[path] = zep_set_qp(s, t, path);
			pump->room[path] = &l->room[t / p->qp_ways * p->paths + path];
		}
	}
	return 0;
}

void pump_close_all(struct pumps *l)
{
	free(l->pump);
	free(l->room);
	*l = (struct pumps){.n = 0};
}

/* Without atomic operations if no other thread counts this room: others do if they share the queue pair or the
 * completion queue. */
static bool take_room(struct pump *l, unsigned path, int n)
{
	_Atomic int *left = &l->room[path]->left;
	if (!l->shared_qp && !l->shared_cq) {
		int have = atomic_load_explicit(left, memory_order_relaxed);
		if (have < n)
			return false;
		atomic_store_explicit(left, have - n, memory_order_relaxed);
		return true;
	}
	if (atomic_fetch_sub_explicit(left, n, memory_order_relaxed) >= n)
		return true;
	atomic_fetch_add_explicit(left, n, memory_order_relaxed);
	return false;
}

static void credit(struct pump *l, unsigned path, uint32_t n, bool shared)
{
	_Atomic int *left = &l->room[path]->left;
	if (shared) {
		atomic_fetch_add_explicit(left, (int)n, memory_order_relaxed);
		atomic_fetch_add_explicit(&l->done, n, memory_order_release);
		return;
	}
	atomic_store_explicit(left, atomic_load_explicit(left, memory_order_relaxed) + (int)n, memory_order_relaxed);
	atomic_store_explicit(&l->done, atomic_load_explicit(&l->done, memory_order_relaxed) + n, memory_order_relaxed);
}

static void set_status(struct pumps *all, int status)
{
	int none = 0;
	atomic_compare_exchange_strong(&all->status, &none, status);
}

static int poll(struct pump *l)
{
	struct ibv_wc wc[PUMP_POLL];
	int n = vcollect(l->cq, l->ex, (int)l->all->poll, wc);
	if (n < 0)
		set_status(l->all, -EIO);
	for (int i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			set_status(l->all, (int)wc[i].status);
		credit(&l->all->pump[wc[i].wr_id >> 40], wc[i].wr_id >> 32 & 0xff, (uint32_t)wc[i].wr_id, l->shared_cq);
	}
	if (n == 0 && l->all->yields)
		sched_yield();
	return atomic_load_explicit(&l->all->status, memory_order_relaxed) ? -EIO : 0;
}

int pump_post(struct pump *l, unsigned path, struct ibv_send_wr *wr, unsigned n, unsigned unsignalled, bool signal)
{
	struct ibv_send_wr *bad, *w = wr;
	for (unsigned i = 0; i < n; i++, w = w->next) {
		l->quiet[path]++;
		w->wr_id = make_id(l->index, path, l->quiet[path]);
		w->send_flags &= ~(unsigned)IBV_SEND_SIGNALED;
		if (l->quiet[path] >= unsignalled || (signal && i == n - 1)) {
			w->send_flags |= IBV_SEND_SIGNALED;
			l->quiet[path] = 0;
		}
	}
	while (!take_room(l, path, (int)n))
		if (poll(l) < 0)
			return -EIO;
	l->posted += n;
	int rc = ibv_post_send(l->qp[path], wr, &bad);
	if (rc != 0)
		set_status(l->all, rc < 0 ? rc : -rc);
	return rc == 0 ? 0 : -EIO;
}

int pump_wait(struct pump *l)
{
	while (atomic_load_explicit(&l->done, memory_order_acquire) < l->posted)
		if (poll(l) < 0)
			return -EIO;
	return 0;
}

int pump_error(const struct pumps *l, struct zerr *err)
{
	int status = atomic_load(&l->status);
	if (status < 0)
		return zerr_set(err, -EIO, "posting failed: %s", strerror(-status));
	return zerr_set(err, -EIO, "a message failed: %s", ibv_wc_status_str((enum ibv_wc_status)status));
}

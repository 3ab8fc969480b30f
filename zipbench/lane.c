/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting and completions, see lane.h. wr_id: lane, path, and how many messages a completion stands for. */
#include "zipbench/lane.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "zipbench/crew.h"
#include "common/transport/verbs/device/vcollect.h"
#include "common/endpoint/ep_set.h"

static uint64_t make_id(unsigned lane, unsigned path, uint32_t messages)
{
	return (uint64_t)lane << 40 | (uint64_t)path << 32 | messages;
}

int lanes_open(struct lanes *l, const struct zep_set *s, unsigned poll)
{
	const struct zep_plan *p = &s->plan;
	const unsigned groups = (p->threads + p->qp_ways - 1) / p->qp_ways;
	*l = (struct lanes){.n = p->threads,
		.poll = poll < 1	   ? 1
			: poll > LANE_POLL ? LANE_POLL
					   : poll,
		.yields = crew_is_crowded(p->threads)};
	l->lane = aligned_alloc(LANE_LINE, p->threads * sizeof(*l->lane));
	l->room = aligned_alloc(LANE_LINE, (size_t)groups * p->paths * sizeof(*l->room));
	if (!l->lane || !l->room || p->paths > LANE_PATHS) {
		lanes_close(l);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < groups * p->paths; i++)
		atomic_init(&l->room[i].left, (int)p->send_depth);
	memset(l->lane, 0, p->threads * sizeof(*l->lane));
	for (unsigned t = 0; t < p->threads; t++) {
		struct lane *lane = &l->lane[t];
		lane->all = l;
		lane->index = t;
		lane->cq = zep_set_cq(s, t);
		lane->ex = zep_set_is_extended(s) ? zep_set_cq(s, t) : NULL;
		lane->shared_cq = p->cq_ways > 1;
		lane->shared_qp = p->qp_ways > 1;
		for (unsigned path = 0; path < p->paths; path++) {
			lane->qp[path] = zep_set_qp(s, t, path);
			lane->room[path] = &l->room[t / p->qp_ways * p->paths + path];
		}
	}
	return 0;
}

void lanes_close(struct lanes *l)
{
	free(l->lane);
	free(l->room);
	*l = (struct lanes){.n = 0};
}

/* Of a queue pair of one thread alone, but for others who take its completions from a shared queue. */
static bool take_room(struct lane *l, unsigned path, int n)
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

static void credit(struct lane *l, unsigned path, uint32_t n, bool shared)
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

static void set_status(struct lanes *all, int status)
{
	int none = 0;
	atomic_compare_exchange_strong(&all->status, &none, status);
}

static int poll(struct lane *l)
{
	struct ibv_wc wc[LANE_POLL];
	int n = vcollect(l->cq, l->ex, (int)l->all->poll, wc);
	if (n < 0)
		set_status(l->all, -EIO);
	for (int i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			set_status(l->all, (int)wc[i].status);
		credit(&l->all->lane[wc[i].wr_id >> 40], wc[i].wr_id >> 32 & 0xff, (uint32_t)wc[i].wr_id, l->shared_cq);
	}
	if (n == 0 && l->all->yields)
		sched_yield();
	return atomic_load_explicit(&l->all->status, memory_order_relaxed) ? -EIO : 0;
}

int lane_post(struct lane *l, unsigned path, struct ibv_send_wr *wr, unsigned n, unsigned unsignalled, bool signal)
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

int lane_wait(struct lane *l)
{
	while (atomic_load_explicit(&l->done, memory_order_acquire) < l->posted)
		if (poll(l) < 0)
			return -EIO;
	return 0;
}

int lanes_error(const struct lanes *l, struct zerr *err)
{
	int status = atomic_load(&l->status);
	if (status < 0)
		return zerr_set(err, -EIO, "posting failed: %s", strerror(-status));
	return zerr_set(err, -EIO, "a message failed: %s", ibv_wc_status_str((enum ibv_wc_status)status));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reduce-scatter: a native reduction of the whole vector at each part's leader. The leaders exchange the elements
 * that the other parts' members get, and combine them in the order of the parts; then a native scatter. In parts whose
 * ranks are consecutive, long vectors go in segments and by several leaders (reduce_scatter_strips.h).
 */
#include "libzip/coll/reduce_scatter.h"

#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/fold.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/base/slots.h"
#include "libzip/coll/base/tune.h"
#include "libzip/coll/inorder.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/coll/inside/subtotal.h"
#include "libzip/coll/reduce_scatter_strips.h"
#include "libzip/coll/scatter.h"
#include "libzip/schedule/step.h"

struct scatter {
	struct zslots slots; /* of the whole vector, by rank */
	MPI_Count *counts;   /* [nlocal], by shadow rank */
	MPI_Aint *displs;    /* in compact */
	char *compact;	     /* the local members' slots side by side */
};

/* The slots of the whole vector, which lie behind each other in rank order. buf is filled in later. */
static int make_slots(struct zsched *s, const struct zcoll *a, struct zslots *slots, MPI_Count *total)
{
	struct zcomm *c = zsched_comm(s);
	MPI_Count *counts = zsched_alloc(s, (size_t)c->size * sizeof *counts);
	MPI_Aint *displs = zsched_alloc(s, (size_t)c->size * sizeof *displs);
	if (!counts || !displs)
		return MPI_ERR_NO_MEM;
	*total = 0;
	for (int r = 0; r < c->size; r++) {
		counts[r] = a->vector ? zvec_get(a->recvcounts, r) : a->recvcount;
		displs[r] = (MPI_Aint)*total;
		*total += counts[r];
	}
	*slots = (struct zslots){.type = a->recvtype,
		.extent = zbuf_extent(a->recvtype),
		.vector = true,
		.counts = ZVEC(counts),
		.displs = ZVEC(displs)};
	return MPI_SUCCESS;
}

static int make_compact(struct zsched *s, void *arg)
{
	struct scatter *h = arg;
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	if (zsched_failed(s))
		return MPI_SUCCESS;
	/* Without the gaps: a gap of one slot may have the data of another. */
	for (int i = 0; i < c->nlocal && rc == MPI_SUCCESS; i++)
		rc = zbuf_copy(s, zslots_at(&h->slots, c->shadow_to_rank[i]), h->counts[i], h->slots.type,
			zbuf_at(h->compact, h->displs[i], h->slots.extent), h->counts[i], h->slots.type);
	return rc;
}

/* In a leader, after the native reduction: exchanges sums and combines them. */
static int build_leader(struct zsched *s, const struct zcoll *a, struct scatter *h, MPI_Count mine)
{
	struct zcomm *c = zsched_comm(s);
	void *compact;
	int rc = MPI_SUCCESS;
	h->compact = zslots_at(&h->slots, c->rank);
	if (!c->blocked) {
		rc = zbuf_temp(s, mine, a->recvtype, &compact);
		if (rc == MPI_SUCCESS) {
			h->compact = compact;
			rc = zstep_call(s, make_compact, h);
		}
	}
	struct zfold *f = rc == MPI_SUCCESS ? zfold_create(s, c->nparts, h->compact, mine, a->recvtype, a->op) : NULL;
	if (!f)
		return rc == MPI_SUCCESS ? MPI_ERR_NO_MEM : rc;
	for (int p = 0; p < c->nparts && rc == MPI_SUCCESS; p++) {
		if (p != c->my_part)
			rc = zstep_recv(s, f->inputs[p], mine, a->recvtype, c->parts[p].leader);
	}
	for (int p = 0; p < c->nparts && rc == MPI_SUCCESS; p++) {
		void *buf;
		MPI_Count count;
		MPI_Datatype type;
		if (p == c->my_part)
			continue;
		rc = zslots_part(s, &h->slots, p, &buf, &count, &type);
		if (rc == MPI_SUCCESS)
			rc = zstep_send(s, buf, count, type, c->parts[p].leader);
	}
	zsched_round(s);
	return rc == MPI_SUCCESS ? zstep_call(s, zfold_call, f) : rc;
}

static int build_two_level(struct zsched *s, const struct zcoll *a, const void *sendbuf,
	const struct ztuning_settings *tune)
{
	struct zsubtotal in;
	struct zcomm *c = zsched_comm(s);
	struct scatter *h = zsched_alloc(s, sizeof *h);
	MPI_Count total, mine = 0;
	void *whole = NULL;
	int rc = h ? make_slots(s, a, &h->slots, &total) : MPI_ERR_NO_MEM;
	if (rc == MPI_SUCCESS && zleader_is_me(c))
		rc = zbuf_temp(s, total, a->recvtype, &whole);
	if (rc == MPI_SUCCESS)
		rc = zsubtotal_init(&in, s, tune, total, a->recvtype, a->op, 0);
	if (rc == MPI_SUCCESS)
		rc = zsubtotal_start(&in, s, sendbuf, whole, total);
	zsched_round(s);
	if (rc == MPI_SUCCESS && zleader_is_me(c))
		rc = zsubtotal_finish(&in, s, sendbuf, whole, total);
	if (rc == MPI_SUCCESS && zleader_is_me(c)) {
		h->slots.buf = whole;
		rc = zslots_local(s, &h->slots, &h->counts, &h->displs);
		for (int i = 0; i < c->nlocal && rc == MPI_SUCCESS; i++) {
			h->displs[i] = (MPI_Aint)mine;
			mine += h->counts[i];
		}
		if (rc == MPI_SUCCESS)
			rc = build_leader(s, a, h, mine);
	}
	if (rc == MPI_SUCCESS)
		rc = zinside_scatterv(s, h->compact, h->counts, h->displs, a->recvtype, a->recvbuf,
			zslots_count(&h->slots, c->rank), a->recvtype, 0);
	zsched_round(s);
	return rc;
}

/* Interleaved ranks and an operation that does not commute: in rank order at rank 0. */
static int build_ordered(struct zsched *s, const struct zcoll *a, const void *sendbuf)
{
	struct zcomm *c = zsched_comm(s);
	struct zslots slots;
	MPI_Count total;
	struct zinorder all = {.buf = NULL};
	void *result = NULL;
	int rc = make_slots(s, a, &slots, &total);
	if (rc == MPI_SUCCESS)
		rc = zinorder_gather(s, sendbuf, total, a->recvtype, 0, &all);
	if (rc == MPI_SUCCESS && all.buf) {
		rc = zbuf_temp(s, total, a->recvtype, &result);
		if (rc == MPI_SUCCESS)
			rc = zinorder_fold(s, &all, result, total, a->recvtype, a->op);
	}
	if (rc != MPI_SUCCESS)
		return rc;
	struct zcoll scatter = {.vector = true,
		.sendbuf = result,
		.sendcounts = slots.counts,
		.sdispls = slots.displs,
		.sendtype = a->recvtype,
		.recvbuf = a->recvbuf,
		.recvcount = zslots_count(&slots, c->rank),
		.recvtype = a->recvtype,
		.root = 0};
	return zscatter_build(s, &scatter);
}

int zreduce_scatter_build(struct zsched *s, const struct zcoll *a)
{
	const void *sendbuf = a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf;
	struct zcomm *c = zsched_comm(s);
	MPI_Count total = a->vector ? 0 : a->recvcount * c->size;
	for (int r = 0; r < c->size && a->vector; r++)
		total += zvec_get(a->recvcounts, r);
	struct ztuning_settings tune = ztune_choose(c, ZTUNING_REDUCE_SCATTER, zbuf_wire_bytes(total, a->recvtype));
	if (c->blocked && zreduce_scatter_strips_apply(s, a, &tune)) {
		struct zslots slots;
		int rc = make_slots(s, a, &slots, &total);
		return rc == MPI_SUCCESS ? zreduce_scatter_strips_build(s, a, &slots, &tune) : rc;
	}
	return !zinorder_is_needed(c, a->op) ? build_two_level(s, a, sendbuf, &tune) : build_ordered(s, a, sendbuf);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Reduce_scatter and MPI_Reduce_scatter_block: native reduction of the whole vector at each
 * part's leader; the leaders exchange what the others' members get; combination in the order of the
 * parts; native scatter. Long vectors of parts whose ranks are consecutive in segments and by several leaders:
 * coll_reduce_lanes.h.
 */
#include "libzip/coll/across/coll_across.h"
#include "libzip/coll/inside/coll_data.h"
#include "libzip/coll/inside/coll_fold.h"
#include "libzip/coll/coll_forms.h"
#include "libzip/coll/inside/coll_inside.h"
#include "libzip/coll/inside/coll_native.h"
#include "libzip/coll/across/coll_reduce_lanes.h"
#include "libzip/coll/inside/coll_slots.h"
#include "libzip/coll/tune.h"
#include "libzip/type/redop.h"

struct scatter {
	struct zslots slots; /* of the whole vector, by rank */
	MPI_Count *counts;   /* [nlocal], by shadow rank */
	MPI_Aint *displs;    /* in compact */
	char *compact;	     /* the local members' slots side by side */
};

/* The whole vector's slots lie one after the other in rank order. buf is filled in later. */
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
	/* Not with the gaps: those of one slot may be the place of another's data. */
	for (int i = 0; i < c->nlocal && rc == MPI_SUCCESS; i++)
		rc = zbuf_copy(s, zslots_at(&h->slots, c->shadow_to_rank[i]), h->counts[i], h->slots.type,
			zbuf_at(h->compact, h->displs[i], h->slots.extent), h->counts[i], h->slots.type);
	return rc;
}

/* The leader after the native reduction: exchange, combine. */
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
	struct zinside in;
	struct zcomm *c = zsched_comm(s);
	struct scatter *h = zsched_alloc(s, sizeof *h);
	MPI_Count total, mine = 0;
	void *whole = NULL;
	int rc = h ? make_slots(s, a, &h->slots, &total) : MPI_ERR_NO_MEM;
	if (rc == MPI_SUCCESS && zcoll_is_leader(c))
		rc = zbuf_temp(s, total, a->recvtype, &whole);
	if (rc == MPI_SUCCESS)
		rc = zinside_init(&in, s, tune, total, a->recvtype, a->op, 0);
	if (rc == MPI_SUCCESS)
		rc = zinside_start(&in, s, sendbuf, whole, total);
	zsched_round(s);
	if (rc == MPI_SUCCESS && zcoll_is_leader(c))
		rc = zinside_finish(&in, s, sendbuf, whole, total);
	if (rc == MPI_SUCCESS && zcoll_is_leader(c)) {
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
		rc = znative_scatterv(s, h->compact, h->counts, h->displs, a->recvtype, a->recvbuf,
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
	struct zgathered all = {.buf = NULL};
	void *result = NULL;
	int rc = make_slots(s, a, &slots, &total);
	if (rc == MPI_SUCCESS)
		rc = zbuild_gather_all(s, sendbuf, total, a->recvtype, 0, &all);
	if (rc == MPI_SUCCESS && all.buf) {
		rc = zbuf_temp(s, total, a->recvtype, &result);
		if (rc == MPI_SUCCESS)
			rc = zbuild_fold_all(s, &all, result, total, a->recvtype, a->op);
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
	return zbuild_scatter(s, &scatter);
}

static int build(struct zsched *s, const struct zcoll *a)
{
	const void *sendbuf = a->sendbuf == MPI_IN_PLACE ? a->recvbuf : a->sendbuf;
	struct zcomm *c = zsched_comm(s);
	MPI_Count total = a->vector ? 0 : a->recvcount * c->size;
	for (int r = 0; r < c->size && a->vector; r++)
		total += zvec_get(a->recvcounts, r);
	struct ztuning_settings tune = ztune_choose(c, ZTUNING_REDUCE_SCATTER, zbuf_wire_bytes(total, a->recvtype));
	if (c->blocked && zreduce_has_lanes(s, a, &tune)) {
		struct zslots slots;
		int rc = make_slots(s, a, &slots, &total);
		return rc == MPI_SUCCESS ? zreduce_build_lanes(s, a, &slots, &tune) : rc;
	}
	return c->blocked || zredop_commutes(a->op) ? build_two_level(s, a, sendbuf, &tune)
						    : build_ordered(s, a, sendbuf);
}

/* What I get, which is beside what I give. */
static int check_result(const struct zcoll *a, int me)
{
	MPI_Count mine = a->vector ? zvec_get(a->recvcounts, me) : a->recvcount;
	if (mine > 0 && a->recvbuf == a->sendbuf)
		return MPI_ERR_BUFFER;
	return zcheck_data(a->recvbuf, mine, a->recvtype);
}

static int take(struct zsched *s, struct zcoll *a)
{
	int rc = zcheck_op(a->op);
	bool own = a->sendbuf == MPI_IN_PLACE;
	const void *whole = own ? a->recvbuf : a->sendbuf;
	if (rc == MPI_SUCCESS && a->recvbuf == MPI_IN_PLACE)
		rc = MPI_ERR_BUFFER;
	if (rc == MPI_SUCCESS && a->vector && !a->recvcounts.p)
		rc = MPI_ERR_ARG;
	if (rc == MPI_SUCCESS && !own)
		rc = check_result(a, zsched_comm(s)->rank);
	if (rc == MPI_SUCCESS)
		rc = a->vector ? ztake_vector(s, whole, a->recvcounts, a->recvtype)
			       : ztake_data(s, whole, a->recvcount, a->recvtype);
	return rc == MPI_SUCCESS ? zsched_keep_op(s, a->op) : rc;
}

/* Between groups. There is no MPI_IN_PLACE, and counts are those of my own group. */
static int take_across(struct zsched *s, struct zcoll *a)
{
	zsched_across(s, false);
	return ztake_both(s, a, take);
}

static const struct zcoll_across across = {take_across, zacross_reduce_scatter};

#define VECTOR_PARAMS(COUNT, DISPL)                                                                                    \
	const void *sendbuf, void *recvbuf, const COUNT recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
ZCOLL_FORMS(Reduce_scatter, Ireduce_scatter, VECTOR_PARAMS, (sendbuf, recvbuf, recvcounts, datatype, op, comm),
	(.take = take, .build = build, .across = &across, .vector = true, .sendbuf = sendbuf, .recvbuf = recvbuf,
		.recvcounts = ZVEC(recvcounts), .recvtype = datatype, .op = op))

#define BLOCK_PARAMS(COUNT, DISPL)                                                                                     \
	const void *sendbuf, void *recvbuf, COUNT recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm
ZCOLL_FORMS(Reduce_scatter_block, Ireduce_scatter_block, BLOCK_PARAMS,
	(sendbuf, recvbuf, recvcount, datatype, op, comm),
	(.take = take, .build = build, .across = &across, .sendbuf = sendbuf, .recvbuf = recvbuf,
		.recvcount = recvcount, .recvtype = datatype, .op = op))

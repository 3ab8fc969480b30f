/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An alltoall. Local pairs go by one native collective on the shadow. Remote pairs with small blocks go together
 * (aggregate.h), those with larger blocks by one bridged message each, a bounded number at a time. Empty pairs send
 * nothing. Between groups there are only remote pairs.
 */
#include "libzip/coll/alltoall.h"

#include "libzip/coll/aggregate.h"
#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/tune.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/coll/packed.h"
#include "libzip/coll/side.h"
#include "libzip/schedule/step.h"

static bool is_direct(const struct zside *d, int rank, MPI_Count limit)
{
	return zside_bytes(d, rank) > limit;
}

static int post_send(struct zsched *s, const struct zalltoall *x, int r)
{
	MPI_Datatype type = zside_type(&x->send, r);
	MPI_Count count = zslots_count(&x->send.slots, r);
	void *buf = zside_at(&x->send, r), *temp;
	if (x->in_place) { /* the slots are receive buffers too */
		int rc = zbuf_temp(s, count, type, &temp);
		if (rc != MPI_SUCCESS)
			return rc;
		zbuf_copy_span(buf, temp, count, type);
		buf = temp;
	}
	return zstep_send(s, buf, count, type, r);
}

/* One step of the exchange: the rank that I send a message to and the rank that I get one from; -1: nobody. */
struct turn {
	int to, from;
};

/* Exchanges step after step. The round of step k waits for step k - window + 1. All ranks take the steps in the same
 * order, so both ranks of the first step that is not complete have begun it. */
static int exchange(struct zsched *s, const struct zalltoall *x, int window, int steps,
	struct turn (*turn_of)(const struct zsched *, int step))
{
	int *open = zsched_alloc(s, 2 * (size_t)window * sizeof *open), rc = MPI_SUCCESS;
	long begun = 0, ended = 0;
	if (!open)
		return MPI_ERR_NO_MEM;
	for (int step = 0; step < steps && rc == MPI_SUCCESS; step++) {
		const struct turn t = turn_of(s, step);
		int *at = &open[2 * (begun % window)];
		at[0] = at[1] = -1;
		if (t.from >= 0 && is_direct(&x->recv, t.from, x->limit)) {
			rc = zstep_recv(s, zside_at(&x->recv, t.from), zslots_count(&x->recv.slots, t.from),
				zside_type(&x->recv, t.from), t.from);
			at[0] = rc == MPI_SUCCESS ? zstep_open(s) : -1;
		}
		if (rc == MPI_SUCCESS && t.to >= 0 && is_direct(&x->send, t.to, x->limit)) {
			rc = post_send(s, x, t.to);
			at[1] = rc == MPI_SUCCESS ? zstep_open(s) : -1;
		}
		if ((at[0] < 0 && at[1] < 0) || ++begun - ended < window)
			continue;
		rc = rc == MPI_SUCCESS ? zside_close(s, &open[2 * (ended++ % window)]) : rc;
		zsched_round(s);
	}
	while (ended < begun && rc == MPI_SUCCESS)
		rc = zside_close(s, &open[2 * (ended++ % window)]);
	return rc;
}

static int member_of(const struct zcomm *c, int part, int i)
{
	return i < c->parts[part].count ? c->parts[part].member[i] : -1;
}

/* No two ranks have the same target: member i sends to member i + t of the d-th part behind its own. So no rank gets
 * more than window messages at a time, however many senders there are. */
static struct turn between_parts(const struct zsched *s, int step)
{
	const struct zcomm *c = zsched_comm(s);
	int me = zcomm_shadow_rank(c, c->rank), wide = c->members_max, others = c->nparts - 1;
	int t = step / others, d = step % others + 1;
	return (struct turn){.to = member_of(c, (c->my_part + d) % c->nparts, (me + t) % wide),
		.from = member_of(c, (c->my_part + c->nparts - d) % c->nparts, (me + wide - t) % wide)};
}

static int local_types(struct zsched *s, const struct zside *d, MPI_Datatype **types, MPI_Aint *displs)
{
	struct zcomm *c = zsched_comm(s);
	*types = zsched_alloc(s, (size_t)c->nlocal * sizeof **types);
	if (!*types)
		return MPI_ERR_NO_MEM;
	for (int i = 0; i < c->nlocal; i++) {
		(*types)[i] = d->types[c->shadow_to_rank[i]];
		displs[i] = zvec_get(d->slots.displs, c->shadow_to_rank[i]);
	}
	return MPI_SUCCESS;
}

static int exchange_local(struct zsched *s, const struct zside *send, const struct zside *recv, bool in_place)
{
	MPI_Count *scounts = NULL, *rcounts;
	MPI_Aint *sdispls = NULL, *rdispls;
	MPI_Datatype *rtypes;
	const void *sendbuf = in_place ? MPI_IN_PLACE : send->slots.buf;
	int rc = zslots_local(s, &recv->slots, &rcounts, &rdispls);
	if (rc == MPI_SUCCESS && !in_place)
		rc = zslots_local(s, &send->slots, &scounts, &sdispls);
	if (rc != MPI_SUCCESS)
		return rc;
	if (!recv->types)
		return zinside_alltoallv(s, sendbuf, scounts, sdispls, send->slots.type, recv->slots.buf, rcounts,
			rdispls, recv->slots.type);
	rc = local_types(s, recv, &rtypes, rdispls);
	struct zpacked x = {.counts = scounts, .displs = sdispls, .data = send->slots.buf};
	if (rc == MPI_SUCCESS)
		rc = in_place ? zpacked_local(s, recv, &x) : local_types(s, send, &x.types, sdispls);
	if (rc != MPI_SUCCESS)
		return rc;
	return zinside_alltoallw(s, x.data, x.counts, x.displs, x.types, recv->slots.buf, rcounts, rdispls, rtypes);
}

/* Except in MPI_Alltoall, ranks know only their own blocks. So a choice that all must make alike cannot depend on
 * sizes. */
int zalltoall_build(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s);
	struct zalltoall *x = zsched_alloc(s, sizeof *x);
	int rc;
	if (!x)
		return MPI_ERR_NO_MEM;
	*x = (struct zalltoall){.in_place = a->sendbuf == MPI_IN_PLACE, .recv = {.types = a->recvtypes}};
	x->recv.slots = zslots_recv(a);
	x->send = x->recv;
	if (!x->in_place) {
		x->send.slots = zslots_send(a);
		x->send.types = a->sendtypes;
	}
	x->block = a->vector ? -1 : zside_bytes(&x->recv, 0);
	struct ztuning_settings tune = ztune_choose(c, ZTUNING_ALLTOALL, a->vector ? 0 : x->block);
	x->limit = tune.aggregate;
	x->leaders = tune.leaders < c->members_min ? (int)tune.leaders : c->members_min;
	bool together = x->limit > 0 && x->block <= x->limit && x->block != 0;
	rc = together ? zaggregate_pack(s, x) : MPI_SUCCESS;
	if (rc == MPI_SUCCESS)
		rc = exchange_local(s, &x->send, &x->recv, x->in_place);
	if (rc != MPI_SUCCESS)
		return rc;
	x->local = zstep_open(s);
	if (x->block < 0 || x->block > x->limit)
		rc = exchange(s, x, (int)tune.window, c->members_max * (c->nparts - 1), between_parts);
	if (rc == MPI_SUCCESS)
		rc = together ? zaggregate_exchange(s, x) : zstep_close(s, x->local);
	return rc;
}

static int larger_group(const struct zsched *s)
{
	const struct zcomm *c = zsched_comm(s), *partners = zsched_partners(s);
	return c->size > partners->size ? c->size : partners->size;
}

/* One block after the other: in step t member i of a group sends to member i + t of the other group, modulo the size of
 * the larger group. */
static struct turn between_groups(const struct zsched *s, int t)
{
	int me = zsched_comm(s)->rank, n = zsched_partners(s)->size, wide = larger_group(s);
	int to = (me + t) % wide, from = (me + wide - t) % wide;
	return (struct turn){.to = to < n ? to : -1, .from = from < n ? from : -1};
}

static int lesser(int64_t a, int64_t b)
{
	return (int)(a < b ? a : b);
}

/* A choice that both groups must make alike goes by the settings of both. The sizes of the two directions differ, also
 * in MPI_Alltoall. */
int zalltoall_build_across(struct zsched *s, const struct zcoll *a)
{
	const struct zcomm *c = zsched_comm(s), *partners = zsched_partners(s);
	const struct ztuning_settings mine = ztune_choose(c, ZTUNING_ALLTOALL, 0),
				      theirs = ztune_choose(partners, ZTUNING_ALLTOALL, 0);
	struct zalltoall *x = zsched_alloc(s, sizeof *x);
	if (!x)
		return MPI_ERR_NO_MEM;
	*x = (struct zalltoall){.send = {.slots = zslots_send(a), .types = a->sendtypes},
		.recv = {.slots = zslots_recv(a), .types = a->recvtypes},
		.block = -1,
		.local = -1};
	/* With one member in every part each pair is a message for itself anyway. */
	if (c->members_max > 1 || partners->members_max > 1)
		x->limit = lesser(mine.aggregate, theirs.aggregate);
	x->leaders = lesser(lesser(mine.leaders, theirs.leaders), lesser(c->members_min, partners->members_min));
	int rc = x->limit > 0 ? zaggregate_pack(s, x) : MPI_SUCCESS;
	if (rc == MPI_SUCCESS)
		rc = exchange(s, x, (int)mine.window, larger_group(s), between_groups);
	if (rc == MPI_SUCCESS && x->limit > 0)
		return zaggregate_exchange(s, x);
	zsched_round(s);
	return rc;
}

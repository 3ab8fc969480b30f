/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Reduce_scatter between the groups of an intercommunicator. Each part sends its sums (groupsum.h) of the elements
 * that the members of a part get to that part, in shares of the same size, one for each of its leaders, which scatter
 * them. Where ranks are interleaved, the elements of a part do not lie together; then the vector is first put in the
 * order of the parts. Only the members of a group know its counts. If these can differ and the group is in several
 * parts, its rank 0 tells the other group.
 */
#include "libzip/coll/reduce_scatter_across.h"

#include "libzip/coll/across/across.h"
#include "libzip/coll/across/sums.h"
#include "libzip/coll/base/counts.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/base/tune.h"
#include "libzip/coll/inorder.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/schedule/step.h"

/* The counts that the members of a group get. */
struct shape {
	const struct zcomm *group;
	MPI_Count *counts; /* [size]; NULL: only the sum is known, and it has one part */
	MPI_Count total;
};

struct scattering {
	struct zcoll args;
	struct shape mine, theirs;
};

static MPI_Count part_count(const struct shape *x, int p)
{
	const struct zcomm_part *part = &x->group->parts[p];
	MPI_Count n = 0;
	for (int i = 0; i < part->count && x->counts; i++)
		n += x->counts[part->member[i]];
	return x->counts ? n : x->total;
}

/* The number of shares for each part of `to`. */
static int leaders_of(const struct zcomm *from, const struct zcomm *to, const struct scattering *x)
{
	MPI_Count bytes = zbuf_wire_bytes(x->mine.total, x->args.recvtype);
	struct ztuning_settings tune = ztune_choose(from, ZTUNING_REDUCE_SCATTER, bytes);
	int members = from->members_min < to->members_min ? from->members_min : to->members_min;
	return tune.leaders < members ? (int)tune.leaders : members;
}

/* The share of leader `number` of part p, where the part gets n elements. Returns the first of its elements. */
static MPI_Count cut_share(const struct scattering *x, int p, MPI_Count n, int leaders, int number,
	struct zgroupsum *sum)
{
	MPI_Count first = n / leaders * number + n % leaders * number / leaders;
	MPI_Count end = n / leaders * (number + 1) + n % leaders * (number + 1) / leaders;
	*sum = (struct zgroupsum){.which = ZTUNING_REDUCE_SCATTER,
		.count = end - first,
		.type = x->args.recvtype,
		.op = x->args.op,
		.to = ZGROUPSUM_SHARE,
		.share = {.part = p, .leaders = leaders, .number = number, .total = x->mine.total}};
	return first;
}

/* A vector for the other group, to be put in the order of that group's parts when all of it is there. */
struct ordering {
	const struct scattering *x;
	const void *vector;
	void *ordered;
	MPI_Count *at; /* [size]: where each rank's elements begin in the vector */
};

static int put_in_order(struct zsched *s, void *arg)
{
	const struct ordering *o = arg;
	const struct shape *to = &o->x->theirs;
	MPI_Datatype type = o->x->args.recvtype;
	MPI_Aint extent = zbuf_extent(type);
	MPI_Count next = 0;
	int rc = MPI_SUCCESS;
	if (zsched_failed(s))
		return MPI_SUCCESS;
	for (int p = 0; p < to->group->nparts; p++) {
		const struct zcomm_part *part = &to->group->parts[p];
		for (int i = 0; i < part->count && rc == MPI_SUCCESS; i++) {
			int r = part->member[i];
			rc = zbuf_copy(s, zbuf_at(o->vector, o->at[r], extent), to->counts[r], type,
				zbuf_at(o->ordered, next, extent), to->counts[r], type);
			next += to->counts[r];
		}
	}
	return rc;
}

static int order(struct zsched *s, const struct scattering *x, const void *vector, const void **ordered)
{
	const struct shape *to = &x->theirs;
	MPI_Count next = 0;
	*ordered = vector;
	if (to->group->blocked)
		return MPI_SUCCESS;
	struct ordering *o = zsched_alloc(s, sizeof *o);
	MPI_Count *at = zsched_alloc(s, (size_t)to->group->size * sizeof *at);
	void *copy;
	int rc = o && at ? zbuf_temp(s, to->total, x->args.recvtype, &copy) : MPI_ERR_NO_MEM;
	if (rc != MPI_SUCCESS)
		return rc;
	for (int r = 0; r < to->group->size; r++) {
		at[r] = next;
		next += to->counts[r];
	}
	*o = (struct ordering){x, vector, copy, at};
	*ordered = copy;
	return zstep_call(s, put_in_order, o);
}

static int make_givings(struct zsched *s, const struct scattering *x, struct zgiving ***out, int *n)
{
	const struct zcomm *to = x->theirs.group;
	int leaders = leaders_of(x->mine.group, to, x);
	MPI_Aint extent = zbuf_extent(x->args.recvtype);
	MPI_Count at = 0;
	const void *vector;
	int rc = order(s, x, x->args.sendbuf, &vector);
	*out = zsched_alloc(s, (size_t)(to->nparts * leaders) * sizeof(struct zgiving *));
	if (!*out)
		return MPI_ERR_NO_MEM;
	for (int p = 0; p < to->nparts; p++) {
		MPI_Count count = part_count(&x->theirs, p);
		for (int a = 0; a < leaders && rc == MPI_SUCCESS; a++) {
			struct zgroupsum sum;
			MPI_Count first = cut_share(x, p, count, leaders, a, &sum);
			rc = zgiving_create(s, &sum, zbuf_at(vector, at + first, extent), &(*out)[(*n)++]);
		}
		at += count;
	}
	return rc;
}

/* The edges of the slots of my part, see struct ztaking_slots. */
static MPI_Count *edges_of(struct zsched *s, const struct shape *mine)
{
	const struct zcomm_part *part = &mine->group->parts[mine->group->my_part];
	MPI_Count *edges = zsched_alloc(s, (size_t)(part->count + 1) * sizeof *edges);
	if (!edges)
		return NULL;
	edges[0] = 0;
	for (int i = 0; i < part->count; i++)
		edges[i + 1] = edges[i] + mine->counts[part->member[i]];
	return edges;
}

static int make_takings(struct zsched *s, const struct scattering *x, const MPI_Count *edges, struct ztaking ***in,
	int *n)
{
	const struct zcomm *to = x->mine.group;
	int leaders = leaders_of(x->theirs.group, to, x), rc = MPI_SUCCESS;
	*in = zsched_alloc(s, (size_t)leaders * sizeof(struct ztaking *));
	if (!*in)
		return MPI_ERR_NO_MEM;
	for (int a = 0; a < leaders && rc == MPI_SUCCESS; a++) {
		struct zgroupsum sum;
		struct ztaking_slots slots = {.edges = edges};
		slots.first = cut_share(x, to->my_part, edges[to->nlocal], leaders, a, &sum);
		rc = ztaking_create(s, &sum, x->args.recvbuf, &slots, &(*in)[(*n)++]);
	}
	return rc;
}

/* Rank 0 sends the sums that it has collected to the leader of each part of the other group. */
static int send_collected(struct zsched *s, const struct scattering *x, const void *sum)
{
	const struct zcomm *to = x->theirs.group;
	MPI_Count at = 0;
	const void *vector;
	int rc = order(s, x, sum, &vector);
	for (int p = 0; p < to->nparts && rc == MPI_SUCCESS; p++) {
		MPI_Count count = part_count(&x->theirs, p);
		rc = zstep_send(s, zbuf_at(vector, at, zbuf_extent(x->args.recvtype)), count, x->args.recvtype,
			to->parts[p].leader);
		at += count;
	}
	return rc;
}

static int recv_collected(struct zsched *s, const struct scattering *x, MPI_Count count, void **sum)
{
	struct zcomm *c = zsched_comm(s);
	int rc = MPI_SUCCESS;
	*sum = x->args.recvbuf;
	if (!zleader_is_me(c))
		return MPI_SUCCESS;
	if (c->nlocal > 1)
		rc = zbuf_temp(s, count, x->args.recvtype, sum);
	return rc == MPI_SUCCESS ? zstep_recv(s, *sum, count, x->args.recvtype, 0) : rc;
}

static int scatter_collected(struct zsched *s, const struct scattering *x, const MPI_Count *edges, const void *sum)
{
	struct zcomm *c = zsched_comm(s);
	struct zcounts out;
	int rc = zcounts_make(s, &out);
	if (rc != MPI_SUCCESS || c->nlocal == 1)
		return rc;
	for (int i = 0; i < c->nlocal; i++)
		out.of[i] = edges[i + 1] - edges[i];
	zcounts_place(s, &out);
	return zinside_scatterv(s, sum, out.of, out.at, x->args.recvtype, x->args.recvbuf,
		out.of[zcomm_shadow_rank(c, c->rank)], x->args.recvtype, 0);
}

/* Sums go part by part in both directions at a time. A group that collects at rank 0 does so before it takes the sums
 * of the other group, and sends after that. So neither group waits for a later step of the other. */
static int build(struct zsched *s, const struct scattering *x)
{
	bool collects = zinorder_is_needed(x->mine.group, x->args.op);
	bool collected = zinorder_is_needed(x->theirs.group, x->args.op);
	struct zgiving **out = NULL;
	struct ztaking **in = NULL;
	void *mine = NULL, *sum = NULL;
	int nout = 0, nin = 0;
	const MPI_Count *edges = edges_of(s, &x->mine);
	int rc = edges ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	if (rc == MPI_SUCCESS)
		rc = collects ? zinorder_collect(s, &x->args, x->mine.total, &mine) : make_givings(s, x, &out, &nout);
	if (rc == MPI_SUCCESS && !collected)
		rc = make_takings(s, x, edges, &in, &nin);
	if (rc == MPI_SUCCESS)
		rc = zsums_run(s, out, nout, in, nin);
	if (rc == MPI_SUCCESS && collected)
		rc = recv_collected(s, x, edges[zsched_comm(s)->nlocal], &sum);
	if (rc == MPI_SUCCESS && mine)
		rc = send_collected(s, x, mine);
	zsched_round(s);
	if (rc == MPI_SUCCESS && collected)
		rc = scatter_collected(s, x, edges, sum);
	zsched_round(s);
	return rc;
}

/* The counts of the other group have come, to all members of my part. */
static int build_told(struct zsched *s, void *arg)
{
	struct scattering *x = arg;
	MPI_Count total = 0;
	for (int r = 0; r < x->theirs.group->size; r++) {
		if (x->theirs.counts[r] < 0 || x->theirs.counts[r] > x->mine.total)
			return MPI_ERR_COUNT;
		total += x->theirs.counts[r];
	}
	return total == x->mine.total ? build(s, x) : MPI_ERR_COUNT;
}

static int exchange_counts(struct zsched *s, struct scattering *x)
{
	struct zcomm *c = zsched_comm(s);
	const struct zcomm *partners = x->theirs.group;
	int rc = MPI_SUCCESS;
	if (c->rank == 0 && c->nparts > 1)
		rc = zacross_send(s, x->mine.counts, c->size, MPI_INT64_T);
	if (partners->nparts > 1 && rc == MPI_SUCCESS)
		return zacross_spread(s, x->theirs.counts, partners->size, MPI_INT64_T, 0);
	zsched_round(s);
	return rc;
}

int zreduce_scatter_across_build(struct zsched *s, const struct zcoll *a)
{
	struct zcomm *c = zsched_comm(s), *partners = zsched_partners(s);
	struct scattering *x = zsched_alloc(s, sizeof *x);
	MPI_Count *counts = zsched_alloc(s, (size_t)c->size * sizeof *counts), total = 0;
	MPI_Count *theirs = partners->nparts > 1 ? zsched_alloc(s, (size_t)partners->size * sizeof *theirs) : NULL;
	if (!x || !counts || (partners->nparts > 1 && !theirs))
		return MPI_ERR_NO_MEM;
	for (int r = 0; r < c->size; r++) {
		counts[r] = a->vector ? zvec_get(a->recvcounts, r) : a->recvcount;
		total += counts[r];
	}
	if (theirs && !a->vector && total % partners->size != 0)
		return MPI_ERR_COUNT;
	for (int r = 0; r < partners->size && theirs; r++)
		theirs[r] = a->vector ? 0 : total / partners->size;
	*x = (struct scattering){.args = *a, .mine = {c, counts, total}, .theirs = {partners, theirs, total}};
	int rc = a->vector ? exchange_counts(s, x) : MPI_SUCCESS;
	if (rc != MPI_SUCCESS)
		return rc;
	return a->vector && theirs ? zstep_call(s, build_told, x) : build(s, x);
}

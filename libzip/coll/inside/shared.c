/* SPDX-License-Identifier: BSD-3-Clause */
/* Small collectives inside a part through shared memory. */
#include "libzip/coll/inside/shared.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "libzip/schedule/step.h"
#include "libzip/world/board.h"
#include "libzip/coll/base/buf.h"
#include "libzip/type/data.h"
#include "libzip/shim/shim.h"

struct slot {
	int64_t bytes; /* of the data, as the giver takes them; below 0: -1 - class, as it has no data after an error */
	alignas(max_align_t) char data[];
};

struct shared {
	const struct zsched *schedule;
	struct zboard *board;
	uint64_t operation;
	bool begun;
	/* my data to give */
	bool gives;
	void *own; /* where my data go here; NULL: nowhere, or they are there */
	const void *buf;
	MPI_Count count;
	MPI_Datatype type;
	/* the members to take from: from `at` up to `end`, which is excluded, by steps of 1 or -1 */
	int at, step, end, me;
	int (*take)(const struct shared *, int member, const char *from);
	struct zshared_vectors to;
	MPI_Op op;
	int alone; /* the first member to take from, whose data have nothing to combine with; -1: my data are there */
};

bool zshared_could_fit(const struct zcomm *c, MPI_Count count, MPI_Datatype type)
{
	return count * zbuf_size(type) + (MPI_Count)sizeof(struct slot) <= (MPI_Count)zboard_room(c->nlocal);
}

bool zshared_fits(const struct zcomm *c, MPI_Count count, MPI_Datatype type)
{
	return c->board && zshared_could_fit(c, count, type);
}

int zshared_pack(const void *buf, MPI_Count count, MPI_Datatype type, char *to)
{
	return zdata_pack_native((uint8_t *)to, (uint64_t)(count * zbuf_size(type)), buf, count, type);
}

int zshared_unpack(const char *from, void *buf, MPI_Count count, MPI_Datatype type)
{
	return zdata_unpack_native((const uint8_t *)from, (uint64_t)(count * zbuf_size(type)), buf, count, type);
}

static void *place_of(const struct zshared_vectors *v, int member)
{
	return zbuf_at(v->buf, v->displs ? v->displs[member] : member * v->count, zbuf_extent(v->type));
}

static MPI_Count count_of(const struct zshared_vectors *v, int member)
{
	return v->counts ? v->counts[member] : v->count;
}

static int take_whole(const struct shared *h, int member, const char *from)
{
	(void)member;
	return zshared_unpack(from, h->to.buf, h->to.count, h->to.type);
}

static int take_into_place(const struct shared *h, int member, const char *from)
{
	return zshared_unpack(from, place_of(&h->to, member), count_of(&h->to, member), h->to.type);
}

/* Takes from the nearest lower member down: each gives the operand of the lower rank. */
static int take_operand(const struct shared *h, int member, const char *from)
{
	if (member == h->alone)
		return zshared_unpack(from, h->to.buf, h->to.count, h->to.type);
	return zbuf_reduce(from, h->to.buf, h->to.count, h->to.type, h->op);
}

/* The first vector goes into the result, so that my own vector is not touched. Nothing is combined where the operation
 * was found not to fit the datatype, as native MPI would make an error of its own of that. */
static int take_summand(const struct shared *h, int member, const char *from)
{
	if (zsched_failed(h->schedule))
		return MPI_SUCCESS;
	if (member != h->alone)
		return zbuf_reduce(from, h->to.buf, h->to.count, h->to.type, h->op);
	int rc = zshared_unpack(from, h->to.buf, h->to.count, h->to.type);
	return rc == MPI_SUCCESS ? zbuf_reduce(h->buf, h->to.buf, h->to.count, h->to.type, h->op) : rc;
}

static int keep_own(struct zsched *s, const struct shared *h)
{
	return h->own ? zbuf_copy(s, h->buf, h->count, h->type, h->own, count_of(&h->to, h->me), h->to.type)
		      : MPI_SUCCESS;
}

/* A member that gives data of another size than expected has made an error that all should see; nothing is taken. A
 * member that has no data, as its schedule has failed before, hands on the error. */
static int take(struct zsched *s, const struct shared *h, const struct slot *slot)
{
	if (slot->bytes < 0) {
		const int class = (int)(-1 - slot->bytes);
		zsched_fail_text(s, class, "rank %d has no data to give, as the operation has failed there",
			zsched_comm(s)->shadow_to_rank[h->at]);
		return class;
	}
	const MPI_Count expected = count_of(&h->to, h->at) * zbuf_size(h->to.type);
	if (slot->bytes == expected)
		return h->take(h, h->at, slot->data);
	zsched_fail_amount(s, zsched_comm(s)->shadow_to_rank[h->at], slot->bytes, expected);
	return MPI_ERR_TRUNCATE;
}

static bool look(struct zsched *s, void *arg)
{
	struct shared *h = arg;
	int rc = MPI_SUCCESS;
	if (!h->begun) {
		h->operation = zboard_next(h->board);
		h->begun = true;
		rc = keep_own(s, h);
		if (rc != MPI_SUCCESS)
			zsched_fail(s, rc, NULL);
	}
	if (h->gives) {
		struct slot *mine = zboard_mine(h->board, h->operation);
		if (!mine)
			return false;
		if (rc == MPI_SUCCESS && !zsched_failed(s))
			rc = zshared_pack(h->buf, h->count, h->type, mine->data);
		if (rc != MPI_SUCCESS)
			zsched_fail(s, rc, NULL);
		/* the others wait for this, right or wrong */
		mine->bytes = zsched_failed(s) ? -1 - (int64_t)zsched_class(s) : h->count * zbuf_size(h->type);
		zboard_publish(h->board, h->operation);
		h->gives = false;
	}
	for (; h->at != h->end; h->at += h->step) {
		const struct slot *from;
		if (h->at == h->me)
			continue;
		if (!(from = zboard_look(h->board, h->operation, h->at)))
			break;
		if (rc == MPI_SUCCESS)
			rc = take(s, h, from);
	}
	if (rc != MPI_SUCCESS)
		zsched_fail(s, rc, NULL);
	if (h->at != h->end || !zboard_is_turn(h->board, h->operation))
		return false;
	zboard_finish(h->board, h->operation);
	return true;
}

static int add(struct zsched *s, const struct shared *given)
{
	struct zcomm *c = zsched_comm(s);
	struct shared *h = zsched_alloc(s, sizeof *h);
	if (!h)
		return MPI_ERR_NO_MEM;
	*h = *given;
	h->schedule = s;
	h->board = c->board;
	h->me = zcomm_shadow_rank(c, c->rank);
	return zstep_watch(s, look, h);
}

int zshared_bcast(struct zsched *s, void *buf, MPI_Count count, MPI_Datatype type, int root)
{
	if (zcomm_shadow_rank(zsched_comm(s), zsched_comm(s)->rank) == root)
		return add(s, &(struct shared){.gives = true, .buf = buf, .count = count, .type = type});
	return add(s, &(struct shared){.at = root,
			      .step = 1,
			      .end = root + 1,
			      .take = take_whole,
			      .to = {.buf = buf, .count = count, .type = type}});
}

int zshared_gather(struct zsched *s, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
	const struct zshared_vectors *all, int root)
{
	struct zcomm *c = zsched_comm(s);
	if (zcomm_shadow_rank(c, c->rank) != root)
		return add(s, &(struct shared){.gives = true, .buf = sendbuf, .count = sendcount, .type = sendtype});
	return add(s, &(struct shared){.own = sendbuf != MPI_IN_PLACE ? place_of(all, root) : NULL,
			      .buf = sendbuf,
			      .count = sendcount,
			      .type = sendtype,
			      .step = 1,
			      .end = c->nlocal,
			      .take = take_into_place,
			      .to = *all});
}

int zshared_allgather(struct zsched *s, const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
	const struct zshared_vectors *all)
{
	struct zcomm *c = zsched_comm(s);
	void *own = place_of(all, zcomm_shadow_rank(c, c->rank));
	struct shared h = {.gives = true,
		.own = own,
		.buf = sendbuf,
		.count = sendcount,
		.type = sendtype,
		.step = 1,
		.end = c->nlocal,
		.take = take_into_place,
		.to = *all};
	if (sendbuf == MPI_IN_PLACE) {
		h.own = NULL;
		h.buf = own;
		h.count = count_of(all, zcomm_shadow_rank(c, c->rank));
		h.type = all->type;
	}
	return add(s, &h);
}

int zshared_reduce(struct zsched *s, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
	int root)
{
	struct zcomm *c = zsched_comm(s);
	if (zcomm_shadow_rank(c, c->rank) != root)
		return add(s, &(struct shared){.gives = true, .buf = sendbuf, .count = count, .type = type});
	return add(s, &(struct shared){.buf = sendbuf,
			      .step = 1,
			      .end = c->nlocal,
			      .take = take_summand,
			      .to = {.buf = recvbuf, .count = count, .type = type},
			      .op = op,
			      .alone = sendbuf == MPI_IN_PLACE ? -1
				       : root > 0	       ? 0
							       : 1});
}

int zshared_scan(struct zsched *s, const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype type, MPI_Op op,
	bool exclusive)
{
	struct zcomm *c = zsched_comm(s);
	int me = zcomm_shadow_rank(c, c->rank);
	bool in_place = sendbuf == MPI_IN_PLACE;
	return add(s, &(struct shared){.gives = me < c->nlocal - 1,
			      .own = !exclusive && !in_place ? recvbuf : NULL,
			      .buf = in_place ? recvbuf : sendbuf,
			      .count = count,
			      .type = type,
			      .at = me - 1,
			      .step = -1,
			      .end = -1,
			      .take = take_operand,
			      .to = {.buf = recvbuf, .count = count, .type = type},
			      .op = op,
			      .alone = exclusive ? me - 1 : -1});
}

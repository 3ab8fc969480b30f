/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends that go together, see tied.h. */
#include "libzip/stream/tied.h"

#include <string.h>

#include "libzip/stream/carrier.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/op.h"
#include "libzip/stream/remote.h"

/* Puts the first send into the carrier's list of sends with a grant to use, if all have one. */
static void offer(struct ztied *t)
{
	struct zop *first = t->n > 0 ? t->op[0] : NULL;
	if (first && !first->queued && ztied_sendable(first) > 0)
		zoplist_push(&zchannel_carrier()->data, first);
}

uint64_t ztied_sendable(const struct zop *op)
{
	const struct ztied *t = op->t.tied;
	uint64_t granted = op->t.granted;
	if (!t)
		return granted - op->t.moved;
	for (int i = 0; i < t->n; i++)
		if (t->op[i]->t.granted < granted)
			granted = t->op[i]->t.granted;
	return granted - t->moved;
}

void ztied_granted(struct zop *op)
{
	offer(op->t.tied);
}

static int list_tied(const struct ztied *t)
{
	struct zwire_receiver list[ZWIRE_RECEIVERS_MAX];
	for (int i = 0; i < t->n; i++)
		list[i] = zcarrier_receiver(t->op[i]->remote, 0, t->op[i]->t.peer_xfer);
	return zcarrier_post_list(list, t->n, t);
}

static int list_one(const struct zop *op)
{
	struct zwire_receiver one = zcarrier_receiver(op->remote, 0, op->t.peer_xfer);
	return zcarrier_post_list(&one, 1, op);
}

int ztied_post_data(struct zop *op, uint64_t len)
{
	struct ztied *t = op->t.tied;
	const void *whose = t ? (const void *)t : op;
	struct zwire_env env = {.kind = ZWIRE_DATA, .offset = op->t.moved, .len = (uint32_t)len};
	int rc = zcarrier_is_listed(whose) ? 0 : t ? list_tied(t) : list_one(op);
	if (rc == 0)
		rc = zcarrier_post_message(&env, 0, op->data.dense + op->t.moved);
	if (rc != 0)
		return rc;
	if (!t) {
		op->t.moved += len;
		return 0;
	}
	t->moved += len;
	for (int i = 0; i < t->n; i++)
		t->op[i]->t.moved = t->moved;
	return 0;
}

void ztied_part(struct zop *op)
{
	struct ztied *t = op->t.tied;
	int at = 0;
	while (t->op[at] != op)
		at++;
	if (op->t.group == ZTRANSFER_TIED && op->queued &&
		op->t.granted > 0) /* else it stands in its receiver's list, not yet offered */
		zoplist_del(&zchannel_carrier()->data, op);
	t->nheld -= op->t.group == ZTRANSFER_HELD;
	t->n--;
	memmove(t->op + at, t->op + at + 1, (size_t)(t->n - at) * sizeof(struct zop *));
	op->t.tied = NULL;
	op->t.group =
		op->t.moved > 0 ? ZTRANSFER_LISTED : ZTRANSFER_ALONE; /* the fragments of a transfer stay in order */
	zcarrier_unlist(t);
	if (t->large)
		offer(t);
}

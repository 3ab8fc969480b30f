/* SPDX-License-Identifier: BSD-3-Clause */
/* Large messages of a multicast: offered and granted one by one, sent together. See multicast.h. */
#include <string.h>

#include "libzip/bridge/channel.h"
#include "libzip/bridge/multicast.h"
#include "libzip/bridge/multicast_parts.h"
#include "libzip/bridge/outgoing.h"
#include "libzip/bridge/rendezvous.h"
#include "libzip/world/world.h"

static bool has_more(const struct zop *op)
{
	return op->granted > op->moved;
}

/* Into the carrier's list of what can be sent, if it can. */
static void offer(struct zmulticast *m)
{
	struct zop *first = m->ntied > 0 ? m->tied[0] : NULL;
	if (first && !first->queued && zmulticast_sendable(first) > 0)
		zop_list_push(&zmulticast_carrier()->data, first);
}

uint64_t zmulticast_sendable(const struct zop *op)
{
	const struct zmulticast *m = op->multicast;
	uint64_t granted = op->granted;
	if (!m)
		return granted - op->moved;
	for (int i = 0; i < m->ntied; i++)
		if (m->tied[i]->granted < granted)
			granted = m->tied[i]->granted;
	return granted - m->moved;
}

void zmulticast_granted(struct zop *op)
{
	offer(op->multicast);
}

static int list_tied(const struct zmulticast *m)
{
	struct zwire_receiver list[ZWIRE_RECEIVERS_MAX];
	for (int i = 0; i < m->ntied; i++)
		list[i] = zmulticast_receiver(m->tied[i]->remote, 0, m->tied[i]->peer_xfer);
	return zmulticast_post_list(list, m->ntied, m);
}

static int list_one(const struct zop *op)
{
	struct zwire_receiver one = zmulticast_receiver(op->remote, 0, op->peer_xfer);
	return zmulticast_post_list(&one, 1, op);
}

int zmulticast_post_data(struct zop *op, uint64_t len)
{
	struct zmulticast *m = op->multicast;
	const void *whose = m ? (const void *)m : op;
	struct zwire_env env = {.kind = ZWIRE_DATA, .offset = op->moved, .len = (uint32_t)len};
	int rc = zmulticast_is_listed(whose) ? 0 : m ? list_tied(m) : list_one(op);
	if (rc == 0)
		rc = zmulticast_post_message(&env, 0, op->data.dense + op->moved);
	if (rc != 0)
		return rc;
	if (!m) {
		op->moved += len;
		return 0;
	}
	m->moved += len;
	for (int i = 0; i < m->ntied; i++)
		m->tied[i]->moved = m->moved;
	return 0;
}

void zmulticast_part(struct zop *op)
{
	struct zmulticast *m = op->multicast;
	int at = 0;
	while (m->tied[at] != op)
		at++;
	if (!op->held && op->queued && op->granted > 0) /* else it has not been offered yet: another list */
		zop_list_del(&zmulticast_carrier()->data, op);
	m->nheld -= op->held;
	m->ntied--;
	memmove(m->tied + at, m->tied + at + 1, (size_t)(m->ntied - at) * sizeof(struct zop *));
	op->multicast = NULL;
	op->held = false;
	op->by_list = op->moved > 0; /* the fragments of a transfer stay in order */
	zmulticast_unlist(m);
	if (m->data.bytes > zworld.eager_bytes)
		offer(m);
}

/* Does somebody hold up the others? */
static bool is_uneven(const struct zmulticast *m)
{
	bool some = false, all = true;
	for (int i = 0; i < m->ntied; i++) {
		some |= has_more(m->tied[i]);
		all &= has_more(m->tied[i]);
	}
	return some && !all;
}

static void part_from_laggards(struct zmulticast *m)
{
	for (int i = m->ntied; i-- > 0;)
		if (!has_more(m->tied[i]))
			zmulticast_part(m->tied[i]);
}

bool zmulticast_turn_large(struct zmulticast *m)
{
	if (m->nheld > 0) /* whose patience is counted elsewhere */
		return false;
	if (m->ntied < 2 || !is_uneven(m)) {
		m->uneven_ns = 0;
		return false;
	}
	if (zmulticast_is_patient(m))
		return false;
	m->uneven_ns = 0;
	part_from_laggards(m);
	return true;
}

void zmulticast_start_large(struct zmulticast *m, int dest)
{
	struct zop *op = zmulticast_make_send(m, dest);
	if (!op)
		return;
	if (m->ntied < (int)ZWIRE_RECEIVERS_MAX && zmulticast_reaches(op->remote) && !op->remote->stream.gone) {
		op->multicast = m;
		m->tied[m->ntied++] = op;
	}
	zmulticast_start_send(m, op);
}

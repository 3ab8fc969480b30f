/* SPDX-License-Identifier: BSD-3-Clause */
/* Large messages of a multicast, see multicast_large.h. */
#include "libzip/bridge/multicast_large.h"

#include "libzip/bridge/multicast_send.h"
#include "libzip/stream/carrier.h"
#include "libzip/stream/op.h"
#include "libzip/stream/remote.h"

static bool has_more(const struct zop *op)
{
	return op->t.granted > op->t.moved;
}

/* Does a receiver hold up the others? */
static bool is_uneven(const struct zmulticast *m)
{
	bool some = false, all = true;
	for (int i = 0; i < m->tied.n; i++) {
		some |= has_more(m->tied.op[i]);
		all &= has_more(m->tied.op[i]);
	}
	return some && !all;
}

static void part_from_laggards(struct zmulticast *m)
{
	for (int i = m->tied.n; i-- > 0;)
		if (!has_more(m->tied.op[i]))
			ztied_part(m->tied.op[i]);
}

bool zmulticast_large_turn(struct zmulticast *m)
{
	if (m->tied.nheld > 0) /* multicast_post.c counts the patience of held sends */
		return false;
	if (m->tied.n < 2 || !is_uneven(m)) {
		m->uneven_ns = 0;
		return false;
	}
	if (zmulticast_send_is_patient(m))
		return false;
	m->uneven_ns = 0;
	part_from_laggards(m);
	return true;
}

void zmulticast_large_start(struct zmulticast *m, int dest)
{
	struct zop *op = zmulticast_send_make(m, dest);
	if (!op)
		return;
	if (m->tied.n < (int)ZWIRE_RECEIVERS_MAX && zcarrier_reaches(op->remote) && !op->remote->stream.gone) {
		op->t.tied = &m->tied;
		op->t.group = ZTRANSFER_TIED;
		m->tied.op[m->tied.n++] = op;
	}
	zmulticast_send_start(m, op);
}

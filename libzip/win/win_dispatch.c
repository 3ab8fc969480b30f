/* SPDX-License-Identifier: BSD-3-Clause */
/* Taking the messages of windows. See win_dispatch.h. */
#include "libzip/win/win_dispatch.h"

#include "libzip/bridge/queue.h"
#include "libzip/bridge/bridge.h"
#include "libzip/comm/internal/comm_internal.h"
#include "libzip/world/error.h"
#include "libzip/shim/pool.h"
#include "libzip/shim/shim.h"
#include "libzip/win/win_lock.h"
#include "libzip/win/win_message.h"
#include "libzip/win/win_target.h"
#include "libzip/world/world.h"

#define MESSAGES_A_TURN 64 /* then others have their turn */

/* A message that has not come at once, because it is longer than eager messages may be (zipperd.conf(5)). Later
 * messages wait behind it. */
static struct {
	struct zreq *coming; /* NULL: there is none */
	uint8_t *bytes;
	uint64_t len;
	int vrank;
} late;

static void take(struct zwin *w, struct zwin_peer *from, const struct zwin_message *m)
{
	if (zwin_message_note(from, m))
		return;
	switch (m->kind) {
	case ZWIN_FLUSH:
		zwin_target_flush(w, from, m->flags & ZWIN_F_RELEASE);
		break;
	case ZWIN_ASK_LOCK:
		zwin_lock_asked(w, from, m->op == ZWIN_EXCLUSIVE ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED);
		break;
	case ZWIN_UNLOCK:
		zwin_lock_returned(w, from);
		break;
	default:
		zwin_target_execute(w, from, m);
	}
}

static void hear(int vrank, const uint8_t *bytes, uint64_t len)
{
	struct zwin_message m;

	if (!zwin_message_decode(bytes, len, &m))
		zerror_fatal(1, "rank %d has sent a malformed message about a window", vrank);
	struct zwin *w = zwin_by_id(m.window);
	if (!w || m.rank >= (uint32_t)w->comm->size || w->comm->vrank[m.rank] != vrank)
		zerror_fatal(1, "rank %d has sent a message about a window that is not there", vrank);
	struct zwin_peer *from = zwin_peer(w, (int)m.rank);
	if (!from)
		zerror_fatal(1, "no memory for a window");
	take(w, from, &m);
}

/* False: there is none, or it has not come in full. */
static bool hear_late(void)
{
	if (!zreq_is_done(late.coming))
		return false;
	zreq_release(late.coming);
	late.coming = NULL;
	hear(late.vrank, late.bytes, late.len);
	zpool_put(late.bytes);
	return true;
}

static bool hear_over_bridge(void)
{
	struct zcomm *carrier = zwin_message_carrier();

	if (late.coming)
		return hear_late();
	const struct zqueued *a = carrier ? zqueue_find(carrier, MPI_ANY_SOURCE, MPI_ANY_TAG) : NULL;
	if (!a)
		return false;
	late.len = a->total;
	late.vrank = zqueue_source(a, carrier);
	late.bytes = zpool_get(late.len ? late.len : 1);
	if (!late.bytes || zbridge_irecv(carrier, ZCOMM_PT2PT, late.bytes, (MPI_Count)late.len, MPI_BYTE, late.vrank, 0,
				   &late.coming) != MPI_SUCCESS)
		zerror_fatal(1, "no memory for a message of %llu bytes about a window", (unsigned long long)late.len);
	hear_late();
	return true;
}

static bool hear_natively(void)
{
	uint8_t bytes[ZWIN_MESSAGE_HEADER];
	MPI_Message message;
	MPI_Status status;
	int tag, flag = 0;
	MPI_Comm comm = zcomm_internal_win(&tag);

	if (zn.Improbe(MPI_ANY_SOURCE, tag, comm, &flag, &message, &status) != MPI_SUCCESS || !flag)
		return false;
	if (zn.Mrecv(bytes, ZWIN_MESSAGE_HEADER, MPI_BYTE, &message, &status) != MPI_SUCCESS)
		zerror_fatal(1, "cannot receive a message about a window");
	hear(zworld.my_vrank[status.MPI_SOURCE], bytes, ZWIN_MESSAGE_HEADER);
	return true;
}

bool zwin_dispatch_turn(void)
{
	bool did = false;

	if (zwin_n == 0 && !zwin_message_is_pending())
		return false;
	for (int i = 0; i < MESSAGES_A_TURN && zwin_n > 0 && hear_over_bridge(); i++)
		did = true;
	for (int i = 0; i < MESSAGES_A_TURN && zwin_n_local > 0 && hear_natively(); i++)
		did = true;
	if (zwin_message_is_pending())
		did |= zwin_message_turn();
	return zwin_target_turn() || did;
}

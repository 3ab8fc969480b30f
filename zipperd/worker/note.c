/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes of the opposite worker, see note.h. */
#include "zipperd/worker/note.h"

#include <errno.h>

#include "zipperd/lane/stream.h"
#include "zipperd/lane/worker.h"
#include "zipperd/onesided/offer.h"
#include "zipperd/worker/command.h"

static int obey(struct worker *w, const struct note *note)
{
	if (note->what == NOTE_GONE_ON || note->what == NOTE_ROOM) {
		stream_take_note(w, note);
		return 0;
	}
	/* An answer is about a transfer in the other direction. */
	const bool send = note->what == NOTE_SEND;
	const uint32_t from = send ? note->src : note->dst, to = send ? note->dst : note->src;
	struct lane *l = worker_lane(w, note->job, from, to);
	if (!l)
		return 0; /* the job is over */
	struct dest *d = lane_dest(l, l->place[to].dest);
	const struct zwire_env env = {.kind = note->kind,
		.src = note->src,
		.dst = note->dst,
		.seq = note->seq,
		.ack = note->ack,
		.xfer = note->xfer};
	switch (note->what) {
	case NOTE_SEND:
		return d->gone ? 0 : dest_send(w, d, &env);
	case NOTE_ACCEPT:
		return offer_accept(w, d, note);
	case NOTE_WITHDRAW:
		return offer_withdraw(w, d, note);
	case NOTE_GONE_ON: /* see above */
	case NOTE_ROOM:
		break;
	}
	return 0;
}

int note_take(struct worker *w, const struct note *note)
{
	/* The notes of all jobs wait behind this one: it may use memory that is kept for such cases. */
	w->pool.last = true;
	int rc = obey(w, note);
	w->pool.last = false;
	return rc;
}

bool note_take_all(struct worker *w)
{
	struct note *n;
	bool any = false;
	while ((n = note_ring_peek(&w->ports->notes))) {
		/* Its lane was added before the opposite worker could know of it; but the command may have come only
		 * since this worker looked. */
		command_run_all(w);
		if (note_take(w, n) != 0)
			break;
		note_ring_drop(&w->ports->notes);
		any = true;
	}
	return any;
}

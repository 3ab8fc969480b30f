/* SPDX-License-Identifier: BSD-3-Clause */
/* Events to the control thread and notes to the opposite worker, see ports.h. */
#include "zipperd/lane/ports.h"

#include <sched.h>
#include <sys/eventfd.h>

#include "zipperd/lane/worker.h"

void ports_emit(struct worker *w, const struct event *e)
{
	/* The control thread never waits for a worker, so this loop ends. */
	while (!event_ring_push(&w->ports->events, e)) {
		eventfd_write(w->control_fd, 1);
		sched_yield();
	}
	w->told_control = true;
}

bool ports_note(struct worker *w, const struct note *note)
{
	if (!note_ring_push(&w->opposite->ports->notes, note))
		return false;
	w->told_opposite = true;
	return true;
}

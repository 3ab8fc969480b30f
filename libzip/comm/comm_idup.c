/* SPDX-License-Identifier: BSD-3-Clause */
/* Native duplications, one after the other where they must be. */
#include "libzip/comm/comm_idup.h"

#include "common/base/clock.h"
#include "common/base/log.h"
#include "libzip/progress/progress.h"
#include "libzip/schedule/order.h"
#include "libzip/schedule/step.h"
#include "libzip/shim/shim.h"
#include "libzip/world/handlers.h"
#include "libzip/world/world.h"

#define PATIENCE_MS 10000

/* Native duplications. */
struct count {
	int shared; /* of communicators with several members */
	int alone;  /* of a communicator with this process as its only member */
};
static struct count under_way;
/* Those whose native function copies attributes in this thread now. */
static __thread struct count copying __attribute__((tls_model("initial-exec")));

struct turn {
	struct zcomm_idup d;
	struct count around;  /* those in whose callbacks it was called, which wait for it */
	bool ordered, nested; /* nested: there are such, which come before it in the order and would never end */
	struct zorder order;
	MPI_Request request;
};

static void count(struct count *c, const struct turn *t, int by)
{
	*(t->d.members == 1 ? &c->alone : &c->shared) += by;
}

static bool take_turn(struct zsched *s, void *arg)
{
	const struct turn *t = arg;
	(void)s;
	if (t->ordered && !t->nested && !zorder_is_first(&t->order))
		return false;
	if (under_way.alone > t->around.alone || (t->d.members == 1 && under_way.shared > t->around.shared))
		return false;
	count(&under_way, t, 1);
	return true;
}

/* Does native MPI call a handler where MPI_Comm_idup fails at once, as by a callback that does? */
static bool native_raises(MPI_Comm over)
{
	MPI_Errhandler handler;
	if (zip_Comm_get_errhandler(over, &handler) != MPI_SUCCESS)
		return false;
	if (!zhandlers_is_predefined(handler))
		zn.Errhandler_free(&handler);
	return handler != MPI_ERRORS_RETURN;
}

static int begin(struct zsched *s, void *arg)
{
	struct turn *t = arg;
	(void)s;
	const bool raises = t->d.raises || (t->d.handled && native_raises(t->d.over));
	count(&copying, t, 1);
	int rc = t->d.start(t->d.arg, &t->request);
	count(&copying, t, -1);
	if (rc != MPI_SUCCESS) {
		zcomm_outcome_note_native(t->d.outcome, rc, raises);
		t->request = MPI_REQUEST_NULL;
		*t->d.made = MPI_COMM_NULL;
	}
	return MPI_SUCCESS;
}

/* MPI_Testany raises its error at home only, which is hushed (handlers.h). */
static bool look(struct zsched *s, void *arg)
{
	struct turn *t = arg;
	int index, flag = 1, rc = MPI_SUCCESS;
	(void)s;
	if (t->request != MPI_REQUEST_NULL) {
		zhandlers_hush_home();
		rc = zn.Testany(1, &t->request, &index, &flag, MPI_STATUS_IGNORE);
		zhandlers_unhush_home();
	}
	if (rc == MPI_SUCCESS && !flag)
		return false;
	if (rc != MPI_SUCCESS) {
		zcomm_outcome_note_native(t->d.outcome, rc, false);
		*t->d.made = MPI_COMM_NULL;
	}
	count(&under_way, t, -1);
	if (t->ordered)
		zorder_leave(&t->order);
	return true;
}

int zcomm_idup_add(struct zsched *s, const struct zcomm_idup *d)
{
	struct turn *t = zsched_alloc(s, sizeof *t);
	if (!t)
		return MPI_ERR_NO_MEM;
	*t = (struct turn){.d = *d, .request = MPI_REQUEST_NULL};
	if (d->waits)
		t->around = copying;
	t->nested = t->around.shared + t->around.alone > 0;
	t->ordered = d->members > 1 && d->numbered;
	int rc = t->ordered ? zorder_add(s, &t->order, d->over) : MPI_SUCCESS;
	if (rc == MPI_SUCCESS)
		rc = zstep_watch(s, take_turn, t);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = zstep_call(s, begin, t);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = zstep_watch(s, look, t);
	zsched_round(s);
	return rc;
}

/* --- attributes that are to be copied --- */

static struct zcomm_idup_copy *due; /* in no order */

void zcomm_idup_due(struct zcomm_idup_copy *c, MPI_Comm of)
{
	*c = (struct zcomm_idup_copy){.of = of, .next = due};
	due = c;
}

void zcomm_idup_copied(struct zcomm_idup_copy *c)
{
	struct zcomm_idup_copy **p = &due;
	while (*p && *p != c)
		p = &(*p)->next;
	if (*p)
		*p = c->next;
}

struct wait_copied {
	MPI_Comm of;
	const char *function;
	int64_t patience_ms; /* when it is time to say what is waited for; 0: it has been said */
};

static bool none_due(void *arg)
{
	struct wait_copied *w = arg;
	for (const struct zcomm_idup_copy *c = due; c; c = c->next)
		if (c->of == w->of) {
			if (w->patience_ms && zclock_ms() >= w->patience_ms) {
				zlog(ZLOG_WARN,
					"rank %d: %s waits for the duplication of the communicator (MPI_Comm_idup), "
					"which "
					"other ranks have not begun",
					zworld.vrank, w->function);
				w->patience_ms = 0;
			}
			return false;
		}
	return true;
}

void zcomm_idup_wait_copied(MPI_Comm of, const char *function)
{
	struct wait_copied w = {.of = of, .function = function};
	if (!due || copying.shared + copying.alone > 0)
		return;
	w.patience_ms = zclock_ms() + PATIENCE_MS;
	if (!none_due(&w))
		zprogress_wait(none_due, &w);
}

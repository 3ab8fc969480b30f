/* SPDX-License-Identifier: BSD-3-Clause */
/* Use of attached buffers, see attached.h. */
#include "libzip/world/attached.h"

#include <stdlib.h>

#include "libzip/shim/shim.h"
#include "libzip/world/comm.h"
#include "libzip/world/handlers.h"

struct zattached zattached_process = {.session = MPI_SESSION_NULL};

static struct zattached *of_sessions;

struct zattached *zattached_of_session(MPI_Session session, bool make)
{
	struct zattached *a = of_sessions;

	while (a && a->session != session)
		a = a->next;
	if (!a && make) {
		a = calloc(1, sizeof(*a));
		if (!a)
			return NULL;
		a->session = session;
		a->next = of_sessions;
		of_sessions = a;
	}
	if (make)
		a->open = true;
	return a;
}

void zattached_end_session(MPI_Session session)
{
	struct zattached *a = zattached_of_session(session, false);

	if (!a)
		return;
	a->bytes = 0;
	a->open = false;
}

/* --- the session of a native group --- */

static __thread MPI_Session *asking; /* where the handler puts the answer; NULL: this thread does not ask */

static void answer(MPI_Session *session, int *code, ...)
{
	(void)code;
	if (asking)
		*asking = *session;
}

/* A rank that the group does not have is an error, which native MPI raises on the session of the group, and at home if
 * there is none. Nobody else sees the error. */
static void provoke(MPI_Group native)
{
	MPI_Group made = MPI_GROUP_NULL;
	int size = 0;

	zn.Group_size(native, &size);
	zhandlers_hush_home();
	zn.Group_incl(native, 1, &size, &made);
	zhandlers_unhush_home();
	if (made != MPI_GROUP_NULL) /* of a library without checks */
		zn.Group_free(&made);
}

/* MPI has no function that tells the session, and native communicators get theirs in many ways. Handlers of MPI are the
 * same in all versions, so the question goes that way. */
struct zattached *zattached_of_native(MPI_Group native)
{
	static MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
	MPI_Session session = MPI_SESSION_NULL;
	struct zattached *a = of_sessions;

	while (a && !a->open)
		a = a->next;
	if (!a)
		return NULL;
	if (handler == MPI_ERRHANDLER_NULL && zn.Session_create_errhandler(answer, &handler) != MPI_SUCCESS)
		return NULL;
	for (a = of_sessions; a; a = a->next) {
		if (!a->open)
			continue;
		zn.Session_get_errhandler(a->session, &a->kept);
		zn.Session_set_errhandler(a->session, handler);
	}
	asking = &session;
	provoke(native);
	asking = NULL;
	for (a = of_sessions; a; a = a->next) {
		if (!a->open)
			continue;
		zn.Session_set_errhandler(a->session, a->kept);
		if (!zhandlers_is_predefined(a->kept))
			zn.Errhandler_free(&a->kept);
	}
	return session != MPI_SESSION_NULL ? zattached_of_session(session, false) : NULL;
}

/* --- room --- */

struct zattached *zattached_of(const struct zcomm *c)
{
	if (c->attached && c->attached->bytes > 0)
		return c->attached;
	return c->session && c->session->bytes > 0 ? c->session : &zattached_process;
}

bool zattached_has_room(const struct zattached *a, uint64_t bytes)
{
	return a->bytes > 0 && (uint64_t)a->in_use + bytes <= (uint64_t)a->bytes;
}

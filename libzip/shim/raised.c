/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of the application, wrapped, and the functions that create them. See raised.h. */
#include "libzip/shim/raised.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "libzip/abi/abi.h"
#include "libzip/shim/raised_slots.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/running.h"

__thread int zraised_inside __attribute__((tls_model("initial-exec")));
static __thread int taken __attribute__((tls_model("initial-exec"))); /* the last code that a wrapped handler got */

static atomic_bool any; /* a wrapped handler exists, or has existed */
static bool merged;

int zraised_taken(int rc)
{
	if (rc != taken)
		return rc;
	taken = MPI_SUCCESS;
	return MPI_SUCCESS;
}

/* Several threads may store the same values at once. */
static void check_calls(void)
{
	static atomic_bool done;
	char *const all = (char *)&zn;

	if (atomic_exchange(&done, true))
		return;
	znative_plain = zn;
	for (size_t at = 0; at < sizeof(zn); at += sizeof(void *)) {
		void *form;
		memcpy(&form, (const char *)&znative_checked + at, sizeof(form));
		if (form)
			memcpy(all + at, &form, sizeof(form));
	}
}

void zraised_init(void)
{
	merged = true;
	if (any)
		check_calls();
}

void zraised_note(int code)
{
	zraised_inside = taken = code;
}

/* --- wrapped handlers --- */

struct wrapped {
	/* one of the two: as MPI has it, and as MPICH 5 has it */
	union {
		MPI_Comm_errhandler_function *comm;
		MPI_Win_errhandler_function *win;
		MPI_File_errhandler_function *file;
		MPI_Session_errhandler_function *session;
	} plain;
	union {
		MPIX_Comm_errhandler_function_x *comm;
		MPIX_Win_errhandler_function_x *win;
		MPIX_File_errhandler_function_x *file;
		MPIX_Session_errhandler_function_x *session;
	} extended;
	MPIX_Destructor_function *destructor;
	void *state;
};

/* The last reference to the handler is gone. */
static void destroy(void *wrapped)
{
	const struct wrapped *w = wrapped;

	if (w->destructor)
		w->destructor(w->state);
	free(wrapped);
}

static bool is_wanted(void)
{
	return zabi_takes_errors(zrunning_version());
}

static void wrapped_one(void)
{
	any = true;
	if (merged)
		check_calls();
}

static struct wrapped *wrap(const struct wrapped *from)
{
	struct wrapped *w = malloc(sizeof(*w));

	if (!w)
		return NULL;
	*w = *from;
	wrapped_one();
	return w;
}

#if ZABI_HANDLERS_HAVE_STATE
/* Without memory the handler is not wrapped. */
#define CREATE(Kind, kind)                                                                                             \
	struct wrapped *w = wrap(&(struct wrapped){.plain.kind = function});                                           \
                                                                                                                       \
	return w ? zn.X_##Kind##_create_errhandler_x(call_##kind, destroy, w, errhandler)                              \
		 : zn.Kind##_create_errhandler(function, errhandler);
#else
static int refuse_handler(const char *name)
{
	zerr_print("libzipper: %s: a program may have %d functions as handlers of one kind\n", name, ZRAISED_SLOTS);
	return MPI_ERR_NO_MEM;
}

#define CREATE(Kind, kind)                                                                                             \
	MPI_##Kind##_errhandler_function *w = zraised_slots_##kind(function);                                          \
                                                                                                                       \
	if (!w)                                                                                                        \
		return refuse_handler("MPI_" #Kind "_create_errhandler");                                              \
	wrapped_one();                                                                                                 \
	return zn.Kind##_create_errhandler(w, errhandler);
#endif

/* The functions of one kind of object. */
#define KIND(Kind, kind)                                                                                               \
	static void call_##kind(MPI_##Kind object, int code, void *wrapped)                                            \
	{                                                                                                              \
		const struct wrapped *w = wrapped;                                                                     \
                                                                                                                       \
		zraised_note(code);                                                                                    \
		if (w->extended.kind)                                                                                  \
			w->extended.kind(object, code, w->state);                                                      \
		else                                                                                                   \
			w->plain.kind(&object, &code);                                                                 \
	}                                                                                                              \
	int zip_##Kind##_create_errhandler(MPI_##Kind##_errhandler_function *function, MPI_Errhandler *errhandler)     \
	{                                                                                                              \
		if (!function || !is_wanted())                                                                         \
			return zn.Kind##_create_errhandler(function, errhandler);                                      \
		CREATE(Kind, kind)                                                                                     \
	}                                                                                                              \
	int zip_X_##Kind##_create_errhandler_x(MPIX_##Kind##_errhandler_function_x *function,                          \
		MPIX_Destructor_function *destructor, void *state, MPI_Errhandler *errhandler)                         \
	{                                                                                                              \
		struct wrapped *w = NULL;                                                                              \
                                                                                                                       \
		if (function)                                                                                          \
			w = wrap(&(                                                                                    \
				struct wrapped){.extended.kind = function, .destructor = destructor, .state = state}); \
		return w ? zn.X_##Kind##_create_errhandler_x(call_##kind, destroy, w, errhandler)                      \
			 : zn.X_##Kind##_create_errhandler_x(function, destructor, state, errhandler);                 \
	}

KIND(Comm, comm)
KIND(Win, win)
KIND(File, file)
KIND(Session, session)

int zip_Errhandler_create(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
	return is_wanted() ? zip_Comm_create_errhandler(function, errhandler)
			   : zn.Errhandler_create(function, errhandler);
}

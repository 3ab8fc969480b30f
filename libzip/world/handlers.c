/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers as the application sees them, and hushing. See handlers.h. */
#include "libzip/world/handlers.h"

#include <pthread.h>

#include "libzip/world/comm.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/running.h"

bool zhandlers_differ;

bool zhandlers_is_predefined(MPI_Errhandler handler)
{
#ifdef MPIR_ERRORS_THROW_EXCEPTIONS /* of the C++ binding */
	if (handler == MPIR_ERRORS_THROW_EXCEPTIONS)
		return true;
#endif
	return zhandlers_ends_job(handler) || handler == MPI_ERRORS_RETURN;
}

/* --- communicators --- */

static int hushes; /* more than 1: a callback of the application inside a native call, or several stations */
static pthread_mutex_t hushing = PTHREAD_MUTEX_INITIALIZER; /* held while the handler is exchanged */
static MPI_Comm hushed_on;				    /* the communicator whose handler it is */
static MPI_Errhandler hushed;
static bool self_has_one; /* the application has given MPI_COMM_SELF a handler */

bool zhandlers_own(void)
{
	return ZABI_RAISES_ON_OWN || zrunning_version() >= ZVERSION(4, 2, 0);
}

MPI_Comm zhandlers_home(void)
{
	return self_has_one && zrunning_version() >= ZVERSION(4, 2, 0) ? MPI_COMM_SELF : MPI_COMM_WORLD;
}

static void forget(MPI_Errhandler *handler)
{
	if (!zhandlers_is_predefined(*handler))
		zn.Errhandler_free(handler);
}

static void note_handler(MPI_Comm comm)
{
	static int of_world;

	/* A communicator whose handler was never set, nor that of its ancestors, follows the world's handler. */
	if (comm != MPI_COMM_WORLD || ++of_world > 1)
		zhandlers_differ = true;
}

static void set_aside(void)
{
	hushed_on = zhandlers_home();
	zn.Comm_get_errhandler(hushed_on, &hushed);
	zn.Comm_set_errhandler(hushed_on, MPI_ERRORS_RETURN);
}

static void put_back(void)
{
	zn.Comm_set_errhandler(hushed_on, hushed);
	forget(&hushed);
}

void zhandlers_hush_home(void)
{
	pthread_mutex_lock(&hushing);
	if (hushes++ == 0)
		set_aside();
	pthread_mutex_unlock(&hushing);
}

void zhandlers_unhush_home(void)
{
	pthread_mutex_lock(&hushing);
	if (--hushes == 0)
		put_back();
	pthread_mutex_unlock(&hushing);
}

/* Is the handler hushed? Then the thread that has hushed it has given up the lock for a callback, so native MPI does
 * not look at the handler now. */
static bool is_aside(MPI_Comm comm)
{
	return hushes > 0 && comm == hushed_on;
}

int zip_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
	if (!is_aside(comm))
		return zn.Comm_get_errhandler(comm, errhandler);
	put_back();
	int rc = zn.Comm_get_errhandler(comm, errhandler);
	set_aside();
	return rc;
}

int zip_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
	return zip_Comm_get_errhandler(comm, errhandler);
}

static int set_on_handle(MPI_Comm comm, MPI_Errhandler errhandler)
{
	if (!is_aside(comm))
		return zn.Comm_set_errhandler(comm, errhandler);
	put_back();
	int rc = zn.Comm_set_errhandler(comm, errhandler);
	set_aside();
	return rc;
}

/* The handler of the world's shadow where the world has one of the application's: that shall see the world, and not the
 * shadow. */
static void forward(MPI_Comm *comm, int *code, ...)
{
	(void)comm;
	zn.Comm_call_errhandler(MPI_COMM_WORLD, *code);
}

static int set_on_base(MPI_Comm base, MPI_Errhandler errhandler)
{
	static MPI_Errhandler forwarding = MPI_ERRHANDLER_NULL;

	if (zhandlers_is_predefined(errhandler))
		return zn.Comm_set_errhandler(base, errhandler);
	int rc = forwarding == MPI_ERRHANDLER_NULL ? zn.Comm_create_errhandler(forward, &forwarding) : MPI_SUCCESS;
	return rc == MPI_SUCCESS ? zn.Comm_set_errhandler(base, forwarding) : rc;
}

/* Native errors arise on the shadow, errors of the library on the handle. So both get the handler. */
int zip_Comm_set_errhandler(MPI_Comm handle, MPI_Errhandler errhandler)
{
	struct zcomm *comm = zcomm_find(handle);
	int rc = set_on_handle(comm ? comm->handle : handle, errhandler);

	if (rc == MPI_SUCCESS && comm && comm->shadow != comm->handle)
		rc = set_on_base(comm->shadow, errhandler);
	if (rc == MPI_SUCCESS && comm)
		comm->fatal = errhandler == MPI_ERRORS_ARE_FATAL;
	if (rc == MPI_SUCCESS && handle == MPI_COMM_SELF)
		self_has_one = true;
	note_handler(handle);
	return rc;
}

int zip_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
	return zip_Comm_set_errhandler(comm, errhandler);
}

/* --- around constructors --- */

void zhandlers_quiet_begin(struct zhandlers_quiet *q, MPI_Comm on, bool own)
{
	MPI_Errhandler handler = MPI_ERRORS_RETURN;

	*q = (struct zhandlers_quiet){.on = on, .kept = MPI_ERRHANDLER_NULL};
	if (zn.Comm_get_errhandler(on, &handler) != MPI_SUCCESS || handler == MPI_ERRORS_RETURN)
		return;
	if (zshim_threaded) {
		q->raises = true;
		forget(&handler);
		return;
	}
	q->home = handler == MPI_ERRORS_ARE_FATAL && !own;
	if (q->home) {
		zhandlers_hush_home();
		return;
	}
	q->kept = handler;
	zn.Comm_set_errhandler(on, MPI_ERRORS_RETURN);
}

void zhandlers_quiet_end(struct zhandlers_quiet *q, MPI_Comm made)
{
	if (q->home)
		zhandlers_unhush_home();
	if (q->kept == MPI_ERRHANDLER_NULL)
		return;
	zn.Comm_set_errhandler(q->on, q->kept);
	if (made != MPI_COMM_NULL)
		zn.Comm_set_errhandler(made, q->kept);
	forget(&q->kept);
}

/* --- files: without the lock while one is opened, so that other threads find the handler set aside --- */

static int file_hushes;
static MPI_Errhandler of_files;

static void set_files_aside(void)
{
	zn.File_get_errhandler(MPI_FILE_NULL, &of_files);
	zn.File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
}

static void put_files_back(void)
{
	zn.File_set_errhandler(MPI_FILE_NULL, of_files);
	forget(&of_files);
}

void zhandlers_hush_files(void)
{
	if (file_hushes++ == 0)
		set_files_aside();
}

void zhandlers_unhush_files(MPI_File opened)
{
	if (opened != MPI_FILE_NULL)
		zn.File_set_errhandler(opened, of_files);
	if (--file_hushes == 0)
		put_files_back();
}

/* For a moment native MPI has the application's handler, because only native MPI counts its references. An open that
 * fails at that moment calls the handler, which all members do a little later anyway. */
int zip_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{
	const bool aside = file == MPI_FILE_NULL && file_hushes > 0;

	if (aside && zhandlers_is_predefined(of_files)) {
		*errhandler = of_files;
		return MPI_SUCCESS;
	}
	if (aside)
		put_files_back();
	int rc = zn.File_get_errhandler(file, errhandler);
	if (aside)
		set_files_aside();
	return rc;
}

int zip_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
	const bool aside = file == MPI_FILE_NULL && file_hushes > 0;

	if (aside)
		put_files_back();
	int rc = zn.File_set_errhandler(file, errhandler);
	if (aside)
		set_files_aside();
	return rc;
}

/* --- both --- */

/* The kept handler stays kept, for a thread that puts it back meanwhile. */
void zhandlers_show(bool of_file)
{
	if (!of_file && hushes > 0)
		zn.Comm_set_errhandler(hushed_on, hushed);
	if (of_file && file_hushes > 0)
		zn.File_set_errhandler(MPI_FILE_NULL, of_files);
}

void zhandlers_hide(bool of_file)
{
	if (!of_file && hushes > 0)
		zn.Comm_set_errhandler(hushed_on, MPI_ERRORS_RETURN);
	if (of_file && file_hushes > 0)
		zn.File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
}

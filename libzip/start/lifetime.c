/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long MPI is in use: by the world model (MPI-4.0 section 11.2, MPI_Init to MPI_Finalize) and by sessions (11.3).
 * The first use joins the job. MPI_Finalize leaves it or, if sessions are open then, the end of the last session. A
 * program with sessions alone may open more of them until it exits, so the exit leaves the job.
 *
 * The library needs the native world. So in a job where a session is the first use, the library initialises native
 * MPI, and ends it when the job is left. Questions of the program about the world model are then answered here.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/base/err.h"
#include "libzip/comm/attr.h"
#include "libzip/world/error.h"
#include "libzip/start/inherit.h"
#include "libzip/start/forgotten.h"
#include "libzip/start/init.h"
#include "libzip/record/record.h"
#include "libzip/shim/shim.h"
#include "libzip/world/attached.h"
#include "libzip/type/typehold.h"

static struct {
	pthread_mutex_t starting; /* taken before the shim's lock */
	bool begun;		  /* MPI is or was in use */
	bool joined;		  /* zinit_begin had work to do; until the job is left */
	bool left;
	bool world, world_ended; /* MPI_Init and MPI_Finalize have been called */
	int sessions;		 /* number of open sessions in a job */
	pid_t pid;
} self = {.starting = PTHREAD_MUTEX_INITIALIZER};

struct use { /* arguments of the function that begins it; session NULL: the world model */
	const char *function;
	int *argc;
	char ***argv;
	const int *required; /* NULL: MPI_Init */
	int *provided;
	MPI_Info info;
	MPI_Errhandler errhandler;
	MPI_Session *session;
};

/* --- the end --- */

static int leave(void)
{
	self.joined = false;
	self.left = true;
	zforgotten_end();
	zinit_end();
	ztypehold_reap();
	return zn.Finalize();
}

/* Leaves the job at exit. Not in a process that ends early, because the others do not wait for it, and not in a forked
 * one. */
static void leave_at_exit(void)
{
	if (getpid() != self.pid || zerror_ending || !self.joined || self.world || self.sessions > 0)
		return;
	zshim_enter();
	leave();
	zshim_leave();
}

int zip_Finalize(void)
{
	if (!self.joined || !self.world)
		return zn.Finalize();
	/* For the callbacks in there MPI is not yet finalized (MPI-4.0 section 11.2.4). Their messages are not
	 * recorded, just as where native MPI calls the callbacks. */
	const int phase = zrecord_phase(0);
	zattr_delete_last();
	zrecord_phase(phase);
	int rc = self.sessions > 0 ? MPI_SUCCESS : leave();
	self.world = false;
	self.world_ended = true;
	return rc;
}

int zip_Session_finalize(MPI_Session *session)
{
	const MPI_Session ended = session ? *session : MPI_SESSION_NULL;
	int rc = zn.Session_finalize(session);

	if (rc != MPI_SUCCESS || !self.joined)
		return rc;
	zattached_end_session(ended);
	self.sessions--;
	return self.sessions == 0 && self.world_ended ? leave() : rc;
}

static bool is_ours(void)
{
	return self.joined || self.left;
}

int zip_Initialized(int *flag)
{
	int rc = zn.Initialized(flag);

	if (rc == MPI_SUCCESS && is_ours())
		*flag = self.world || self.world_ended;
	return rc;
}

int zip_Finalized(int *flag)
{
	int rc = zn.Finalized(flag);

	if (rc == MPI_SUCCESS && is_ours())
		*flag = self.world_ended;
	return rc;
}

/* --- the beginning --- */

static int begin_native(const struct use *u)
{
	if (u->session)
		return zn.Session_init(u->info, u->errhandler, u->session);
	return u->required ? zn.Init_thread(u->argc, u->argv, *u->required, u->provided) : zn.Init(u->argc, u->argv);
}

/* Sessions have MPI_THREAD_MULTIPLE natively. */
static int begin_hidden(const struct use *u)
{
	int rc = zn.Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, u->provided);

	if (rc != MPI_SUCCESS)
		return rc;
	self.pid = getpid();
	if (atexit(leave_at_exit) != 0)
		zerror_fatal(EXIT_FAILURE, "MPI_Session_init: cannot tell the others when this process ends");
	return begin_native(u);
}

static int begin_first(const struct use *u)
{
	struct zerr err = {.text = ""};
	struct zenv env;
	int job = zenv_read(&env, &err), rc;
	bool joins = job != 0 || zinit_records(job, &env);

	if (u->session && joins)
		rc = begin_hidden(u);
	else if (job > 0 && env.progress == ZENV_PROGRESS_THREAD)
		rc = zn.Init_thread(u->argc, u->argv, MPI_THREAD_MULTIPLE, u->provided);
	else
		rc = begin_native(u);
	self.begun = rc == MPI_SUCCESS;
	if (self.begun && joins) {
		/* the environment may tell the library to provide more than was asked for */
		zn.Query_thread(u->provided);
		zinit_begin(u->function, job, &env, &err, *u->provided);
		if (zshim_active)
			zforgotten_begin();
		self.joined = true;
		zinherit_leave_job();
	}
	zenv_free(&env);
	return rc;
}

static int begin_again(const struct use *u)
{
	return self.joined && !u->session && !self.world && !self.world_ended ? zn.Query_thread(u->provided)
									      : begin_native(u);
}

/* A new session would see the processes of this part alone. */
static int refuse_again(const struct use *u)
{
	static const char why[] = "the job has been left with MPI_Finalize, and cannot be joined again";

	*u->session = MPI_SESSION_NULL;
	if (u->errhandler == MPI_ERRORS_ARE_FATAL || u->errhandler == MPI_ERRORS_ABORT) {
		zerr_print("libzipper: MPI_Session_init: %s\n", why);
		abort(); /* there is no native job that could be aborted */
	}
	return zerror_code(MPI_ERR_UNSUPPORTED_OPERATION, "MPI_Session_init: %s", why);
}

static int begin(const struct use *u)
{
	int rc;

	pthread_mutex_lock(&self.starting);
	if (self.left && u->session) {
		rc = refuse_again(u);
	} else {
		zshim_enter();
		rc = self.begun ? begin_again(u) : begin_first(u);
		if (rc == MPI_SUCCESS && self.joined) {
			self.sessions += u->session != NULL;
			self.world |= u->session == NULL;
		}
		zshim_leave();
	}
	pthread_mutex_unlock(&self.starting);
	return rc;
}

int zip_Init(int *argc, char ***argv)
{
	int provided = MPI_THREAD_SINGLE;

	return begin(&(struct use){.function = "MPI_Init", .argc = argc, .argv = argv, .provided = &provided});
}

int zip_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	return begin(&(struct use){.function = "MPI_Init_thread",
		.argc = argc,
		.argv = argv,
		.required = &required,
		.provided = provided});
}

int zip_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
	int provided;

	return begin(&(struct use){.function = "MPI_Session_init",
		.provided = &provided,
		.info = info,
		.errhandler = errhandler,
		.session = session});
}

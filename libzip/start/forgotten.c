/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A forgotten MPI_Finalize, see forgotten.h. The work is done as late as possible, in this library's destructor: the
 * program may call MPI_Finalize in a handler of atexit or in a destructor of its own. The handlers of on_exit learn the
 * exit status. None of them runs in a process that ends by _exit or by a signal.
 */
#include "libzip/start/forgotten.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "libzip/comm/attr.h"
#include "libzip/loader/cover.h"
#include "libzip/progress/ended.h"
#include "libzip/progress/progress.h"
#include "libzip/shim/shim.h"
#include "libzip/start/init.h"
#include "libzip/world/error.h"
#include "libzip/world/rails.h"

#define FRAMES 64
#define ANSWER_MS 1000 /* until zipperd has read the exit status: the process may not be gone before */

static struct {
	bool joined;
	bool exits; /* status is known */
	int status;
	pid_t pid;
	pthread_t thread; /* that has joined the job */
} self;

static void note_status(int status, void *unused)
{
	(void)unused;
	self.exits = true;
	self.status = status & 0xff;
}

void zforgotten_begin(void)
{
	self.pid = getpid();
	self.thread = pthread_self();
	self.joined = on_exit(note_status, NULL) == 0;
}

void zforgotten_end(void)
{
	self.joined = false;
}

/* May this thread work in the library? Not if a signal has interrupted it there. And without a lock no other thread
 * may, as the one that has joined is perhaps there. */
static bool may_work(void)
{
	return (zshim_entered & ZSHIM_NESTING) == 0 && zshim_depth == 0 &&
	       (zshim_threaded || pthread_equal(pthread_self(), self.thread));
}

static bool is_over(void *unused)
{
	(void)unused;
	return zended_is_over();
}

/* Takes messages of one zipper until it says that the job is over, or is gone. False: not yet. */
static bool has_answered(struct zsession *session)
{
	struct zctl_msg msg;
	struct zerr err;
	int rc;

	while ((rc = zsession_poll(session, &msg, &err)) > 0) {
		const bool dead = msg.type == ZCTL_DEAD;
		zctl_free(&msg);
		if (dead)
			return true;
	}
	return rc < 0;
}

static void fail(void)
{
	bool all = false;

	zended_fail((uint32_t)self.status);
	for (int ms = 0; !all && ms < ANSWER_MS; ms++) {
		all = true;
		for (int i = 0; i < zrails.n; i++)
			all &= !zrails_is_good(i) || has_answered(zrails.rail[i].session);
		nanosleep(&(struct timespec){.tv_nsec = all ? 0 : 1000000}, NULL);
	}
}

/* Has native MPI called the function that calls exit: an error handler, an operation? MPICH 4.2 and later hold a lock
 * meanwhile, and abort where such a function ends MPI. */
static bool native_calls(void)
{
	const struct zobject *library = zcover_library();
	void *frame[FRAMES];
	Dl_info of;

	for (int i = backtrace(frame, FRAMES); library && i-- > 0;)
		if (dladdr(frame[i], &of) && (ElfW(Addr))of.dli_fbase == library->base)
			return true;
	return false;
}

/* Native MPI is ended, too: otherwise mpiexec would kill the other ranks of the part, of which some are perhaps still
 * writing. But that runs the program's callbacks of attributes, after what they use is gone. And other threads may be
 * in native MPI. */
static void stay_to_the_end(void)
{
	fflush(NULL); /* in case mpiexec does kill this process */
	zended_end();
	zprogress_wait(is_over, NULL);
	zinit_abandon();
	if (!zattr_any_last() && pthread_equal(pthread_self(), self.thread) && !native_calls())
		zn.Finalize();
}

static __attribute__((destructor)) void end_process(void)
{
	if (!self.joined || !self.exits || zerror_ending || getpid() != self.pid || !may_work())
		return;
	self.joined = false;
	zshim_enter();
	if (self.status == 0)
		stay_to_the_end();
	else
		fail();
	zshim_leave();
}

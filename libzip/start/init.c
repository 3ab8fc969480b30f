/* SPDX-License-Identifier: BSD-3-Clause */
/* Joining the merged world, leaving it, ending it. See init.h. */
#include "libzip/start/init.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/err.h"
#include "libzip/abi/learn.h"
#include "libzip/comm/attr.h"
#include "libzip/comm/internal/comm_internal.h"
#include "libzip/world/board.h"
#include "libzip/world/quiet.h"
#include "libzip/bridge/traffic.h"
#include "libzip/progress/ended.h"
#include "libzip/progress/service.h"
#include "libzip/bridge/bridge.h"
#include "libzip/coll/inside/pairs.h"
#include "libzip/world/comm.h"
#include "libzip/p2p/buffer.h"
#include "libzip/p2p/completion.h"
#include "libzip/p2p/early.h"
#include "common/control/ctl.h"
#include "common/control/ctl_name.h"
#include "libzip/type/data.h"
#include "libzip/world/error.h"
#include "libzip/world/host.h"
#include "libzip/start/join.h"
#include "libzip/loader/cover.h"
#include "libzip/loader/rebind.h"
#include "libzip/loader/strange.h"
#include "common/base/log.h"
#include "libzip/world/naming.h"
#include "libzip/world/rails.h"
#include "libzip/world/rejoin.h"
#include "libzip/record/record.h"
#include "libzip/shim/raised.h"
#include "libzip/world/req.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/running.h"
#include "libzip/shim/small.h"
#include "libzip/progress/thread.h"
#include "libzip/type/typecode.h"
#include "common/base/wait.h"
#include "libzip/progress/waiters.h"
#include "libzip/world/world.h"

/* Where all ranks fail for the same reason, the first one reports it and ends the job before the others do. On a busy
 * machine mpiexec may need a second for that. */
#define OTHERS_WAIT_S 3

static const char *beginning = "MPI_Init"; /* the MPI function that joins */

static void fail_init(const struct zerr *err) __attribute__((noreturn));
static void fail_init(const struct zerr *err)
{
	int rank = 0;

	zn.Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank != 0)
		nanosleep(&(struct timespec){.tv_sec = OTHERS_WAIT_S}, NULL);
	/* Each part has a rank 0. Perhaps the environment could not be read, so this asks for the variable itself. */
	const char *part = getenv("ZIPPER_PART");
	bool named = part && zctl_name_ok(part);
	zerr_print("libzipper: rank %d%s%s: %s: %s\n", rank, named ? " of part " : "", named ? part : "", beginning,
		err->text);
	zerror_abort(EXIT_FAILURE);
}

#define ZIPPERD_THREADS 2 /* zipperd's threads at work for a track when messages cross: a worker for each direction */

/* Does zipperd's address belong to this host? Then all parts are assumed to be here, too. */
static bool zipper_is_here(const struct zaddr *zipper)
{
	return zaddr_traits(zipper)->this_host || strncmp(zipper->host, "127.", 4) == 0 ||
	       strcmp(zipper->host, "localhost") == 0 || strcmp(zipper->host, "::1") == 0;
}

/* Are there more runnable threads than cores? Counts the ranks of my part on this host, or of all parts where these
 * are known to be here, and zipperd, which may run here, too. */
static bool is_oversubscribed(int ranks_here)
{
	int n, zippers = 0;

	for (int i = 0; i < zrails.n; i++)
		zippers += zipper_is_here(&zrails.rail[i].way.first);

	n = zippers > 0 ? zworld.nranks + zippers * zrails.tracks * ZIPPERD_THREADS : ranks_here + 1;
	return n > zwait_cores();
}

static int make_world(struct zerr *err)
{
	/* the id is the same everywhere: maker 0, counter 0 */
	struct zcomm *world = zcomm_create_whole(MPI_COMM_WORLD, zworld.base, 0);

	if (!world)
		return zerr_set(err, -ENOMEM, "out of memory");
	world->numbered = zrunning_has_bug(ZVERSION_COMM_IDUP);
	return 0;
}

static void lend_buffer(void)
{
	int tag;
	const MPI_Comm own = zcomm_internal(0, &tag);

	zbuffer_init(own, tag);
}

static void learn(void)
{
#ifdef ZABI_LEARNS
	const struct zabi_natives natives = {.abi_version = zn.Abi_get_version,
		.set_elements = zn.Status_set_elements_c,
		.set_cancelled = zn.Status_set_cancelled};
	struct zerr err;

	zrunning_version(); /* tells whose library it is */
	const char *why = zabi_learn(&natives);
	if (why) {
		zerr_set(&err, -ENOTSUP, "%s", why);
		fail_init(&err);
	}
#endif
}

static void merge(const struct zenv *env, bool threaded)
{
	struct zerr err = {.text = ""};
	struct zservice_params params = {.job = zworld_job(), .wait = (int)env->wait, .one_sided = (int)env->one_sided};

	learn();
	const int here = zhost_ranks();
	params.oversubscribed = is_oversubscribed(here);
	params.launched = env->launcher && *env->launcher;
	if (make_world(&err) != 0)
		fail_init(&err);
	zcomm_world->board =
		zboard_join(zboard_init(env->shared == ZENV_SHARED_YES && here == zworld.part_size[zworld.part]),
			zcomm_world->nlocal, zcomm_shadow_rank(zcomm_world, zcomm_world->rank));
	if (zcomm_internal_init() != MPI_SUCCESS || zpairs_init() != MPI_SUCCESS) {
		zerr_set(&err, -ENOMEM, "cannot make a communicator for the library's own messages");
		fail_init(&err);
	}
	lend_buffer();
	ztraffic_native = zrecord_native;
	if (zservice_init(&params) != MPI_SUCCESS) {
		zerr_set(&err, -ENOMEM, "cannot set up the bridge");
		fail_init(&err);
	}
	if (threaded && zwaiters_init() != 0) {
		zerr_set(&err, -errno, "cannot make a descriptor: %s", strerror(errno));
		fail_init(&err);
	}
	zattr_init((int)env->appnum, (int)zworld.universe, (int)zworld.tag_ub);
	zcompletion_init();
	zearly_init();
	zsmall_raise = zerror_raise_small;
	zquiet_comm();
	zraised_init();
	zshim_active = true;
	zshim_hooks |= ZSHIM_MERGED;
	/* from here on the lock is a real one, and this thread has it */
	zshim_leave();
	zshim_threaded = threaded;
	zshim_enter();
	if (env->progress == ZENV_PROGRESS_THREAD && zthread_start() != 0) {
		zerr_set(&err, -EAGAIN, "cannot start the progress thread");
		fail_init(&err);
	}
}

/* Whatever the program calls of MPI must come to this library, and must be known to it. */
static int check_loaded(struct zerr *err)
{
	zcover_all();
	zrebind_all(NULL);
	int rc = zcover_check(err);
	return rc == 0 && zstrange_in_world() ? zstrange_imports(err) : rc;
}

/* Has a rank started this process by MPI_Comm_spawn? Such a process inherits the environment of mpiexec, but is no
 * member of the job: its world is a native one. The native library is one of the MPICH ABI here
 * (libzip/loader/flavour.h refuses others before); with the handles of another MPI every process would seem to have a
 * parent. */
static bool is_spawned(void)
{
	MPI_Comm parent = MPI_COMM_NULL;

	return zn.Comm_get_parent(&parent) == MPI_SUCCESS && parent != MPI_COMM_NULL;
}

/* Called after native initialisation. */
static void join(const struct zenv *env, int provided)
{
	struct zerr err = {.text = ""};

	zlog_init("libzipper", (enum zlog_level)env->log);
	if (env->progress == ZENV_PROGRESS_THREAD && provided != MPI_THREAD_MULTIPLE) {
		zerr_set(&err, -ENOTSUP,
			"ZIPPER_PROGRESS=thread needs MPI_THREAD_MULTIPLE, which the native library "
			"does not provide");
		fail_init(&err);
	}
	if (check_loaded(&err) != 0 || zjoin(env, &err) != 0)
		fail_init(&err);
	if (zworld.merged)
		merge(env, provided == MPI_THREAD_MULTIPLE);
}

/* Starts recording. Collective over the world that join has made, or the native world. */
static void record(const char *file, bool threaded)
{
	struct zerr err = {.text = ""};

	if (zrecord_start(file, threaded, &err) != 0)
		fail_init(&err);
}

void zinit_begin(const char *function, int job, const struct zenv *env, const struct zerr *err, int provided)
{
	beginning = function;
	if (job < 0)
		fail_init(err);
	if (is_spawned())
		return; /* it would write the same file, too */
	if (job > 0)
		join(env, provided);
	if (zinit_records(job, env))
		record(zenv_profile(env), provided == MPI_THREAD_MULTIPLE);
}

bool zinit_records(int job, const struct zenv *env)
{
	return zenv_profile(env) || (job > 0 && env->stats == ZENV_STATS_YES);
}

static bool has_met_or_is_over(void *barrier)
{
	return zreq_is_done(barrier) || zended_is_over();
}

/* All ranks meet. False: some of them will not come, as they end without MPI_Finalize, but all are at the end. */
static bool meet_all(void)
{
	MPI_Request request = MPI_REQUEST_NULL;

	zended_finalize();
	zrejoin_finalize();
	if (zip_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS)
		return true;
	struct zreq *barrier = zreq_find(request);
	zprogress_wait(has_met_or_is_over, barrier);
	return zreq_is_done(barrier) && zip_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/* From now on calls are native. */
static void be_alone(void)
{
	zsmall_raise = NULL;
	zshim_active = false;
	zshim_hooks &= ~ZSHIM_MERGED;
}

/* No rank leaves before all are done: first this rank's messages get through, then all ranks meet, then BYE. False: the
 * job is over, and was abandoned. */
static bool leave_world(void)
{
	zthread_stop();
	zcomm_reap();
	zservice_drain();
	if (!meet_all()) {
		zinit_abandon();
		return false;
	}
	zservice_fini();
	zwaiters_fini();
	zboard_fini();
	zpairs_fini();
	znaming_fini();
	zcomm_internal_fini();
	ztypecode_fini();
	be_alone();
	return true;
}

void zinit_abandon(void)
{
	zthread_stop();
	zservice_abandon();
	be_alone();
	zjoin_leave();
}

void zinit_end(void)
{
	zrecord_finish();
	if (zshim_active && !leave_world())
		return;
	zjoin_leave();
	if (zworld.base != MPI_COMM_WORLD && zworld.base != MPI_COMM_NULL)
		zn.Comm_free(&zworld.base);
}

int zip_Abort(MPI_Comm comm, int errorcode)
{
	if (zrails.n == 0)
		return zn.Abort(comm, errorcode);
	/* The program's last words first, because the world is taken down as soon as zipperd knows. And zmpirun shall
	 * have the cause before the native library's message about it. */
	zerror_let_print();
	if (!zrails_abort(errorcode, "it called MPI_Abort"))
		zrejoin_abort(errorcode, "it called MPI_Abort");
	zerror_abort(errorcode);
}

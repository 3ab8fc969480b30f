/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls each constructor of MPI with a failure at each of its native steps at one rank. All ranks must return the same
 * class and text, which names the function, and a null handle; the next call must work.
 *
 *     constructors RANK            with failing.c preloaded
 *     constructors RANK exhaust    the rank has so few communicators left that they suffice for all steps before
 */
#define _GNU_SOURCE
#include "../programs/check.h"

#include <dlfcn.h>
#include <stdbool.h>

static void (*arm)(int n);
static int (*calls)(void);
static int victim;
static const char *reason = ""; /* in the text */
#define STEPS_MAX 12
static MPI_Comm half, even_odd; /* the even or the odd ranks; between these */
static MPI_Group everyone;
static char file_name[64];

/* The handles that a constructor gives; all others stay null. */
struct made {
	MPI_Comm comm;
	MPI_Win win;
	MPI_File file;
	MPI_Request request;
};

static int use_dup(MPI_Comm c, struct made *m)
{
	return MPI_Comm_dup(c, &m->comm);
}

static int use_info(MPI_Comm c, struct made *m)
{
	MPI_Info info;
	MPI_Info_create(&info);
	int rc = MPI_Comm_dup_with_info(c, info, &m->comm);
	MPI_Info_free(&info);
	return rc;
}

static int use_idup(MPI_Comm c, struct made *m)
{
	MPI_Request r;
	MPI_Comm_idup(c, &m->comm, &r);
	return MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static int use_split(MPI_Comm c, struct made *m)
{
	return MPI_Comm_split(c, 0, -rank, &m->comm);
}

static int use_split_type(MPI_Comm c, struct made *m)
{
	return MPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &m->comm);
}

static int use_create(MPI_Comm c, struct made *m)
{
	return MPI_Comm_create(c, everyone, &m->comm);
}

static int use_create_group(MPI_Comm c, struct made *m)
{
	return MPI_Comm_create_group(c, everyone, 7, &m->comm);
}

/* MPICH raises its error where those without an object belong: on WORLD, which returns it. */
static int use_from_group(MPI_Comm c, struct made *m)
{
	(void)c;
#if MPI_VERSION >= 4
	return MPI_Comm_create_from_group(everyone, "constructors", MPI_INFO_NULL, MPI_ERRORS_RETURN, &m->comm);
#else
	(void)m;
	return MPI_SUCCESS;
#endif
}

static int use_cart(MPI_Comm c, struct made *m)
{
	const int dims[1] = {size}, periods[1] = {1};
	return MPI_Cart_create(c, 1, dims, periods, 0, &m->comm);
}

static int use_graph(MPI_Comm c, struct made *m)
{
	const int index[4] = {1, 2, 3, 4}, edges[4] = {1, 2, 3, 0};
	return MPI_Graph_create(c, size, index, edges, 0, &m->comm);
}

static int use_dist(MPI_Comm c, struct made *m)
{
	const int n = 1, to = (rank + 1) % size;
	return MPI_Dist_graph_create(c, 1, &rank, &n, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &m->comm);
}

static int use_inter(MPI_Comm c, struct made *m)
{
	return MPI_Intercomm_create(half, 0, c, 1 - rank % 2, 5, &m->comm);
}

static int use_merge(MPI_Comm c, struct made *m)
{
	return MPI_Intercomm_merge(c, rank % 2, &m->comm);
}

static int use_persistent(MPI_Comm c, struct made *m)
{
#if MPI_VERSION >= 4
	return MPI_Barrier_init(c, MPI_INFO_NULL, &m->request);
#else
	(void)c;
	(void)m;
	return MPI_SUCCESS;
#endif
}

static int use_window(MPI_Comm c, struct made *m)
{
	static int memory;
	return MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, c, &m->win);
}

static int use_allocate(MPI_Comm c, struct made *m)
{
	void *memory;
	MPI_Info info;
	MPI_Info_create(&info);
	int rc = MPI_Win_allocate(16, 1, info, c, &memory, &m->win);
	MPI_Info_free(&info);
	return rc;
}

static int use_dynamic(MPI_Comm c, struct made *m)
{
	return MPI_Win_create_dynamic(MPI_INFO_NULL, c, &m->win);
}

static int use_file(MPI_Comm c, struct made *m)
{
	return MPI_File_open(c, file_name, MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &m->file);
}

static const struct constructor {
	const char *name; /* of the function in the text */
	int (*use)(MPI_Comm, struct made *);
	int inter; /* the parent is an intercommunicator */
} constructors[] = {{"MPI_Comm_dup", use_dup, 0}, {"MPI_Comm_dup_with_info", use_info, 0},
	{"MPI_Comm_idup", use_idup, 0}, {"MPI_Comm_split", use_split, 0}, {"MPI_Comm_split_type", use_split_type, 0},
	{"MPI_Comm_create", use_create, 0}, {"MPI_Comm_create_group", use_create_group, 0},
	{"MPI_Comm_create_from_group", use_from_group, 0}, {"MPI_Cart_create", use_cart, 0},
	{"MPI_Graph_create", use_graph, 0}, {"MPI_Dist_graph_create", use_dist, 0},
	{"MPI_Intercomm_create", use_inter, 0}, {"MPI_Intercomm_merge", use_merge, 1}, {"MPI_Comm_dup", use_dup, 1},
	{"MPI_Comm_idup", use_idup, 1}, {"MPI_Comm_split", use_split, 1}, {"MPI_Barrier_init", use_persistent, 0},
	{"MPI_Barrier_init", use_persistent, 1}, {"MPI_Win_create", use_window, 0},
	{"MPI_Win_allocate", use_allocate, 0}, {"MPI_Win_create_dynamic", use_dynamic, 0},
	{"MPI_File_open", use_file, 0}};

/* The same class and the same text in all ranks, and nothing made. */
static void compare(const struct constructor *k, int step, int rc, const struct made *m)
{
	char text[MPI_MAX_ERROR_STRING] = "", first[MPI_MAX_ERROR_STRING];
	int len, class = class_of(rc), low, high;
	MPI_Error_string(rc, text, &len);
	memcpy(first, text, sizeof first);
	MPI_Allreduce(&class, &low, 1, MPI_INT, MPI_MIN, WORLD);
	MPI_Allreduce(&class, &high, 1, MPI_INT, MPI_MAX, WORLD);
	MPI_Bcast(first, sizeof first, MPI_CHAR, 0, WORLD);
	CHECK(low == high && low != MPI_SUCCESS, "%s, step %d: classes from %d to %d", k->name, step, low, high);
	CHECK(strcmp(first, text) == 0, "%s, step %d: '%.90s', and rank 0 has '%.90s'", k->name, step, text, first);
	CHECK(strstr(text, k->name) && strstr(text, reason), "%s, step %d: the text is '%.200s'", k->name, step, text);
	CHECK(m->comm == MPI_COMM_NULL && m->win == MPI_WIN_NULL && m->file == MPI_FILE_NULL,
		"%s, step %d: a handle is not null", k->name, step);
}

static void end_all(struct made *m)
{
	int sum = 0, inter = 0, group;
	if (m->comm != MPI_COMM_NULL) {
		MPI_Comm_test_inter(m->comm, &inter);
		inter ? MPI_Comm_remote_size(m->comm, &group) : MPI_Comm_size(m->comm, &group);
		MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, m->comm);
		CHECK_INT(sum, group);
		MPI_Comm_free(&m->comm);
	}
	if (m->win != MPI_WIN_NULL) {
		MPI_Win_fence(0, m->win);
		MPI_Win_free(&m->win);
	}
	if (m->file != MPI_FILE_NULL)
		MPI_File_close(&m->file);
	if (m->request != MPI_REQUEST_NULL)
		MPI_Request_free(&m->request);
}

static MPI_Comm taken[8192];
static int ntaken;

/* Takes all communicators that this process has left, but n - 1; 0: gives some back, which suffice for everything. */
static void exhaust(int n)
{
	const int give = n > 0 ? n - 1 : 4 * STEPS_MAX;
	while (n > 0 && ntaken < 8192 && MPI_Comm_dup(MPI_COMM_SELF, &taken[ntaken]) == MPI_SUCCESS)
		ntaken++;
	for (int i = 0; i < give && ntaken > 0; i++)
		MPI_Comm_free(&taken[--ntaken]);
}

static bool all_succeed(int rc)
{
	int failed = rc != MPI_SUCCESS, any;
	MPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, WORLD);
	return !any;
}

/* Calls it with a failure at that native step, and once more without. Returns the native steps of the latter. Where
 * nobody counts them: 0 when there was no failure. */
static int try(const struct constructor *k, int step)
{
	struct made m = {MPI_COMM_NULL, MPI_WIN_NULL, MPI_FILE_NULL, MPI_REQUEST_NULL};
	MPI_Comm parent;
	int steps;
	MPI_Comm_dup(k->inter ? even_odd : WORLD, &parent); /* a new one has no twin */
	if (step > 0) {
		if (rank == victim)
			arm(step);
		int rc = k->use(parent, &m);
		if (rank == victim)
			arm(0);
		if (!calls && all_succeed(rc)) {
			end_all(&m);
			MPI_Comm_free(&parent);
			return 0;
		}
		compare(k, step, rc, &m);
		MPI_Comm_free(&parent);
		MPI_Comm_dup(k->inter ? even_odd : WORLD, &parent);
	}
	if (rank == victim)
		arm(0);
	CHECK_INT(k->use(parent, &m), MPI_SUCCESS);
	steps = calls ? calls() : STEPS_MAX;
	end_all(&m);
	MPI_Comm_free(&parent);
	MPI_Bcast(&steps, 1, MPI_INT, victim, WORLD);
	return steps;
}

/* The leaders alone see what is wrong. */
static void try_wrong_leader(void)
{
	static const struct constructor k = {"MPI_Intercomm_create", use_inter, 0};
	struct made m = {WORLD, MPI_WIN_NULL, MPI_FILE_NULL, MPI_REQUEST_NULL};
	int rc = MPI_Intercomm_create(half, 0, WORLD, size, 5, &m.comm);
	CHECK_INT(class_of(rc), MPI_ERR_RANK);
	compare(&k, 0, rc, &m);
}

int main(int argc, char **argv)
{
	begin(&argc, &argv);
	arm = (void (*)(int))dlsym(RTLD_DEFAULT, "failing_arm");
	calls = (int (*)(void))dlsym(RTLD_DEFAULT, "failing_calls");
	victim = argc > 1 ? atoi(argv[1]) : 0;
	snprintf(file_name, sizeof file_name, "constructors.file");
	if (argc > 2) {
		arm = exhaust;
		calls = NULL;
		reason = "too many communicators";
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	}
	if (!arm)
		MPI_Abort(WORLD, 3);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_group(WORLD, &everyone);
	MPI_Comm_split(WORLD, rank % 2, rank, &half);
	MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 1, &even_odd);
	if (calls)
		try_wrong_leader();
	for (size_t i = 0; i < sizeof constructors / sizeof constructors[0]; i++) {
		const struct constructor *k = &constructors[i];
		int steps = try(k, 0), failed = 0;
		/* Where MPICH 4.0.2 cannot make a window or open a file for want of a communicator, it crashes, or a
		 * later MPI_Win_free does. So only the steps in front of that one. */
		if (!calls && (strstr(k->name, "MPI_Win") || strstr(k->name, "MPI_File")))
			steps = 2;
		while (failed < steps && try(k, failed + 1) > 0)
			failed++;
		if (MPI_VERSION >= 4 || (k->use != use_persistent && k->use != use_from_group))
			CHECK(failed > 0, "%s has no native steps", k->name);
		if (rank == 0)
			printf("%s%s: %d native steps\n", k->name, k->inter ? " of an intercommunicator" : "", failed);
	}
	while (ntaken > 0)
		MPI_Comm_free(&taken[--ntaken]);
	MPI_Group_free(&everyone);
	MPI_Comm_free(&half);
	MPI_Comm_free(&even_odd);
	return end();
}

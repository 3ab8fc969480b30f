/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool behind libzipper that makes one native call fail: the nth call, since it was told so, among those that make
 * something. The call goes to native MPI all the same, so that the other members of the part get along; only this
 * process is told of a failure, and has nothing of what was made.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>

#define SYMBOL __attribute__((visibility("default")))

static int calls, victim, inside, npending;
static struct {
	MPI_Request request;
	MPI_Comm comm;
} pending[64];

/* The nth call from now on fails; 0: none. */
SYMBOL void failing_arm(int n)
{
	for (int i = 0; i < npending; i++) {
		MPI_Wait(&pending[i].request, MPI_STATUS_IGNORE);
		((int (*)(MPI_Comm *))dlsym(RTLD_NEXT, "PMPI_Comm_free"))(&pending[i].comm);
	}
	npending = 0;
	calls = 0;
	victim = n;
}

/* The number of such calls since. */
SYMBOL int failing_calls(void)
{
	return calls;
}

/* Is it the turn of this call? A call inside of another one, as in MPI_File_open, is none of libzipper's. Windows and
 * files end collectively; so the call fails only where there are no other members. */
static int is_turn(MPI_Comm ends_with)
{
	int size = 1;
	if (inside == 0 && ends_with != MPI_COMM_NULL)
		((int (*)(MPI_Comm, int *))dlsym(RTLD_NEXT, "PMPI_Comm_size"))(ends_with, &size);
	return inside == 0 && size == 1 && ++calls == victim;
}

#define NEXT(function) __typeof__(&function) next = (__typeof__(&function))dlsym(RTLD_NEXT, #function)
#define CALL(args, ends_with)                                                                                          \
	const int fails = is_turn(ends_with);                                                                          \
	inside++;                                                                                                      \
	int rc = next args;                                                                                            \
	inside--;                                                                                                      \
	if (!fails || rc != MPI_SUCCESS)                                                                               \
	return rc

static int lose_comm(MPI_Comm *comm)
{
	int (*end)(MPI_Comm *) = (int (*)(MPI_Comm *))dlsym(RTLD_NEXT, "PMPI_Comm_free");
	if (*comm != MPI_COMM_NULL)
		end(comm);
	return MPI_ERR_INTERN;
}

static int lose_pending(MPI_Comm *comm, MPI_Request *request)
{
	/* the address of the handle must stay: native MPI writes there at the end, too */
	pending[npending].comm = *comm;
	pending[npending++].request = *request;
	*comm = MPI_COMM_NULL;
	*request = MPI_REQUEST_NULL;
	return MPI_ERR_INTERN;
}

#define MAKES_COMM(function, types, args)                                                                              \
	SYMBOL int function types                                                                                      \
	{                                                                                                              \
		NEXT(function);                                                                                        \
		CALL(args, MPI_COMM_NULL);                                                                             \
		return lose_comm(made);                                                                                \
	}
MAKES_COMM(PMPI_Comm_dup, (MPI_Comm c, MPI_Comm *made), (c, made))
MAKES_COMM(PMPI_Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *made), (c, color, key, made))
MAKES_COMM(PMPI_Comm_split_type, (MPI_Comm c, int type, int key, MPI_Info info, MPI_Comm *made),
	(c, type, key, info, made))
MAKES_COMM(PMPI_Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm *made), (c, g, made))
MAKES_COMM(PMPI_Comm_create_group, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm *made), (c, g, tag, made))
MAKES_COMM(PMPI_Intercomm_create, (MPI_Comm c, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm *made),
	(c, leader, peer, remote, tag, made))
MAKES_COMM(PMPI_Intercomm_merge, (MPI_Comm c, int high, MPI_Comm *made), (c, high, made))
MAKES_COMM(PMPI_Cart_create, (MPI_Comm c, int n, const int *dims, const int *periods, int reorder, MPI_Comm *made),
	(c, n, dims, periods, reorder, made))
MAKES_COMM(PMPI_Graph_create, (MPI_Comm c, int n, const int *index, const int *edges, int reorder, MPI_Comm *made),
	(c, n, index, edges, reorder, made))
MAKES_COMM(PMPI_Dist_graph_create_adjacent,
	(MPI_Comm c, int nin, const int *in, const int *win, int nout, const int *out, const int *wout, MPI_Info info,
		int reorder, MPI_Comm *made),
	(c, nin, in, win, nout, out, wout, info, reorder, made))

SYMBOL int PMPI_Comm_idup(MPI_Comm c, MPI_Comm *made, MPI_Request *request)
{
	NEXT(PMPI_Comm_idup);
	CALL((c, made, request), MPI_COMM_NULL);
	return lose_pending(made, request);
}

#if MPI_VERSION >= 4
MAKES_COMM(PMPI_Comm_create_from_group,
	(MPI_Group g, const char *stringtag, MPI_Info info, MPI_Errhandler handler, MPI_Comm *made),
	(g, stringtag, info, handler, made))

SYMBOL int PMPI_Comm_idup_with_info(MPI_Comm c, MPI_Info info, MPI_Comm *made, MPI_Request *request)
{
	NEXT(PMPI_Comm_idup_with_info);
	CALL((c, info, made, request), MPI_COMM_NULL);
	return lose_pending(made, request);
}
#endif

#define MAKES(function, types, args, ends_with, end)                                                                   \
	SYMBOL int function types                                                                                      \
	{                                                                                                              \
		NEXT(function);                                                                                        \
		CALL(args, ends_with);                                                                                 \
		end;                                                                                                   \
		return MPI_ERR_INTERN;                                                                                 \
	}
MAKES(PMPI_Info_dup, (MPI_Info info, MPI_Info *made), (info, made), MPI_COMM_NULL, MPI_Info_free(made))
MAKES(PMPI_Win_create_dynamic, (MPI_Info info, MPI_Comm c, MPI_Win *win), (info, c, win), c, MPI_Win_free(win))
MAKES(PMPI_Win_create, (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm c, MPI_Win *win),
	(base, size, unit, info, c, win), c, MPI_Win_free(win))
MAKES(PMPI_Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm c, void *base, MPI_Win *win),
	(size, unit, info, c, base, win), c, MPI_Win_free(win))
#if MPI_VERSION >= 4
MAKES(PMPI_Win_create_c, (void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm c, MPI_Win *win),
	(base, size, unit, info, c, win), c, MPI_Win_free(win))
MAKES(PMPI_Win_allocate_c, (MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm c, void *base, MPI_Win *win),
	(size, unit, info, c, base, win), c, MPI_Win_free(win))
#endif
MAKES(PMPI_Win_lock_all, (int assert, MPI_Win win), (assert, win), MPI_COMM_NULL, MPI_Win_unlock_all(win))
MAKES(PMPI_File_open, (MPI_Comm c, const char *name, int mode, MPI_Info info, MPI_File *file),
	(c, name, mode, info, file), c, MPI_File_close(file))

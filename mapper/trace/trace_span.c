/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of MPI functions and the beginnings of their names, see trace_span.h. */
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "mapper/trace/trace_span.h"

/* The first entry that fits counts. A '*' at the end stands for any end. */
static const struct {
	const char *name;
	int span;
} spans[] = {
	/* functions that only ask or set something, and begin like others */
	{"Comm_rank", ZGRAPH_SPANS},
	{"Comm_size", ZGRAPH_SPANS},
	{"Comm_remote_*", ZGRAPH_SPANS},
	{"Comm_group", ZGRAPH_SPANS},
	{"Comm_compare", ZGRAPH_SPANS},
	{"Comm_test_inter", ZGRAPH_SPANS},
	{"Comm_get_*", ZGRAPH_SPANS},
	{"Comm_set_*", ZGRAPH_SPANS},
	{"Comm_call_errhandler", ZGRAPH_SPANS},
	{"Comm_create_*keyval", ZGRAPH_SPANS},
	{"Comm_create_keyval", ZGRAPH_SPANS},
	{"Comm_create_errhandler", ZGRAPH_SPANS},
	{"Comm_free_keyval", ZGRAPH_SPANS},
	{"Comm_delete_attr", ZGRAPH_SPANS},
	{"Win_get_*", ZGRAPH_SPANS},
	{"Win_set_*", ZGRAPH_SPANS},
	{"Win_create_keyval", ZGRAPH_SPANS},
	{"Win_create_errhandler", ZGRAPH_SPANS},
	{"Win_free_keyval", ZGRAPH_SPANS},
	{"Win_delete_attr", ZGRAPH_SPANS},
	{"Win_call_errhandler", ZGRAPH_SPANS},
	{"File_get_*", ZGRAPH_SPANS},
	{"File_*errhandler", ZGRAPH_SPANS},
	{"Cart_coords", ZGRAPH_SPANS},
	{"Test_cancelled", ZGRAPH_SPANS},
	{"Info_*", ZGRAPH_SPANS},
	{"Is_thread_main", ZGRAPH_SPANS},
	{"Init*", ZGRAPH_SPANS},
	/* point to point */
	{"Send", ZGRAPH_SPAN_SEND},
	{"Bsend", ZGRAPH_SPAN_SEND},
	{"Ssend", ZGRAPH_SPAN_SEND},
	{"Rsend", ZGRAPH_SPAN_SEND},
	{"Recv", ZGRAPH_SPAN_RECV},
	{"Mrecv", ZGRAPH_SPAN_RECV},
	{"Sendrecv", ZGRAPH_SPAN_SENDRECV},
	{"Sendrecv_replace", ZGRAPH_SPAN_SENDRECV},
	{"Wait*", ZGRAPH_SPAN_WAIT},
	{"Test*", ZGRAPH_SPAN_TEST},
	{"Request_get_status", ZGRAPH_SPAN_TEST},
	{"Probe", ZGRAPH_SPAN_PROBE},
	{"Iprobe", ZGRAPH_SPAN_PROBE},
	{"Mprobe", ZGRAPH_SPAN_PROBE},
	{"Improbe", ZGRAPH_SPAN_PROBE},
	/* collectives */
	{"Barrier", ZGRAPH_BARRIER},
	{"Bcast", ZGRAPH_BCAST},
	{"Gather", ZGRAPH_GATHER},
	{"Gatherv", ZGRAPH_GATHERV},
	{"Scatter", ZGRAPH_SCATTER},
	{"Scatterv", ZGRAPH_SCATTERV},
	{"Allgather", ZGRAPH_ALLGATHER},
	{"Allgatherv", ZGRAPH_ALLGATHERV},
	{"Alltoall", ZGRAPH_ALLTOALL},
	{"Alltoallv", ZGRAPH_ALLTOALLV},
	{"Alltoallw", ZGRAPH_ALLTOALLW},
	{"Reduce", ZGRAPH_REDUCE},
	{"Allreduce", ZGRAPH_ALLREDUCE},
	{"Reduce_scatter", ZGRAPH_REDUCE_SCATTER},
	{"Reduce_scatter_block", ZGRAPH_REDUCE_SCATTER_BLOCK},
	{"Scan", ZGRAPH_SCAN},
	{"Exscan", ZGRAPH_EXSCAN},
	{"Neighbor_allgather", ZGRAPH_NEIGHBOR_ALLGATHER},
	{"Neighbor_allgatherv", ZGRAPH_NEIGHBOR_ALLGATHERV},
	{"Neighbor_alltoall", ZGRAPH_NEIGHBOR_ALLTOALL},
	{"Neighbor_alltoallv", ZGRAPH_NEIGHBOR_ALLTOALLV},
	{"Neighbor_alltoallw", ZGRAPH_NEIGHBOR_ALLTOALLW},
	/* windows, files, communicators */
	{"Put", ZGRAPH_SPAN_ONESIDED},
	{"Get", ZGRAPH_SPAN_ONESIDED},
	{"Accumulate", ZGRAPH_SPAN_ONESIDED},
	{"Get_accumulate", ZGRAPH_SPAN_ONESIDED},
	{"Fetch_and_op", ZGRAPH_SPAN_ONESIDED},
	{"Compare_and_swap", ZGRAPH_SPAN_ONESIDED},
	{"Rput", ZGRAPH_SPAN_ONESIDED},
	{"Rget", ZGRAPH_SPAN_ONESIDED},
	{"Raccumulate", ZGRAPH_SPAN_ONESIDED},
	{"Rget_accumulate", ZGRAPH_SPAN_ONESIDED},
	{"Win_*", ZGRAPH_SPAN_WINDOW},
	{"File_*", ZGRAPH_SPAN_FILE},
	{"Comm_*", ZGRAPH_SPAN_COMM},
	{"Intercomm_*", ZGRAPH_SPAN_COMM},
	{"Cart_create", ZGRAPH_SPAN_COMM},
	{"Cart_sub", ZGRAPH_SPAN_COMM},
	{"Graph_create", ZGRAPH_SPAN_COMM},
	{"Dist_graph_create*", ZGRAPH_SPAN_COMM},
	/* the beginning of operations */
	{"Start*", ZGRAPH_SPAN_START},
	{"I*", ZGRAPH_SPAN_START},
	{"*_init", ZGRAPH_SPAN_START},
};

/* Does a name fit one with a '*' at its beginning, its end or between? */
static bool fits(const char *name, const char *pattern)
{
	size_t begin = strcspn(pattern, "*"), len = strlen(name),
	       end = pattern[begin] ? strlen(pattern) - begin - 1 : 0;

	if (!pattern[begin])
		return !strcasecmp(name, pattern);
	return len >= begin + end && !strncasecmp(name, pattern, begin) &&
	       !strcasecmp(name + len - end, pattern + begin + 1);
}

enum zgraph_span trace_span_of(const char *function)
{
	if (strncasecmp(function, "MPI_", 4) != 0)
		return ZGRAPH_SPANS;
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		if (fits(function + 4, spans[i].name))
			return (enum zgraph_span)spans[i].span;
	return ZGRAPH_SPANS;
}

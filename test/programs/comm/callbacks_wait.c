/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Callbacks of the program that wait for other processes, with several threads: copying and deleting attributes, error
 * handlers, generalised requests. Another thread waits all the time. MPICH 4.0.2 itself fails where
 * an error handler communicates. twin: native=no layouts=2+2,1+3,1+1+2 timeout=30
 */
#include "../check.h"

#include <pthread.h>

#define LAST 77

static MPI_Comm other, threads;
static int copied, deleted, handled, asked;

/* Each rank adds one, on a communicator that no other call uses meanwhile. */
static void talk(MPI_Comm comm)
{
	int one = 1, sum = 0, theirs = -1, peer = size - 1 - rank;
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	CHECK_INT(sum, size);
	MPI_Sendrecv(&rank, 1, MPI_INT, peer, 1, &theirs, 1, MPI_INT, peer, 1, comm, MPI_STATUS_IGNORE);
	CHECK_INT(theirs, peer);
}

/* The value is a communicator, which is duplicated along. */
static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	MPI_Comm *made = malloc(sizeof *made);
	(void)comm, (void)keyval, (void)extra;
	copied++;
	*(void **)out = made;
	*flag = 1;
	return MPI_Comm_dup(*(MPI_Comm *)in, made);
}

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
	(void)comm, (void)keyval, (void)extra;
	deleted++;
	talk(*(MPI_Comm *)value);
	MPI_Comm_free(value);
	free(value);
	return MPI_SUCCESS;
}

static void handle(MPI_Comm *comm, int *code, ...)
{
	(void)comm, (void)code;
	handled++;
	talk(other);
}

static int query(void *extra, MPI_Status *status)
{
	(void)extra;
	asked++;
	talk(other);
	MPI_Status_set_elements(status, MPI_BYTE, 0);
	MPI_Status_set_cancelled(status, 0);
	status->MPI_SOURCE = status->MPI_TAG = 0;
	return MPI_SUCCESS;
}

static int forget(void *extra)
{
	(void)extra;
	return MPI_SUCCESS;
}

static int cancel(void *extra, int done)
{
	(void)extra, (void)done;
	return MPI_SUCCESS;
}

static void *wait_for_end(void *arg)
{
	int got = 0;
	MPI_Recv(&got, 1, MPI_INT, size - 1 - rank, LAST, threads, MPI_STATUS_IGNORE);
	CHECK_INT(got, LAST);
	return arg;
}

static void attributes(int nonblocking)
{
	MPI_Comm comm, two, *value = malloc(sizeof *value);
	MPI_Request q;
	int key;
	MPI_Comm_dup(WORLD, &comm);
	MPI_Comm_dup(WORLD, value);
	MPI_Comm_create_keyval(copy, delete, &key, NULL);
	MPI_Comm_set_attr(comm, key, value);
	if (nonblocking) {
		MPI_Comm_idup(comm, &two, &q);
		MPI_Wait(&q, MPI_STATUS_IGNORE);
	} else {
		MPI_Comm_dup(comm, &two);
	}
	talk(two);
	MPI_Comm_free(&two);
	MPI_Comm_free(&comm);
	MPI_Comm_free_keyval(&key);
}

static void error_handler(void)
{
	MPI_Errhandler handler;
	MPI_Comm comm;
	MPI_Comm_dup(WORLD, &comm);
	MPI_Comm_create_errhandler(handle, &handler);
	MPI_Comm_set_errhandler(comm, handler);
	MPI_Send(NULL, 0, MPI_BYTE, size, 0, comm);
	MPI_Errhandler_free(&handler);
	MPI_Comm_free(&comm);
}

static void generalised_request(void)
{
	MPI_Request r;
	MPI_Grequest_start(query, forget, cancel, NULL, &r);
	MPI_Grequest_complete(r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int provided, last = LAST;
	pthread_t thread;
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	MPI_Comm_dup(WORLD, &other);
	MPI_Comm_dup(WORLD, &threads);
	pthread_create(&thread, NULL, wait_for_end, NULL);
	attributes(0);
	attributes(1);
	error_handler();
	generalised_request();
	MPI_Send(&last, 1, MPI_INT, size - 1 - rank, LAST, threads);
	pthread_join(thread, NULL);
	printf("rank %d: %d copied, %d deleted, %d handled, %d asked\n", rank, copied, deleted, handled, asked);
	MPI_Comm_free(&other);
	MPI_Comm_free(&threads);
	return end();
}

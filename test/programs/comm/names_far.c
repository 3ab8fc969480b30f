/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Published names in a merged world alone: any bytes, long names, their greatest number, threads that ask at the same
 * time. MPI_Comm_connect refuses a port of another cluster instead of waiting for it. MPICH's mpiexec ends at such
 * names. twin: native=no
 */
#include <pthread.h>

#include "../check.h"

#define MOST 1024	  /* names that a job can have */
#define LONGEST_NAME 1023 /* bytes */
#define THREADS 4
#define TURNS 50

static int publish(const char *name, const char *port)
{
	return class_of(MPI_Publish_name(name, MPI_INFO_NULL, port));
}

static int unpublish(const char *name)
{
	return class_of(MPI_Unpublish_name(name, MPI_INFO_NULL, ""));
}

static void finds(const char *name, const char *port)
{
	char found[MPI_MAX_PORT_NAME] = "";
	CHECK_INT(class_of(MPI_Lookup_name(name, MPI_INFO_NULL, found)), MPI_SUCCESS);
	CHECK(strcmp(found, port) == 0, "a name of %zu bytes is %s", strlen(name), found);
}

static void any_bytes(void)
{
	static const char *const names[] = {"with space", "a=b;c", "\xc3\xa9\n\t\x01\xff", "", "%s%n"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (rank == 0)
			CHECK_INT(publish(names[i], names[i]), MPI_SUCCESS);
		MPI_Barrier(WORLD);
		finds(names[i], names[i]);
		MPI_Barrier(WORLD);
		if (rank == size - 1)
			CHECK_INT(unpublish(names[i]), MPI_SUCCESS);
		MPI_Barrier(WORLD);
	}
}

static void long_names(void)
{
	char name[LONGEST_NAME + 2], port[MPI_MAX_PORT_NAME + 1];
	memset(name, 'n', sizeof(name));
	memset(port, 'p', sizeof(port));
	name[LONGEST_NAME + 1] = port[MPI_MAX_PORT_NAME] = '\0';
	if (rank == 0) {
		CHECK_INT(publish(name, "port"), MPI_ERR_ARG);
		CHECK_INT(publish("name", port), MPI_ERR_ARG);
	}
	name[LONGEST_NAME] = port[MPI_MAX_PORT_NAME - 1] = '\0';
	if (rank == 0)
		CHECK_INT(publish(name, port), MPI_SUCCESS);
	MPI_Barrier(WORLD);
	finds(name, port);
	MPI_Barrier(WORLD);
	if (rank == 0)
		CHECK_INT(unpublish(name), MPI_SUCCESS);
	MPI_Barrier(WORLD);
}

/* The zipper takes no more than so many, and has room again when one is taken back. */
static void the_most(void)
{
	char name[32];
	if (rank == size - 1) {
		for (int i = 0; i < MOST; i++) {
			snprintf(name, sizeof(name), "n%d", i);
			CHECK_INT(publish(name, "port"), MPI_SUCCESS);
		}
		CHECK_INT(publish("one more", "port"), MPI_ERR_OTHER);
		CHECK_INT(unpublish("n7"), MPI_SUCCESS);
		CHECK_INT(publish("one more", "port"), MPI_SUCCESS);
	}
	MPI_Barrier(WORLD);
	finds("one more", "port");
	finds("n1023", "port");
	MPI_Barrier(WORLD);
	for (int i = rank; i < MOST; i += size) {
		snprintf(name, sizeof(name), "n%d", i);
		CHECK_INT(unpublish(i == 7 ? "one more" : name), MPI_SUCCESS);
	}
	MPI_Barrier(WORLD);
}

static void *ask(void *arg)
{
	char name[32];
	snprintf(name, sizeof(name), "thread %d of rank %d", *(int *)arg, rank);
	for (int i = 0; i < TURNS; i++) {
		CHECK_INT(publish(name, name), MPI_SUCCESS);
		finds(name, name);
		CHECK_INT(unpublish(name), MPI_SUCCESS);
	}
	return NULL;
}

static void threads_ask(void)
{
	pthread_t thread[THREADS];
	int number[THREADS];
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		pthread_create(&thread[i], NULL, ask, &number[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	MPI_Barrier(WORLD);
}

/* Rank 0 is in another cluster than the last rank, in every layout. */
static void connects_to_no_other_cluster(void)
{
	char port[MPI_MAX_PORT_NAME] = "", text[MPI_MAX_ERROR_STRING] = "";
	int len = 0;
	if (rank == 0)
		CHECK_INT(publish("far", "a port of rank 0"), MPI_SUCCESS);
	MPI_Barrier(WORLD);
	if (rank == size - 1) {
		MPI_Comm c = WORLD;
		finds("far", "a port of rank 0");
		MPI_Lookup_name("far", MPI_INFO_NULL, port);
		int rc = MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c);
		CHECK_INT(class_of(rc), MPI_ERR_PORT);
		MPI_Error_string(rc, text, &len);
		CHECK(strstr(text, "rank 0 of cluster"), "the text is %.150s", text);
		CHECK(c == MPI_COMM_NULL, "there is a communicator");
	}
	CHECK_INT(class_of(MPI_Comm_connect("port", MPI_INFO_NULL, 0, WORLD, &(MPI_Comm){MPI_COMM_NULL})),
		MPI_ERR_UNSUPPORTED_OPERATION);
	MPI_Barrier(WORLD);
}

int main(int argc, char **argv)
{
	int provided;
	setvbuf(stdout, NULL, _IOLBF, 1 << 16);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	any_bytes();
	long_names();
	the_most();
	if (provided == MPI_THREAD_MULTIPLE)
		threads_ask();
	connects_to_no_other_cluster();
	return end();
}

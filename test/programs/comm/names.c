/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Published names: every rank finds the names that other ranks have published, and only while they are published. The
 * last argument is 'strike PID SIGNAL' where a test takes a zipper away in the middle; see failover.t.
 */
#include <signal.h>

#include "../check.h"

#define MANY 40 /* names of each rank */

static int publish(const char *name, const char *port)
{
	return class_of(MPI_Publish_name(name, MPI_INFO_NULL, port));
}

static int unpublish(const char *name)
{
	return class_of(MPI_Unpublish_name(name, MPI_INFO_NULL, "another_port"));
}

/* The error class, or MPI_SUCCESS where the port is this one. */
static int look_up(const char *name, const char *port)
{
	char found[MPI_MAX_PORT_NAME] = "untouched";
	int class = class_of(MPI_Lookup_name(name, MPI_INFO_NULL, found));
	CHECK(strcmp(found, class == MPI_SUCCESS ? port : "untouched") == 0, "%s is %s", name, found);
	return class;
}

static void errors_are_told(void)
{
	char port[MPI_MAX_PORT_NAME];
	CHECK_INT(look_up("nothing", ""), MPI_ERR_NAME);
	CHECK_INT(unpublish("nothing"), MPI_ERR_SERVICE);
	CHECK_INT(class_of(MPI_Publish_name(NULL, MPI_INFO_NULL, "port")), MPI_ERR_ARG);
	CHECK_INT(class_of(MPI_Publish_name("name", MPI_INFO_NULL, NULL)), MPI_ERR_ARG);
	CHECK_INT(class_of(MPI_Unpublish_name(NULL, MPI_INFO_NULL, "port")), MPI_ERR_ARG);
	CHECK_INT(class_of(MPI_Unpublish_name("name", MPI_INFO_NULL, NULL)), MPI_ERR_ARG);
	CHECK_INT(class_of(MPI_Lookup_name(NULL, MPI_INFO_NULL, port)), MPI_ERR_ARG);
	CHECK_INT(class_of(MPI_Lookup_name("name", MPI_INFO_NULL, NULL)), MPI_ERR_ARG);
}

/* Each rank in turn publishes a name; the next rank takes it back. */
static void one_after_the_other(void)
{
	for (int owner = 0; owner < size; owner++) {
		char name[32], port[32];
		snprintf(name, sizeof(name), "turn_%d", owner);
		snprintf(port, sizeof(port), "port_%d", owner);
		if (rank == owner)
			CHECK_INT(publish(name, port), MPI_SUCCESS);
		MPI_Barrier(WORLD);
		CHECK_INT(look_up(name, port), MPI_SUCCESS);
		CHECK_INT(publish(name, port), MPI_ERR_NAME);
		MPI_Barrier(WORLD);
		if (rank == (owner + 1) % size)
			CHECK_INT(unpublish(name), MPI_SUCCESS);
		MPI_Barrier(WORLD);
		CHECK_INT(look_up(name, port), MPI_ERR_NAME);
		CHECK_INT(unpublish(name), MPI_ERR_SERVICE);
		MPI_Barrier(WORLD);
	}
}

/* All ranks want the same name, and one of them gets it. */
static void one_wins(void)
{
	int won, winners, class;
	class = publish("wanted", "port");
	won = class == MPI_SUCCESS;
	if (!won)
		CHECK_INT(class, MPI_ERR_NAME);
	MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, WORLD);
	CHECK_INT(winners, 1);
	CHECK_INT(look_up("wanted", "port"), MPI_SUCCESS);
	MPI_Barrier(WORLD);
	if (won)
		CHECK_INT(unpublish("wanted"), MPI_SUCCESS);
	MPI_Barrier(WORLD);
}

static void all_at_once(char **strike)
{
	char name[32], port[32];
	for (int i = 0; i < MANY; i++) {
		if (strike && rank == 0 && i == MANY / 2)
			kill((pid_t)atol(strike[0]), atoi(strike[1]));
		snprintf(name, sizeof(name), "name_%d_%d", rank, i);
		snprintf(port, sizeof(port), "port_%d_%d", rank, i);
		CHECK_INT(publish(name, port), MPI_SUCCESS);
	}
	MPI_Barrier(WORLD);
	for (int owner = 0; owner < size; owner++)
		for (int i = 0; i < MANY; i++) {
			snprintf(name, sizeof(name), "name_%d_%d", owner, i);
			snprintf(port, sizeof(port), "port_%d_%d", owner, i);
			CHECK_INT(look_up(name, port), MPI_SUCCESS);
		}
	MPI_Barrier(WORLD);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "name_%d_%d", rank, i);
		CHECK_INT(unpublish(name), MPI_SUCCESS);
	}
	MPI_Barrier(WORLD);
}

int main(int argc, char **argv)
{
	char **strike = argc == 4 && strcmp(argv[1], "strike") == 0 ? argv + 2 : NULL;
	begin(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	if (rank == size - 1)
		errors_are_told();
	one_after_the_other();
	one_wins();
	all_at_once(strike);
	one_wins();
	one_after_the_other();
	return end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names that the whole world can look up: MPI_Publish_name, MPI_Lookup_name and MPI_Unpublish_name (MPI-4.0 section
 * 11.9). MPI_Comm_connect refuses a port that was published in another part: natively it would wait for a process that
 * it cannot reach. And the other functions that bring processes of other worlds (sections 11.8 and 11.10).
 */
#include <string.h>

#include "libzip/progress/progress.h"
#include "libzip/shim/shim.h"
#include "libzip/world/comm.h"
#include "libzip/world/error.h"
#include "libzip/world/foreign.h"
#include "libzip/world/guard.h"
#include "libzip/world/naming.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"

/* Asks at that rail and waits for the answer. False: the rail is lost; another one has the names. */
static bool ask(struct znaming_question *q, int rail)
{
	znaming_ask(q, rail);
	if (!znaming_is_over(q))
		zprogress_wait(znaming_is_over, q);
	znaming_forget(q);
	return q->answered;
}

static int next_rail(int rail)
{
	do
		rail++;
	while (rail < zrails.n && !zrails_is_unbroken(rail)); /* one that has come back knows no names of before */
	return rail;
}

static int raise_lost(const char *function)
{
	return zerror_raise(NULL, MPI_ERR_OTHER, function,
		"all zippers of the beginning have been lost, and the published names with them");
}

/* Asks at every rail that has been there from the beginning, in their order, until one refuses. Returns the first
 * answer that says no, from *refused; or DONE; or QUESTION if there is no such rail. */
static enum zctl_naming_answer ask_all(const struct zctl_naming *said, int *refused)
{
	enum zctl_naming_answer answer = ZCTL_NAMING_QUESTION;

	for (int rail = next_rail(-1); rail < zrails.n; rail = next_rail(rail)) {
		struct znaming_question q = {.said = *said};
		if (!ask(&q, rail))
			continue;
		answer = q.said.answer;
		*refused = rail;
		if (answer != ZCTL_NAMING_DONE)
			break;
	}
	return answer;
}

/* The rails before that one have it already. */
static void take_back(struct zctl_naming said, int end)
{
	said.what = ZCTL_NAMING_UNPUBLISH;
	for (int rail = next_rail(-1); rail < end; rail = next_rail(rail)) {
		struct znaming_question q = {.said = said};
		ask(&q, rail);
	}
}

/* An info object with an invalid handle is native MPI's error. */
static int check(const char *function, const char *service, MPI_Info info, const char *port)
{
	int keys;

	if (info != MPI_INFO_NULL) {
		int rc = zn.Info_get_nkeys(info, &keys);
		if (rc != MPI_SUCCESS)
			return rc;
	}
	if (!service || !port)
		return zerror_raise(NULL, MPI_ERR_ARG, function, "null pointer in argument %s",
			service ? "port_name" : "service_name");
	if (strlen(service) > ZCTL_SERVICE_NAME_MAX)
		return zerror_raise(NULL, MPI_ERR_ARG, function, "the service name is longer than %d bytes",
			ZCTL_SERVICE_NAME_MAX);
	return MPI_SUCCESS;
}

static void name_service(struct zctl_naming *said, const char *service)
{
	memcpy(said->service, service, strlen(service) + 1);
}

int zip_Publish_name(const char *service, MPI_Info info, const char *port)
{
	static const char function[] = "MPI_Publish_name";
	struct zctl_naming said = {.what = ZCTL_NAMING_PUBLISH};
	int refused = 0, rc = check(function, service, info, port);

	if (rc != MPI_SUCCESS)
		return rc;
	if (strlen(port) > ZCTL_PORT_NAME_MAX)
		return zerror_raise(NULL, MPI_ERR_ARG, function, "the port name is longer than %d bytes",
			ZCTL_PORT_NAME_MAX);
	name_service(&said, service);
	memcpy(said.port, port, strlen(port) + 1);
	const enum zctl_naming_answer answer = ask_all(&said, &refused);
	if (answer == ZCTL_NAMING_DONE)
		return MPI_SUCCESS;
	if (answer == ZCTL_NAMING_QUESTION)
		return raise_lost(function);
	take_back(said, refused);
	if (answer == ZCTL_NAMING_TAKEN)
		return zerror_raise(NULL, MPI_ERR_NAME, function, "the name %.200s is published already", service);
	return zerror_raise(NULL, MPI_ERR_OTHER, function,
		"the zipper has no room for another name (a job can have %d at a time)", ZCTL_PUBLISHED_MAX);
}

int zip_Unpublish_name(const char *service, MPI_Info info, const char *port)
{
	static const char function[] = "MPI_Unpublish_name";
	struct zctl_naming said = {.what = ZCTL_NAMING_UNPUBLISH};
	int refused = 0, rc = check(function, service, info, port);

	if (rc != MPI_SUCCESS)
		return rc;
	name_service(&said, service);
	const enum zctl_naming_answer answer = ask_all(&said, &refused);
	if (answer == ZCTL_NAMING_DONE)
		return MPI_SUCCESS;
	if (answer == ZCTL_NAMING_QUESTION)
		return raise_lost(function);
	return zerror_raise(NULL, MPI_ERR_SERVICE, function, "the name %.200s is not published", service);
}

int zip_Lookup_name(const char *service, MPI_Info info, char *port)
{
	static const char function[] = "MPI_Lookup_name";
	struct znaming_question q;
	int rc = check(function, service, info, port);

	if (rc != MPI_SUCCESS)
		return rc;
	do {
		q = (struct znaming_question){.said = {.what = ZCTL_NAMING_LOOKUP}};
		name_service(&q.said, service);
		if (next_rail(-1) == zrails.n)
			return raise_lost(function);
	} while (!ask(&q, next_rail(-1)));
	if (q.said.answer != ZCTL_NAMING_DONE || q.said.vrank >= (uint32_t)zworld.nranks)
		return zerror_raise(NULL, MPI_ERR_NAME, function, "no rank has published the name %.200s", service);
	memcpy(port, q.said.port, strlen(q.said.port) + 1);
	znaming_note_port(port, (int)q.said.vrank);
	return MPI_SUCCESS;
}

/* Only the root knows the port, and all ranks of the communicator have to hear of the error. */
int zip_Comm_connect(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
	static const char function[] = "MPI_Comm_connect";
	int rank = 0, publisher = -1;
	int rc = zguard_comm(comm, function);

	if (rc == MPI_SUCCESS)
		rc = zn.Comm_rank(comm, &rank);
	if (rc == MPI_SUCCESS && rank == root && port)
		publisher = znaming_find_port(port);
	if (rc != MPI_SUCCESS)
		return rc;
	zshim_block_begin();
	rc = zn.Bcast(&publisher, 1, MPI_INT, root, comm);
	if (rc == MPI_SUCCESS && publisher < 0) {
		zshim_depth++;
		rc = zn.Comm_connect(port, info, root, comm, newcomm);
		zshim_depth--;
	}
	zshim_block_end();
	if (rc == MPI_SUCCESS && publisher < 0)
		zforeign_meet();
	if (rc != MPI_SUCCESS || publisher < 0)
		return rc;
	if (newcomm)
		*newcomm = MPI_COMM_NULL;
	return zerror_raise_native(comm, MPI_ERR_PORT, function,
		"rank %d of cluster %s has published this port; a port can only be reached from its own cluster",
		publisher, zworld.part_name[zworld.place[publisher].part]);
}

/* --- processes of other worlds (libzip/world/foreign.h), which native MPI brings --- */

static void begin(void)
{
	zshim_block_begin();
	zshim_depth++;
}

static int end(int rc)
{
	zshim_depth--;
	zshim_block_end();
	if (rc == MPI_SUCCESS)
		zforeign_meet();
	return rc;
}

int zip_Comm_spawn(const char *command, char *argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
	MPI_Comm *intercomm, int errcodes[])
{
	int rc = zguard_comm(comm, "MPI_Comm_spawn");
	if (rc != MPI_SUCCESS)
		return rc;
	begin();
	return end(zn.Comm_spawn(command, argv, maxprocs, info, root, comm, intercomm, errcodes));
}

int zip_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int maxprocs[], const MPI_Info infos[],
	int root, MPI_Comm comm, MPI_Comm *intercomm, int errcodes[])
{
	int rc = zguard_comm(comm, "MPI_Comm_spawn_multiple");
	if (rc != MPI_SUCCESS)
		return rc;
	begin();
	return end(zn.Comm_spawn_multiple(count, commands, argvs, maxprocs, infos, root, comm, intercomm, errcodes));
}

int zip_Comm_accept(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *newcomm)
{
	int rc = zguard_comm(comm, "MPI_Comm_accept");
	if (rc != MPI_SUCCESS)
		return rc;
	begin();
	return end(zn.Comm_accept(port, info, root, comm, newcomm));
}

int zip_Comm_join(int fd, MPI_Comm *intercomm)
{
	begin();
	return end(zn.Comm_join(fd, intercomm));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Barrier. Guaranteed: a member completes only after all members have entered. Its leader
 * spreads the token only after every part's leader has said that all of its part are in, which it
 * knows from the gathering. Between the groups of an intercommunicator the leaders are those of the other
 * group's parts, and a member completes after all of the other group have entered.
 */
#include "libzip/coll/coll_forms.h"
#include "libzip/coll/inside/coll_native.h"

int zbuild_barrier(struct zsched *s)
{
	struct zcomm *c = zsched_comm(s), *peers = zsched_peers(s);
	bool leader = zcoll_is_leader(c);
	char *token = zsched_alloc(s, (size_t)c->nlocal + 1);
	int rc = token ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	if (rc != MPI_SUCCESS)
		return rc;
	/* Gathering is enough on the way in: nobody but the leader need know. One byte: native MPI
	 * skips empty ones. */
	if (c->nlocal > 1)
		rc = znative_gather(s, token, 1, MPI_BYTE, token + 1, 1, MPI_BYTE, 0);
	zsched_round(s);
	for (int p = 0; p < peers->nparts && leader && rc == MPI_SUCCESS; p++) {
		if (peers != c || p != c->my_part)
			rc = zstep_recv(s, NULL, 0, MPI_BYTE, peers->parts[p].leader);
	}
	for (int p = 0; p < peers->nparts && leader && rc == MPI_SUCCESS; p++) {
		if (peers != c || p != c->my_part)
			rc = zstep_send(s, NULL, 0, MPI_BYTE, peers->parts[p].leader);
	}
	zsched_round(s);
	if (c->nlocal > 1 && rc == MPI_SUCCESS)
		rc = znative_bcast(s, token, 1, MPI_BYTE, 0);
	zsched_round(s);
	return rc;
}

static int build(struct zsched *s, const struct zcoll *a)
{
	(void)a;
	return zbuild_barrier(s);
}

static const struct zcoll_across across = {NULL, build};

#define PARAMS MPI_Comm comm
ZCOLL_FORM(Barrier, Ibarrier, , PARAMS, (comm), (.build = build, .across = &across))

int zcoll_barrier(struct zcomm *c)
{
	return zcoll_run(c, &(struct zcoll){.name = "MPI_Barrier", .build = build, .across = &across});
}

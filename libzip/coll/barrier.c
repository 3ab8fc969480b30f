/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A barrier. A member completes only after all members have entered: its leader spreads the token only after every
 * part's leader has said that all members of its part are in, which the leader knows from the gather inside. Between
 * the groups of an intercommunicator, leaders exchange tokens with the leaders of the other group's parts, and a member
 * completes after all members of the other group have entered.
 */
#include "libzip/coll/barrier.h"

#include "libzip/coll/base/leader.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/schedule/step.h"

int zbarrier_build(struct zsched *s, const struct zcoll *a)
{
	(void)a;
	struct zcomm *c = zsched_comm(s), *partners = zsched_partners(s);
	bool leader = zleader_is_me(c);
	char *token = zsched_alloc(s, (size_t)c->nlocal + 1);
	int rc = token ? MPI_SUCCESS : MPI_ERR_NO_MEM;
	if (rc != MPI_SUCCESS)
		return rc;
	/* On the way in a gather is enough, as only the leader need know. It gathers one byte from each member, as
	 * native MPI skips empty gathers. */
	if (c->nlocal > 1)
		rc = zinside_gather(s, token, 1, MPI_BYTE, token + 1, 1, MPI_BYTE, 0);
	zsched_round(s);
	for (int p = 0; p < partners->nparts && leader && rc == MPI_SUCCESS; p++) {
		if (partners != c || p != c->my_part)
			rc = zstep_recv(s, NULL, 0, MPI_BYTE, partners->parts[p].leader);
	}
	for (int p = 0; p < partners->nparts && leader && rc == MPI_SUCCESS; p++) {
		if (partners != c || p != c->my_part)
			rc = zstep_send(s, NULL, 0, MPI_BYTE, partners->parts[p].leader);
	}
	zsched_round(s);
	if (c->nlocal > 1 && rc == MPI_SUCCESS)
		rc = zinside_bcast(s, token, 1, MPI_BYTE, 0);
	zsched_round(s);
	return rc;
}

static const struct zcoll_across across = {NULL, zbarrier_build};

int zbarrier_run(struct zcomm *c)
{
	return zcoll_run(c, &(struct zcoll){.name = "MPI_Barrier", .build = zbarrier_build, .across = &across});
}

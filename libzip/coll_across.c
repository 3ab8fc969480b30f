/* SPDX-License-Identifier: BSD-3-Clause */
/* Data from one group of an intercommunicator to the other, see coll_across.h. */
#include "coll_across.h"

#include "coll_data.h"
#include "coll_leaders.h"
#include "coll_native.h"
#include "tune.h"

int zacross_send(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type)
{
	struct zcomm *to = zsched_peers(s);
	struct ztuning_settings tune = ztune_choose(to, ZTUNING_BCAST, zbuf_wire_bytes(count, type));
	int dest[ZCTL_PARTS_MAX];
	for (int p = 0; p < to->nparts; p++)
		dest[p] = to->parts[p].leader;
	return zbuild_to_several(s, buf, count, type, dest, to->nparts, &tune);
}

int zacross_hand_on(struct zsched *s, void *buf, MPI_Count count, MPI_Datatype type)
{
	zsched_round(s);
	int rc = zsched_comm(s)->nlocal > 1 ? znative_bcast(s, buf, count, type, 0) : MPI_SUCCESS;
	zsched_round(s);
	return rc;
}

int zacross_spread(struct zsched *s, void *buf, MPI_Count count, MPI_Datatype type, int root)
{
	int rc = zcoll_is_leader(zsched_comm(s)) ? zsched_recv(s, buf, count, type, root) : MPI_SUCCESS;
	return rc == MPI_SUCCESS ? zacross_hand_on(s, buf, count, type) : rc;
}

int zacross_exchange(struct zsched *s, const void *mine, MPI_Count nmine, void *theirs, MPI_Count ntheirs,
	MPI_Datatype type)
{
	int rc = zsched_comm(s)->rank == 0 ? zacross_send(s, mine, nmine, type) : MPI_SUCCESS;
	return rc == MPI_SUCCESS ? zacross_spread(s, theirs, ntheirs, type, 0) : rc;
}

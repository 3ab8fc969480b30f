/* SPDX-License-Identifier: BSD-3-Clause */
/* Data from one group of an intercommunicator to the other. */
#include "libzip/coll/across/across.h"

#include "libzip/coll/across/fanout.h"
#include "libzip/coll/base/buf.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/base/tune.h"
#include "libzip/coll/inside/inside.h"
#include "libzip/schedule/step.h"

int zacross_send_to(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, int leaders, int number)
{
	struct ztuning_settings tune = ztune_choose(zsched_partners(s), ZTUNING_BCAST, zbuf_wire_bytes(count, type));
	return zfanout_to_leaders(s, buf, count, type, leaders, number, &tune);
}

int zacross_send(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type)
{
	return zacross_send_to(s, buf, count, type, 1, 0);
}

int zacross_spread(struct zsched *s, void *buf, MPI_Count count, MPI_Datatype type, int root)
{
	struct zcomm *c = zsched_comm(s);
	int rc = zleader_is_me(c) ? zstep_recv(s, buf, count, type, root) : MPI_SUCCESS;
	zsched_round(s);
	if (rc == MPI_SUCCESS && c->nlocal > 1)
		rc = zinside_bcast(s, buf, count, type, 0);
	zsched_round(s);
	return rc;
}

int zacross_exchange(struct zsched *s, const void *mine, MPI_Count nmine, void *theirs, MPI_Count ntheirs,
	MPI_Datatype type)
{
	int rc = zsched_comm(s)->rank == 0 ? zacross_send(s, mine, nmine, type) : MPI_SUCCESS;
	return rc == MPI_SUCCESS ? zacross_spread(s, theirs, ntheirs, type, 0) : rc;
}

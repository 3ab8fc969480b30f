/* SPDX-License-Identifier: BSD-3-Clause */
/* What a member sends to leaders of all other parts, see coll_leaders.h. */
#include "coll_leaders.h"

#include "coll.h"

int zbuild_to_leaders(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, int leaders, int a,
	const struct ztuning_settings *tune)
{
	struct zcomm *c = zsched_comm(s);
	int dest[ZCTL_PARTS_MAX], rc = MPI_SUCCESS;
	for (int i = 1; i < c->nparts; i++) {
		int p = (c->my_part + i) % c->nparts;
		dest[i - 1] = c->parts[p].member[zcoll_first(c->parts[p].count, leaders, a)];
	}
	if (tune->multicast)
		return zsched_multicast(s, buf, count, type, dest, c->nparts - 1, tune->patience);
	for (int i = 0; i < c->nparts - 1 && rc == MPI_SUCCESS; i++)
		rc = zsched_send(s, buf, count, type, dest[i]);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending the same data to several members. */
#include "libzip/coll/across/fanout.h"

#include "libzip/coll/base/leader.h"
#include "libzip/schedule/step.h"

int zfanout_send(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, const int *dest, int n,
	const struct ztuning_settings *tune)
{
	int rc = MPI_SUCCESS;
	if (tune->multicast)
		return zstep_multicast(s, buf, count, type, dest, n, tune->patience);
	for (int i = 0; i < n && rc == MPI_SUCCESS; i++)
		rc = zstep_send(s, buf, count, type, dest[i]);
	return rc;
}

int zfanout_to_leaders(struct zsched *s, const void *buf, MPI_Count count, MPI_Datatype type, int leaders, int a,
	const struct ztuning_settings *tune)
{
	struct zcomm *to = zsched_partners(s);
	int first = to->local ? 0 : to->my_part + 1, n = to->local ? to->nparts : to->nparts - 1;
	int dest[ZCTL_PARTS_MAX];
	for (int i = 0; i < n; i++) {
		int p = (first + i) % to->nparts;
		dest[i] = to->parts[p].member[zleader_first(to->parts[p].count, leaders, a)];
	}
	return zfanout_send(s, buf, count, type, dest, n, tune);
}

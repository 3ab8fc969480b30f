/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Intercomm_create. */
#include "libzip/comm/inter_agree.h"
#include "libzip/comm/inter_make.h"
#include "libzip/shim/shim.h"
#include "libzip/world/comm.h"
#include "libzip/world/foreign.h"

int zip_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader, int tag,
	MPI_Comm *newintercomm)
{
	static const char name[] = "MPI_Intercomm_create";
	struct zinter i;
	zcomm_reap();
	if (local_comm == MPI_COMM_NULL || !newintercomm)
		return zn.Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm);
	int rc = zinter_agree(local_comm, local_leader, peer_comm, remote_leader, tag, name, &i);
	if (rc != MPI_SUCCESS && rc != ZINTER_NATIVE && i.nmine > 0)
		*newintercomm = MPI_COMM_NULL;
	if (rc == MPI_SUCCESS) {
		struct zcomm_outcome outcome = {0};
		MPI_Comm made = zinter_make(&i, local_comm, name, &outcome);
		rc = zinter_make_end(&i, made, local_comm, name, &outcome, newintercomm);
		zinter_free(&i);
	}
	if (rc != ZINTER_NATIVE)
		return rc;
	zforeign_meet(); /* also where only the leader has seen one */
	zshim_block_begin();
	rc = zn.Intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm);
	zshim_block_end();
	return rc;
}

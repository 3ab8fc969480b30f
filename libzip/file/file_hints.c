/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hints that switch off ROMIO's read-modify-write. Two of ROMIO's optimisations read a stretch of the file, change a
 * rank's or several ranks' bytes in it, and write the whole stretch back (src/mpi/romio/adio/common/ad_write_str.c and
 * ad_write_coll.c of MPICH 4.0.2). Bytes that another part has written into the stretch meanwhile would be lost.
 *
 * Data sieving locks the stretch, but plain writes of others take no locks. Collective buffering locks nothing where
 * the ranks of the job leave holes. Persistent file realms (romio_cb_pfr) use collective buffering, and
 * romio_no_indep_rw turns it on. Reading does no harm.
 *
 * All four hints are given, because ROMIO's file of hints (ROMIO_HINTS) only adds missing ones. ROMIO's driver for NFS
 * sieves whatever the hint says, but there every access takes a lock.
 */
#include "libzip/file/file.h"
#include "libzip/file/file_hints.h"
#include "libzip/shim/shim.h"

static const char *const wanted[][2] = {
	{"romio_cb_write", "disable"},
	{"romio_ds_write", "disable"},
	{"romio_cb_pfr", "disable"},
	{"romio_no_indep_rw", "false"},
};

int zfile_hints(MPI_Info info, int amode, MPI_Info *out)
{
	*out = info;
	if (amode & MPI_MODE_RDONLY)
		return MPI_SUCCESS;
	int rc = info == MPI_INFO_NULL ? zn.Info_create(out) : zn.Info_dup(info, out);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && rc == MPI_SUCCESS; i++)
		rc = zn.Info_set(*out, wanted[i][0], wanted[i][1]);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hints of a file that several native jobs write at the same time. Two of ROMIO's optimisations read a stretch of
 * the file, change a rank's or several ranks' bytes in it, and write all of it back: data sieving, which locks the
 * stretch, but plain writes of others take no locks; and collective buffering where the ranks of the job leave holes,
 * which locks nothing (src/mpi/romio/adio/common/ad_write_str.c and ad_write_coll.c of MPICH 4.0.2). What another part
 * has written into the holes meanwhile would be lost. Persistent file realms (romio_cb_pfr) go through the second, and
 * romio_no_indep_rw turns it on. Reading does no harm. All are given, as ROMIO's file of hints (ROMIO_HINTS) only adds
 * what is not. ROMIO's driver for NFS sieves whatever the hint is, but there every access takes a lock.
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

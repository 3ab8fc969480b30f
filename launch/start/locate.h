/* SPDX-License-Identifier: BSD-3-Clause */
/* Where mpiexec, zipperd and libzipper.so are. In the build tree they lie beside zmpirun, else where they are
 * installed, or where the installation was moved to. Environment variables ZMPIRUN_* override this. */
#ifndef ZIP_LAUNCH_LOCATE_H
#define ZIP_LAUNCH_LOCATE_H

#include <limits.h>

#include "common/base/err.h"

struct zlocate {
	char mpiexec[PATH_MAX];	       /* ZMPIRUN_MPIEXEC, or what configure found */
	char zipperd[PATH_MAX];	       /* ZMPIRUN_ZIPPERD */
	char libzipper[PATH_MAX];      /* ZMPIRUN_LIBZIPPER */
	char ompirun[PATH_MAX];	       /* mpirun of Open MPI: ZMPIRUN_OMPIRUN, or what configure found */
	char libzipper_ompi[PATH_MAX]; /* ZMPIRUN_LIBZIPPER_OMPI */
	char libzipper_abi[PATH_MAX];  /* ZMPIRUN_LIBZIPPER_ABI */
	char probe[PATH_MAX];	       /* what --check starts on each host: ZMPIRUN_PROBE */
	char module_dir[PATH_MAX];     /* where zipauth.so and others lie; "": where libzipper.so expects it */
};

/* Finds the paths, without looking whether the files exist. 0 or -ENAMETOOLONG. */
int zlocate_find(struct zlocate *, struct zerr *);
/* Is it a shared object for this machine, which the dynamic linker would take? The dynamic linker itself would only
 * warn, and the ranks would run unbridged. 0 or a negative errno with text. */
int zlocate_check_library(const char *path, struct zerr *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the other parts of the installation are: mpiexec, zipperd, libzipper.so. In the build tree beside ourselves,
 * else where they are installed; environment variables ZMPIRUN_* say otherwise. */
#ifndef ZIP_LAUNCH_LOCATE_H
#define ZIP_LAUNCH_LOCATE_H

#include <limits.h>

#include "common/base/err.h"

struct zlocate {
	char mpiexec[PATH_MAX];	   /* ZMPIRUN_MPIEXEC, or what configure found */
	char zipperd[PATH_MAX];	   /* ZMPIRUN_ZIPPERD */
	char libzipper[PATH_MAX];  /* ZMPIRUN_LIBZIPPER */
	char module_dir[PATH_MAX]; /* where zipauth.so and others lie; "": where libzipper.so expects it */
};

/* 0, or -ENAMETOOLONG. Does not look whether the files are there. */
int zlocate_find(struct zlocate *, struct zerr *);
/* Is it a shared object for this machine, that the dynamic linker would take? 0 or a negative errno with text: the
 * dynamic linker itself only warns, and the ranks would run unbridged. */
int zlocate_check_library(const char *path, struct zerr *);

#endif

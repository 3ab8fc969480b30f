/* SPDX-License-Identifier: BSD-3-Clause */
/* The hostfile of the site: the one that a job has where the command line names none. Start-up only; one thread. */
#ifndef ZIP_LAUNCH_SITE_H
#define ZIP_LAUNCH_SITE_H

/* Returns its path: that of ZMPIRUN_HOSTFILE, or else zipper.hosts in the folder of this installation's configuration.
 * NULL: the variable is empty, or there is no such file in the folder. The path stays valid until the next call. */
const char *zsite_find_hostfile(void);

#endif

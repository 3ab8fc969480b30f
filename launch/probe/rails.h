/* SPDX-License-Identifier: BSD-3-Clause */
/* The zippers of the job as the ranks of this host see them. One thread. */
#ifndef ZIP_LAUNCH_RAILS_H
#define ZIP_LAUNCH_RAILS_H

/* Connects to each zipper of ZIPPER_ZIPPERD, if that is set, as a rank does, with the job's credential, and says
 * whether that zipperd talks to us. module_dir: where zipauth.so lies, which is needed in any case. */
void zrails_say(const char *module_dir);

#endif

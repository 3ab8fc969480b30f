/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts of -hosts: the job uses only these hosts of the hostfile. Start-up only. */
#ifndef ZIP_LAUNCH_CHOSEN_H
#define ZIP_LAUNCH_CHOSEN_H

#include "common/hosts/hostfile.h"

/*
 * Takes all hosts out of the clusters but those of the list "NAME[:SLOTS],...", and gives these so many slots. NAME
 * may be node[01-04,7]: each of these hosts has the slots then. The order stays that of the file. A cluster without one
 * of these hosts has no slots then, and so no ranks. n= does not hold for a cluster that has lost a host, or where the
 * list has slots. 0, or a negative errno with text: a name that is no host of the file, or is there twice.
 */
int zchosen_keep(struct zhostfile *, const char *list, struct zerr *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of hosts and switches out of the descriptions of an InfiniBand fabric's devices. */
#ifndef ZIP_MAPPER_IB_NAMES_H
#define ZIP_MAPPER_IB_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "mapper/netfile/ib_fabric.h"

/* Is this adapter a part of a switch, and of no host? */
bool ib_names_in_switch(const char *description);
/* The host of an adapter, in memory that the caller frees: the first word of its description, or preset if that is no
 * host's. NULL: out of memory. */
char *ib_names_host(const char *description, const char *preset);
/* Makes a name for each switch in use: its description, if that is a word that no other switch has, or NAME and
 * NAME/PART out of "MF0;NAME:MODEL/U1" and "MF0;NAME:MODEL/PART"; else the name of the device. (*name)[devices] and its
 * strings are the caller's; also after -ENOMEM, then *name may be NULL. 0 or -ENOMEM. */
int ib_names_switches(const struct ib_fabric *, const bool *used, char ***name);

#endif

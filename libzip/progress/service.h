/* SPDX-License-Identifier: BSD-3-Clause */
/* The bridge and its progress as a whole: from MPI_Init to MPI_Finalize. Under the shim's lock. */
#ifndef ZIP_LIBZIP_SERVICE_H
#define ZIP_LIBZIP_SERVICE_H

#include <stdbool.h>

#include "libzip/progress/progress.h"
#include "libzip/stream/transfer.h"

struct zservice_params {
	const char *job;		    /* used until zservice_fini */
	bool oversubscribed;		    /* more ranks (and zippers) than cores on this host */
	bool launched;			    /* the launcher tells the user of lost zippers (ZIPPER_LAUNCHER) */
	enum zprogress_how wait;	    /* ZIPPER_WAIT */
	enum ztransfer_one_sided one_sided; /* ZIPPER_ONE_SIDED */
};

/* MPI_Init, after the world is known. The sessions of all rails are open; they are used until zservice_fini, and stay
 * open. MPI_SUCCESS or an MPI error class. */
int zservice_init(const struct zservice_params *);
/* Waits until all our messages are acknowledged, and all sends are complete that must be. MPI_Finalize calls it before
 * its barrier (no rank may leave while messages to it are under way); zservice_fini does so once more. */
void zservice_drain(void);
/* Says BYE on the data channels and closes them. abandon: what is still under way is lost, as all ranks are at their
 * end without having met; fini: drains before. */
void zservice_abandon(void);
void zservice_fini(void);

#endif

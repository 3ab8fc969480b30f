/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reports of this rank to zipperd about traffic that zipperd does not see: over direct links, and inside its own
 * part. Station 0, under the shim's lock.
 */
#ifndef ZIP_LIBZIP_TRAFFIC_H
#define ZIP_LIBZIP_TRAFFIC_H

#include <stdint.h>

/* Gives the messages and bytes that this rank has sent natively so far. Set by MPI_Init where they are counted. */
extern void (*ztraffic_native)(uint64_t *msgs, uint64_t *bytes);

/* Before a rank sleeps: tells what it has sent over direct links, once a second at most. */
void ztraffic_tell_direct(void);
/* At the end: everything. */
void ztraffic_tell_all(void);

#endif

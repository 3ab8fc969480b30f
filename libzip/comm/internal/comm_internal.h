/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A native communicator of our own over the base communicator, for messages inside the part that no application
 * receives, and as the parent of native communicators. It has no number (comm_unnumber.h). Tags of the application are
 * mixed into tags there, so that calls under way at the same time differ. Under the shim's lock.
 */
#ifndef ZIP_LIBZIP_COMM_INTERNAL_H
#define ZIP_LIBZIP_COMM_INTERNAL_H

#include <mpi.h>
#include <stdint.h>

#define ZCOMM_INTERNAL_TAGS_MIN 32767 /* tags that MPI guarantees: MPI-4.0 section 9.1.2 */
/* All parts of a world make the same tag of the same name or number. MPICH 4 has 2^28 tags, MPICH 5 twice as many. */
#define ZCOMM_INTERNAL_TAGS_MAX ((1 << 28) - 1)

/* In MPI_Init, when the world is known. Collective over the part. A native error code. */
int zcomm_internal_init(void);
void zcomm_internal_fini(void);

/* The number of tags that are told from each other there: from 0. */
int zcomm_internal_tags(void);
/* A tag below the modulus, the same for the same number. */
int zcomm_internal_mix(uint64_t number, int modulus);
/* The communicator, and the tag on it for a tag of the application. */
MPI_Comm zcomm_internal(int tag, int *mixed);
/* The communicator, and the one tag that is not mixed, which belongs to windows. */
MPI_Comm zcomm_internal_win(int *tag);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The surroundings of the bridge of a rank without MPI: native MPI as far as bytes need it, and sessions with zippers
 * that say nothing (linked with --wrap=zsession_poll,--wrap=zsession_watch).
 */
#ifndef ZIP_TEST_UNIT_RANK_AROUND_H
#define ZIP_TEST_UNIT_RANK_AROUND_H

/* Into the table of native functions. */
void rank_around_fill(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* * Wrappers of handlers (raised.h) for libraries whose handlers have no state. The library passes a wrapper no state.
 * So each function of the application has a C function of its own.
 */
#ifndef ZIP_LIBZIP_RAISED_SLOTS_H
#define ZIP_LIBZIP_RAISED_SLOTS_H

#include "libzip/abi/abi.h"

#define ZRAISED_SLOTS 64

/* The wrapper of a handler. It notes the code and calls the handler. The same function has the same wrapper, for the
 * life of the process. NULL: ZRAISED_SLOTS functions of that kind have one already. Any thread. */
MPI_Comm_errhandler_function *zraised_slots_comm(MPI_Comm_errhandler_function *);
MPI_Win_errhandler_function *zraised_slots_win(MPI_Win_errhandler_function *);
MPI_File_errhandler_function *zraised_slots_file(MPI_File_errhandler_function *);
MPI_Session_errhandler_function *zraised_slots_session(MPI_Session_errhandler_function *);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wrappers of handlers (raised.h) for libraries whose handlers have no state. A wrapper cannot be told what it wraps,
 * so there is a function of C for each function of the application.
 */
#ifndef ZIP_LIBZIP_RAISED_SLOTS_H
#define ZIP_LIBZIP_RAISED_SLOTS_H

#include "libzip/abi/abi.h"

/* The wrapper of a handler. It notes the code and calls the handler. The same function has the same wrapper, for the
 * life of the process. NULL: 64 functions of that kind have one already. Any thread. */
MPI_Comm_errhandler_function *zraised_slots_comm(MPI_Comm_errhandler_function *);
MPI_Win_errhandler_function *zraised_slots_win(MPI_Win_errhandler_function *);
MPI_File_errhandler_function *zraised_slots_file(MPI_File_errhandler_function *);
MPI_Session_errhandler_function *zraised_slots_session(MPI_Session_errhandler_function *);

#endif

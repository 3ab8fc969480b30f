/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors of the library towards the application: through the communicator's error handler, never exit(). Under the
 * shim's lock.
 *
 * Our error code has a class and the number of a text, in bits that native MPI leaves alone (libzip/abi/abi.h).
 * MPI_Error_string is interposed to return the text. MPI_Add_error_code was tried and is no help: with a predefined
 * class MPICH 4.0.2 returns the class, but some other message's text.
 */
#ifndef ZIP_LIBZIP_ERROR_H
#define ZIP_LIBZIP_ERROR_H

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>

struct zcomm;

/* Makes an error code of class with the text (MPI_Error_string gives it back), calls the error handler of comm (NULL:
 * of errors without an object, handlers.h) and returns the code. A class of MPI_SUCCESS does nothing. */
int zerror_raise(const struct zcomm *comm, int class, const char *function, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Does so only if the handler ends the job, else nothing. For callers that cannot return yet. */
void zerror_raise_if_fatal(const struct zcomm *comm, int class, const char *function, const char *text);
/* As zerror_raise, for a native handle that is not in our table. */
int zerror_raise_native(MPI_Comm comm, int class, const char *function, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Is this a code that the application has added (MPI_Add_error_code)? It means something in its own process alone. */
bool zerror_is_own(int code);
/* Calls the error handler of a communicator with such a code, and returns the code. */
int zerror_raise_own(MPI_Comm comm, int code);
/* For zsmall_raise (libzip/shim/small.h). With or without the lock. */
struct zsmall_object;
int zerror_raise_small(const struct zsmall_object *, int class, const char *function, const char *text);
/* The text of MPI_ERR_ARG, with the name of the argument. */
#define ZERROR_NULL "the argument %s is a null pointer"
/* As zerror_raise, with the error handler of a window. */
int zerror_raise_window(MPI_Win, int class, const char *function, const char *fmt, va_list)
	__attribute__((format(printf, 4, 0)));
/* As zerror_raise, with the error handler of a file (MPI-4.0 section 14.7); MPI_FILE_NULL: no file is open. */
int zerror_raise_file(MPI_File, int class, const char *function, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Cuts native MPI's error stack, many lines, off a text of MPI_Error_string. */
void zerror_cut_stack(char *text);
/* The class of an error code of native MPI or ours. */
int zerror_class(int code);
/* MPI_Test of a native request that does not raise its error where it should not. Returns MPI_SUCCESS, a class that has
 * not been raised, or a code that the native library has raised: where all communicators have the same handler, or with
 * ZABI_RAISES_ON_OWN. */
int zerror_test_native(MPI_Request *, int *flag, MPI_Status *);
/* Makes a code without calling a handler (for statuses). The texts of the last 64 different errors are kept. */
int zerror_code(int class, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Ends the world for a reason that only this rank knows: one line on stderr, then native abort with code. */
void zerror_fatal(int code, const char *fmt, ...) __attribute__((noreturn, format(printf, 2, 3)));
/* The same for news that every rank gets (a rank died, zipperd is gone). The first rank of each part that is not away
 * prints the line, and ends the others before they do. part: that of a dead rank, whose mpiexec gets some time to end
 * the part by itself. */
#define ZERROR_NO_PART (-1)
void zerror_lost(int code, int part, const char *fmt, ...) __attribute__((noreturn, format(printf, 3, 4)));
/* Pauses before the end of this part, so that mpiexec reads the program's output. */
void zerror_let_print(void);
/* The last step of both: native abort, after a pause. mpiexec drops output that it has not read when it learns of an
 * abort. */
void zerror_abort(int code) __attribute__((noreturn));
extern bool zerror_ending; /* zerror_abort has been called */

#endif

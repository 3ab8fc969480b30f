/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors of ours towards the application: through the communicator's error handler, never exit(). Under the shim's
 * lock.
 *
 * An error code of ours carries its class where MPICH has it (the low 7 bits, so that native MPI_Error_class is right)
 * and the number of its text in bits that MPICH leaves alone; MPI_Error_string is interposed to give the text back.
 * MPI_Add_error_code was tried and is no help: with a predefined class, MPICH 4.0.2 gives the class back, but some
 * other message's text.
 */
#ifndef ZIP_LIBZIP_ERROR_H
#define ZIP_LIBZIP_ERROR_H

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>

struct zcomm;

/* Makes an error code of class with the text (MPI_Error_string gives it back), calls the error handler of comm (of
 * MPI_COMM_WORLD if comm is NULL) and returns the code. A class of MPI_SUCCESS does nothing. */
int zerror_raise(const struct zcomm *comm, int class, const char *function, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Does so only if the handler ends the job, and otherwise nothing: for who cannot return yet. */
void zerror_raise_if_fatal(const struct zcomm *comm, int class, const char *function, const char *text);
/* The same for a native handle that is not in our table. */
int zerror_raise_native(MPI_Comm comm, int class, const char *function, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* The same by the error handler of a window. */
int zerror_raise_window(MPI_Win, int class, const char *function, const char *fmt, va_list)
	__attribute__((format(printf, 4, 0)));
/* The same for a file, by whose handler its errors go (MPI-4.0 section 14.7); MPI_FILE_NULL: none that is open. */
int zerror_raise_file(MPI_File, int class, const char *function, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A text of MPI_Error_string, where native MPI has many lines: without its error stack. */
void zerror_cut_stack(char *text);
/* The class of an error code of native MPI or ours. */
int zerror_class(int code);
/* As MPI_Test of a native request, but without raising its error: MPI_SUCCESS; a class that has not been raised; or a
 * code that the native library has raised, where all communicators have the same handler. */
int zerror_test_native(MPI_Request *, int *flag, MPI_Status *);
/* The code alone, without calling a handler (for statuses). The texts of the last 64 different errors are kept. */
int zerror_code(int class, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The world is lost for a reason that only this rank knows: one line on stderr, then native abort with code. Never
 * returns. */
void zerror_fatal(int code, const char *fmt, ...) __attribute__((noreturn, format(printf, 2, 3)));
/* The same for news that every rank gets (a rank died, zipperd is gone): the first rank of each part that is not away
 * prints it, and ends the others before they do. part: of the rank that died, whose mpiexec is left some time to end
 * that part by itself. */
#define ZERROR_NO_PART (-1)
void zerror_lost(int code, int part, const char *fmt, ...) __attribute__((noreturn, format(printf, 3, 4)));
/* A pause before the end of this part, in which mpiexec reads what the program has printed. */
void zerror_let_print(void);
/* The end of both: native abort, after a moment for mpiexec to pass on what was printed (it drops what it has not read
 * when it is told of an abort). */
void zerror_abort(int code) __attribute__((noreturn));
extern bool zerror_ending; /* that has been called */

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Error codes with texts, and calling error handlers. See error.h. */
#include "libzip/world/error.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/err.h"
#include "libzip/abi/abi.h"
#include "libzip/world/comm.h"
#include "libzip/world/handlers.h"
#include "libzip/world/rails.h"
#include "libzip/world/rejoin.h"
#include "libzip/shim/shim.h"
#include "libzip/shim/small.h"
#include "libzip/world/world.h"

#define SLOTS ZABI_ERROR_TEXTS
/* mpiexec learns of a dead rank of its own within some 10 ms, on a busy machine much later. Then it ends the others. */
#define OWN_PART_S 5
#define LAST_WORD_NS                                                                                                   \
	200000000 /* in the other parts: time for mpiexec and zmpirun to tell the cause before they end                \
		   */
#define TURNS 16  /* ranks of a part that wait one after the other: some seconds in all */
#define TEXT_BYTES (MPI_MAX_ERROR_STRING < 400 ? MPI_MAX_ERROR_STRING : 400) /* 512 in MPICH, 256 in Open MPI */

static struct slot {
	int class;
	char text[TEXT_BYTES];
} slots[SLOTS];
static unsigned next_slot;

#define PRINT_MS 100 /* time for mpiexec to read our line; without it, one abort in ten lost the line */

/* May be called at a station, too. */
static int code_of(int class, const char *text)
{
	static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
	unsigned at = SLOTS;

	pthread_mutex_lock(&writing);
	for (unsigned i = 0; i < SLOTS && at == SLOTS; i++)
		if (slots[i].class == class && strcmp(slots[i].text, text) == 0)
			at = i;
	if (at == SLOTS) {
		at = next_slot++ % SLOTS;
		slots[at].class = class;
		snprintf(slots[at].text, sizeof(slots[at].text), "%s", text);
	}
	pthread_mutex_unlock(&writing);
	return zabi_error_code(class, at);
}

static const struct slot *slot_of(int code)
{
	const int at = zabi_error_text(code);

	return at >= 0 && slots[at].class == zabi_error_class(code) && slots[at].text[0] ? &slots[at] : NULL;
}

int zip_Error_string(int errorcode, char *string, int *resultlen)
{
	const struct slot *slot = slot_of(errorcode);

	if (!slot)
		return zn.Error_string(zabi_error_for_native(errorcode), string, resultlen);
	*resultlen = (int)strlen(slot->text);
	memcpy(string, slot->text, (size_t)*resultlen + 1);
	return MPI_SUCCESS;
}

static int class_of(int code)
{
	int class = zabi_error_class(code);

	if (class < 0 && zn.Error_class(code, &class) != MPI_SUCCESS)
		class = MPI_ERR_UNKNOWN;
	return class;
}

int zerror_code(int class, const char *fmt, ...)
{
	char text[TEXT_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	zshim_whole();
	return code_of(class_of(class), text);
}

static void lost(int code, const char *text, bool print, bool tell) __attribute__((noreturn));

int zerror_class(int code)
{
	return class_of(code);
}

/* Native MPI raises the error on the request's own communicator. The result is a code, which tells the caller that a
 * handler has had it. */
static int test_on_own(MPI_Request *request, int *flag, MPI_Status *status)
{
	char text[MPI_MAX_ERROR_STRING] = "";
	int len, rc = zn.Test(request, flag, status);

	if (rc == MPI_SUCCESS)
		return rc;
	zn.Error_string(rc, text, &len);
	return code_of(class_of(rc), text);
}

int zerror_test_native(MPI_Request *request, int *flag, MPI_Status *status)
{
	if (ZABI_RAISES_ON_OWN)
		return test_on_own(request, flag, status);
	bool hushed = zhandlers_hush();
	int index, rc = zn.Testany(1, request, &index, flag, status); /* MPI_Test may raise elsewhere (handlers.h) */

	zhandlers_unhush(hushed);
	return hushed ? zerror_class(rc) : rc;
}

/* Finds the handler that counts for this communicator, and the communicator that has it. MPICH reports
 * MPI_ERRORS_ARE_FATAL for a communicator without a handler of its own, and uses the world's. Predefined handlers need
 * not be freed. */
static int find_handler(const struct zcomm *c, MPI_Comm *comm, MPI_Errhandler *handler)
{
	int rc = zip_Comm_get_errhandler(*comm, handler);

	if (rc != MPI_SUCCESS || *handler != MPI_ERRORS_ARE_FATAL || (c && c->fatal))
		return rc;
	*comm = MPI_COMM_WORLD;
	return zip_Comm_get_errhandler(*comm, handler);
}

void zerror_cut_stack(char *text)
{
	char *stack = strstr(text, ", error stack"); /* in MPICH */

	if (stack)
		*stack = '\0';
}

static void __attribute__((noreturn)) end_job(int code)
{
	char text[MPI_MAX_ERROR_STRING];
	int len;

	if (zip_Error_string(code, text, &len) != MPI_SUCCESS)
		snprintf(text, sizeof(text), "error %d", code);
	zerror_cut_stack(text);
	lost(class_of(code), text, true, true);
}

static void call_of_comm(const void *on, int code)
{
	zn.Comm_call_errhandler(*(const MPI_Comm *)on, code);
}

static void call_of_window(const void *on, int code)
{
	zn.Win_call_errhandler(*(const MPI_Win *)on, code);
}

static void call_of_file(const void *on, int code)
{
	zn.File_call_errhandler(*(const MPI_File *)on, zabi_error_for_native(code));
}

/* Calls a handler that was found, on the object that `on` points to, and frees it. A handler that ends the job ends
 * the whole world, not the native job of this part alone. */
static int call_found(MPI_Errhandler handler, void (*call)(const void *on, int code), const void *on, int code)
{
	if (zhandlers_ends_job(handler))
		end_job(code);
	if (handler == MPI_ERRORS_RETURN)
		return code;
#ifdef MPIR_ERRORS_THROW_EXCEPTIONS /* the C++ binding throws; native MPI takes the call of it for an error */
	if (handler == MPIR_ERRORS_THROW_EXCEPTIONS)
		return code;
#endif
	zhandlers_show(call == call_of_file);
	zshim_callback_begin();
	call(on, code);
	zshim_callback_end();
	zhandlers_hide(call == call_of_file);
	zn.Errhandler_free(&handler);
	return code;
}

int zip_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
	MPI_Errhandler handler;
	int rc = zip_Comm_get_errhandler(comm, &handler);

	if (rc == MPI_SUCCESS)
		call_found(handler, call_of_comm, &comm, errorcode);
	return rc;
}

int zip_Win_call_errhandler(MPI_Win win, int errorcode)
{
	MPI_Errhandler handler;
	int rc = zn.Win_get_errhandler(win, &handler);

	if (rc == MPI_SUCCESS)
		call_found(handler, call_of_window, &win, errorcode);
	return rc;
}

int zip_File_call_errhandler(MPI_File file, int errorcode)
{
	MPI_Errhandler handler;
	int rc = zip_File_get_errhandler(file, &handler);

	if (rc == MPI_SUCCESS)
		call_found(handler, call_of_file, &file, errorcode);
	return rc;
}

/* Makes a code whose text begins with the name of the function. */
static int __attribute__((format(printf, 3, 0)))
make_code(int class, const char *function, const char *fmt, va_list args)
{
	char text[TEXT_BYTES];
	int used = snprintf(text, sizeof(text), "%s: ", function);

	vsnprintf(text + used, sizeof(text) - (size_t)used, fmt, args);
	return code_of(class_of(class), text);
}

static int raise_error(const struct zcomm *c, MPI_Comm comm, int class, const char *function, const char *fmt,
	va_list args)
{
	if (class == MPI_SUCCESS)
		return MPI_SUCCESS;
	zshim_whole();
	const int code = make_code(class, function, fmt, args);
	MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
	return find_handler(c, &comm, &handler) == MPI_SUCCESS ? call_found(handler, call_of_comm, &comm, code) : code;
}

int zerror_raise_window(MPI_Win win, int class, const char *function, const char *fmt, va_list args)
{
	if (class == MPI_SUCCESS)
		return MPI_SUCCESS;
	zshim_whole();
	const int code = make_code(class, function, fmt, args);
	MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
	return zn.Win_get_errhandler(win, &handler) == MPI_SUCCESS ? call_found(handler, call_of_window, &win, code)
								   : code;
}

int zerror_raise(const struct zcomm *comm, int class, const char *function, const char *fmt, ...)
{
	va_list args;

	const MPI_Comm handle = comm ? comm->handle : zhandlers_home();
	va_start(args, fmt);
	int code = raise_error(comm ? comm : zcomm_find(handle), handle, class, function, fmt, args);
	va_end(args);
	return code;
}

void zerror_raise_if_fatal(const struct zcomm *comm, int class, const char *function, const char *text)
{
	MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
	MPI_Comm handle = comm->handle;

	if (find_handler(comm, &handle, &handler) != MPI_SUCCESS)
		return;
	if (zhandlers_ends_job(handler))
		zerror_raise(comm, class, function, "%s", text);
	if (handler != MPI_ERRORS_RETURN)
		zn.Errhandler_free(&handler);
}

int zerror_raise_native(MPI_Comm comm, int class, const char *function, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	int code = raise_error(zcomm_find(comm), comm, class, function, fmt, args);
	va_end(args);
	return code;
}

bool zerror_is_own(int code)
{
	return zabi_error_is_added(code);
}

int zerror_raise_own(MPI_Comm comm, int code)
{
	MPI_Errhandler handler = MPI_ERRHANDLER_NULL;

	zshim_whole();
	return find_handler(zcomm_find(comm), &comm, &handler) == MPI_SUCCESS
		       ? call_found(handler, call_of_comm, &comm, code)
		       : code;
}

int zerror_raise_file(MPI_File file, int class, const char *function, const char *fmt, ...)
{
	va_list args;

	if (class == MPI_SUCCESS)
		return MPI_SUCCESS;
	zshim_whole();
	va_start(args, fmt);
	const int code = make_code(class, function, fmt, args);
	va_end(args);
	MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
	return zip_File_get_errhandler(file, &handler) == MPI_SUCCESS ? call_found(handler, call_of_file, &file, code)
								      : code;
}

static int __attribute__((format(printf, 4, 5)))
raise_window(MPI_Win win, int class, const char *function, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	int code = zerror_raise_window(win, class, function, fmt, args);
	va_end(args);
	return code;
}

int zerror_raise_small(const struct zsmall_object *o, int class, const char *function, const char *text)
{
	int code = class;

	zshim_enter();
	switch (o->kind) {
	case ZSMALL_IS_COMM:
		code = zerror_raise_native(o->comm, class, function, "%s", text);
		break;
	case ZSMALL_IS_WIN:
		code = raise_window(o->win, class, function, "%s", text);
		break;
	case ZSMALL_IS_FILE:
		code = zerror_raise_file(o->file, class, function, "%s", text);
		break;
	}
	zshim_leave();
	return code;
}

/* tell: other ranks do not find out by themselves. */
static void lost(int code, const char *text, bool print, bool tell)
{
	if (print)
		zerr_print("libzipper: rank %d of %s (%s): %s\n", zworld.vrank, zworld_job(),
			zworld.part_name ? zworld.part_name[zworld.part] : "not joined", text);
	if (!zrails_abort(code, text) && tell)
		zrejoin_abort(code, text);
	zerror_abort(code);
}

void zerror_let_print(void)
{
	nanosleep(&(struct timespec){.tv_nsec = PRINT_MS * 1000000l}, NULL);
}

bool zerror_ending;

static void __attribute__((noreturn)) end_process(int code, void *unused)
{
	(void)unused;
	_exit(code & 0xff ? code & 0xff : EXIT_FAILURE);
}

/* Native MPI_Abort calls exit. But mpiexec kills the ranks of a job that fails, and no handler of atexit or destructor
 * of the program runs in these. The handler that was registered last is the first to run. */
void zerror_abort(int code)
{
	zerror_ending = true;
	zerror_let_print();
	on_exit(end_process, NULL);
	zn.Abort(MPI_COMM_WORLD, code);
	end_process(code, NULL);
}

void zerror_fatal(int code, const char *fmt, ...)
{
	char text[TEXT_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	lost(code, text, true, true);
}

void zerror_lost(int code, int part, const char *fmt, ...)
{
	char text[TEXT_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	/* The first abort of a part ends its mpiexec, which then never learns how the dead rank has ended: by a
	 * signal, or with a status. The user wants to read exactly that. */
	struct timespec patience = {.tv_nsec = LAST_WORD_NS};
	if (part == zworld.part)
		patience = (struct timespec){.tv_sec = OWN_PART_S};
	/* One rank of each part prints the line and ends the others: the part's first rank, or the next one if that is
	 * away (it computes, or its core is busy), and so on. If the first ones of a large part are away, all ranks
	 * that are here do it. No part ends without a word. */
	uint32_t lrank = zworld.place ? zworld.place[zworld.vrank].lrank : 0;
	if (lrank > 1)
		patience.tv_sec++;
	const int64_t ns = patience.tv_nsec + (int64_t)LAST_WORD_NS * (lrank < TURNS ? lrank : TURNS);
	patience.tv_sec += ns / 1000000000;
	patience.tv_nsec = ns % 1000000000;
	/* The first rank may have lost the last of several rails in another way, and wait for zipperd's reason. */
	if (lrank > 0 && zrails.n > 1)
		patience.tv_sec++;
	nanosleep(&patience, NULL);
	lost(code, text, zworld.place, false);
}

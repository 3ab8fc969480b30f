/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers of handlers without state. See raised_slots.h. */
#include "libzip/shim/raised_slots.h"

#include <pthread.h>
#include <stddef.h>

#include "libzip/shim/raised.h"

static pthread_mutex_t taking = PTHREAD_MUTEX_INITIALIZER;

/* The number of a slot is two octal digits. */
#define EIGHT(F, Kind, kind, high)                                                                                     \
	F(Kind, kind, high##0)                                                                                         \
	F(Kind, kind, high##1)                                                                                         \
	F(Kind, kind, high##2)                                                                                         \
	F(Kind, kind, high##3)                                                                                         \
	F(Kind, kind, high##4) F(Kind, kind, high##5) F(Kind, kind, high##6) F(Kind, kind, high##7)
#define ALL(F, Kind, kind)                                                                                             \
	EIGHT(F, Kind, kind, 0)                                                                                        \
	EIGHT(F, Kind, kind, 1)                                                                                        \
	EIGHT(F, Kind, kind, 2)                                                                                        \
	EIGHT(F, Kind, kind, 3)                                                                                        \
	EIGHT(F, Kind, kind, 4) EIGHT(F, Kind, kind, 5) EIGHT(F, Kind, kind, 6) EIGHT(F, Kind, kind, 7)

/* MPICH passes nothing behind the code. */
#define DEFINE(Kind, kind, n)                                                                                          \
	static void kind##_##n(MPI_##Kind *object, int *code, ...)                                                     \
	{                                                                                                              \
		zraised_note(*code);                                                                                   \
		wrapped_##kind[0##n](object, code);                                                                    \
	}
#define NAME(Kind, kind, n) kind##_##n,

/* A slot is written before its wrapper is known to anybody, and never again. */
#define KIND(Kind, kind)                                                                                               \
	static MPI_##Kind##_errhandler_function *wrapped_##kind[ZRAISED_SLOTS];                                        \
	ALL(DEFINE, Kind, kind)                                                                                        \
	static MPI_##Kind##_errhandler_function *const wrappers_##kind[ZRAISED_SLOTS] = {ALL(NAME, Kind, kind)};       \
	MPI_##Kind##_errhandler_function *zraised_slots_##kind(MPI_##Kind##_errhandler_function *function)             \
	{                                                                                                              \
		int i = 0;                                                                                             \
                                                                                                                       \
		pthread_mutex_lock(&taking);                                                                           \
		while (i < ZRAISED_SLOTS && wrapped_##kind[i] && wrapped_##kind[i] != function)                        \
			i++;                                                                                           \
		if (i < ZRAISED_SLOTS)                                                                                 \
			wrapped_##kind[i] = function;                                                                  \
		pthread_mutex_unlock(&taking);                                                                         \
		return i < ZRAISED_SLOTS ? wrappers_##kind[i] : NULL;                                                  \
	}

KIND(Comm, comm)
KIND(Win, win)
KIND(File, file)
KIND(Session, session)

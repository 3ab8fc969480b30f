/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The schedule engine without MPI and without a bridge: fakes of everything that it calls record what is started, and
 * the test completes it.
 */
#ifndef ZIP_TEST_UNIT_SCHEDULE_FAKES_H
#define ZIP_TEST_UNIT_SCHEDULE_FAKES_H

#include <mpi.h>
#include <stdbool.h>

#include "libzip/schedule/step.h"

/* Messages and native requests are numbered in the order in which they are started, from 1. */
#define FAKES_MAX 32

struct fake_message {
	struct zreq req;
	char kind; /* 's', 'r', 'm': to several */
	int peer, tag;
	enum zcomm_context context;
	MPI_Count count, arrived;
};

extern struct fakes {
	struct fake_message messages[FAKES_MAX];
	int nmessages, nnatives, released, calls;
	bool native_done[FAKES_MAX];
	char trace[256];   /* a letter for whatever was started */
	int raised, fatal; /* fatal: as if the handler ended the job */
	/* The error handler of communicators; those got are as many as are freed. */
	MPI_Errhandler handler;
	int handled, handlers_held;
	struct zcomm comm, other; /* their next tag is 7 */
} fakes;

#define FAKES_HANDLER ((MPI_Errhandler)77)

/* Setup of each test. */
int fakes_setup(void **state);
void fakes_note(const char *what); /* into the trace */
/* Message n completes with count bytes (the type is always MPI_BYTE). */
void fakes_complete(int n, MPI_Count bytes, int error);
/* Steps: a native one, which is noted as "n"; one that fails ("f"); a call, noted as arg says or as "c". */
int fakes_begin_native(void *arg, MPI_Request *r);
int fakes_fail_native(void *arg, MPI_Request *r);
int fakes_work(struct zsched *s, void *arg);

#endif

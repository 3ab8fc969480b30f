/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions to the zippers about published names (MPI-4.0 section 11.9). Each zipper of the job has all names of the
 * job, so a rank tells every good rail, in their order, and the first one decides: two ranks that publish the same name
 * meet there. A question is asked at one rail, and its answer comes with a later turn of progress. Under the shim's
 * lock, in the library as a whole.
 */
#ifndef ZIP_LIBZIP_NAMING_H
#define ZIP_LIBZIP_NAMING_H

#include <stdbool.h>

#include "common/control/ctl.h"

/* On the stack of a rank that asks. */
struct znaming_question {
	struct zctl_naming said; /* the question; once it is answered: the answer */
	int rail;
	bool answered;
	struct znaming_question *next; /* of those that wait for an answer */
};

/* Asks at that rail: what, service and port of said are set. A rail that cannot be told is noted as lost by the next
 * turn of progress. The question is in the list until znaming_is_over has been true for it. */
void znaming_ask(struct znaming_question *, int rail);
/* Is it answered, or its rail lost? */
bool znaming_is_over(void *question);
/* Takes it out of the list. */
void znaming_forget(struct znaming_question *);
/* An answer has come from that rail. */
void znaming_take(int rail, const struct zctl_naming *);

/* The ports that this rank has looked up and that were published in another part. note: the rank of that vrank has
 * published the port. find: the vrank, or -1: the port is not from another part, as far as this rank knows. */
void znaming_note_port(const char *port, int vrank);
int znaming_find_port(const char *port);
/* MPI_Finalize. */
void znaming_fini(void);

#endif

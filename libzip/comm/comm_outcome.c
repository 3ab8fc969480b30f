/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement on the outcome of a constructor. The members reduce one number. Only if it tells of a failure, the lowest
 * rank that has failed tells its text. */
#include "libzip/comm/comm_outcome.h"

#include <stdio.h>
#include <string.h>

#include "libzip/abi/abi.h"
#include "libzip/coll/across/across.h"
#include "libzip/coll/allreduce.h"
#include "libzip/coll/bcast.h"
#include "libzip/schedule/step.h"
#include "libzip/shim/shim.h"
#include "libzip/world/error.h"
#include "libzip/world/world.h"

void zcomm_outcome_note(struct zcomm_outcome *o, int class, const char *text)
{
	if (o->failure != 0 || class == MPI_SUCCESS)
		return;
	o->failure = (unsigned char)zabi_class_number(class);
	snprintf(o->text, sizeof(o->text), "%s", text);
}

int zcomm_outcome_class(const struct zcomm_outcome *o)
{
	return zabi_class_of(o->failure);
}

/* Native MPI's innermost reason is the last line of its error stack, behind a place in its source. A duplication that
 * has begun fails in MPICH 4.0.2 for want of a context id, and says "Invalid communicator". */
static const char *reason_of(char *text)
{
	char *line = strrchr(text, '\n'), *reason = line ? strstr(line, "): ") : NULL;
	if (strstr(text, "oo many communicators") || (line && strstr(line, "MPIDU_Sched_progress_state")))
		return "too many communicators";
	if (reason)
		return reason + 3;
	zerror_cut_stack(text);
	return text;
}

void zcomm_outcome_note_native(struct zcomm_outcome *o, int code, bool raised)
{
	char stack[MPI_MAX_ERROR_STRING] = "", text[ZCOMM_OUTCOME_TEXT];
	int len;
	if (o->failure != 0 || code == MPI_SUCCESS)
		return;
	zip_Error_string(code, stack, &len);
	snprintf(text, sizeof(text), "%s, in part '%s'", reason_of(stack), zworld.part_name[zworld.part]);
	zcomm_outcome_note(o, zerror_is_own(code) ? MPI_ERR_OTHER : zerror_class(code), text);
	if (raised)
		o->raised = code;
	else if (zerror_is_own(code))
		o->own = code;
}

struct agreement {
	struct zcomm_outcome *mine;
	struct zcomm_outcome theirs; /* of the remote group */
	/* 0: success; else the failure, and in the bits above it the higher the lower the rank that failed */
	int64_t word, their_word;
	int (*after)(struct zsched *, void *arg);
	void *arg;
};
#define CLASS_BITS 8

/* The other steps are done now. */
static int begin(struct zsched *s, void *arg)
{
	struct agreement *a = arg;
	const struct zcomm *c = zsched_comm(s);
	if (a->mine->failure != 0)
		a->word = (int64_t)(c->size - c->rank) << CLASS_BITS | a->mine->failure;
	return MPI_SUCCESS;
}

static int end(struct zsched *s, void *arg)
{
	struct agreement *a = arg;
	const bool first = zsched_inter(s) && zsched_inter(s)->first;
	if (a->their_word != 0 && (a->word == 0 || !first))
		memcpy(a->mine, &a->theirs, ZCOMM_OUTCOME_BYTES);
	return a->after ? a->after(s, a->arg) : MPI_SUCCESS;
}

/* In a group that has failed all members get the words of one of them; the other group hears these. */
static int tell(struct zsched *s, void *arg)
{
	struct agreement *a = arg;
	int rc = MPI_SUCCESS;
	if (a->word == 0 && a->their_word == 0)
		return end(s, a);
	zsched_across(s, false);
	if (a->word != 0)
		rc = zbcast_add(s, a->mine, ZCOMM_OUTCOME_BYTES, MPI_BYTE,
			zsched_comm(s)->size - (int)(a->word >> CLASS_BITS));
	zsched_across(s, true);
	if (zsched_inter(s) && rc == MPI_SUCCESS)
		rc = zacross_exchange(s, a->mine, ZCOMM_OUTCOME_BYTES, &a->theirs, ZCOMM_OUTCOME_BYTES, MPI_BYTE);
	return rc == MPI_SUCCESS ? zstep_call(s, end, a) : rc;
}

int zcomm_outcome_add(struct zsched *s, struct zcomm_outcome *o, int (*after)(struct zsched *, void *), void *arg)
{
	struct agreement *a = zsched_alloc(s, sizeof *a);
	struct zcoll *sum = zsched_alloc(s, sizeof *sum);
	if (!a || !sum)
		return MPI_ERR_NO_MEM;
	memset(a, 0, sizeof *a);
	a->mine = o;
	a->after = after;
	a->arg = arg;
	*sum = (struct zcoll){.sendbuf = MPI_IN_PLACE,
		.recvbuf = &a->word,
		.recvcount = 1,
		.recvtype = MPI_INT64_T,
		.op = MPI_MAX};
	zsched_across(s, false);
	int rc = zstep_call(s, begin, a);
	zsched_round(s);
	if (rc == MPI_SUCCESS)
		rc = zallreduce_build(s, sum);
	zsched_round(s);
	zsched_across(s, true);
	if (zsched_inter(s) && rc == MPI_SUCCESS)
		rc = zacross_exchange(s, &a->word, 1, &a->their_word, 1, MPI_INT64_T);
	zsched_round(s);
	return rc == MPI_SUCCESS ? zstep_call(s, tell, a) : rc;
}

static int build(struct zsched *s, const struct zcoll *a)
{
	return zcomm_outcome_add(s, a->recvbuf, NULL, NULL);
}

void zcomm_outcome_agree(struct zcomm *c, const char *name, struct zcomm_outcome *o)
{
	static const struct zcoll_across across = {NULL, build};
	int rc = zcoll_run(c, &(struct zcoll){.name = name, .build = build, .across = &across, .recvbuf = o});
	if (rc == MPI_SUCCESS)
		return;
	zcomm_outcome_note(o, zerror_class(rc), "the members could not agree");
	o->raised = rc;
}

int zcomm_outcome_raise(MPI_Comm comm, const char *name, const struct zcomm_outcome *o)
{
	if (o->failure == 0 || o->raised != MPI_SUCCESS)
		return o->failure == 0 ? MPI_SUCCESS : o->raised;
	if (o->own != MPI_SUCCESS)
		return zerror_raise_own(comm, o->own);
	return zerror_raise_native(comm, zcomm_outcome_class(o), name, "%s", o->text);
}

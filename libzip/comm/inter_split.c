/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_split and MPI_Comm_create of intercommunicators. */
#include "libzip/comm/inter_split.h"

#include <stdlib.h>

#include "libzip/comm/comm_make.h"
#include "libzip/comm/inter_hear.h"
#include "libzip/comm/inter_make.h"
#include "libzip/world/error.h"

/* Selects the members of both groups that have my color. If a group has none, there is no intercommunicator. */
static int select_groups(const struct zcomm *c, const int64_t (*said)[ZSAID_COUNT], int color, struct zinter *i)
{
	int64_t id = 0, their_id = 0;
	i->mine = malloc((size_t)c->local->size * sizeof *i->mine);
	i->theirs = malloc((size_t)c->size * sizeof *i->theirs);
	if (!i->mine || !i->theirs)
		return MPI_ERR_NO_MEM;
	i->nmine = zcomm_agree_select(said, c->local->vrank, c->local->size, color, i->mine, &id);
	i->ntheirs = zcomm_agree_select(said + c->local->size, c->vrank, c->size, color, i->theirs, &their_id);
	if (i->nmine < 0 || i->ntheirs < 0)
		return MPI_ERR_NO_MEM;
	if (i->nmine > 0 && i->ntheirs > 0)
		i->id = i->mine[0] < i->theirs[0] ? id : their_id;
	return MPI_SUCCESS;
}

MPI_Comm zinter_split_make(struct zcomm *c, int color, int key, const char *name, struct zcomm_outcome *outcome)
{
	int64_t mine[ZSAID_COUNT] = {color, key, (int64_t)zcomm_new_id()}, (*all)[ZSAID_COUNT];
	struct zinter i = {.session = c->session};
	MPI_Comm made = MPI_COMM_NULL;
	int rc = zinter_hear(c, name, mine, &all);
	if (rc != MPI_SUCCESS) {
		zcomm_outcome_note(outcome, zerror_class(rc), "the members could not agree");
		outcome->raised = rc;
		return MPI_COMM_NULL;
	}
	if (color != MPI_UNDEFINED)
		zcomm_outcome_note(outcome, select_groups(c, (const int64_t(*)[ZSAID_COUNT])all, color, &i),
			"out of memory");
	free(all);
	if (outcome->failure == 0 && i.nmine > 0 && i.ntheirs > 0)
		made = zinter_make(&i, c->handle, name, outcome);
	zinter_free(&i);
	zcomm_outcome_agree(c, name, outcome);
	return made;
}

int zinter_split(struct zcomm *c, int color, int key, MPI_Comm *newcomm, const char *name)
{
	struct zcomm_outcome outcome = {0};
	MPI_Comm made = zinter_split_make(c, color, key, name, &outcome);
	return zcomm_make_end(made, c->handle, name, &outcome, newcomm);
}

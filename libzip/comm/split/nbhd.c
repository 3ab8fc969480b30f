/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits by neighbourhood. See nbhd.h. */
#include "libzip/comm/split/nbhd.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/hash.h"
#include "libzip/comm/inter_hear.h"
#include "libzip/comm/split/witness.h"
#include "libzip/shim/shim.h"
#include "libzip/world/error.h"
#include "libzip/world/world.h"

#define FOLDER_KEY "nbhd_common_dirname"
#define NETWORK_KEY "network_topo"
/* Where the numbers of comm_agree.h hold something else. */
enum { SAID_FOLDER = ZSAID_KEY, SAID_NETWORK = ZSAID_ORDERS, SAID_RANDOM = ZSAID_ID };

/* Returns a hash of the text, which is never 0; 0: there is no such hint. */
static int64_t hint(MPI_Info info, const char *key, char text[MPI_MAX_INFO_VAL + 1])
{
	int flag = 0;

	if (info == MPI_INFO_NULL || zn.Info_get(info, key, MPI_MAX_INFO_VAL, text, &flag) != MPI_SUCCESS || !flag)
		return 0;
	return (int64_t)(zhash64(ZHASH64, text, strlen(text)) | 1);
}

void znbhd_say(MPI_Info info, int64_t mine[ZSAID_COUNT])
{
	char text[MPI_MAX_INFO_VAL + 1];

	mine[SAID_FOLDER] = hint(info, FOLDER_KEY, text);
	mine[SAID_NETWORK] = hint(info, NETWORK_KEY, text);
	mine[SAID_RANDOM] = (int64_t)zwitness_number();
}

/* Do all who take part say the same there, and no 0? */
static bool is_agreed(const int64_t (*said)[ZSAID_COUNT], int n, int64_t color, int what)
{
	int64_t first = 0;

	for (int r = 0; r < n; r++) {
		if (said[r][ZSAID_COLOR] != color)
			continue;
		if (said[r][what] == 0 || (first != 0 && said[r][what] != first))
			return false;
		first = said[r][what];
	}
	return first != 0;
}

enum znbhd znbhd_agreed(const int64_t (*said)[ZSAID_COUNT], int n, int64_t color)
{
	if (is_agreed(said, n, color, SAID_FOLDER))
		return ZNBHD_FOLDER;
	return is_agreed(said, n, color, SAID_NETWORK) ? ZNBHD_NETWORK : ZNBHD_NONE;
}

int znbhd_network(MPI_Info info, MPI_Info *alone)
{
	char text[MPI_MAX_INFO_VAL + 1];
	int rc = zn.Info_create(alone);

	if (rc == MPI_SUCCESS && hint(info, NETWORK_KEY, text) != 0)
		rc = zn.Info_set(*alone, NETWORK_KEY, text);
	return rc;
}

bool znbhd_hear(struct zcomm *c, const char *name, const int64_t mine[ZSAID_COUNT], int64_t (**all)[ZSAID_COUNT],
	int *n, struct zcomm_outcome *outcome)
{
	*n = c->size + (c->local ? c->local->size : 0);
	int rc = c->local ? zinter_hear(c, name, mine, all) : zcomm_agree_hear(c, name, NULL, *n, mine, all);
	if (rc == MPI_SUCCESS)
		return true;
	zcomm_outcome_note(outcome, zerror_class(rc), "the members could not agree");
	outcome->raised = rc;
	return false;
}

/* The vrank of a member, in the order in which the members are heard. */
static int vrank_of(const struct zcomm *c, int member)
{
	if (!c->local)
		return c->vrank[member];
	return member < c->local->size ? c->local->vrank[member] : c->vrank[member - c->local->size];
}

/* The lowest vrank of each part that takes part, or INT_MAX; and the random number of the lowest of all. */
static int64_t choose_makers(const struct zcomm *c, const struct znbhd_heard *h, int *maker)
{
	int64_t random = 0;
	int lowest = INT_MAX;

	for (int p = 0; p < zworld.nparts; p++)
		maker[p] = INT_MAX;
	for (int i = 0; i < h->n; i++) {
		const int v = vrank_of(c, i);
		if (h->said[i][ZSAID_COLOR] != h->color)
			continue;
		int *m = &maker[zworld.place[v].part];
		*m = v < *m ? v : *m;
		random = v < lowest ? h->said[i][SAID_RANDOM] : random;
		lowest = v < lowest ? v : lowest;
	}
	return random;
}

static int compare_ints(const void *a, const void *b)
{
	const int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

/* The name of the file that a member makes. NULL: no memory. */
static char *name_of(const char *folder, int64_t random, int vrank)
{
	char *path;
	return asprintf(&path, "%s/.zipper.%016" PRIx64 ".%d", folder, (uint64_t)random, vrank) < 0 ? NULL : path;
}

static int class_of(int error)
{
	if (error == ENOENT || error == ENOTDIR)
		return MPI_ERR_NO_SUCH_FILE;
	if (error == EACCES || error == EPERM)
		return MPI_ERR_ACCESS;
	if (error == EROFS)
		return MPI_ERR_READ_ONLY;
	return error == ENOSPC || error == EDQUOT ? MPI_ERR_NO_SPACE : MPI_ERR_IO;
}

/* done is the result of a member: 0: it has made its file, a positive errno: it could not, or NO_MAKER. All members
 * hear it. The makers that could not become INT_MAX. False: there is none left, or no agreement. */
#define NO_MAKER (-1)
static bool hear_makers(struct zcomm *c, const char *name, int done, int *maker, struct zcomm_outcome *outcome)
{
	int64_t mine[ZSAID_COUNT] = {done}, (*all)[ZSAID_COUNT];
	int n, made = 0, lowest = INT_MAX, error = 0;
	if (!znbhd_hear(c, name, mine, &all, &n, outcome))
		return false;
	for (int i = 0; i < n; i++) {
		const int v = vrank_of(c, i), what = (int)all[i][ZSAID_COLOR];
		made += what == 0;
		if (what <= 0)
			continue;
		if (maker)
			maker[zworld.place[v].part] = INT_MAX;
		error = v < lowest ? what : error;
		lowest = v < lowest ? v : lowest;
	}
	free(all);
	if (made > 0)
		return true;
	char text[ZCOMM_OUTCOME_TEXT];
	snprintf(text, sizeof(text), "no process can make a file in the folder of " FOLDER_KEY ": %s", strerror(error));
	/* Another failure of this member alone is not told: all members end here with this one. */
	*outcome = (struct zcomm_outcome){0};
	zcomm_outcome_note(outcome, class_of(error), text);
	return false;
}

/* The lowest maker whose file this member sees. */
static int look(const char *folder, int64_t random, int *maker)
{
	int left_ms = ZWITNESS_PATIENCE_MS;

	qsort(maker, (size_t)zworld.nparts, sizeof *maker, compare_ints);
	for (int p = 0; p < zworld.nparts && maker[p] != INT_MAX; p++) {
		char *path = name_of(folder, random, maker[p]);
		const bool seen = path && zwitness_await(path, &left_ms);
		free(path);
		if (seen)
			return maker[p];
	}
	return ZNBHD_ALONE;
}

/* All members have looked when all have been heard. */
static bool hear_alone(struct zcomm *c, const char *name, int color, bool *alone, struct zcomm_outcome *outcome)
{
	int64_t mine[ZSAID_COUNT] = {color}, (*all)[ZSAID_COUNT];
	int n;
	*alone = false;
	if (!znbhd_hear(c, name, mine, &all, &n, outcome))
		return false;
	for (int i = 0; i < n; i++)
		*alone |= all[i][ZSAID_COLOR] == ZNBHD_ALONE;
	free(all);
	return true;
}

bool znbhd_folder(struct zcomm *c, const char *name, MPI_Info info, const struct znbhd_heard *h, int *color,
	bool *alone, struct zcomm_outcome *outcome)
{
	char folder[MPI_MAX_INFO_VAL + 1] = "", *mine = NULL;
	int *maker = malloc((size_t)zworld.nparts * sizeof *maker), done = NO_MAKER;
	const int64_t random = maker ? choose_makers(c, h, maker) : 0;
	if (h->in)
		hint(info, FOLDER_KEY, folder);
	if (!maker) {
		zcomm_outcome_note(outcome, MPI_ERR_NO_MEM, "out of memory");
		done = h->in ? ENOMEM : NO_MAKER;
	} else if (maker[zworld.part] == zworld.vrank) {
		mine = name_of(folder, random, zworld.vrank);
		done = mine ? -zwitness_make(mine) : ENOMEM;
	}
	bool rc = hear_makers(c, name, done, maker, outcome);
	if (rc) {
		*color = MPI_UNDEFINED;
		if (h->in)
			*color = maker ? look(folder, random, maker) : ZNBHD_ALONE;
		rc = hear_alone(c, name, *color, alone, outcome);
	}
	if (done == 0)
		unlink(mine);
	free(mine);
	free(maker);
	return rc;
}

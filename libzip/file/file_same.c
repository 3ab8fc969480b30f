/* SPDX-License-Identifier: BSD-3-Clause */
/* Do all parts see one file? See file_same.h. */
#include "libzip/file/file_same.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libzip/progress/progress.h"
#include "libzip/bridge/bridge.h"
#include "libzip/coll/base/leader.h"
#include "libzip/coll/bcast.h"
#include "libzip/comm/split/witness.h"
#include "libzip/file/file.h"
#include "libzip/file/file_beside.h"
#include "libzip/shim/shim.h"

/* The facts about the file that rank 0 tells the leaders. */
struct told {
	char text[ZFILE_BESIDE_RANDOM]; /* empty: no file was put beside it */
	bool regular;
	uint64_t type, device; /* of files that are not regular: each host has its own, as /dev/null */
	uint64_t inode;
	int64_t size, written_s, written_ns, changed_s, changed_ns;
};

static void look(const char *path, struct told *t)
{
	struct stat st;

	memset(t, 0, sizeof(*t));
	if (stat(path, &st) != 0)
		return;
	t->regular = S_ISREG(st.st_mode);
	t->type = st.st_mode & S_IFMT;
	t->device = st.st_rdev;
	t->inode = st.st_ino;
	t->size = st.st_size;
	t->written_s = st.st_mtim.tv_sec;
	t->written_ns = st.st_mtim.tv_nsec;
	t->changed_s = st.st_ctim.tv_sec;
	t->changed_ns = st.st_ctim.tv_nsec;
}

static bool is_one(const struct told *a, const struct told *b)
{
	return a->regular && b->regular && a->inode == b->inode && a->size == b->size && a->written_s == b->written_s &&
	       a->written_ns == b->written_ns && a->changed_s == b->changed_s && a->changed_ns == b->changed_ns;
}

/* Puts an empty file beside it. Returns its name; NULL: not possible. */
static char *put_beside(const char *path, struct told *t)
{
	zfile_beside_random(t->text);
	char *name = zfile_beside_name(path, t->text);

	if (name && zwitness_make(name) == 0)
		return name;
	free(name);
	t->text[0] = '\0';
	return NULL;
}

/* The reasons, in the order of their weight. */
enum same { ONE, COPY, OTHER_KIND, OTHER_DEVICE, OTHER_SIZE, OTHER_FILE };
static const char *const reasons[] = {[OTHER_KIND] = "it is of another kind there",
	[OTHER_DEVICE] = "it is another device there",
	[OTHER_SIZE] = "it has another size there",
	[OTHER_FILE] = "it is another file there"};
#define REASON_BITS 4

static enum same compare_written(const char *path, const struct told *t, const struct told *mine)
{
	if (!t->text[0])
		return is_one(t, mine) ? ONE : OTHER_FILE;
	char *beside = zfile_beside_name(path, t->text);
	bool there = beside && zfile_beside_await(beside);
	free(beside);
	return there ? ONE : OTHER_FILE;
}

/* The comparison by the leader of another part. */
static enum same compare(const char *path, const struct told *t, bool may_write)
{
	struct told mine;

	look(path, &mine);
	if (t->type != mine.type)
		return OTHER_KIND;
	if (!t->regular)
		return t->device == mine.device ? COPY : OTHER_DEVICE;
	if (may_write)
		return compare_written(path, t, &mine);
	if (t->size != mine.size)
		return OTHER_SIZE;
	return is_one(t, &mine) ? ONE : COPY;
}

int zfile_same_check(struct zcomm *twin, const char *function, const char *path, bool may_write,
	struct zfile_same *same)
{
	struct told t;
	char *beside = NULL;
	enum same mine = ONE;

	if (twin->rank == 0) {
		look(path, &t);
		if (may_write && t.regular)
			beside = put_beside(path, &t);
	}
	int rc = zbcast_run(twin, function, &t, sizeof(t), MPI_BYTE, 0);
	if (rc == MPI_SUCCESS && twin->rank != 0 && zleader_is_me(twin))
		mine = compare(path, &t, may_write);
	/* verdict: reason at the lowest rank; whether any part has a copy */
	int64_t said[2] = {mine > COPY ? (int64_t)(twin->size - twin->rank) << REASON_BITS | mine : 0, mine == COPY};
	if (rc == MPI_SUCCESS)
		rc = zfile_agree(twin, function, said, 2);
	if (beside)
		unlink(beside);
	free(beside);
	*same = (struct zfile_same){.is_one = said[1] == 0, .leader = -1};
	if (rc == MPI_SUCCESS && said[0] != 0) {
		same->leader = twin->size - (int)(said[0] >> REASON_BITS);
		same->why = reasons[said[0] & ((1 << REASON_BITS) - 1)];
	}
	return rc;
}

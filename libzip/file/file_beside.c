/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that lie beside a file of the application. See file_beside.h. */
#include "libzip/file/file_beside.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "libzip/bridge/bridge.h"
#include "libzip/shim/shim.h"
#include "libzip/progress/progress.h"

#define LOOK_NS 20000000 /* between two looks */
#define NFS_MAGIC 0x6969 /* linux/magic.h */
#define NAME_CHARS 200	 /* of the file's own name in the name of a file beside it; names have at most 255 */

/* Writes the folder of a file into at[PATH_MAX]; follows symbolic links of the file itself. False: too long. */
static bool folder_of(const char *path, char *at, const char **name)
{
	char real[PATH_MAX];
	const char *p = realpath(path, real) ? real : path, *slash = strrchr(p, '/');
	const char *base = strrchr(path, '/');

	*name = base ? base + 1 : path;
	return snprintf(at, PATH_MAX, "%.*s", slash ? (int)(slash - p + 1) : 2, slash ? p : "./") < PATH_MAX;
}

char *zfile_beside_name(const char *path, const char *text)
{
	char folder[PATH_MAX], *out;
	const char *name;

	if (!folder_of(path, folder, &name))
		return NULL;
	return asprintf(&out, "%s.%.*s.zipper.%s", folder, NAME_CHARS, name, text) < 0 ? NULL : out;
}

void zfile_beside_random(char text[ZFILE_BESIDE_RANDOM])
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		number = (uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 20;
	}
	snprintf(text, ZFILE_BESIDE_RANDOM, "%016" PRIx64, number);
}

bool zfile_beside_is_on_nfs(const char *path)
{
	char folder[PATH_MAX];
	const char *name;
	struct statfs fs;

	return folder_of(path, folder, &name) && statfs(folder, &fs) == 0 && fs.f_type == NFS_MAGIC;
}

/* Opening the folder makes NFS ask its server again. */
static void refresh(const char *path)
{
	char folder[PATH_MAX];
	const char *name;
	DIR *dir = folder_of(path, folder, &name) ? opendir(folder) : NULL;

	if (dir)
		closedir(dir);
}

bool zfile_beside_await(const char *path)
{
	struct stat st;

	for (int64_t waited = 0; stat(path, &st) != 0; waited += LOOK_NS) {
		if (errno != ENOENT || waited >= (int64_t)ZFILE_BESIDE_PATIENCE_MS * 1000000)
			return false;
		refresh(path);
		zprogress_poll();
		zshim_block_begin();
		nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
		zshim_block_end();
	}
	return true;
}

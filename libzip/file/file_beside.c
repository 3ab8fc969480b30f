/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that lie beside a file of the application. See file_beside.h. */
#include "libzip/file/file_beside.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "libzip/comm/split/witness.h"

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
	snprintf(text, ZFILE_BESIDE_RANDOM, "%016" PRIx64, zwitness_number());
}

bool zfile_beside_is_on_nfs(const char *path)
{
	char folder[PATH_MAX];
	const char *name;
	struct statfs fs;

	return folder_of(path, folder, &name) && statfs(folder, &fs) == 0 && fs.f_type == NFS_MAGIC;
}

bool zfile_beside_await(const char *path)
{
	int left_ms = ZWITNESS_PATIENCE_MS;

	return zwitness_await(path, &left_ms);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that prove that two ranks see the same folder. See witness.h. */
#include "libzip/comm/split/witness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libzip/progress/progress.h"
#include "libzip/shim/shim.h"

#define LOOK_MS 20 /* between two looks */

uint64_t zwitness_number(void)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		number = (uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 20;
	}
	return number;
}

int zwitness_make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Opening the folder makes NFS ask its server again. */
static void refresh(const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int len = slash ? snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path + 1), path)
			: snprintf(folder, sizeof(folder), ".");
	DIR *dir = len < PATH_MAX ? opendir(folder) : NULL;

	if (dir)
		closedir(dir);
}

bool zwitness_await(const char *path, int *left_ms)
{
	struct stat st;

	for (; stat(path, &st) != 0; *left_ms -= LOOK_MS) {
		if (errno != ENOENT || *left_ms <= 0)
			return false;
		refresh(path);
		zprogress_poll();
		zshim_block_begin();
		nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
		zshim_block_end();
	}
	return true;
}

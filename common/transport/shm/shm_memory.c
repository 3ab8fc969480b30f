/* SPDX-License-Identifier: BSD-3-Clause */
/* Sealed memory, see shm_memory.h. */
#define _GNU_SOURCE /* memfd_create, file seals */
#include "common/transport/shm/shm_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

int shm_memory_create(const char *name, size_t bytes, struct zerr *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
		return fd;
	int rc = -errno;
	if (fd >= 0)
		close(fd);
	return zerr_set(err, rc, "cannot make shared memory: %s", strerror(-rc));
}

int shm_memory_check(int fd, size_t bytes)
{
	struct stat st;
	int seals = fcntl(fd, F_GET_SEALS); /* only memory files have seals */
	return seals < 0 || (seals & SEALS) != SEALS || fstat(fd, &st) < 0 || st.st_size != (off_t)bytes ? -EPROTO : 0;
}

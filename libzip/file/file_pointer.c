/* SPDX-License-Identifier: BSD-3-Clause */
/* A number in a file that processes of several hosts change. See file_pointer.h. It has the byte order of the host,
 * because parts that differ in byte order do not share files. */
#include "libzip/file/file_pointer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int zfile_pointer_init(struct zfile_pointer *p, const char *path, int64_t origin)
{
	p->fd = -1;
	p->origin = origin;
	p->path = strdup(path);
	return p->path ? 0 : -ENOMEM;
}

static int open_it(struct zfile_pointer *p)
{
	if (!p->path)
		return -ENOMEM;
	if (p->fd < 0)
		p->fd = open(p->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
	return p->fd < 0 ? -errno : 0;
}

static int lock(int fd, short type)
{
	struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
	int rc;

	do
		rc = fcntl(fd, F_SETLKW, &whole);
	while (rc != 0 && errno == EINTR);
	return rc == 0 ? 0 : -errno;
}

static int load(int fd, int64_t *value)
{
	ssize_t n = pread(fd, value, sizeof(*value), 0);

	if (n == 0)
		*value = 0;
	if (n < 0)
		return -errno;
	return n == 0 || n == (ssize_t)sizeof(*value) ? 0 : -EIO;
}

static int store(int fd, int64_t value)
{
	ssize_t n = pwrite(fd, &value, sizeof(value), 0);

	if (n < 0)
		return -errno;
	return n == (ssize_t)sizeof(value) ? 0 : -EIO;
}

/* Sets the number, or adds to it where set is NULL. */
static int change(struct zfile_pointer *p, const int64_t *set, int64_t increment, int64_t *was)
{
	int64_t stored;
	int rc = open_it(p);

	if (rc == 0)
		rc = lock(p->fd, F_WRLCK);
	if (rc != 0)
		return rc;
	rc = load(p->fd, &stored);
	if (rc == 0 && (set || increment != 0))
		rc = store(p->fd, set ? *set - p->origin : stored + increment);
	int unlocked = lock(p->fd, F_UNLCK);
	*was = stored + p->origin;
	return rc != 0 ? rc : unlocked;
}

int zfile_pointer_get(struct zfile_pointer *p, int64_t *value)
{
	return change(p, NULL, 0, value);
}

int zfile_pointer_set(struct zfile_pointer *p, int64_t value)
{
	int64_t was;

	return change(p, &value, 0, &was);
}

int zfile_pointer_add(struct zfile_pointer *p, int64_t increment, int64_t *was)
{
	return change(p, NULL, increment, was);
}

void zfile_pointer_close(struct zfile_pointer *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

/* Opened first: NFS may remember that a file was not there, and not look again. */
void zfile_pointer_delete(struct zfile_pointer *p)
{
	if (open_it(p) == 0)
		unlink(p->path);
	zfile_pointer_close(p);
}

void zfile_pointer_fini(struct zfile_pointer *p)
{
	zfile_pointer_close(p);
	free(p->path);
	p->path = NULL;
}

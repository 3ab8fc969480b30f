/* SPDX-License-Identifier: BSD-3-Clause */
/* A private temporary directory for generated files, keys and sockets. */
#include "launch/base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* bytes of TMPDIR: with "/zmpirun.XXXXXX/zipperd.sock" it must fit into sockaddr_un.sun_path, 108 bytes, and into dir
 */
#define BASE_MAX 40

int zscratch_create(struct zscratch *s, struct zerr *err)
{
	const char *base = getenv("TMPDIR");
	/* zipperd's configuration cannot write a double quote */
	if (!base || *base != '/' || strlen(base) > BASE_MAX || strpbrk(base, "\"\n"))
		base = "/tmp";
	snprintf(s->dir, sizeof(s->dir), "%s/zmpirun.XXXXXX", base);
	if (!mkdtemp(s->dir)) {
		int code = -errno;
		s->dir[0] = '\0';
		return zerr_set(err, code, "cannot make a temporary directory in %s: %s", base, strerror(-code));
	}
	return 0;
}

const char *zscratch_path(const struct zscratch *s, const char *name, char *buf, size_t cap)
{
	snprintf(buf, cap, "%s/%s", s->dir, name);
	return buf;
}

int zscratch_write(const struct zscratch *s, const char *name, const char *text, size_t len, struct zerr *err)
{
	char path[192];
	zscratch_path(s, name, path, sizeof(path));
	int code = 0, fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	while (len > 0 && code == 0) {
		ssize_t n = write(fd, text, len);
		if (n < 0) {
			code = errno == EINTR ? 0 : -errno;
		} else {
			text += n;
			len -= (size_t)n;
		}
	}
	close(fd);
	return code < 0 ? zerr_set(err, code, "%s: %s", path, strerror(-code)) : 0;
}

#define DEPTH_MAX 12 /* directories of Open MPI have six levels */

/* Removes what is in the directory. opendir would allocate. */
static void empty(int at, const char *name, int depth)
{
	_Alignas(struct dirent64) char entries[2048];
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	for (ssize_t n, i; fd >= 0 && (n = getdents64(fd, entries, sizeof(entries))) > 0;)
		for (i = 0; i < n;) {
			const struct dirent64 *e = (const struct dirent64 *)(const void *)(entries + i);
			i += e->d_reclen;
			if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
				continue;
			if (unlinkat(fd, e->d_name, 0) == 0 || (errno != EISDIR && errno != EPERM) ||
				depth == DEPTH_MAX)
				continue;
			empty(fd, e->d_name, depth + 1);
			unlinkat(fd, e->d_name, AT_REMOVEDIR);
		}
	if (fd >= 0)
		close(fd);
}

void zscratch_remove(struct zscratch *s)
{
	if (s->dir[0] == '\0')
		return;
	empty(AT_FDCWD, s->dir, 1);
	rmdir(s->dir);
	s->dir[0] = '\0';
}

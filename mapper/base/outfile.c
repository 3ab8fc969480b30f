/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes files that take their names at the end, see outfile.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mapper/base/outfile.h"

static int fail(const struct outfile *o, struct zerr *err)
{
	return zerr_set(err, -errno, "%s: %s", o->path, strerror(errno));
}

/* Is the path /dev/stdout, and standard output a file? Two positions in one file would write over each other. */
static bool is_stdout(const char *path, const struct stat *st)
{
	struct stat link, out;

	return !lstat(path, &link) && S_ISLNK(link.st_mode) && !fstat(STDOUT_FILENO, &out) &&
	       out.st_dev == st->st_dev && out.st_ino == st->st_ino;
}

/* Opens the file that will take the name. old: the file that has the name now, or NULL. Returns a descriptor, or a
 * negative errno. */
static int temporary_open(struct outfile *o, const struct stat *old, struct zerr *err)
{
	int fd;

	o->target = old ? realpath(o->path, NULL) : strdup(o->path);
	if (!o->target || (old && access(o->target, W_OK)))
		return fail(o, err);
	if (asprintf(&o->temporary, "%s.%ld.part", o->target, (long)getpid()) < 0) {
		o->temporary = NULL;
		return zerr_set(err, -ENOMEM, "not enough memory");
	}
	/* a file that has the temporary name already belongs to somebody */
	fd = open(o->temporary, O_WRONLY | O_CREAT | O_CLOEXEC | O_EXCL, 0666);
	if (fd < 0 && (old || errno == EEXIST))
		return zerr_set(err, -errno, "%s: cannot be written as %s: %s", o->path, o->temporary, strerror(errno));
	if (fd < 0)
		return fail(o, err);
	if (old) /* a file system without permissions has nothing to keep */
		(void)!fchmod(fd, old->st_mode & 0777);
	return fd;
}

static void names_free(struct outfile *o)
{
	free(o->target);
	free(o->temporary);
}

int outfile_open(struct outfile *o, const char *path, struct zerr *err)
{
	struct stat st, link;
	const bool there = !stat(path, &st);
	int fd;

	*o = (struct outfile){.path = path};
	if (there ? S_ISREG(st.st_mode) && !is_stdout(path, &st) : lstat(path, &link) != 0) {
		fd = temporary_open(o, there ? &st : NULL, err);
	} else {
		fd = there && is_stdout(path, &st) ? dup(STDOUT_FILENO)
						   : open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_TRUNC, 0666);
		fd = fd < 0 ? fail(o, err) : fd;
	}
	o->f = fd < 0 ? NULL : fdopen(fd, "w");
	if (o->f)
		return 0;
	if (fd >= 0) {
		int rc = fail(o, err);

		close(fd);
		if (o->temporary)
			unlink(o->temporary);
		fd = rc;
	}
	names_free(o);
	return fd;
}

int outfile_close(struct outfile *o, int rc, struct zerr *err)
{
	int bad = ferror(o->f) ? -EIO : 0;

	if (fclose(o->f) && !bad)
		bad = -errno;
	if (!rc && !bad && o->temporary && rename(o->temporary, o->target))
		bad = -errno;
	if ((rc || bad) && o->temporary)
		unlink(o->temporary);
	names_free(o);
	o->f = NULL;
	if (!rc && bad)
		rc = zerr_set(err, bad, "%s: cannot be written: %s", o->path, strerror(-bad));
	return rc;
}

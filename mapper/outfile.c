/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that take their name at the end. See outfile.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outfile.h"

int outfile_open(struct outfile *o, const char *path, struct zerr *err)
{
	struct stat st;
	const bool replace = stat(path, &st) || S_ISREG(st.st_mode);
	int fd, rc = 0;

	*o = (struct outfile){.path = path};
	if (replace && asprintf(&o->temporary, "%s.%ld.part", path, (long)getpid()) < 0) {
		o->temporary = NULL;
		return zerr_set(err, -ENOMEM, "not enough memory");
	}
	/* a file that has the temporary name is somebody's */
	fd = open(replace ? o->temporary : path, O_WRONLY | O_CREAT | O_CLOEXEC | (replace ? O_EXCL : O_TRUNC), 0666);
	o->f = fd < 0 ? NULL : fdopen(fd, "w");
	if (o->f)
		return 0;
	rc = zerr_set(err, -errno, "%s: %s", errno == EEXIST ? o->temporary : path, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && replace)
		unlink(o->temporary);
	free(o->temporary);
	return rc;
}

int outfile_close(struct outfile *o, int rc, struct zerr *err)
{
	int bad = ferror(o->f) ? -EIO : 0;

	if (fclose(o->f) && !bad)
		bad = -errno;
	if (!rc && !bad && o->temporary && rename(o->temporary, o->path))
		bad = -errno;
	if ((rc || bad) && o->temporary)
		unlink(o->temporary);
	free(o->temporary);
	if (!rc && bad)
		rc = zerr_set(err, bad, "%s: cannot be written: %s", o->path, strerror(-bad));
	return rc;
}

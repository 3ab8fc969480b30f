/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop over the lines of a text file, see lines.h. */
#include "common/base/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

char *zlines_skip_mark(char *text)
{
	static const char mark[] = "\xef\xbb\xbf";
	return strncmp(text, mark, sizeof(mark) - 1) == 0 ? text + sizeof(mark) - 1 : text;
}

int zlines_read(FILE *stream, const char *path, zlines_fn *read, void *arg, struct zerr *err)
{
	char *line = NULL;
	size_t cap = 0;
	int rc = 0, number = 0;
	for (ssize_t len; rc == 0 && (errno = 0, len = getline(&line, &cap, stream)) >= 0;) {
		number++;
		rc = strlen(line) == (size_t)len ? read(arg, number == 1 ? zlines_skip_mark(line) : line, number, err)
						 : zerr_set(err, -EINVAL, "zero byte in the line");
		if (rc < 0)
			zerr_prefix(err, rc, "%s:%d", path, number);
	}
	if (rc == 0 && !feof(stream))
		rc = zerr_set(err, errno ? -errno : -EIO, "%s: %s", path, strerror(errno ? errno : EIO));
	free(line);
	return rc;
}

int zlines_read_file(const char *path, zlines_fn *read, void *arg, struct zerr *err)
{
	FILE *stream = fopen(path, "re");
	if (!stream)
		return zerr_set(err, -errno, "%s: %s", path, strerror(errno));
	int rc = zlines_read(stream, path, read, arg, err);
	fclose(stream);
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the files of -outfile-pattern, see outfiles.h. */
#include "launch/start/outfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Writes the name of a rank's file, absolute. False: it is too long. */
static bool expand(const char *pattern, int vrank, char path[PATH_MAX])
{
	size_t len = 0;
	if (pattern[0] != '/') {
		if (!getcwd(path, PATH_MAX - 1))
			return false;
		len = strlen(path);
		path[len++] = '/';
	}
	for (const char *p = pattern; *p && len < PATH_MAX - 16; p++) {
		if (*p == '%' && p[1] == 'r')
			len += (size_t)sprintf(path + len, "%d", vrank);
		else
			path[len++] = *p;
		p += *p == '%';
	}
	path[len] = '\0';
	return len < PATH_MAX - 16;
}

static int make_one(const char *option, const char *path, const char *link, struct zerr *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return zerr_set(err, -errno, "-%s-pattern: %s: %s", option, path, strerror(errno));
	close(fd);
	if (symlink(path, link) != 0)
		return zerr_set(err, -errno, "%s: %s", link, strerror(errno));
	return 0;
}

int zoutfiles_make(const struct zscratch *scratch, const struct zplan_part *part, const char *option,
	const char *pattern, char mine[ZOUTFILES_PATTERN_BYTES], struct zerr *err)
{
	char path[PATH_MAX], name[ZCTL_NAME_MAX + 32], link[ZOUTFILES_PATTERN_BYTES];
	int rc = 0;
	for (int lrank = 0; rc == 0 && lrank < part->nranks; lrank++) {
		if (!expand(pattern, zplan_vrank(part, lrank), path))
			return zerr_set(err, -ENAMETOOLONG, "-%s-pattern: %s", option, strerror(ENAMETOOLONG));
		snprintf(name, sizeof(name), "%s.%s.%d", option, part->name, lrank);
		rc = make_one(option, path, zscratch_path(scratch, name, link, sizeof(link)), err);
	}
	snprintf(name, sizeof(name), "%s.%s.%%r", option, part->name);
	zscratch_path(scratch, name, mine, ZOUTFILES_PATTERN_BYTES);
	return rc;
}

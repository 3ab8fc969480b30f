/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the other programs and the preload library. */
#include "launch/start/locate.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/installed.h"

/* Takes tail off the end of the path, if it is there. Returns whether it was. */
static bool cut(char *path, const char *tail)
{
	size_t len = strlen(path), n = strlen(tail);
	if (len < n || strcmp(path + len - n, tail) != 0)
		return false;
	path[len - n] = '\0';
	return true;
}

/* The build directory, without '/' at its end, if zmpirun runs from it; else "". An installation somewhere below a
 * build directory does not count. */
static void find_build_tree(char tree[PATH_MAX])
{
	char probe[PATH_MAX + 32];
	ssize_t len = readlink("/proc/self/exe", tree, PATH_MAX - 1);
	tree[len < 0 ? 0 : len] = '\0';
	char *slash = strrchr(tree, '/');
	if (slash)
		*slash = '\0';
	cut(tree, "/.libs"); /* libtool's wrapper runs the program from there */
	if (cut(tree, "/launch")) {
		snprintf(probe, sizeof(probe), "%s/common/libzipcommon.la", tree);
		if (access(probe, F_OK) == 0)
			return;
	}
	tree[0] = '\0';
}

static int choose(char *path, const char *variable, const char *tree, const char *built, const char *installed,
	struct zerr *err)
{
	const char *said = getenv(variable);
	int n = said && *said	 ? snprintf(path, PATH_MAX, "%s", said)
		: *tree && built ? snprintf(path, PATH_MAX, "%s/%s", tree, built)
				 : snprintf(path, PATH_MAX, "%s", installed);
	return n < PATH_MAX ? 0 : zerr_set(err, -ENAMETOOLONG, "%s: the path is too long", variable);
}

#define INSTALLED_MAX (PATH_MAX + 32)
/* The path of an installed file, also after the installation was moved. */
static const char *installed(char path[INSTALLED_MAX], const char *folder, const char *name)
{
	zinstalled_find(path, (const void *)installed, BINDIR, folder, name);
	const size_t len = strlen(path);
	snprintf(path + len, INSTALLED_MAX - len, "/%s", name);
	return path;
}

int zlocate_find(struct zlocate *l, struct zerr *err)
{
	char tree[PATH_MAX], path[INSTALLED_MAX];
	find_build_tree(tree);
	int rc = choose(l->mpiexec, "ZMPIRUN_MPIEXEC", tree, NULL, MPIEXEC, err);
	if (rc == 0)
		rc = choose(l->zipperd, "ZMPIRUN_ZIPPERD", tree, "zipperd/zipperd", installed(path, SBINDIR, "zipperd"),
			err);
	if (rc == 0)
		rc = choose(l->libzipper, "ZMPIRUN_LIBZIPPER", tree, "libzip/.libs/libzipper.so",
			installed(path, PKGLIBDIR, "libzipper.so"), err);
	if (rc == 0)
		rc = choose(l->ompirun, "ZMPIRUN_OMPIRUN", tree, NULL, OMPIRUN, err);
	if (rc == 0)
		rc = choose(l->libzipper_ompi, "ZMPIRUN_LIBZIPPER_OMPI", tree, "libzip/.libs/libzipper-ompi.so",
			installed(path, PKGLIBDIR, "libzipper-ompi.so"), err);
	if (rc == 0)
		rc = choose(l->libzipper_abi, "ZMPIRUN_LIBZIPPER_ABI", tree, "libzip/.libs/libzipper-abi.so",
			installed(path, PKGLIBDIR, "libzipper-abi.so"), err);
	if (rc == 0)
		rc = choose(l->probe, "ZMPIRUN_PROBE", tree, "launch/zipprobe", installed(path, PKGLIBDIR, "zipprobe"),
			err);
	if (rc == 0)
		rc = choose(l->module_dir, "ZIPPER_MODULE_DIR", tree, "common/.libs", "", err);
	return rc;
}

int zlocate_check_library(const char *path, struct zerr *err)
{
	ElfW(Ehdr) here, there;
	const struct {
		const char *path;
		ElfW(Ehdr) * header;
	} files[] = {{"/proc/self/exe", &here}, {path, &there}};
	if (strpbrk(path, ": \t\n"))
		return zerr_set(err, -EINVAL, "%s: LD_PRELOAD cannot hold a path with blanks or colons", path);
	for (int i = 0; i < 2; i++) {
		int fd = open(files[i].path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return zerr_set(err, -errno, "%s: %s: it cannot be preloaded", files[i].path, strerror(errno));
		ssize_t n = read(fd, files[i].header, sizeof(here));
		close(fd);
		if (n != (ssize_t)sizeof(here))
			return zerr_set(err, -EINVAL, "%s is no shared object: it cannot be preloaded", files[i].path);
	}
	if (memcmp(there.e_ident, ELFMAG, SELFMAG) != 0 || there.e_type != ET_DYN)
		return zerr_set(err, -EINVAL, "%s is no shared object: it cannot be preloaded", path);
	if (there.e_ident[EI_CLASS] != here.e_ident[EI_CLASS] || there.e_ident[EI_DATA] != here.e_ident[EI_DATA] ||
		there.e_machine != here.e_machine)
		return zerr_set(err, -EINVAL, "%s is for another kind of machine: it cannot be preloaded", path);
	return 0;
}

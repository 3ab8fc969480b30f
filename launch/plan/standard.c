/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose library of the standard ABI a program gets. See standard.h. */
#include "launch/plan/standard.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/base/argv.h"
#include "launch/base/binary.h"
#include "launch/base/process.h"

static const char name_begins[] = "libmpi_abi.so.";

bool zstandard_is(const char *library)
{
	return strncmp(library, name_begins, strlen(name_begins)) == 0;
}

/* Open MPI's library needs others of its own; MPICH's has all in one. */
static enum zmpi find_maker(const char *path)
{
	static const char *const open_mpi[] = {"libopen_mpi.so.", "libopen-pal.so."};
	struct zbinary b;
	enum zmpi mpi = ZMPI_MPICH;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return ZMPI_UNKNOWN;
	if (zbinary_read(&b, fd) < 0 || b.kind != ZBINARY_LIBRARY)
		mpi = ZMPI_UNKNOWN;
	for (size_t i = 0; mpi != ZMPI_UNKNOWN && i < b.nneeded; i++)
		for (size_t k = 0; k < sizeof(open_mpi) / sizeof(open_mpi[0]); k++)
			if (strncmp(zbinary_library(&b, i), open_mpi[k], strlen(open_mpi[k])) == 0)
				mpi = ZMPI_OPEN;
	zbinary_free(&b);
	close(fd);
	return mpi;
}

/* A line of `ld.so --list`: "\tNAME => PATH (ADDRESS)", or "\tPATH (ADDRESS)" where the program names a path. */
static enum zmpi read_line(char *line)
{
	char *path = line + strspn(line, " \t"), *end = strstr(path, " ("), *arrow = strstr(path, " => ");

	if (!end)
		return ZMPI_UNKNOWN;
	*end = '\0';
	const char *slash = arrow ? NULL : strrchr(path, '/');
	if (!zstandard_is(slash ? slash + 1 : path))
		return ZMPI_UNKNOWN;
	return find_maker(arrow ? arrow + strlen(" => ") : path);
}

/* Linkers are called ld-linux-x86-64.so.2, ld64.so.2, ld.so.1, ld-musl-x86_64.so.1. Nothing else is run. */
static bool is_linker(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && strncmp(slash, "/ld", strlen("/ld")) == 0;
}

static void add_environment(struct zargv *envp, const char *library_path)
{
	if (library_path)
		zargv_addf(envp, "LD_LIBRARY_PATH=%s", library_path);
	zargv_add(envp, "LC_ALL=C");
}

enum zmpi zstandard_find(const char *linker, const char *file, const char *library_path)
{
	char path[PATH_MAX];
	char *const words[] = {(char *)linker, "--list", path, NULL};
	struct zargv envp = {0};
	enum zmpi mpi = ZMPI_UNKNOWN;
	char *line = NULL;
	size_t size = 0;
	int out[2];

	/* the linker searches its folders for a file without a slash */
	const int n = snprintf(path, sizeof(path), "%s%s", strchr(file, '/') ? "" : "./", file);
	if (!is_linker(linker) || n >= (int)sizeof(path) || zprocess_pipe(out, NULL) < 0)
		return mpi;
	add_environment(&envp, library_path);
	const struct zspawn spawn = {.argv = words, .envp = envp.words, .fd = {-1, out[1], -1, -1}};
	const pid_t pid = envp.failed ? -1 : zprocess_spawn(&spawn, NULL);
	close(out[1]);
	FILE *f = fdopen(out[0], "r");
	while (pid > 0 && f && getline(&line, &size, f) > 0)
		if (mpi == ZMPI_UNKNOWN)
			mpi = read_line(line);
	free(line);
	if (f)
		fclose(f);
	else
		close(out[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	zargv_free(&envp);
	return mpi;
}

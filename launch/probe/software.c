/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the software of this host, see software.h. */
#include "launch/probe/software.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/probe/say.h"

#define TEST "--test-preload"
#define RELEASE_CHARS 40
#define MPI_TEXT_BYTES 16384 /* MPI_MAX_LIBRARY_VERSION_STRING is 8192 or less in all libraries */

void zsoftware_end_test(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], TEST) == 0)
		exit(0);
}

/* The mark of libzip/loader/interpose.c, as what(1) finds it. */
static bool find_release(const char *data, size_t len, char release[RELEASE_CHARS + 1])
{
	static const char mark[] = "@(#)libzipper ";
	const char *at = memmem(data, len, mark, sizeof(mark) - 1);
	size_t n = 0;
	if (!at)
		return false;
	for (at += sizeof(mark) - 1; n < RELEASE_CHARS && at + n < data + len && at[n] > ' ' && at[n] <= '~'; n++)
		release[n] = at[n];
	release[n] = '\0';
	return n > 0;
}

static void say_release(const char *path, int fd)
{
	char release[RELEASE_CHARS + 1];
	struct stat st;
	void *data = fstat(fd, &st) == 0 && st.st_size > 0
			     ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
			     : MAP_FAILED;
	if (data == MAP_FAILED) {
		zsay("nolibrary", "%s cannot be read", path);
		return;
	}
	zsay("library", "%s", find_release(data, (size_t)st.st_size, release) ? release : "?");
	munmap(data, (size_t)st.st_size);
}

/* Starts ourselves with the library preloaded. The dynamic linker complains of a library that it cannot load, and goes
 * on without it. */
static void run_test(const char *path, int to)
{
	setenv("LD_PRELOAD", path, 1);
	dup2(to, STDERR_FILENO);
	execl("/proc/self/exe", "zipprobe", TEST, NULL);
	_exit(127);
}

static void test_preload(const char *path)
{
	char text[1024];
	size_t len = 0;
	ssize_t n;
	int fd[2];
	if (pipe2(fd, O_CLOEXEC) < 0)
		return;
	pid_t pid = fork();
	if (pid == 0)
		run_test(path, fd[1]);
	close(fd[1]);
	while (len < sizeof(text) - 1 && (n = read(fd[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	close(fd[0]);
	int status = 0;
	if (pid > 0)
		waitpid(pid, &status, 0);
	const char *why = strstr(text, "cannot be preloaded");
	if (why)
		zsay("nolibrary", "%s %.*s", path, (int)strcspn(why, "\n"), why);
	else if (status != 0)
		zsay("nolibrary", "%s is damaged: a process into which it is preloaded ends at once", path);
}

void zsoftware_say_library(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		zsay("nolibrary", "%s: %s", path, strerror(errno));
		return;
	}
	say_release(path, fd);
	close(fd);
	test_preload(path);
}

void zsoftware_say_mpi(void)
{
	static const char *const names[] = {"libmpich.so.12", "libmpi.so.12"};
	static char text[MPI_TEXT_BYTES];
	void *library = NULL;
	int len = 0, (*version)(char *, int *) = NULL;
	for (size_t i = 0; !library && i < sizeof(names) / sizeof(names[0]); i++)
		library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
	void *found = library ? dlsym(library, "PMPI_Get_library_version") : NULL;
	memcpy(&version, &found, sizeof(version)); /* C has no cast from an object to a function */
	if (!version) {
		zsay("nompi", "%s", dlerror());
		return;
	}
	version(text, &len); /* before MPI_Init, too: MPI-4.0 section 9.1.1 */
	text[sizeof(text) - 1] = '\0';
	text[strcspn(text, "\n")] = '\0';
	for (char *c = text; *c; c++)
		if (*c == '\t')
			*c = ' ';
	zsay("mpi", "%s", text);
}

static bool is_program(const char *path)
{
	struct stat st;
	if (stat(path, &st) < 0)
		return false;
	if (S_ISDIR(st.st_mode))
		errno = EISDIR;
	return !S_ISDIR(st.st_mode) && access(path, X_OK) == 0;
}

void zsoftware_say_program(const char *name)
{
	char path[4096];
	const char *list = getenv("PATH");
	if (strchr(name, '/')) {
		if (is_program(name))
			zsay("program", "%s", name);
		else
			zsay("noprogram", "%s: %s", name, strerror(errno));
		return;
	}
	for (const char *p = list ? list : "/bin:/usr/bin"; *p; p += strcspn(p, ":"), p += *p == ':') {
		snprintf(path, sizeof(path), "%.*s/%s", (int)strcspn(p, ":"), p, name);
		if (is_program(path)) {
			zsay("program", "%s", path);
			return;
		}
	}
	zsay("noprogram", "%s is in no folder of PATH", name);
}

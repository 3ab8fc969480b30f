/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the files of this installation are. See installed.h. */
#define _GNU_SOURCE /* dladdr */
#include "common/base/installed.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* The dynamic linker knows the program by the name that it was called by. The kernel knows its file. */
static bool is_program(const Dl_info *of)
{
	Dl_info program;
	return dladdr((const void *)getauxval(AT_PHDR), &program) != 0 && program.dli_fbase == of->dli_fbase;
}

/* The folder of the file that this address is in. */
static bool own_folder(char path[PATH_MAX], const void *self)
{
	Dl_info of;
	if (dladdr(self, &of) == 0 || !realpath(is_program(&of) ? "/proc/self/exe" : of.dli_fname, path))
		return false;
	*strrchr(path, '/') = '\0';
	return true;
}

static bool is_same(const char *a, const char *b)
{
	struct stat of_a, of_b;
	return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

/* The number of bytes of the folders that both paths begin with, without a '/' at the end; 0: the root alone. */
static size_t shared_len(const char *a, const char *b)
{
	size_t i = 0, len = 0;
	for (; a[i] && a[i] == b[i]; i++)
		if (a[i] == '/')
			len = i;
	return (!a[i] || a[i] == '/') && (!b[i] || b[i] == '/') ? i : len;
}

/* Turns the caller's own folder into the wanted one. */
static bool go(char path[PATH_MAX], const char *home, const char *wanted)
{
	const size_t shared = shared_len(home, wanted);
	const char *down = home + shared, *up = wanted + shared;
	const size_t len = strlen(path), n = strlen(down);
	if (shared == 0 || len < n || strcmp(path + len - n, down) != 0 || len - n + strlen(up) >= PATH_MAX)
		return false;
	strcpy(path + len - n, up);
	return true;
}

static bool has(const char *folder, const char *name)
{
	char path[PATH_MAX];
	return snprintf(path, sizeof(path), "%s/%s", folder, name) < (int)sizeof(path) && access(path, F_OK) == 0;
}

bool zinstalled_find(char path[PATH_MAX], const void *self, const char *home, const char *wanted, const char *name)
{
	if (own_folder(path, self) && !is_same(path, home) && go(path, home, wanted) && has(path, name))
		return true;
	snprintf(path, PATH_MAX, "%s", wanted);
	return false;
}

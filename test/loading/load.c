/* SPDX-License-Identifier: BSD-3-Clause */
/* load LIBRARY MODE [FUNCTION]: loads a library by dlopen with flags, by name, and calls `run` (or that function).
 * "apart" in MODE: by dlmopen. Knows nothing of MPI. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	int mode = (strstr(argv[2], "now") ? RTLD_NOW : RTLD_LAZY) | (strstr(argv[2], "global") ? RTLD_GLOBAL : 0) |
		   (strstr(argv[2], "deep") ? RTLD_DEEPBIND : 0);
	void *library = strstr(argv[2], "apart") ? dlmopen(LM_ID_NEWLM, argv[1], mode) : dlopen(argv[1], mode);
	int (*run)(void) = library ? (int (*)(void))dlsym(library, argc > 3 ? argv[3] : "run") : NULL;
	if (!run) {
		printf("cannot load: %s\n", dlerror());
		return 3;
	}
	return run();
}

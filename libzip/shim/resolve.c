/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the native entry points behind our own symbols and puts them into zn. See resolve.h. */
#include "libzip/shim/resolve.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libzip/shim/native.h"

/* Names of the libraries of the MPICH ABI. Needed only where the program has loaded MPI privately, as interpreters do:
 * then MPI is not behind us in the search order. */
static const char *const library_names[] = {"libmpich.so.12", "libmpi.so.12", NULL};

static void *find_library(void)
{
	if (dlsym(RTLD_NEXT, "PMPI_Init"))
		return RTLD_NEXT;
	for (int i = 0; library_names[i]; i++) {
		void *library = dlopen(library_names[i], RTLD_LAZY | RTLD_NOLOAD);
		if (library && dlsym(library, "PMPI_Init"))
			return library;
	}
	return NULL;
}

void zresolve_entry(unsigned index)
{
	_Static_assert(sizeof(zn) % sizeof(void *) == 0, "zn holds function pointers only");
	void *library = find_library();

	if (!library) {
		fprintf(stderr, "libzipper: %s was called, but no MPICH library (libmpich.so.12) is loaded\n",
			znative_names[index]);
		abort();
	}
	/* Several threads may come here at once; all store the same values. */
	for (unsigned i = 0; i < znative_count; i++) {
		void *entry = dlsym(library, znative_names[i]);
		if (entry)
			memcpy((char *)&zn + i * sizeof(void *), &entry, sizeof(entry));
		else if (i == index)
			break;
	}
	if (!dlsym(library, znative_names[index])) {
		Dl_info info = {.dli_fname = NULL};
		dladdr(dlsym(library, "PMPI_Init"), &info);
		fprintf(stderr, "libzipper: %s has no %s, which this program needs%s%s\n",
			info.dli_fname ? info.dli_fname : "the native MPI library", znative_names[index],
			znative_versions[index] ? "; versions of MPICH with it: " : "",
			znative_versions[index] ? znative_versions[index] : "");
		abort();
	}
}

int *zresolve_unweighted(void)
{
	static int *const *object;

	if (!object)
		object = dlsym(find_library(), "MPI_UNWEIGHTED");
	return object ? *object : NULL;
}

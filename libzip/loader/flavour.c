/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells one MPI library from another. See flavour.h. */
#include "libzip/loader/flavour.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "libzip/abi/library.h"
#include "libzip/loader/chain.h"

#define TEXT_MAX 8192 /* MPI_MAX_LIBRARY_VERSION_STRING is 8192 or less in all of them */

static const char *name_of(const struct zobject *o)
{
	if (o->soname)
		return o->soname;
	const char *slash = strrchr(o->path, '/');
	return slash ? slash + 1 : o->path;
}

/* Its predefined communicators are objects that every program refers to. */
static bool is_open_mpi(const struct zobject *o)
{
	return zobject_find(o, "ompi_mpi_comm_world");
}

enum zflavour zflavour_of(const struct zobject *o)
{
	/* without weak symbols MPI_X and PMPI_X are in two libraries */
	const bool library = zobject_find(o, "PMPI_Init") && zobject_find(o, "PMPI_Comm_rank");
	const bool front = !library && zobject_find(o, "MPI_Init") && strncmp(name_of(o), "libmp", 5) == 0;

	if (!library && !front)
		return ZFLAVOUR_NONE;
	if (zlibrary_is_ours(name_of(o), is_open_mpi(o)))
		return ZFLAVOUR_OURS;
	return library ? ZFLAVOUR_OTHER : ZFLAVOUR_NONE;
}

/* --- the refusal --- */

static int find_other(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct zobject *found = arg, ours;

	(void)size;
	return zobject_of_phdr(found, info) && zflavour_of(found) == ZFLAVOUR_OTHER &&
	       zchain_read(&ours, zchain_self()) && found->symbols != ours.symbols;
}

/* The first line of the text that the library has about itself, before MPI_Init, too (MPI-4.0 section 9.1.1). */
static void describe(const struct zobject *o, char *text)
{
	int (*version)(char *, int *) = (int (*)(char *, int *))zobject_address(o, "PMPI_Get_library_version");
	int len = 0;

	*text = '\0';
	if (version)
		version(text, &len);
	text[strcspn(text, "\n,")] = '\0';
}

static void print_other(const struct zobject *o)
{
	const bool standard = strncmp(name_of(o), "libmpi_abi.", 11) == 0;
	char text[TEXT_MAX + 1];

	describe(o, text);
	zerr_print("libzipper: %s uses %s (%s): %s\n", program_invocation_name,
		standard	 ? "the MPI standard ABI"
		: is_open_mpi(o) ? "Open MPI"
		: *text		 ? text
				 : "another MPI",
		name_of(o), zlibrary_needed);
}

void zflavour_refuse(void)
{
	struct zobject other;

	if (dl_iterate_phdr(find_other, &other))
		print_other(&other);
	else
		zerr_print("libzipper: no MPI library is loaded: %s\n", zlibrary_needed);
	exit(EXIT_FAILURE);
}

void *zflavour_instead(const char *name)
{
	static const char *const beginnings[] = {"MPI_Init", "MPI_Init_thread", "MPI_Session_init"};

	name += name[0] == 'P';
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (strcmp(name, beginnings[i]) == 0)
			return (void *)zflavour_refuse;
	return NULL;
}

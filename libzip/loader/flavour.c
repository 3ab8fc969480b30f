/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells one MPI library from another. See flavour.h. */
#include "libzip/loader/flavour.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "libzip/loader/chain.h"

#define VERSION ".so.12"
#define NEEDED "libzipper needs MPICH or a library of its ABI (libmpich.so.12, libmpi.so.12)"
#define TEXT_MAX 8192 /* MPI_MAX_LIBRARY_VERSION_STRING is 8192 or less in all of them */

static const char *name_of(const struct zobject *o)
{
	if (o->soname)
		return o->soname;
	const char *slash = strrchr(o->path, '/');
	return slash ? slash + 1 : o->path;
}

static bool has_version(const char *name)
{
	const char *v = strstr(name, VERSION);

	return v && (v[strlen(VERSION)] == '\0' || v[strlen(VERSION)] == '.');
}

/* Open MPI 1.7 to 1.10 had version 12, too. Its predefined communicators are objects that every program refers to. */
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
	if (has_version(name_of(o)) && !is_open_mpi(o))
		return ZFLAVOUR_MPICH;
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
	zerr_print("libzipper: %s uses %s (%s): " NEEDED "\n", program_invocation_name,
		standard	 ? "the MPI standard ABI"
		: is_open_mpi(o) ? "Open MPI"
		: *text		 ? text
				 : "another MPI",
		name_of(o));
}

void zflavour_refuse(void)
{
	struct zobject other;

	if (dl_iterate_phdr(find_other, &other))
		print_other(&other);
	else
		zerr_print("libzipper: no MPI library is loaded: " NEEDED "\n");
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

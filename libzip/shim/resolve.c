/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the native entry points behind our own symbols and puts them into zn. See resolve.h. */
#include "libzip/shim/resolve.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "libzip/abi/abi.h"
#include "libzip/abi/library.h"
#include "libzip/loader/chain.h"
#include "libzip/loader/cover.h"
#include "libzip/loader/flavour.h"
#include "libzip/loader/rebind.h"
#include "libzip/shim/native.h"
#include "libzip/shim/nested.h"
#include "libzip/shim/small.h"

/* The next definition in the order of search: that of a tool behind us, or the native library's. The latter leads back
 * to us (cover.h). A program may also have loaded MPI privately, as interpreters do. A library may lack the
 * P name of a function: libmpi_abi.so of MPICH 5.0.2 has no PMPI_File_close. */
static void *entry_of(const char *name, const struct zobject *ours)
{
	void *entry = dlsym(RTLD_NEXT, name);

	if (!entry || !ours || entry == zobject_address(ours, name))
		entry = zcover_native(name);
	return entry || strncmp(name, "PMPI_", 5) != 0 ? entry : zcover_native(name + 1);
}

static void use_small_form(unsigned i)
{
	memcpy((char *)&zn + i * sizeof(void *), &zsmall_forms[i], sizeof(zsmall_forms[i]));
	if (strcmp(znative_names[i], "PMPI_Irecv_c") == 0)
		zsmall_limit = INT_MAX;
}

void zresolve_entry(unsigned index)
{
	_Static_assert(sizeof(zn) % sizeof(void *) == 0, "zn holds function pointers only");
	struct zobject ours;
	unsigned i;

	zcover_all();
	if (!zcover_library())
		zflavour_refuse();
	if (zlibrary_objects)
		zrebind_objects(zlibrary_objects);
	const bool readable = zchain_read(&ours, zchain_self());
	/* Several threads may come here at once; all store the same values. */
	for (i = 0; i < znative_count; i++) {
		void *entry = entry_of(znative_names[i], readable ? &ours : NULL);
		if (entry) {
			entry = znested_entry(znative_names[i], entry);
			memcpy((char *)&zn + i * sizeof(void *), &entry, sizeof(entry));
		} else if (zsmall_forms[i])
			use_small_form(i);
		else if (i == index)
			break;
	}
	if (i < znative_count) {
		zerr_print("libzipper: %s has no %s, which this program needs%s%s\n", zcover_library()->path,
			znative_names[index], znative_versions[index] ? "; versions of MPICH with it: " : "",
			znative_versions[index] ? znative_versions[index] : "");
		abort();
	}
}

int *zresolve_unweighted(void)
{
#ifdef ZABI_UNWEIGHTED
	return ZABI_UNWEIGHTED;
#else
	static int *const *object;

	if (!object)
		object = zcover_native("MPI_UNWEIGHTED");
	return object ? *object : NULL;
#endif
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Refuses functions of the native library that this library does not know. See strange.h. */
#include "libzip/loader/strange.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "libzip/loader/names.h"
#include "libzip/loader/object.h"

#define STUBS 128 /* a release of MPICH brings up to 40 functions, each with two names for C */

static struct {
	int n;
	const char *name[STUBS]; /* MPI_X, without P */
} self;

const char zstrange_why[] = "this libzipper does not know: build libzipper with this MPI library";

bool zstrange_in_world(void)
{
	static int in_world = -1; /* MPI_Init may take the variables away */

	if (in_world < 0) {
		const char *job = getenv("ZIPPER_JOB"), *parts = getenv("ZIPPER_PARTS");
		in_world = job && *job && (!parts || strchr(parts, ','));
	}
	return in_world;
}

static const char *program_or(const char *path)
{
	return path && *path ? path : program_invocation_name;
}

/* --- a stub for each function: it knows its number --- */

static void refuse(int number, const void *caller) __attribute__((noreturn));
static void refuse(int number, const void *caller)
{
	Dl_info info = {.dli_fname = NULL};

	dladdr(caller, &info);
	zerr_print("libzipper: %s calls %s, which %s\n", program_or(info.dli_fname),
		number < self.n ? self.name[number] : "a function of MPI", zstrange_why);
	abort();
}

#define STUB(n)                                                                                                        \
	static void stub##n(void)                                                                                      \
	{                                                                                                              \
		refuse(0##n, __builtin_return_address(0));                                                             \
	}
#define STUBS_8(n) STUB(n##0) STUB(n##1) STUB(n##2) STUB(n##3) STUB(n##4) STUB(n##5) STUB(n##6) STUB(n##7)
#define STUBS_64(n)                                                                                                    \
	STUBS_8(n##0) STUBS_8(n##1) STUBS_8(n##2) STUBS_8(n##3) STUBS_8(n##4) STUBS_8(n##5) STUBS_8(n##6) STUBS_8(n##7)
STUBS_64(0)
STUBS_64(1)

#define NAMES_8(n) stub##n##0, stub##n##1, stub##n##2, stub##n##3, stub##n##4, stub##n##5, stub##n##6, stub##n##7
#define NAMES_64(n)                                                                                                    \
	NAMES_8(n##0), NAMES_8(n##1), NAMES_8(n##2), NAMES_8(n##3), NAMES_8(n##4), NAMES_8(n##5), NAMES_8(n##6),       \
		NAMES_8(n##7)
static void (*const stubs[])(void) = {NAMES_64(0), NAMES_64(1)};

/* The number of MPI_X or PMPI_X; self.n: it has none. */
static int number_of(const char *name)
{
	int i = 0;

	name += name[0] == 'P';
	while (i < self.n && strcmp(self.name[i], name) != 0)
		i++;
	return i;
}

void *zstrange_stub(const char *name)
{
	const int i = number_of(name);

	if (i == self.n && i < STUBS - 1)
		self.name[self.n++] = name + (name[0] == 'P');
	return (void *)stubs[i]; /* the last stub serves all that are too many */
}

/* --- imports --- */

/* Libraries that pass on calls of others: the bindings of MPI for Fortran and C++, and tools. */
static const char *const bindings[] = {"PMPI_Init", "MPI_Init", "mpi_init_", "mpi_init__", "mpi_init", "MPI_INIT",
	"_ZN3MPI10COMM_WORLDE", NULL};

static bool is_binding(const struct zobject *o)
{
	for (int i = 0; bindings[i]; i++)
		if (zobject_find(o, bindings[i]))
			return true;
	return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct zobject o;

	(void)size;
	if (!zobject_of_phdr(&o, info) || is_binding(&o))
		return 0;
	for (size_t i = 1, n = zobject_count(&o); i < n; i++) {
		const char *name = zobject_name(&o, &o.symbols[i]);
		if (o.symbols[i].st_shndx == SHN_UNDEF && znames_like_mpi(name) && number_of(name) < self.n)
			return zerr_set(arg, -ENOSYS, "%s calls %s, which %s", program_or(o.path), name, zstrange_why);
	}
	return 0;
}

int zstrange_imports(struct zerr *err)
{
	return self.n ? dl_iterate_phdr(look_at, err) : 0;
}

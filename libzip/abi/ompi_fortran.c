/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory behind own handles. See ompi_fortran.h. */
#include "libzip/abi/ompi_fortran.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES_MAX 128 /* of an object */

MPI_Fint *zabi_fortran_requests, *zabi_fortran_groups;

/* The only distance at which all objects have their handles, or 0. */
static size_t find_distance(const void *const *objects, const MPI_Fint *handles, int n, size_t bytes)
{
	size_t found = 0;

	for (size_t at = 0; at < bytes; at += sizeof(MPI_Fint)) {
		int same = 0;
		while (same < n && memcmp((const char *)objects[same] + at, &handles[same], sizeof(MPI_Fint)) == 0)
			same++;
		if (same < n)
			continue;
		if (found)
			return 0;
		found = at;
	}
	return found;
}

int zabi_fortran_map(const void *const *objects, const MPI_Fint *handles, int n, size_t bytes, uintptr_t first,
	MPI_Fint **table)
{
	const size_t distance = find_distance(objects, handles, n, bytes);

	if (!distance)
		return -ENOENT;
	/* the address is given, as handles are constant expressions of their numbers */
	void *const wanted = (void *)first; /* NOLINT(performance-no-int-to-ptr) */
	char *memory = mmap(wanted, ZABI_OWN_BYTES + BYTES_MAX, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	if (memory != wanted) { /* Linux before 4.17 does not know MAP_FIXED_NOREPLACE */
		munmap(memory, ZABI_OWN_BYTES + BYTES_MAX);
		return -EEXIST;
	}
	madvise(memory, ZABI_OWN_BYTES + BYTES_MAX, MADV_NOHUGEPAGE); /* used handles are far apart */
	*table = (MPI_Fint *)(void *)(memory + distance);
	return 0;
}

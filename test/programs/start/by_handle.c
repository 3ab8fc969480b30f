/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of MPI that the program looks up itself, in several ways, are those of the world that it is linked with,
 * and pointers to them are equal. twin: layouts=2+2,1+3 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>

#include "../check.h"

typedef int comm_fn(MPI_Comm, int *);
typedef int allreduce_fn(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

static void try(const char *way, void *handle, const char *prefix)
{
	char name[40];
	int r = -1, n = -1, sum = 0;

	snprintf(name, sizeof(name), "%sMPI_Comm_rank", prefix);
	comm_fn *get_rank = (comm_fn *)dlsym(handle, name);
	snprintf(name, sizeof(name), "%sMPI_Comm_size", prefix);
	comm_fn *get_size = (comm_fn *)dlsym(handle, name);
	snprintf(name, sizeof(name), "%sMPI_Allreduce", prefix);
	allreduce_fn *allreduce = (allreduce_fn *)dlsym(handle, name);
	CHECK(get_rank && get_size && allreduce, "%s finds no %s", way, name);
	if (!get_rank || !get_size || !allreduce)
		return;
	CHECK(*prefix || get_size == MPI_Comm_size, "%s finds another MPI_Comm_size", way);
	get_rank(WORLD, &r);
	get_size(WORLD, &n);
	allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, WORLD);
	printf("%s, %sMPI: rank %d of %d, sum %d\n", way, prefix, r, n, sum);
	CHECK_INT(r, rank);
	CHECK_INT(n, size);
	CHECK_INT(sum, size * (size - 1) / 2);
}

static int find_library(struct dl_phdr_info *info, size_t bytes, void *path)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)bytes;
	if (!slash || (strncmp(slash, "/libmpich.so", 12) != 0 && strncmp(slash, "/libmpi.so", 10) != 0))
		return 0;
	*(const char **)path = info->dlpi_name;
	return 1;
}

int main(int argc, char **argv)
{
	const char *path = NULL;

	/* looked up before MPI_Init, used behind it */
	int (*init)(int *, char ***) = (int (*)(int *, char ***))dlsym(RTLD_DEFAULT, "MPI_Init");
	if (!init)
		return 1;
	init(&argc, &argv);
	whole_lines();
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	dl_iterate_phdr(find_library, &path);
	void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	CHECK(handle, "the MPI library is not found: %s", path ? path : "no such name");
	for (int p = 0; p < 2; p++) {
		const char *prefix = p ? "P" : "";
		if (handle)
			try("its path", handle, prefix);
		try("the program", dlopen(NULL, RTLD_NOW), prefix);
		try("RTLD_DEFAULT", RTLD_DEFAULT, prefix);
		try("RTLD_NEXT", RTLD_NEXT, prefix);
	}
	/* which the library has or not, whatever libzipper has */
	static const char *const newer[] = {"MPI_Buffer_flush", "MPIX_Threadcomm_init", "MPIX_Request_is_complete"};
	for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++)
		printf("rank %d: %s is %s\n", rank, newer[i], dlsym(RTLD_DEFAULT, newer[i]) ? "there" : "not there");
	CHECK(!dlsym(RTLD_DEFAULT, "MPI_No_such_function"), "a function that nobody has is found");
	CHECK(dlerror(), "... without an error");
	return end();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Searches a library as the dynamic linker does for a given caller. See search.h. */
#include "libzip/loader/search.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct link_map *zsearch_map_of(const void *address)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

/* The dynamic linker's list for this object; to be freed. NULL: it has none, or there is no memory. */
static Dl_serinfo *folders_of(struct link_map *map)
{
	Dl_serinfo size, *list;

	if (dlinfo(map, RTLD_DI_SERINFOSIZE, &size) != 0)
		return NULL;
	list = malloc(size.dls_size);
	if (!list)
		return NULL;
	list->dls_size = size.dls_size;
	list->dls_cnt = size.dls_cnt;
	if (dlinfo(map, RTLD_DI_SERINFOSIZE, list) == 0 && dlinfo(map, RTLD_DI_SERINFO, list) == 0)
		return list;
	free(list);
	return NULL;
}

/* The system's folders come last in the list, and behind a cache that is not in it: the dynamic linker does them. */
static void *open_in_folders(const char *name, struct link_map *map, zsearch_fn *open, void *arg)
{
	Dl_serinfo *list = folders_of(map);
	void *opened = NULL;

	for (unsigned i = 0; list && i < list->dls_cnt && !opened; i++) {
		const Dl_serpath *folder = &list->dls_serpath[i];
		char path[PATH_MAX];
		if (folder->dls_flags & LA_SER_DEFAULT)
			break;
		int n = snprintf(path, sizeof(path), "%s/%s", folder->dls_name, name);
		if (n > 0 && n < PATH_MAX && access(path, R_OK) == 0)
			opened = open(path, arg);
	}
	free(list);
	return opened;
}

/* The rest of a name behind $ORIGIN; NULL: the name does not begin with that. */
static const char *behind_origin(const char *name)
{
	static const char *const forms[] = {"$ORIGIN/", "${ORIGIN}/"};

	for (int i = 0; i < 2; i++)
		if (strncmp(name, forms[i], strlen(forms[i])) == 0)
			return name + strlen(forms[i]);
	return NULL;
}

/* RTLD_DI_ORIGIN does not know the folder of the program where nothing else has asked for it (glibc 2.36). */
static bool origin_of(const struct link_map *map, char origin[PATH_MAX])
{
	ssize_t n = *map->l_name ? snprintf(origin, PATH_MAX, "%s", map->l_name)
				 : readlink("/proc/self/exe", origin, PATH_MAX - 1);

	if (n <= 0 || n >= PATH_MAX)
		return false;
	origin[n] = '\0';
	char *slash = strrchr(origin, '/');
	if (slash)
		*slash = '\0';
	return slash;
}

static void *open_at_origin(const char *rest, const struct link_map *map, zsearch_fn *open, void *arg)
{
	char path[2 * PATH_MAX], origin[PATH_MAX];

	if (!origin_of(map, origin))
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", origin, rest);
	return open(path, arg);
}

void *zsearch_open(const char *name, const void *caller, zsearch_fn *open, void *arg)
{
	struct link_map *map = zsearch_map_of(caller);
	void *opened = NULL;

	if (map && behind_origin(name))
		opened = open_at_origin(behind_origin(name), map, open, arg);
	else if (map && !strchr(name, '/'))
		opened = open_in_folders(name, map, open, arg);
	return opened ? opened : open(name, arg);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the dynamic linker, so that MPI is this library's however it is loaded. See interpose.h. */
#include "libzip/loader/interpose.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/err.h"
#include "config.h"
#include "libzip/loader/chain.h"
#include "libzip/loader/cover.h"
#include "libzip/loader/names.h"
#include "libzip/loader/rebind.h"
#include "libzip/loader/search.h"
#include "libzip/loader/strange.h"

/* The release, for what(1) and for zipprobe (launch/probe), which must not load the library to see it. */
__attribute__((used)) static const char mark[] = "@(#)libzipper " PACKAGE_VERSION;

#if defined(__x86_64__)
/* Three arguments are kept over the call; the fourth is the return address. The stack is aligned then. */
#define ENTRY(name)                                                                                                    \
	__asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", @function\n" #name ":\n\t.cfi_startproc\n"      \
		"\tendbr64\n"                                                                                          \
		"\tmovq (%rsp), %rcx\n"                                                                                \
		"\tpushq %rdi\n\t.cfi_adjust_cfa_offset 8\n"                                                           \
		"\tpushq %rsi\n\t.cfi_adjust_cfa_offset 8\n"                                                           \
		"\tpushq %rdx\n\t.cfi_adjust_cfa_offset 8\n"                                                           \
		"\tcall zinterpose_" #name "\n"                                                                        \
		"\tmovq %rdx, %r11\n"                                                                                  \
		"\tpopq %rdx\n\t.cfi_adjust_cfa_offset -8\n"                                                           \
		"\tpopq %rsi\n\t.cfi_adjust_cfa_offset -8\n"                                                           \
		"\tpopq %rdi\n\t.cfi_adjust_cfa_offset -8\n"                                                           \
		"\ttestq %r11, %r11\n\tjne 1f\n\tret\n"                                                                \
		"1:\tjmp *%r11\n"                                                                                      \
		"\t.cfi_endproc\n.size " #name ", .-" #name "\n")
#elif defined(__aarch64__)
#define ENTRY(name)                                                                                                    \
	__asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name ", %function\n" #name ":\n\t.cfi_startproc\n"      \
		"\thint #34\n" /* bti c */                                                                             \
		"\tstp x29, x30, [sp, #-48]!\n\t.cfi_def_cfa_offset 48\n"                                              \
		"\t.cfi_offset 29, -48\n\t.cfi_offset 30, -40\n"                                                       \
		"\tmov x29, sp\n"                                                                                      \
		"\tstp x0, x1, [sp, #16]\n"                                                                            \
		"\tstr x2, [sp, #32]\n"                                                                                \
		"\tmov x3, x30\n"                                                                                      \
		"\tbl zinterpose_" #name "\n"                                                                          \
		"\tmov x16, x1\n\tmov x9, x0\n"                                                                        \
		"\tldp x0, x1, [sp, #16]\n"                                                                            \
		"\tldr x2, [sp, #32]\n"                                                                                \
		"\tldp x29, x30, [sp], #48\n\t.cfi_restore 29\n\t.cfi_restore 30\n\t.cfi_def_cfa_offset 0\n"           \
		"\tcbz x16, 1f\n\tbr x16\n"                                                                            \
		"1:\tmov x0, x9\n\tret\n"                                                                              \
		"\t.cfi_endproc\n.size " #name ", .-" #name "\n")
#endif

#ifdef ENTRY
ENTRY(dlsym);
ENTRY(dlvsym);
ENTRY(dlopen);
ENTRY(dlmopen);
#endif

typedef void *dlsym_fn(void *, const char *);
typedef void *dlopen_fn(const char *, int);
typedef void *dlmopen_fn(long, const char *, int);

/* The definitions behind this library: libc's, or a tool's. Several threads may store the same values. */
static struct {
	void *dlsym, *dlvsym, *dlopen, *dlmopen;
} next;

/* They are found by reading symbol tables, because dlsym is what is looked for. Another library's constructor, or a
 * sanitizer, may call before this library's own constructor has run. */
ZOBJECT_EARLY static void *next_of(void **entry, const char *name)
{
	if (!*entry)
		*entry = zchain_next(zchain_self(), name, NULL);
	return *entry;
}

#define NEXT(name) next_of(&next.name, #name)

ZOBJECT_EARLY static struct zinterpose_way go_on(void *entry)
{
	return (struct zinterpose_way){.next = entry};
}

static struct zinterpose_way answer(void *value)
{
	return (struct zinterpose_way){.answer = value};
}

/* --- dlsym --- */

static bool is_behind_us(const struct link_map *map)
{
	const struct link_map *m = zchain_self();

	while (m && m != map)
		m = m->l_next;
	return m && m != zchain_self();
}

/* The symbol table of the native library leads back to this library. A tool that stands between the two has PMPI_X of
 * its own, which is this library's native entry, and asks for the next one. It must get the native one. NULL: the
 * caller is no such tool, or the next one is a tool, too. */
static void *below_tool(const char *name, const void *caller)
{
	const struct link_map *map = zsearch_map_of(caller);
	char entry[128];
	struct zobject tool, found;

	snprintf(entry, sizeof(entry), "%s%s", name[0] == 'P' ? "" : "P", name);
	if (!map || !is_behind_us(map) || !zchain_read(&tool, map) || zcover_is_library(&tool) ||
		!zobject_find(&tool, entry) || !zchain_next(map, name, &found) || !zcover_is_library(&found))
		return NULL;
	return zcover_native(name);
}

/* This library has functions of all versions of MPICH. One that the native library lacks is not there for a program
 * that looks for it in all libraries. */
static bool is_lacking(void *handle, const char *name)
{
	struct zobject o;
	const struct link_map *program = zchain_self();

	while (program && program->l_prev)
		program = program->l_prev;
	if ((handle != RTLD_DEFAULT && handle != RTLD_NEXT && handle != program) || !zcover_library() ||
		zcover_native(name))
		return false;
	for (const struct link_map *m = program; m; m = m->l_next)
		if (m != zchain_self() && zchain_read(&o, m) && zobject_find(&o, name))
			return false;
	return true;
}

/* dlerror says the reason as the name of what is not there. */
static struct zinterpose_way refuse(const char *name, const char *why)
{
	char text[256];

	snprintf(text, sizeof(text), "%s, which %s", name, why);
	return answer(((dlsym_fn *)NEXT(dlsym))(RTLD_DEFAULT, text));
}

static struct zinterpose_way find_mpi(void *handle, const char *name, const void *caller, void *dlsym_or_dlvsym)
{
	zcover_all();
	void *entry = handle == RTLD_NEXT ? below_tool(name, caller) : NULL;
	if (entry)
		return answer(entry);
	if (is_lacking(handle, name))
		return refuse(name, "the MPI library does not have");
	if (zstrange_in_world() && znames_is_strange(name) && zcover_native(name))
		return refuse(name, zstrange_why);
	return go_on(dlsym_or_dlvsym);
}

ZOBJECT_EARLY struct zinterpose_way zinterpose_dlsym(void *handle, const char *name, const char *unused,
	const void *caller)
{
	(void)unused;
	return znames_like_mpi(name) ? find_mpi(handle, name, caller, NEXT(dlsym)) : go_on(NEXT(dlsym));
}

ZOBJECT_EARLY struct zinterpose_way zinterpose_dlvsym(void *handle, const char *name, const char *version,
	const void *caller)
{
	(void)version;
	return znames_like_mpi(name) ? find_mpi(handle, name, caller, NEXT(dlvsym)) : go_on(NEXT(dlvsym));
}

/* --- dlopen --- */

/* The functions of this file, for objects that have bound past them. */
static void *ours_of(const char *name, const void *entry)
{
	struct zobject ours;

	if (entry != next.dlsym && entry != next.dlvsym && entry != next.dlopen && entry != next.dlmopen)
		return NULL;
	return zchain_read(&ours, zchain_self()) ? zobject_address(&ours, name) : NULL;
}

static bool is_initialized(void)
{
	int (*initialized)(int *) = (int (*)(int *))zcover_native("PMPI_Initialized");
	int flag = 0;

	return initialized && (initialized(&flag), flag);
}

/* A constructor in a library that has just been opened has called native MPI before there was a chance to bind it to
 * this library. */
static void refuse_constructor(const char *file) __attribute__((noreturn));
static void refuse_constructor(const char *file)
{
	zerr_print("libzipper: %s: MPI was initialised while it was loaded with RTLD_DEEPBIND, past libzipper: load it "
		   "without that flag, or the MPI library first\n",
		file);
	abort();
}

struct opening {
	int mode;
	void *(*open)(const char *path, const struct opening *);
	long space;
};

static void *open_in_space(const char *path, const struct opening *o)
{
	return ((dlmopen_fn *)NEXT(dlmopen))(o->space, path, o->mode);
}

static void *open_here(const char *path, const struct opening *o)
{
	return ((dlopen_fn *)NEXT(dlopen))(path, o->mode);
}

static void *try_path(const char *path, void *arg)
{
	const struct opening *o = arg;

	return o->open(path, o);
}

/* A library that is loaded already is found without a search. */
static void *open_deep(const char *file, int mode, const void *caller)
{
	struct opening loaded = {.mode = mode | RTLD_NOLOAD, .open = open_here},
		       new = {.mode = mode, .open = open_here};

	NEXT(dlsym);
	NEXT(dlvsym);
	NEXT(dlmopen);
	zcover_all();
	void *handle = try_path(file, &loaded);
	if (handle)
		return handle;
	const bool before = is_initialized();
	handle = zsearch_open(file, caller, try_path, &new);
	if (!handle)
		return NULL;
	const bool past_us = zcover_all() > 0 && !before && zstrange_in_world() && is_initialized();
	zrebind_all(ours_of);
	if (past_us)
		refuse_constructor(file);
	return handle;
}

ZOBJECT_EARLY struct zinterpose_way zinterpose_dlopen(const char *file, int mode, const char *unused,
	const void *caller)
{
	(void)unused;
	if (!file || !(mode & RTLD_DEEPBIND) || mode & RTLD_NOLOAD)
		return go_on(NEXT(dlopen));
	return answer(open_deep(file, mode, caller));
}

/* --- dlmopen --- */

static bool has_mpi(struct link_map *map)
{
	struct zobject o;

	while (map->l_prev)
		map = map->l_prev;
	for (; map; map = map->l_next)
		if (zchain_read(&o, map) && zobject_find(&o, "PMPI_Init"))
			return true;
	return false;
}

/* A namespace has libraries of its own, and none of them is this one. */
static void *open_apart(long space, const char *file, int mode, const void *caller)
{
	struct opening o = {.mode = mode, .space = space, .open = open_in_space};
	void *handle = zsearch_open(file, caller, try_path, &o);
	char text[1024];

	if (!handle || !has_mpi(handle))
		return handle;
	dlclose(handle);
	snprintf(text, sizeof(text),
		"libzipper: %s brings MPI into a namespace of its own, where it would see this cluster alone: use "
		"dlopen "
		"instead of dlmopen",
		file);
	zerr_print("%s\n", text);
	((dlsym_fn *)NEXT(dlsym))(RTLD_DEFAULT, text); /* for dlerror */
	return NULL;
}

struct zinterpose_way zinterpose_dlmopen(long space, const char *file, int mode, const void *caller)
{
	if (space == LM_ID_BASE && file && mode & RTLD_DEEPBIND)
		return answer(open_deep(file, mode, caller));
	if (space == LM_ID_BASE || !file || !zstrange_in_world())
		return go_on(NEXT(dlmopen));
	return answer(open_apart(space, file, mode, caller));
}

/* --- the start --- */

/* Covers the libraries that are loaded before the program starts. */
static void begin(void) __attribute__((constructor));
static void begin(void)
{
	zstrange_in_world();
	zcover_all();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program or library in the memory of this process, as the dynamic linker has loaded it: the tables of its dynamic
 * section (System V ABI, chapter 5; the hash table of GNU). Reads only, allocates nothing, and calls no other function,
 * because it works before the constructors of this library. Any thread, while the object is loaded.
 */
#ifndef ZIP_LIBZIP_OBJECT_H
#define ZIP_LIBZIP_OBJECT_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions that run before a sanitizer of the process is ready. */
#define ZOBJECT_EARLY __attribute__((no_sanitize("address"), no_sanitize("undefined"), no_sanitize("thread")))

#define ZOBJECT_RELOCATIONS 3 /* those of functions, and the others with and without addend */

struct zobject {
	const char *path;   /* as the dynamic linker has it; "": the program */
	const char *soname; /* NULL: it has none */
	ElfW(Addr) base;    /* added to all addresses of its tables */
	const ElfW(Sym) * symbols;
	const ElfW(Half) * versions; /* one for each symbol, or NULL */
	const char *strings;
	const uint32_t *gnu_hash, *hash; /* one of them may be NULL */
	struct zobject_relocations {
		const char *at; /* ElfW(Rel) or ElfW(Rela) */
		size_t bytes, entry;
	} relocations[ZOBJECT_RELOCATIONS];
};

/* Fills the object. false: it has no symbols. path is kept. */
bool zobject_read(struct zobject *, const char *path, ElfW(Addr) base, const ElfW(Dyn) *);
struct dl_phdr_info;
/* As dl_iterate_phdr describes it. false also for an object without a dynamic section. */
bool zobject_of_phdr(struct zobject *, const struct dl_phdr_info *);

/* A symbol that its object keeps to itself, although the table has it: the dynamic linker passes over it, too. */
ZOBJECT_EARLY static inline bool zobject_is_hidden(const ElfW(Sym) * symbol)
{
	const int visibility = symbol->st_other & 3;

	return visibility == STV_HIDDEN || visibility == STV_INTERNAL;
}
/* The symbol that the object defines by this name and offers to others, in its default version; NULL: none. */
const ElfW(Sym) * zobject_find(const struct zobject *, const char *name);
/* The address of such a function or object; NULL: none. */
void *zobject_address(const struct zobject *, const char *name);
/* How many symbols there are, undefined ones with them. Symbol 0 is none. */
size_t zobject_count(const struct zobject *);
ZOBJECT_EARLY static inline const char *zobject_name(const struct zobject *o, const ElfW(Sym) * symbol)
{
	return o->strings + symbol->st_name;
}

bool zobject_same_name(const char *a, const char *b); /* strcmp(a, b) == 0 */

#endif

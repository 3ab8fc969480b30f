/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes small binaries (ELF) with chosen headers, for this machine. They are not meant to run. */
#ifndef ZIP_TEST_ELF_FIXTURE_H
#define ZIP_TEST_ELF_FIXTURE_H

#include <elf.h>
#include <link.h>
#include <stddef.h>

#define ELF_STRINGS 1024
#define ELF_ENTRIES 24

struct elf { /* the whole file */
	ElfW(Ehdr) header;
	ElfW(Phdr) load, interpreter, dynamic;
	ElfW(Dyn) entry[ELF_ENTRIES];
	char linker[64];
	char strings[ELF_STRINGS];
};

/* A dynamically linked program that needs these libraries (a list that ends with NULL) and has these symbols (the
 * same). */
void elf_make(struct elf *, const char *const *libraries, const char *const *symbols);
/* Takes a segment out. */
void elf_drop(ElfW(Phdr) *);
/* Gives it a soname. */
void elf_name(struct elf *, const char *soname);
/* Writes a file that may be executed. */
void elf_write(const void *bytes, size_t len, const char *path);

#endif

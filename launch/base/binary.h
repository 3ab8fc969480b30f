/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the headers of a binary (ELF, elf(5)) say: may the dynamic linker load a library into it, and which libraries
 * does it need? Nothing in the file is trusted: every offset and size is checked against the size of the file.
 */
#ifndef ZIP_LAUNCH_BINARY_H
#define ZIP_LAUNCH_BINARY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum zbinary_kind {
	ZBINARY_NONE,	 /* no binary; perhaps a script */
	ZBINARY_DAMAGED, /* cut, or headers that contradict themselves */
	ZBINARY_NARROW,	 /* for 32 bits, where this process has 64, or the other way round */
	ZBINARY_FOREIGN, /* for another kind of machine than this process */
	ZBINARY_OBJECT,	 /* an object file, or a core */
	ZBINARY_LIBRARY,
	ZBINARY_LOADER, /* the dynamic linker itself, which takes a program as its argument */
	ZBINARY_STATIC, /* no dynamic linker is asked for */
	ZBINARY_DYNAMIC
};

struct zbinary {
	enum zbinary_kind kind;
	char linker[PATH_MAX]; /* ZBINARY_DYNAMIC: path of its dynamic linker */
	char *strings; /* [nstrings + 1], a zero at the end: names of libraries and symbols; NULL: none; owned */
	size_t nstrings;
	uint64_t *needed; /* [nneeded]: places in strings of the libraries that it needs; owned */
	size_t nneeded;
};

/* Reads the file behind fd. 0, or a negative errno where it cannot be read or memory is short. Free with zbinary_free
 * in any case. */
int zbinary_read(struct zbinary *, int fd);
void zbinary_free(struct zbinary *);
/* The file name of library number i < nneeded, without its folder. */
const char *zbinary_library(const struct zbinary *, size_t i);
/* Has it a symbol (or library) of this name? */
bool zbinary_has_name(const struct zbinary *, const char *name);

#endif

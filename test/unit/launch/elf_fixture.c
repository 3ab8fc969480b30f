/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes small binaries. See elf_fixture.h. */
#include "test/unit/launch/elf_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BASE 0x400000 /* address of the file's first byte */

static void insist(int yes, const char *what)
{
	if (yes)
		return;
	perror(what);
	abort();
}

/* The kind of machine is that of this process. */
static void copy_own_header(ElfW(Ehdr) * header)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	insist(fd >= 0 && read(fd, header, sizeof(*header)) == (ssize_t)sizeof(*header), "/proc/self/exe");
	close(fd);
}

static ElfW(Phdr) segment(uint32_t type, size_t offset, size_t len)
{
	return (ElfW(
		Phdr)){.p_type = type, .p_offset = offset, .p_vaddr = BASE + offset, .p_filesz = len, .p_memsz = len};
}

/* Puts a text behind the others; returns its place. */
static size_t add_string(struct elf *e, const char *text)
{
	size_t at = e->entry[1].d_un.d_val;
	insist(at + strlen(text) < ELF_STRINGS, "room for strings");
	strcpy(e->strings + at, text);
	e->entry[1].d_un.d_val = at + strlen(text) + 1;
	return at;
}

static void add_entry(struct elf *e, int64_t tag, size_t value)
{
	int i = 0;
	while (e->entry[i].d_tag != DT_NULL)
		i++;
	insist(i < ELF_ENTRIES - 1, "room for entries");
	e->entry[i].d_tag = tag;
	e->entry[i].d_un.d_val = value;
}

void elf_make(struct elf *e, const char *const *libraries, const char *const *symbols)
{
	memset(e, 0, sizeof(*e));
	copy_own_header(&e->header);
	e->header.e_type = ET_DYN;
	e->header.e_phoff = offsetof(struct elf, load);
	e->header.e_phentsize = sizeof(ElfW(Phdr));
	e->header.e_phnum = 3;
	strcpy(e->linker, "/proc/self/exe"); /* any file that may be executed */
	e->load = segment(PT_LOAD, 0, sizeof(*e));
	e->interpreter = segment(PT_INTERP, offsetof(struct elf, linker), strlen(e->linker) + 1);
	e->dynamic = segment(PT_DYNAMIC, offsetof(struct elf, entry), sizeof(e->entry));
	add_entry(e, DT_STRTAB, BASE + offsetof(struct elf, strings));
	add_entry(e, DT_STRSZ, 1);
	for (; libraries && *libraries; libraries++)
		add_entry(e, DT_NEEDED, add_string(e, *libraries));
	for (; symbols && *symbols; symbols++)
		add_string(e, *symbols);
}

void elf_drop(ElfW(Phdr) * s)
{
	s->p_type = PT_NULL;
}

void elf_name(struct elf *e, const char *soname)
{
	add_entry(e, DT_SONAME, add_string(e, soname));
}

void elf_write(const void *bytes, size_t len, const char *path)
{
	unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0755);
	insist(fd >= 0 && write(fd, bytes, len) == (ssize_t)len, path);
	close(fd);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the headers of a binary. See binary.h. Only program headers count, as for the kernel and the dynamic linker:
 * section headers may be stripped. */
#include "launch/base/binary.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fcntl.h>

#define HEADERS_MAX 4096
#define STRINGS_MAX ((uint64_t)1 << 28)
#define DYNAMIC_MAX ((uint64_t)1 << 22)
#define BAD 1 /* the file is damaged; errors of the system are negative */

struct file {
	int fd;
	uint64_t size;
	ElfW(Ehdr) header;
	ElfW(Phdr) * segment; /* [header.e_phnum] */
};

static bool is_inside(const struct file *f, uint64_t offset, uint64_t len)
{
	return offset <= f->size && len <= f->size - offset;
}

static int read_at(const struct file *f, void *to, uint64_t offset, uint64_t len)
{
	if (!is_inside(f, offset, len))
		return BAD;
	for (uint64_t done = 0; done < len;) {
		ssize_t n = pread(f->fd, (char *)to + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : BAD; /* it has become shorter */
		done += (uint64_t)n;
	}
	return 0;
}

/* Reads len bytes into new memory, with a zero behind them. */
static int read_new(const struct file *f, void *out, uint64_t offset, uint64_t len)
{
	if (!is_inside(f, offset, len))
		return BAD;
	char *memory = malloc(len + 1);
	if (!memory)
		return -ENOMEM;
	int rc = read_at(f, memory, offset, len);
	if (rc != 0) {
		free(memory);
		return rc;
	}
	memory[len] = '\0';
	*(void **)out = memory;
	return 0;
}

static const ElfW(Phdr) * find_segment(const struct file *f, uint32_t type)
{
	for (int i = 0; i < f->header.e_phnum; i++)
		if (f->segment[i].p_type == type)
			return &f->segment[i];
	return NULL;
}

/* Where the file has what is at this address of the running program. */
static int find_address(const struct file *f, uint64_t address, uint64_t *offset)
{
	for (int i = 0; i < f->header.e_phnum; i++) {
		const ElfW(Phdr) *s = &f->segment[i];
		if (s->p_type != PT_LOAD || address < s->p_vaddr || address - s->p_vaddr >= s->p_filesz)
			continue;
		*offset = s->p_offset + (address - s->p_vaddr);
		return *offset < s->p_offset ? BAD : 0;
	}
	return BAD;
}

/* Compares with this process' own program. *same: the machine fits. */
static int find_kind(const ElfW(Ehdr) * there, enum zbinary_kind *kind)
{
	ElfW(Ehdr) here;
	struct file self = {.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), .size = sizeof(here)};
	if (self.fd < 0)
		return -errno;
	int rc = read_at(&self, &here, 0, sizeof(here));
	close(self.fd);
	if (rc != 0)
		return rc < 0 ? rc : -EIO;
	const unsigned char *a = here.e_ident, *b = there->e_ident;
	if (b[EI_CLASS] != ELFCLASS32 && b[EI_CLASS] != ELFCLASS64)
		*kind = ZBINARY_DAMAGED;
	else if (a[EI_CLASS] != b[EI_CLASS])
		*kind = ZBINARY_NARROW;
	else if (a[EI_DATA] != b[EI_DATA] || here.e_machine != there->e_machine)
		*kind = ZBINARY_FOREIGN;
	else if (there->e_type != ET_EXEC && there->e_type != ET_DYN)
		*kind = ZBINARY_OBJECT;
	else
		*kind = ZBINARY_DYNAMIC;
	return 0;
}

static int read_segments(struct file *f)
{
	const ElfW(Ehdr) *h = &f->header;
	if (h->e_phentsize != sizeof(*f->segment) || h->e_phnum == 0 || h->e_phnum > HEADERS_MAX)
		return BAD;
	return read_new(f, &f->segment, h->e_phoff, (uint64_t)h->e_phnum * sizeof(*f->segment));
}

/* The path of the dynamic linker; "": none is asked for. */
static int read_linker(const struct file *f, char linker[PATH_MAX])
{
	const ElfW(Phdr) *s = find_segment(f, PT_INTERP);
	linker[0] = '\0';
	if (!s)
		return 0;
	if (s->p_filesz < 2 || s->p_filesz > PATH_MAX) /* as the kernel checks it */
		return BAD;
	int rc = read_at(f, linker, s->p_offset, s->p_filesz);
	return rc != 0 ? rc : linker[s->p_filesz - 1] != '\0' || linker[0] == '\0' ? BAD : 0;
}

struct dynamic { /* what the dynamic section says of strings */
	uint64_t address, size, own_name;
	bool has_address, has_own_name;
};

static int read_dynamic(const struct file *f, struct zbinary *b, struct dynamic *d)
{
	const ElfW(Phdr) *s = find_segment(f, PT_DYNAMIC);
	ElfW(Dyn) *entry = NULL;
	if (!s)
		return 0;
	if (s->p_filesz > DYNAMIC_MAX)
		return BAD;
	int rc = read_new(f, &entry, s->p_offset, s->p_filesz);
	if (rc != 0)
		return rc;
	const size_t n = s->p_filesz / sizeof(*entry);
	b->needed = calloc(n + 1, sizeof(*b->needed));
	for (size_t i = 0; b->needed && i < n && entry[i].d_tag != DT_NULL; i++) {
		if (entry[i].d_tag == DT_NEEDED)
			b->needed[b->nneeded++] = entry[i].d_un.d_val;
		if (entry[i].d_tag == DT_STRSZ)
			d->size = entry[i].d_un.d_val;
		if (entry[i].d_tag == DT_STRTAB) {
			d->address = entry[i].d_un.d_ptr;
			d->has_address = true;
		}
		if (entry[i].d_tag == DT_SONAME) {
			d->own_name = entry[i].d_un.d_val;
			d->has_own_name = true;
		}
	}
	free(entry);
	return b->needed ? 0 : -ENOMEM;
}

static int read_strings(const struct file *f, struct zbinary *b, const struct dynamic *d)
{
	uint64_t offset;
	if (!d->has_address)
		return b->nneeded > 0 || d->has_own_name ? BAD : 0;
	int rc = d->size > STRINGS_MAX ? BAD : find_address(f, d->address, &offset);
	if (rc == 0)
		rc = read_new(f, &b->strings, offset, d->size);
	if (rc != 0)
		return rc;
	b->nstrings = d->size;
	for (size_t i = 0; i < b->nneeded; i++)
		if (b->needed[i] >= b->nstrings)
			return BAD;
	return d->has_own_name && d->own_name >= b->nstrings ? BAD : 0;
}

/* A file that asks for no dynamic linker. */
static enum zbinary_kind kind_without_linker(const struct zbinary *b, const struct dynamic *d)
{
	if (!d->has_own_name)
		return ZBINARY_STATIC;
	const char *name = b->strings + d->own_name; /* ld-linux-x86-64.so.2, ld64.so.2, ld-musl-x86_64.so.1 */
	return strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.", 3) == 0 || strncmp(name, "ld64", 4) == 0
		       ? ZBINARY_LOADER
		       : ZBINARY_LIBRARY;
}

static int read_all(struct file *f, struct zbinary *b)
{
	struct dynamic d = {0};
	int rc = read_at(f, &f->header, 0, sizeof(f->header));
	if (rc == 0)
		rc = find_kind(&f->header, &b->kind);
	if (rc != 0 || b->kind != ZBINARY_DYNAMIC)
		return rc;
	rc = read_segments(f);
	if (rc == 0)
		rc = read_linker(f, b->linker);
	if (rc == 0)
		rc = read_dynamic(f, b, &d);
	if (rc == 0)
		rc = read_strings(f, b, &d);
	if (rc == 0 && !b->linker[0])
		b->kind = kind_without_linker(b, &d);
	return rc;
}

int zbinary_read(struct zbinary *b, int fd)
{
	struct file f = {.fd = fd};
	struct stat st;
	char magic[SELFMAG];
	memset(b, 0, sizeof(*b));
	if (fstat(fd, &st) != 0)
		return -errno;
	f.size = (uint64_t)st.st_size;
	int rc = read_at(&f, magic, 0, sizeof(magic));
	if (rc != 0 || memcmp(magic, ELFMAG, SELFMAG) != 0)
		return rc < 0 ? rc : 0;
	rc = read_all(&f, b);
	free(f.segment);
	if (rc == BAD)
		b->kind = ZBINARY_DAMAGED;
	return rc < 0 ? rc : 0;
}

void zbinary_free(struct zbinary *b)
{
	free(b->strings);
	free(b->needed);
	memset(b, 0, sizeof(*b));
}

const char *zbinary_library(const struct zbinary *b, size_t i)
{
	const char *path = b->strings + b->needed[i], *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

bool zbinary_has_name(const struct zbinary *b, const char *name)
{
	/* Linkers store a name that ends another name inside that one. */
	return b->strings && memmem(b->strings, b->nstrings + 1, name, strlen(name) + 1);
}

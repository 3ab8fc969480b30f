/* SPDX-License-Identifier: BSD-3-Clause */
/* Leads searches in the native MPI library to this library. See cover.h. */
#include "libzip/loader/cover.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libzip/loader/chain.h"
#include "libzip/loader/flavour.h"
#include "libzip/loader/names.h"
#include "libzip/loader/strange.h"

#define LIBRARIES_MAX 8 /* copies of MPI in one process */
#define SYMBOL_TYPE(info) ((info)&0xf)

struct library {
	struct zobject object;
	ElfW(Addr) * values; /* of all symbols, as they were */
	bool other;	     /* not MPICH's ABI */
	bool pinned;
};

/* Libraries are added under the lock, and never taken away. The dynamic linker's own lock is held while they are looked
 * at, too; nothing may be opened then. */
static struct {
	pthread_mutex_t lock;
	struct library library[LIBRARIES_MAX];
	atomic_int n;		   /* those are filled */
	unsigned long long loaded; /* number of objects that were ever loaded, when all were looked at last */
	struct zobject ours;
	struct zerr err; /* what went wrong, if anything */
} self = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- one library --- */

/* The function to which the entry of this name shall lead. NULL: the entry stays as it is. */
static void *instead_of(const struct library *l, const char *name)
{
	if (!znames_like_mpi(name))
		return NULL;
	if (l->other)
		return zstrange_in_world() ? zflavour_instead(name) : NULL;
	void *wrapper = zobject_address(&self.ours, name);
	return !wrapper && zstrange_in_world() && znames_is_strange(name) ? zstrange_stub(name) : wrapper;
}

/* Access of the segment that has this address. */
static int access_at(const struct dl_phdr_info *info, ElfW(Addr) address)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type == PT_LOAD && address - info->dlpi_addr - p->p_vaddr < p->p_memsz)
			return (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) |
			       (p->p_flags & PF_X ? PROT_EXEC : 0);
	}
	return PROT_READ;
}

/* There are objects, too, such as MPI_UNWEIGHTED. A library reaches its own hidden functions by this table. */
static bool is_function(const ElfW(Sym) * symbol)
{
	return symbol->st_shndx != SHN_UNDEF && SYMBOL_TYPE(symbol->st_info) == STT_FUNC && !zobject_is_hidden(symbol);
}

static void rewrite(struct library *l, size_t n)
{
	ElfW(Sym) *symbols = (ElfW(Sym) *)l->object.symbols;

	for (size_t i = 1; i < n; i++) {
		if (!is_function(&symbols[i]))
			continue;
		const void *instead = instead_of(l, zobject_name(&l->object, &symbols[i]));
		if (instead)
			symbols[i].st_value = (ElfW(Addr))instead - l->object.base;
	}
}

/* The pages become private to this process; the file stays as it is. */
static int cover(struct library *l, const struct dl_phdr_info *info)
{
	const size_t n = zobject_count(&l->object), page = (size_t)sysconf(_SC_PAGESIZE);
	const ElfW(Addr) at = (ElfW(Addr))l->object.symbols, from = at & ~(ElfW(Addr))(page - 1);
	const size_t bytes = at + n * sizeof(ElfW(Sym)) - from;
	const int access = access_at(info, at);

	l->values = malloc(n * sizeof(*l->values));
	if (!l->values)
		return zerr_set(&self.err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		l->values[i] = l->object.symbols[i].st_value;
	if (mprotect((void *)from, bytes, access | PROT_WRITE) != 0)
		return zerr_set(&self.err, -errno, "%s: cannot write to its symbol table in memory: %s", l->object.path,
			strerror(errno));
	rewrite(l, n);
	mprotect((void *)from, bytes, access);
	return 0;
}

/* --- all libraries --- */

static struct library *library_of(const struct zobject *o)
{
	for (int i = 0; i < self.n; i++)
		if (self.library[i].object.symbols == o->symbols)
			return &self.library[i];
	return NULL;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	unsigned long long *loaded = arg;
	struct zobject o;

	(void)size;
	if (info->dlpi_adds == self.loaded)
		return 1;
	*loaded = info->dlpi_adds;
	if (!zobject_of_phdr(&o, info) || o.symbols == self.ours.symbols || library_of(&o))
		return 0;
	const enum zflavour flavour = zflavour_of(&o);
	if (flavour == ZFLAVOUR_NONE)
		return 0;
	if (self.n == LIBRARIES_MAX)
		return zerr_set(&self.err, -ENOSPC, "more than %d MPI libraries are loaded", LIBRARIES_MAX);
	struct library *l = &self.library[self.n];
	l->object = o;
	l->other = flavour == ZFLAVOUR_OTHER;
	int rc = cover(l, info);
	self.n++;
	return rc;
}

/* A program may close the library, and open it again. Then its symbol table would be as in the file. libc's own dlopen
 * opens it, because that of this library (interpose.h) covers libraries itself. */
static void pin(struct library *l)
{
	void *(*open)(const char *, int) = (void *(*)(const char *, int))zchain_next(zchain_self(), "dlopen", NULL);

	if (!l->pinned && *l->object.path && open)
		open(l->object.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	l->pinned = true;
}

int zcover_all(void)
{
	unsigned long long loaded = 0;

	pthread_mutex_lock(&self.lock);
	const int before = self.n;
	if ((self.ours.symbols || zchain_read(&self.ours, zchain_self())) && dl_iterate_phdr(look_at, &loaded) == 0)
		self.loaded = loaded;
	const int after = self.n;
	pthread_mutex_unlock(&self.lock);
	for (int i = before; i < after; i++)
		pin(&self.library[i]);
	return after - before;
}

int zcover_check(struct zerr *err)
{
	return *self.err.text ? zerr_set(err, -EPERM, "%s", self.err.text) : 0;
}

/* --- what is covered --- */

static void *value_of(const struct library *l, const ElfW(Sym) * s)
{
	return (void *)(l->object.base + (l->values ? l->values[s - l->object.symbols] : s->st_value));
}

void *zcover_native(const char *name)
{
	for (int i = 0; i < self.n; i++) {
		const struct library *l = &self.library[i];
		const ElfW(Sym) *s = l->other ? NULL : zobject_find(&l->object, name);
		if (s)
			return value_of(l, s);
	}
	return NULL;
}

const struct zobject *zcover_library(void)
{
	for (int i = 0; i < self.n; i++)
		if (!self.library[i].other)
			return &self.library[i].object;
	return NULL;
}

bool zcover_is_library(const struct zobject *o)
{
	return library_of(o) != NULL;
}

void *zcover_instead(const char *name, const void *entry)
{
	for (int i = 0; i < self.n; i++) {
		const struct library *l = &self.library[i];
		const ElfW(Sym) *s = zobject_find(&l->object, name);
		if (s && is_function(s) && value_of(l, s) == entry)
			return instead_of(l, name);
	}
	return NULL;
}

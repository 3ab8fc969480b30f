/* SPDX-License-Identifier: BSD-3-Clause */
/* Rewrites slots of loaded objects. See rebind.h. */
#include "libzip/loader/rebind.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libzip/loader/chain.h"
#include "libzip/loader/cover.h"
#include "libzip/loader/names.h"

#if __ELF_NATIVE_CLASS == 64
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

/* Of the segment, or of the part that the dynamic linker makes read-only when it has relocated it. */
static int access_at(const struct dl_phdr_info *info, ElfW(Addr) address)
{
	int access = PROT_READ | PROT_WRITE;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (address - info->dlpi_addr - p->p_vaddr >= p->p_memsz)
			continue;
		if (p->p_type == PT_GNU_RELRO)
			return PROT_READ;
		if (p->p_type == PT_LOAD)
			access = (p->p_flags & PF_R ? PROT_READ : 0) | (p->p_flags & PF_W ? PROT_WRITE : 0) |
				 (p->p_flags & PF_X ? PROT_EXEC : 0);
	}
	return access;
}

static void write_slot(const struct dl_phdr_info *info, void *_Atomic *slot, void *value)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *from = (void *)((ElfW(Addr))slot & ~(ElfW(Addr))(page - 1));
	const int access = access_at(info, (ElfW(Addr))slot);

	if (!(access & PROT_WRITE) && mprotect(from, page, access | PROT_WRITE) != 0)
		return;
	atomic_store_explicit(slot, value, memory_order_relaxed);
	if (!(access & PROT_WRITE))
		mprotect(from, page, access);
}

static void rebind(const struct dl_phdr_info *info, const struct zobject *o, const struct zobject_relocations *r,
	zrebind_fn *other)
{
	for (const char *at = r->at, *end = at + r->bytes; at && at < end; at += r->entry) {
		const ElfW(Rel) *rel = (const ElfW(Rel) *)at; /* ElfW(Rela) begins in the same way */
		const size_t symbol = SYMBOL_OF(rel->r_info);
		if (symbol == 0 || o->symbols[symbol].st_shndx != SHN_UNDEF)
			continue;
		const char *name = zobject_name(o, &o->symbols[symbol]);
		const bool mpi = znames_like_mpi(name);
		if (!mpi && !(other && name[0] == 'd' && name[1] == 'l'))
			continue;
		/* The kind of the relocation does not matter: no other value is that function's address. */
		void *_Atomic *slot = (void *_Atomic *)(o->base + rel->r_offset);
		const void *entry = atomic_load_explicit(slot, memory_order_relaxed);
		void *instead = mpi ? zcover_instead(name, entry) : other(name, entry);
		if (instead)
			write_slot(info, slot, instead);
	}
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	zrebind_fn *const *other = arg;
	struct zobject o, ours;

	(void)size;
	if (!zobject_of_phdr(&o, info) || !zchain_read(&ours, zchain_self()) || o.symbols == ours.symbols ||
		zcover_is_library(&o))
		return 0;
	for (int i = 0; i < ZOBJECT_RELOCATIONS; i++)
		rebind(info, &o, &o.relocations[i], *other);
	return 0;
}

void zrebind_all(zrebind_fn *other)
{
	dl_iterate_phdr(look_at, &other);
}

/* --- objects --- */

struct wanted {
	const char *name;
	void *object;
};

static int look_for(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct wanted *w = arg;
	struct zobject o;

	(void)size;
	w->object = zobject_of_phdr(&o, info) ? zobject_address(&o, w->name) : NULL;
	return w->object != NULL;
}

/* The native library has it, or a library that this one needs, as in Open MPI 6. */
static void *find_object(const char *name)
{
	struct wanted w = {.name = name, .object = zcover_native(name)};

	if (!w.object)
		dl_iterate_phdr(look_for, &w);
	return w.object;
}

static void fill(const struct dl_phdr_info *info, const struct zobject *o, const struct zobject_relocations *r,
	const char *prefix)
{
	for (const char *at = r->at, *end = at + r->bytes; at && at < end; at += r->entry) {
		const ElfW(Rel) *rel = (const ElfW(Rel) *)at;
		const size_t symbol = SYMBOL_OF(rel->r_info);
		if (symbol == 0 || o->symbols[symbol].st_shndx != SHN_UNDEF)
			continue;
		const char *name = zobject_name(o, &o->symbols[symbol]);
		if (strncmp(name, prefix, strlen(prefix)) != 0)
			continue;
		void *_Atomic *slot = (void *_Atomic *)(o->base + rel->r_offset);
		if (atomic_load_explicit(slot, memory_order_relaxed))
			continue;
		void *object = find_object(name);
		if (object)
			write_slot(info, slot, object);
	}
}

static int look_at_own(struct dl_phdr_info *info, size_t size, void *prefix)
{
	struct zobject o, ours;

	(void)size;
	if (!zobject_of_phdr(&o, info) || !zchain_read(&ours, zchain_self()) || o.symbols != ours.symbols)
		return 0;
	for (int i = 0; i < ZOBJECT_RELOCATIONS; i++)
		fill(info, &o, &o.relocations[i], prefix);
	return 1;
}

void zrebind_objects(const char *prefix)
{
	dl_iterate_phdr(look_at_own, (void *)(uintptr_t)prefix);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the tables of a loaded program or library. See object.h. */
#include "libzip/loader/object.h"

#define VERSION_HIDDEN 0x8000 /* of a symbol's version: not the default one */
#define SYMBOL_BIND(info) ((info) >> 4)

ZOBJECT_EARLY bool zobject_same_name(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* The dynamic linker writes addresses into the dynamic section, except where the section is read-only (the kernel's
 * own object, some machines). */
ZOBJECT_EARLY static const void *address_of(const struct zobject *o, const ElfW(Dyn) * d)
{
	return (const void *)(d->d_un.d_ptr < o->base ? d->d_un.d_ptr + o->base : d->d_un.d_ptr);
}

ZOBJECT_EARLY static void read_relocations(struct zobject *o, const ElfW(Dyn) * dynamic)
{
	size_t function_entry = sizeof(ElfW(Rela));

	for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_JMPREL)
			o->relocations[0].at = address_of(o, d);
		else if (d->d_tag == DT_PLTRELSZ)
			o->relocations[0].bytes = d->d_un.d_val;
		else if (d->d_tag == DT_PLTREL && d->d_un.d_val == DT_REL)
			function_entry = sizeof(ElfW(Rel));
		else if (d->d_tag == DT_RELA)
			o->relocations[1].at = address_of(o, d);
		else if (d->d_tag == DT_RELASZ)
			o->relocations[1].bytes = d->d_un.d_val;
		else if (d->d_tag == DT_REL)
			o->relocations[2].at = address_of(o, d);
		else if (d->d_tag == DT_RELSZ)
			o->relocations[2].bytes = d->d_un.d_val;
	}
	o->relocations[0].entry = function_entry;
	o->relocations[1].entry = sizeof(ElfW(Rela));
	o->relocations[2].entry = sizeof(ElfW(Rel));
}

ZOBJECT_EARLY bool zobject_read(struct zobject *o, const char *path, ElfW(Addr) base, const ElfW(Dyn) * dynamic)
{
	const ElfW(Dyn) *soname = NULL;

	*o = (struct zobject){.path = path, .base = base};
	for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			o->symbols = address_of(o, d);
		else if (d->d_tag == DT_STRTAB)
			o->strings = address_of(o, d);
		else if (d->d_tag == DT_GNU_HASH)
			o->gnu_hash = address_of(o, d);
		else if (d->d_tag == DT_HASH)
			o->hash = address_of(o, d);
		else if (d->d_tag == DT_VERSYM)
			o->versions = address_of(o, d);
		else if (d->d_tag == DT_SONAME)
			soname = d;
	}
	if (!o->symbols || !o->strings || (!o->gnu_hash && !o->hash))
		return false;
	if (soname)
		o->soname = o->strings + soname->d_un.d_val;
	read_relocations(o, dynamic);
	return true;
}

bool zobject_of_phdr(struct zobject *o, const struct dl_phdr_info *info)
{
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return zobject_read(o, info->dlpi_name, info->dlpi_addr,
				(const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
	return false;
}

/* --- hash tables --- */

struct gnu_table {
	uint32_t buckets, first; /* first: index of the first symbol that is in the table */
	const uint32_t *bucket, *chain;
};

ZOBJECT_EARLY static struct gnu_table gnu_table(const struct zobject *o)
{
	const uint32_t *t = o->gnu_hash;
	const uint32_t *bucket = (const uint32_t *)((const ElfW(Addr) *)(t + 4) + t[2]); /* behind the Bloom filter */

	return (struct gnu_table){.buckets = t[0], .first = t[1], .bucket = bucket, .chain = bucket + t[0]};
}

ZOBJECT_EARLY static bool is_offered(const struct zobject *o, size_t i, const char *name)
{
	const ElfW(Sym) *s = &o->symbols[i];

	return s->st_shndx != SHN_UNDEF && SYMBOL_BIND(s->st_info) != STB_LOCAL && !zobject_is_hidden(s) &&
	       !(o->versions && o->versions[i] & VERSION_HIDDEN) && zobject_same_name(zobject_name(o, s), name);
}

ZOBJECT_EARLY static const ElfW(Sym) * find_gnu(const struct zobject *o, const char *name)
{
	const struct gnu_table t = gnu_table(o);
	uint32_t hash = 5381;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	uint32_t i = t.buckets ? t.bucket[hash % t.buckets] : 0;
	if (i < t.first || i == 0)
		return NULL;
	for (;; i++) {
		const uint32_t entry = t.chain[i - t.first]; /* the lowest bit marks the end of the chain */
		if ((entry | 1) == (hash | 1) && is_offered(o, i, name))
			return &o->symbols[i];
		if (entry & 1)
			return NULL;
	}
}

ZOBJECT_EARLY static const ElfW(Sym) * find_sysv(const struct zobject *o, const char *name)
{
	const uint32_t buckets = o->hash[0], *bucket = o->hash + 2, *chain = bucket + buckets;
	uint32_t hash = 0;

	for (const char *c = name; *c; c++) {
		hash = (hash << 4) + (unsigned char)*c;
		hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
	}
	for (uint32_t i = buckets ? bucket[hash % buckets] : 0; i != 0; i = chain[i])
		if (is_offered(o, i, name))
			return &o->symbols[i];
	return NULL;
}

ZOBJECT_EARLY const ElfW(Sym) * zobject_find(const struct zobject *o, const char *name)
{
	return o->gnu_hash ? find_gnu(o, name) : find_sysv(o, name);
}

ZOBJECT_EARLY void *zobject_address(const struct zobject *o, const char *name)
{
	const ElfW(Sym) *s = zobject_find(o, name);

	return s ? (void *)(o->base + s->st_value) : NULL;
}

size_t zobject_count(const struct zobject *o)
{
	if (o->hash)
		return o->hash[1];
	const struct gnu_table t = gnu_table(o);
	uint32_t last = 0;
	for (uint32_t b = 0; b < t.buckets; b++)
		if (t.bucket[b] > last)
			last = t.bucket[b];
	if (last < t.first || last == 0)
		return t.first; /* only undefined ones */
	while (!(t.chain[last - t.first] & 1))
		last++;
	return last + 1;
}

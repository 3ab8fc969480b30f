/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks the dynamic linker's list of objects. See chain.h. */
#include "libzip/loader/chain.h"

extern const ElfW(Dyn) zchain_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

ZOBJECT_EARLY const struct link_map *zchain_self(void)
{
	const struct link_map *m = _r_debug.r_map;

	while (m && m->l_ld != zchain_dynamic)
		m = m->l_next;
	return m;
}

ZOBJECT_EARLY bool zchain_read(struct zobject *o, const struct link_map *m)
{
	return zobject_read(o, m->l_name, m->l_addr, m->l_ld);
}

ZOBJECT_EARLY void *zchain_next(const struct link_map *behind, const char *name, struct zobject *found)
{
	for (const struct link_map *m = behind ? behind->l_next : NULL; m; m = m->l_next) {
		struct zobject o;
		void *address = zchain_read(&o, m) ? zobject_address(&o, name) : NULL;
		if (address) {
			if (found)
				*found = o;
			return address;
		}
	}
	return NULL;
}

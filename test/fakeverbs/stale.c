/* SPDX-License-Identifier: BSD-3-Clause */
/* Only in the library that is preloaded: memory that leaves its place makes the registrations stale that reach into it,
 * as a device goes on with the old pages. It sees calls of the program itself, not calls inside libc: for free() there
 * is unit/common/regcache.c. */
#define _GNU_SOURCE
#include "test/fakeverbs/fabric.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

static void leave(struct fake_fabric *f, const void *addr, size_t len)
{
	const uint64_t start = (uintptr_t)addr, end = start + len;
	for (uint32_t i = 1; i < FAKE_KEYS; i++) {
		struct fake_key *k = &f->key[i];
		if (k->used && !k->window && k->pid == getpid() && k->start < end && start < k->start + k->len)
			k->stale = true;
	}
}

__attribute__((visibility("default"))) int munmap(void *addr, size_t len)
{
	static int (*next)(void *, size_t);
	struct fake_fabric *f = fake_fabric();
	/* at once: another thread may get the address and register its own memory there */
	fake_lock(f);
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "munmap");
	int rc = next(addr, len);
	if (rc == 0)
		leave(f, addr, len);
	fake_unlock(f);
	return rc;
}

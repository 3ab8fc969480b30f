/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory in large pages, see pages.h. */
#include "mapper/base/pages.h"

#include <stdint.h>
#include <sys/mman.h>

#define PAGE ((size_t)2 << 20) /* a large page of x86-64 and most others; with another size only alignment is lost */

static size_t pages_round(size_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

void *pages_alloc(size_t bytes)
{
	size_t all = pages_round(bytes) + PAGE, before;
	char *memory;

	if (all < bytes)
		return NULL;
	memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	before = (PAGE - (uintptr_t)memory % PAGE) % PAGE;
	if (before)
		munmap(memory, before);
	if (PAGE - before)
		munmap(memory + all - (PAGE - before), PAGE - before);
	memory += before;
	madvise(memory, all - PAGE, MADV_HUGEPAGE);
	return memory;
}

void pages_free(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, pages_round(bytes));
}

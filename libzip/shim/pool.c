/* SPDX-License-Identifier: BSD-3-Clause */
/* Free lists of blocks by size class, see pool.h. */
#include "libzip/shim/pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "libzip/shim/station.h"

#ifdef __SANITIZE_ADDRESS__ /* blocks on a free list must not be used */
#include <sanitizer/asan_interface.h>
#define POISON(at, bytes) __asan_poison_memory_region(at, bytes)
#define UNPOISON(at, bytes) __asan_unpoison_memory_region(at, bytes)
#else
#define POISON(at, bytes) (void)(at)
#define UNPOISON(at, bytes) (void)(at)
#endif

/* Class c has room for 256 << c bytes and so much for a message's header. So a payload of a power of two (the usual
 * eager limit) does not need the next class. */
#define SLACK_BYTES 192
/* Up to 16 MiB: temporary buffers of collectives. malloc would give such blocks back to the system, and the page
 * faults of the next call cost more than its copies. (Reduce_scatter of 4+4 ranks and 1 MiB each takes 0.57 of the
 * time since its 6 MiB are kept.) Larger blocks go to malloc. */
#define CLASSES 17
#define LARGE CLASSES
/* A free list keeps at most so many bytes, or one block: a burst of unexpected messages shall not stay for ever. */
#define KEEP_BYTES (4u << 20)

union block { /* in front of the caller's memory */
	struct {
		union block *next;
		unsigned class;
	} h;
	max_align_t align;
};

static struct {
	union block *head;
	unsigned count;
} stations[ZSTATIONS_MAX][CLASSES];
#define lists (stations[zstation_here])

static size_t class_bytes(unsigned class)
{
	return ((size_t)256 << class) + SLACK_BYTES;
}

static unsigned class_of(size_t bytes)
{
	unsigned class = 0;

	while (class < CLASSES && bytes > class_bytes(class))
		class ++;
	return class;
}

static bool is_kept(unsigned class)
{
	return class != LARGE &&
	       (lists[class].count == 0 || (lists[class].count + 1) * class_bytes(class) <= KEEP_BYTES);
}

void *zpool_get(size_t bytes)
{
	unsigned class = class_of(bytes);
	union block *b;

	if (class < CLASSES && lists[class].head) {
		b = lists[class].head;
		lists[class].head = b->h.next;
		lists[class].count--;
		UNPOISON(b + 1, class_bytes(class));
		return b + 1;
	}
	size_t size = class < CLASSES ? class_bytes(class) : bytes;
	if (size > SIZE_MAX - sizeof(*b))
		return NULL;
	b = malloc(sizeof(*b) + size);
	if (!b)
		return NULL;
	b->h.class = class;
	return b + 1;
}

void zpool_put(void *p)
{
	union block *b = p;

	if (!p)
		return;
	b--;
	unsigned class = b->h.class;
	if (!is_kept(class)) {
		free(b);
		return;
	}
	b->h.next = lists[class].head;
	lists[class].head = b;
	lists[class].count++;
	POISON(b + 1, class_bytes(class));
}

void zpool_fini(void)
{
	for (unsigned class = 0; class < CLASSES; class ++) {
		while (lists[class].head) {
			union block *b = lists[class].head;
			lists[class].head = b->h.next;
			UNPOISON(b + 1, class_bytes(class)); /* malloc may be UCX's, which does not know malloc_trim */
			free(b);
		}
		lists[class].count = 0;
	}
}

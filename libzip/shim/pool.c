/* SPDX-License-Identifier: BSD-3-Clause */
/* Free lists of blocks by size class, see pool.h. */
#include "libzip/shim/pool.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "libzip/shim/station.h"

#ifdef __SANITIZE_ADDRESS__ /* what lies on a free list must not be used either */
#include <sanitizer/asan_interface.h>
#define POISON(at, bytes) __asan_poison_memory_region(at, bytes)
#define UNPOISON(at, bytes) __asan_unpoison_memory_region(at, bytes)
#else
#define POISON(at, bytes) (void)(at)
#define UNPOISON(at, bytes) (void)(at)
#endif

/* Class c holds 256 << c bytes and this much for the header of a message, so that a payload of a power of two (the
 * usual eager limit) does not need the next class. */
#define SLACK_BYTES 192
/* Up to 16 MiB: the temporary buffers of a collective. Given back to malloc they are given back to the system, and the
 * page faults of the next call cost more than its copies. (Reduce_scatter of 4+4 ranks and 1 MiB each takes 0.57 of the
 * time since its 6 MiB are kept, too.) Larger blocks go to malloc. */
#define CLASSES 17
#define LARGE CLASSES
/* A free list keeps at most this much, or one block: a burst of unexpected messages shall not be held for ever. */
#define KEEP_BYTES (4u << 20)

union block { /* in front of what the caller gets */
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
			UNPOISON(b + 1, class_bytes(class)); /* malloc may be UCX's, which knows nothing of it */
			free(b);
		}
		lists[class].count = 0;
	}
}

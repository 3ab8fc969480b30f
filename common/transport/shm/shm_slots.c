/* SPDX-License-Identifier: BSD-3-Clause */
/* Slots for large payloads, see shm_slots.h. */
#include "common/transport/shm/shm_slots.h"

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/transport/shm/shm_memory.h"

/* Two cache lines: processors fetch them in pairs. */
struct shm_slot_ctl {
	alignas(128) _Atomic uint32_t users;
};

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "atomics without locks are needed");
_Static_assert(SHM_SLOTS * sizeof(struct shm_slot_ctl) <= SHM_CTL_BYTES, "the slots' users fit");

#define FILE_BYTES (SHM_CTL_BYTES + SHM_SLOTS * SHM_SLOT_BYTES)

static int map_file(struct shm_slots *s, int fd)
{
	uint8_t *base = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	s->ctl = (struct shm_slot_ctl *)(void *)base;
	s->data = base + SHM_CTL_BYTES;
	s->next = 0;
	return 0;
}

int shm_slots_create(struct shm_slots *s, struct zerr *err)
{
	int fd = shm_memory_create("zipper-slots", FILE_BYTES, err);
	int rc = fd < 0 ? fd : map_file(s, fd);
	if (rc == 0 || fd < 0)
		return fd;
	close(fd);
	return zerr_set(err, rc, "cannot make shared memory: %s", strerror(-rc));
}

int shm_slots_open(struct shm_slots *s, int fd)
{
	int rc = shm_memory_check(fd, FILE_BYTES);
	if (rc == 0)
		rc = map_file(s, fd);
	return rc == -EPERM || rc == -EACCES ? -EPROTO : rc; /* sealed against writing, or opened for reading */
}

void shm_slots_close(struct shm_slots *s)
{
	if (s->ctl)
		munmap(s->ctl, FILE_BYTES);
	s->ctl = NULL;
}

/* Slots are used in turns, not the slot that was read last: that one is still in the reader's cache, and must be taken
 * away from there. (On an EPYC 9004 a stream has half the bandwidth then.) */
int shm_slots_take(struct shm_slots *s)
{
	for (uint32_t i = 0; s->ctl && i < SHM_SLOTS; i++) {
		uint32_t slot = (s->next + i) % SHM_SLOTS;
		if (atomic_load_explicit(&s->ctl[slot].users, memory_order_acquire) == 0) {
			atomic_store_explicit(&s->ctl[slot].users, 1, memory_order_relaxed);
			s->next = slot + 1;
			return (int)slot;
		}
	}
	return -1;
}

void shm_slots_hold(struct shm_slots *s, uint32_t slot)
{
	atomic_fetch_add_explicit(&s->ctl[slot].users, 1, memory_order_relaxed);
}

void shm_slots_drop(struct shm_slots *s, uint32_t slot)
{
	atomic_fetch_sub_explicit(&s->ctl[slot].users, 1, memory_order_release);
}

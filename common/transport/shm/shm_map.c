/* SPDX-License-Identifier: BSD-3-Clause */
/* The shared memory of a link, see shm_map.h. */
#include "common/transport/shm/shm_map.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/transport/shm/shm_memory.h"

/* The file: the control blocks and the probe, then the data of ring 0, then of ring 1. */
#define FILE_BYTES (SHM_CTL_BYTES + 2 * SHM_RING_BYTES)
#define MAP_BYTES (SHM_CTL_BYTES + 4 * SHM_RING_BYTES)

static int map_at(uint8_t *at, size_t len, int fd, size_t offset)
{
	void *p = mmap(at, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset);
	return p == MAP_FAILED ? -errno : 0;
}

static int map_file(struct shm_map *m, int fd)
{
	uint8_t *base = mmap(NULL, MAP_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return -errno;
	int rc = map_at(base, SHM_CTL_BYTES, fd, 0);
	for (size_t i = 0; i < 4 && rc == 0; i++)
		rc = map_at(base + SHM_CTL_BYTES + i * SHM_RING_BYTES, SHM_RING_BYTES, fd,
			SHM_CTL_BYTES + i / 2 * SHM_RING_BYTES);
	if (rc < 0) {
		munmap(base, MAP_BYTES);
		return rc;
	}
	m->base = base;
	m->probe = (struct shm_probe *)(void *)((struct shm_ring_ctl *)base + 2);
	for (size_t i = 0; i < 2; i++) {
		m->ctl[i] = (struct shm_ring_ctl *)base + i;
		m->data[i] = base + SHM_CTL_BYTES + 2 * i * SHM_RING_BYTES;
	}
	return 0;
}

int shm_map_create(struct shm_map *m, struct zerr *err)
{
	int fd = shm_memory_create("zipper-link", FILE_BYTES, err);
	if (fd < 0)
		return fd;
	int rc = map_file(m, fd);
	if (rc < 0) {
		close(fd);
		return zerr_set(err, rc, "cannot make shared memory: %s", strerror(-rc));
	}
	/* A consumer counts as sleeping until it has looked for the first time, see shm_setup.h. */
	for (int i = 0; i < 2; i++)
		atomic_init(&m->ctl[i]->consumer_sleeps, 1);
	return fd;
}

int shm_map_open(struct shm_map *m, int fd)
{
	int rc = shm_memory_check(fd, FILE_BYTES);
	if (rc == 0)
		rc = map_file(m, fd);
	return rc == -EPERM || rc == -EACCES ? -EPROTO : rc; /* sealed against writing, or opened for reading */
}

void shm_map_close(struct shm_map *m)
{
	if (m->base)
		munmap(m->base, MAP_BYTES);
	m->base = NULL;
}

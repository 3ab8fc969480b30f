/* SPDX-License-Identifier: BSD-3-Clause */
/* Kept registrations: found by range, given up in order, and never given out for memory that has left its place. */
#define _GNU_SOURCE /* mremap, memfd_create */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/transport/verbs/device/vregcache.h"

/* The malloc of a sanitizer does not give the same place again. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OTHER_MALLOC true
#else
#define OTHER_MALLOC false
#endif

#define PAGE ((size_t)4096)
#define BLOCK (64 * PAGE)

/* Stands in for a device and counts. A handle is the number of the registration. */
static struct {
	uintptr_t number;
	unsigned live;
	size_t bytes, limit;
	size_t len[100000];
} device;

static int fake_reg(void *ctx, void *base, size_t len, void **handle)
{
	assert_ptr_equal(ctx, &device);
	assert_int_equal((uintptr_t)base % PAGE, 0);
	assert_int_equal(len % PAGE, 0);
	if (device.limit && device.bytes + len > device.limit)
		return -ENOMEM;
	assert_true(++device.number < sizeof(device.len) / sizeof(device.len[0]));
	device.len[device.number] = len;
	device.live++;
	device.bytes += len;
	*handle = (void *)device.number;
	return 0;
}

static void fake_unreg(void *ctx, void *handle)
{
	(void)ctx;
	device.live--;
	device.bytes -= device.len[(uintptr_t)handle];
}

static const struct vregcache_ops ops = {fake_reg, fake_unreg};

static struct vregcache *open_cache(unsigned max_count, size_t max_bytes)
{
	struct vregcache *c;
	struct zerr err;
	memset(&device, 0, sizeof(device));
	assert_int_equal(vregcache_create(&c, &ops, &device, max_count, max_bytes, &err), 0);
	return c;
}

static bool is_possible(struct zerr *err)
{
	struct vregcache *c;
	if (vregcache_create(&c, &ops, &device, 1, BLOCK, err) == -EOPNOTSUPP)
		return false;
	vregcache_destroy(c);
	return true;
}

static void close_cache(struct vregcache *c)
{
	vregcache_destroy(c);
	assert_int_equal(device.live, 0);
}

static uint8_t *map_at(void *at, size_t len)
{
	uint8_t *p = mmap(at, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
	assert_true(p != MAP_FAILED);
	memset(p, 1, len);
	return p;
}

/* Uses the memory as a transfer does. Returns the number of the registration; 0: this memory is not kept. */
static uintptr_t use(struct vregcache *c, void *base, size_t len)
{
	struct vreg *r;
	int rc = vregcache_get(c, base, len, &r);
	if (rc == -EOPNOTSUPP)
		return 0;
	assert_int_equal(rc, 0);
	uintptr_t number = (uintptr_t)r->handle;
	vregcache_put(c, r);
	return number;
}

static void found_by_range(void **state)
{
	struct vregcache *c = open_cache(16, 1 << 30);
	uint8_t *p = map_at(NULL, BLOCK);
	(void)state;
	uintptr_t whole = use(c, p + 100, BLOCK - 200);
	assert_int_not_equal(whole, 0);
	assert_int_equal(use(c, p, BLOCK), whole);
	assert_int_equal(use(c, p + BLOCK / 2, 1), whole);
	assert_int_equal(device.live, 1);
	munmap(p, BLOCK);
	close_cache(c);
}

/* A larger registration takes the place of those inside it. */
static void replaced_by_larger_ones(void **state)
{
	struct vregcache *c = open_cache(16, 1 << 30);
	uint8_t *p = map_at(NULL, BLOCK);
	(void)state;
	for (size_t i = 0; i < 8; i++)
		use(c, p + i * PAGE, 10);
	assert_int_equal(device.live, 8);
	use(c, p, BLOCK);
	assert_int_equal(device.live, 1);
	munmap(p, BLOCK);
	close_cache(c);
}

static void unmapped_and_mapped_again(void **state)
{
	struct vregcache *c = open_cache(16, 1 << 30);
	uint8_t *p = map_at(NULL, BLOCK);
	(void)state;
	for (int i = 0; i < 500; i++) {
		uintptr_t old = use(c, p, BLOCK);
		assert_int_equal(use(c, p, BLOCK), old);
		munmap(p, BLOCK);
		assert_ptr_equal(map_at(p, BLOCK), p);
		assert_int_not_equal(use(c, p, BLOCK), old);
	}
	assert_int_equal(device.live, 1);
	munmap(p, BLOCK);
	close_cache(c);
}

static void other_ways_to_lose_memory(void **state)
{
	struct vregcache *c = open_cache(16, 1 << 30);
	uint8_t *p = map_at(NULL, BLOCK), *q = map_at(NULL, BLOCK);
	(void)state;
	uintptr_t old = use(c, p, BLOCK);
	map_at(p, BLOCK); /* mapped over */
	assert_int_not_equal(use(c, p, BLOCK), old);
	old = use(c, p, BLOCK);
	munmap(p + BLOCK / 2, PAGE); /* a hole in it */
	map_at(p + BLOCK / 2, PAGE);
	assert_int_not_equal(use(c, p, BLOCK), old);
	old = use(c, p, BLOCK);
	madvise(p + PAGE, PAGE, MADV_DONTNEED);
	assert_int_not_equal(use(c, p, BLOCK), old);
	old = use(c, p, BLOCK / 4);
	uintptr_t other = use(c, q, BLOCK);
	munmap(p, BLOCK);
	assert_ptr_equal(mremap(q, BLOCK, BLOCK, MREMAP_MAYMOVE | MREMAP_FIXED, p),
		p); /* the other mapping moves here */
	uintptr_t moved = use(c, p, BLOCK);
	assert_int_not_equal(moved, old);
	assert_int_not_equal(moved, other);
	map_at(q, BLOCK);
	assert_int_not_equal(use(c, q, BLOCK), other);
	munmap(p, BLOCK);
	munmap(q, BLOCK);
	close_cache(c);
}

/* Memory that malloc gives back to the system by itself when something is freed, and takes again at the same place. */
struct heap {
	int mmap_threshold, trim_threshold; /* bytes, see mallopt(3) */
	bool behind;			    /* something behind it stays */
	bool trim;			    /* and malloc_trim is called */
};

/* Frees p and allocates as much again. Is the new block at the same place, with other pages? New pages are zero. */
static bool comes_back(const struct heap *h, uint8_t **p, size_t len)
{
	uint8_t *before = *p;
	memset(before, 1, len);
	free(before);
	if (h->trim)
		malloc_trim(0);
	*p = malloc(len);
	assert_non_null(*p);
	return *p == before && ((volatile uint8_t *)*p)[len / 2] == 0;
}

static void free_and_allocate(const struct heap *h)
{
	const size_t len = 1 << 20, little = 1 << 16;
	struct vregcache *c = open_cache(64, 1 << 30);
	unsigned came_back = 0;
	mallopt(M_MMAP_THRESHOLD, h->mmap_threshold);
	mallopt(M_TRIM_THRESHOLD, h->trim_threshold);
	mallopt(M_TOP_PAD, 0);
	/* the cache's own few bytes come from the room, so that nothing of it lies behind p */
	uint8_t *room = malloc(little), *border = malloc(little), *p = malloc(len);
	uint8_t *behind = h->behind ? malloc(little) : NULL;
	free(room);
	for (int i = 0; i < 50; i++) {
		uintptr_t old = use(c, p, len);
		assert_int_not_equal(old, 0);
		if (comes_back(h, &p, len)) {
			assert_int_not_equal(use(c, p, len), old);
			came_back++;
		}
	}
	free(behind);
	free(p);
	free(border);
	close_cache(c);
	if (!OTHER_MALLOC)
		assert_int_not_equal(came_back, 0);
}

static void freed_by_munmap(void **state)
{
	(void)state;
	free_and_allocate(&(struct heap){.mmap_threshold = 1 << 17, .trim_threshold = 1 << 17});
}

static void freed_by_brk(void **state)
{
	(void)state;
	free_and_allocate(&(struct heap){.mmap_threshold = 1 << 24, .trim_threshold = 1 << 17});
}

static void freed_by_malloc_trim_at_the_end(void **state)
{
	(void)state;
	free_and_allocate(&(struct heap){.mmap_threshold = 1 << 24, .trim_threshold = 1 << 24, .trim = true});
}

static void freed_by_malloc_trim_in_the_middle(void **state)
{
	(void)state;
	free_and_allocate(
		&(struct heap){.mmap_threshold = 1 << 24, .trim_threshold = 1 << 24, .behind = true, .trim = true});
}

/* Another thread unmaps and maps; as soon as it says so, the old registration is stale. */
struct mapper {
	uint8_t *p;
	bool maps;	  /* otherwise the test does it */
	_Atomic int turn; /* even: the test's, odd: the thread's */
	int rounds;
};

static void *unmap_each_time(void *arg)
{
	struct mapper *m = arg;
	for (int i = 0; i < m->rounds; i++) {
		while (atomic_load(&m->turn) != 2 * i + 1)
			sched_yield();
		munmap(m->p, BLOCK);
		if (m->maps)
			m->p = mmap(m->p, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
				0);
		atomic_store(&m->turn, 2 * i + 2);
	}
	return NULL;
}

static void unmapped_by_another_thread(void **state)
{
	struct vregcache *c = open_cache(16, 1 << 30);
	struct mapper m = {.p = map_at(NULL, BLOCK), .maps = true, .rounds = 2000};
	pthread_t thread;
	(void)state;
	uintptr_t old = use(c, m.p, BLOCK);
	assert_int_equal(pthread_create(&thread, NULL, unmap_each_time, &m), 0);
	for (int i = 0; i < m.rounds; i++) {
		atomic_store(&m.turn, 2 * i + 1);
		while (atomic_load(&m.turn) != 2 * i + 2)
			sched_yield();
		uintptr_t now = use(c, m.p, BLOCK);
		assert_int_not_equal(now, old);
		old = now;
	}
	pthread_join(thread, NULL);
	munmap(m.p, BLOCK);
	close_cache(c);
}

/* Something is always changing elsewhere: the end of one change must not stand for the end of another. */
struct noise {
	uint8_t *p;
	_Atomic bool stop;
};

static void *give_back(void *arg)
{
	struct noise *n = arg;
	while (!atomic_load(&n->stop))
		madvise(n->p, BLOCK, MADV_DONTNEED);
	return NULL;
}

/* This call comes while another thread is still inside munmap. The thread that has got the address must not get the old
 * registration. */
static void take_place(struct mapper *m, int i)
{
	atomic_store(&m->turn, 2 * i + 1);
	for (;;) {
		bool over = atomic_load(&m->turn) == 2 * i + 2;
		if (mmap(m->p, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			    0) == m->p)
			return;
		if (over) /* another thread has taken it */
			m->p = map_at(NULL, BLOCK);
		if (over)
			return;
		sched_yield();
	}
}

static void taken_before_munmap_returns(void **state)
{
	struct vregcache *c = open_cache(16, 1 << 30);
	struct mapper m = {.p = map_at(NULL, BLOCK), .rounds = 1000};
	struct noise n = {.p = map_at(NULL, BLOCK)};
	pthread_t unmapper, noise;
	(void)state;
	assert_int_not_equal(use(c, n.p, BLOCK), 0);
	assert_int_equal(pthread_create(&unmapper, NULL, unmap_each_time, &m), 0);
	assert_int_equal(pthread_create(&noise, NULL, give_back, &n), 0);
	unsigned wrong = 0;
	for (int i = 0; i < m.rounds; i++) {
		if (i == m.rounds / 2) { /* and without it */
			atomic_store(&n.stop, true);
			pthread_join(noise, NULL);
		}
		uintptr_t old = use(c, m.p, BLOCK);
		take_place(&m, i);
		wrong += use(c, m.p, BLOCK) == old;
		while (atomic_load(&m.turn) != 2 * i + 2)
			sched_yield();
	}
	pthread_join(unmapper, NULL);
	assert_int_equal(wrong, 0);
	munmap(m.p, BLOCK);
	munmap(n.p, BLOCK);
	close_cache(c);
}

/* Memory that nobody has written to, and a huge page. */
static void untouched_and_huge_memory(void **state)
{
	const size_t huge = (size_t)2 << 20;
	struct vregcache *c = open_cache(16, 1 << 30);
	uint8_t *p = mmap(NULL, 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	(void)state;
	assert_true(p != MAP_FAILED);
	for (int i = 0; i < 2; i++) {
		uint8_t *q = (uint8_t *)(((uintptr_t)p + huge - 1) & ~(huge - 1));
		uintptr_t old = use(c, q + PAGE, huge - 2 * PAGE);
		assert_int_not_equal(old, 0);
		assert_int_equal(use(c, q + PAGE, huge - 2 * PAGE), old);
		madvise(q + huge / 2, PAGE, i == 0 ? MADV_DONTNEED : MADV_FREE);
		assert_int_not_equal(use(c, q + PAGE, huge - 2 * PAGE), old);
		madvise(p, 2 * huge, MADV_HUGEPAGE); /* if there are any */
		memset(p, 1, 2 * huge);
	}
	munmap(p, 2 * huge);
	close_cache(c);
}

/* The end of the heap goes, and comes again, unless malloc has gone on behind it. */
static bool set_heap(uint8_t *from, uint8_t *to)
{
	return sbrk(0) == from && brk(to) == 0;
}

static void heap_that_shrinks(void **state)
{
	struct vregcache *c = open_cache(16, 1 << 30);
	uint8_t *before = sbrk(0), *p = before + -(uintptr_t)before % PAGE;
	(void)state;
	if (set_heap(before, p + BLOCK)) {
		uintptr_t old = use(c, p, BLOCK);
		assert_int_not_equal(old, 0);
		if (set_heap(p + BLOCK, p) && set_heap(p, p + BLOCK))
			assert_int_not_equal(use(c, p, BLOCK), old);
		set_heap(p + BLOCK, before);
	}
	close_cache(c);
}

static void oldest_goes_first(void **state)
{
	struct vregcache *c = open_cache(3, 100 * BLOCK);
	uint8_t *p[4];
	uintptr_t n[4];
	(void)state;
	for (int i = 0; i < 4; i++)
		p[i] = map_at(NULL, BLOCK);
	for (int i = 0; i < 3; i++)
		n[i] = use(c, p[i], BLOCK);
	assert_int_equal(use(c, p[0], BLOCK), n[0]);
	n[3] = use(c, p[3], BLOCK); /* 1 goes */
	assert_int_equal(device.live, 3);
	assert_int_equal(use(c, p[0], BLOCK), n[0]);
	assert_int_equal(use(c, p[2], BLOCK), n[2]);
	assert_int_equal(use(c, p[3], BLOCK), n[3]);
	assert_int_not_equal(use(c, p[1], BLOCK), n[1]);
	for (int i = 0; i < 4; i++)
		munmap(p[i], BLOCK);
	close_cache(c);
}

static void bytes_are_bounded(void **state)
{
	struct vregcache *c = open_cache(100, 2 * BLOCK);
	uint8_t *p = map_at(NULL, 8 * BLOCK);
	struct vreg *r[2], *none;
	(void)state;
	for (size_t i = 0; i < 8; i++) {
		assert_int_not_equal(use(c, p + i * BLOCK, BLOCK), 0);
		assert_true(device.bytes <= 2 * BLOCK);
	}
	assert_int_equal(use(c, p, 3 * BLOCK), 0); /* too large to be kept */
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(vregcache_get(c, p + i * BLOCK, BLOCK, &r[i]), 0);
	assert_int_equal(vregcache_get(c, p + 2 * BLOCK, BLOCK, &none), -EOPNOTSUPP); /* all in use */
	vregcache_put(c, r[0]);
	assert_int_not_equal(use(c, p + 2 * BLOCK, BLOCK), 0);
	vregcache_put(c, r[1]);
	munmap(p, 8 * BLOCK);
	close_cache(c);
}

/* The system locks no more memory: registrations that are not in use make room, those in use stay. */
static void lack_of_lockable_memory(void **state)
{
	struct vregcache *c = open_cache(100, 100 * BLOCK);
	uint8_t *p = map_at(NULL, 4 * BLOCK);
	struct vreg *r, *none;
	(void)state;
	device.limit = 2 * BLOCK;
	assert_int_equal(vregcache_get(c, p, BLOCK, &r), 0);
	use(c, p + BLOCK, BLOCK);
	use(c, p + 2 * BLOCK, BLOCK);
	assert_int_equal(device.live, 2);
	assert_int_equal(vregcache_get(c, p, 3 * BLOCK, &none), -ENOMEM);
	assert_int_equal(use(c, p, BLOCK), (uintptr_t)r->handle);
	vregcache_put(c, r);
	munmap(p, 4 * BLOCK);
	close_cache(c);
}

/* A registration that became stale during a transfer lives until the transfer is over. */
static void stale_while_in_use(void **state)
{
	struct vregcache *c = open_cache(16, 1 << 30);
	uint8_t *p = map_at(NULL, BLOCK);
	struct vreg *r;
	(void)state;
	assert_int_equal(vregcache_get(c, p, BLOCK, &r), 0);
	map_at(p, BLOCK);
	assert_int_not_equal(use(c, p, BLOCK), (uintptr_t)r->handle);
	assert_int_equal(device.live, 2);
	vregcache_put(c, r);
	assert_int_equal(device.live, 1);
	munmap(p, BLOCK);
	close_cache(c);
}

/* Files, shared memory, read-only memory: not kept. */
static void other_memory_is_not_kept(void **state)
{
	struct vregcache *c = open_cache(16, 1 << 30);
	int fd = memfd_create("regcache", MFD_CLOEXEC);
	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)BLOCK), 0);
	uint8_t *shared = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uint8_t *private = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	uint8_t *anonymous = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint8_t *constant = mmap(NULL, BLOCK, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int id = shmget(IPC_PRIVATE, BLOCK, IPC_CREAT | 0600);
	assert_true(id >= 0);
	uint8_t *sysv = shmat(id, NULL, 0);
	shmctl(id, IPC_RMID, NULL);
	uint8_t *all[] = {shared, private, anonymous, constant, sysv};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_true(all[i] != MAP_FAILED);
		assert_int_equal(use(c, all[i], BLOCK), 0);
	}
	uint8_t *p = map_at(NULL, 2 * BLOCK);
	munmap(p + BLOCK, BLOCK);
	assert_int_equal(use(c, p, 2 * BLOCK), 0); /* its end is not there */
	munmap(p, BLOCK);
	for (int i = 0; i < 4; i++)
		munmap(all[i], BLOCK);
	shmdt(sysv);
	close(fd);
	assert_int_equal(device.live, 0);
	close_cache(c);
}

/* The application may use its mapping as if nobody had looked at it. */
static void mappings_stay_whole(void **state)
{
	struct vregcache *c = open_cache(16, 1 << 30);
	uint8_t *p = map_at(NULL, BLOCK);
	(void)state;
	assert_int_not_equal(use(c, p + BLOCK / 2, PAGE), 0);
	uint8_t *q = mremap(p, BLOCK, 4 * BLOCK, MREMAP_MAYMOVE);
	assert_true(q != MAP_FAILED);
	assert_int_equal(q[BLOCK - 1], 1);
	munmap(q, 4 * BLOCK);
	close_cache(c);
}

/* A child that lives longer keeps nothing watched. */
static void child_stays(void **state)
{
	int ends[2], status;
	struct vregcache *c = open_cache(16, 1 << 30);
	uint8_t *p = map_at(NULL, BLOCK);
	(void)state;
	use(c, p, BLOCK);
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char byte;
		close(ends[1]);
		_exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
	}
	close_cache(c);
	assert_int_equal(munmap(p, BLOCK), 0);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* The stacks of threads are mappings behind one without any rights, and may be one mapping with watched memory. The
 * thread that watches gives up its own stack when it ends. */
static void its_own_stack_is_watched(void **state)
{
	struct vreg *r;
	char line[512], perms[5], before[5] = "";
	unsigned long low, high, inode;
	unsigned found = 0;
	(void)state;
	struct vregcache *c = open_cache(100, SIZE_MAX);
	FILE *maps = fopen("/proc/self/maps", "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		assert_true(sscanf(line, "%lx-%lx %4s %*s %*s %lu", &low, &high, perms, &inode) == 4);
		if (strcmp(before, "---p") == 0 && strcmp(perms, "rw-p") == 0 && inode == 0 &&
			vregcache_get(c, (void *)low, PAGE, &r) == 0) {
			vregcache_put(c, r);
			found++;
		}
		memcpy(before, perms, sizeof(before));
	}
	fclose(maps);
	assert_true(found > 0);
	close_cache(c);
}

/* A child has its own copy, and changes of the child have no effect here. */
static void child_unmaps_its_copy(void **state)
{
	struct vregcache *c = open_cache(16, 1 << 30);
	uint8_t *p = map_at(NULL, BLOCK);
	int status;
	(void)state;
	uintptr_t old = use(c, p, BLOCK);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (use(c, p, BLOCK) != 0) /* nobody would tell of it */
			_exit(2);
		memset(p, 7, BLOCK);
		_exit(munmap(p, BLOCK) == 0 && mmap(p, BLOCK, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == p ? 0
														  : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(use(c, p, BLOCK), old);
	munmap(p, BLOCK);
	close_cache(c);
}

int main(void)
{
	struct zerr err;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_by_range),
		cmocka_unit_test(replaced_by_larger_ones),
		cmocka_unit_test(unmapped_and_mapped_again),
		cmocka_unit_test(other_ways_to_lose_memory),
		cmocka_unit_test(freed_by_munmap),
		cmocka_unit_test(freed_by_brk),
		cmocka_unit_test(freed_by_malloc_trim_at_the_end),
		cmocka_unit_test(freed_by_malloc_trim_in_the_middle),
		cmocka_unit_test(unmapped_by_another_thread),
		cmocka_unit_test(taken_before_munmap_returns),
		cmocka_unit_test(untouched_and_huge_memory),
		cmocka_unit_test(heap_that_shrinks),
		cmocka_unit_test(oldest_goes_first),
		cmocka_unit_test(bytes_are_bounded),
		cmocka_unit_test(lack_of_lockable_memory),
		cmocka_unit_test(stale_while_in_use),
		cmocka_unit_test(other_memory_is_not_kept),
		cmocka_unit_test(mappings_stay_whole),
		cmocka_unit_test(its_own_stack_is_watched),
		cmocka_unit_test(child_unmaps_its_copy),
		cmocka_unit_test(child_stays),
	};
	if (!is_possible(&err)) {
		printf("1..0 # SKIP %s\n", err.text);
		return 0;
	}
	return cmocka_run_group_tests_name("registration cache", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that leaves its place, see vwatch.h. */
#define _GNU_SOURCE /* syscall */
#include "common/transport/verbs/device/vwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY /* Linux 5.11 */
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_EXACT_ADDRESS /* Linux 5.18 */
#define UFFD_FEATURE_EXACT_ADDRESS (1 << 11)
#endif
#define FEATURES                                                                                                       \
	(UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE |                             \
		UFFD_FEATURE_PAGEFAULT_FLAG_WP)
#define STACK_BYTES ((size_t)128 << 10) /* of the thread: a batch of events, and poll */
#define EVENT_BATCH 16
#define MAPS_LINE 512 /* longer lines only have longer names */
#define PATIENCE 64   /* questions: some 100 us, as long as a new registration takes */

struct range {
	_Atomic uintptr_t start, end; /* end 0: not in use */
	_Atomic bool stale;
};

static struct {
	unsigned users;
	_Atomic int fd;
	int stop_fd;
	pthread_t thread;
	/* A page of our own, watched as other memory is, for questions to the kernel. */
	void *page;
	size_t page_bytes;
	unsigned patience; /* for the next question */
	/* Odd while events are read and not marked yet. */
	_Atomic uint32_t turn;
	_Atomic bool blind; /* reading has failed: nothing is known any more */
	struct range range[VWATCH_RANGES];
} watch = {.fd = -1, .stop_fd = -1, .page = MAP_FAILED};

/* --- the thread --- */

static void mark(uint64_t start, uint64_t end)
{
	for (int i = 0; i < VWATCH_RANGES; i++) {
		struct range *r = &watch.range[i];
		if (atomic_load(&r->start) < end && start < atomic_load(&r->end))
			atomic_store(&r->stale, true);
	}
}

static void handle(const struct uffd_msg *m)
{
	switch (m->event) {
	case UFFD_EVENT_UNMAP:
	case UFFD_EVENT_REMOVE:
		mark(m->arg.remove.start, m->arg.remove.end);
		break;
	case UFFD_EVENT_REMAP:
		mark(m->arg.remap.from, m->arg.remap.from + m->arg.remap.len);
		mark(m->arg.remap.to, m->arg.remap.to + m->arg.remap.len);
		break;
	default: /* no other event was asked for */
		mark(0, UINT64_MAX);
	}
}

static void *run(void *arg)
{
	const int fd = watch.fd;
	struct pollfd fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = watch.stop_fd, .events = POLLIN}};
	struct uffd_msg events[EVENT_BATCH];
	(void)arg;
	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			break;
		atomic_fetch_add(&watch.turn, 1);
		ssize_t n = read(fd, events, sizeof(events));
		for (ssize_t i = 0; i < n / (ssize_t)sizeof(events[0]); i++)
			handle(&events[i]);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			break; /* not expected */
		atomic_fetch_add(&watch.turn, 1);
	}
	atomic_store(&watch.blind, true);
	/* Ends all registrations, and lets threads go that wait in munmap. Here and not after the join, as this thread
	 * gives up its stack by madvise when it ends, which would wait for itself where the stack has become one
	 * mapping with watched memory. */
	close(atomic_exchange(&watch.fd, -1));
	return NULL;
}

/* --- questions --- */

/* Has the thread read the events of all changes so far? The kernel counts a change from under the lock of the address
 * space until its event has been read, and answers EAGAIN while there are any. The answer does not depend on the page.
 * The page is our own, as a question about a part of a huge page would split it. Nothing is protected, so nothing
 * changes. */
static bool all_is_read(void)
{
	struct uffdio_writeprotect nothing = {.range = {.start = (uintptr_t)watch.page, .len = watch.page_bytes}};
	for (unsigned i = 0; i < watch.patience; i++) {
		if (ioctl(watch.fd, UFFDIO_WRITEPROTECT, &nothing) == 0) {
			watch.patience = PATIENCE;
			return true;
		}
		if (errno != EAGAIN && errno != EINTR)
			return false; /* the thread has given up; or this is a child after fork */
		sched_yield();
	}
	watch.patience = 1; /* until it is better, as some kernels count a failed mremap for ever */
	return false;
}

/* --- start and end --- */

/* Does the kernel count changes whose events were not read? Before Linux 5.15 it only knew that there are some, and the
 * end of the first of two ended both. Distributions have older numbers with a later feature; those kernels count, too.
 */
static bool counts_changes(uint64_t features)
{
	struct utsname u;
	unsigned major, minor;
	if (features & UFFD_FEATURE_EXACT_ADDRESS)
		return true;
	return uname(&u) == 0 && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 5 || (major == 5 && minor >= 15));
}

static int open_fd(struct zerr *err)
{
	struct uffdio_api api = {.api = UFFD_API, .features = FEATURES};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	if (fd < 0)
		return zerr_set(err, -EOPNOTSUPP, "userfaultfd: %s", strerror(errno));
	if (ioctl(fd, UFFDIO_API, &api) < 0 || !counts_changes(api.features)) {
		zerr_set(err, -EOPNOTSUPP, "userfaultfd of this kernel cannot tell of unmapped memory");
		close(fd);
		return -EOPNOTSUPP;
	}
	return fd;
}

/* Without any rights, so that it does not become one mapping with other memory. */
static int make_page(struct zerr *err)
{
	watch.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	watch.page = mmap(NULL, watch.page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (watch.page == MAP_FAILED)
		return zerr_set(err, -errno, "cannot watch memory: %s", strerror(errno));
	struct uffdio_register reg = {.range = {.start = (uintptr_t)watch.page, .len = watch.page_bytes},
		.mode = UFFDIO_REGISTER_MODE_WP};
	watch.patience = PATIENCE;
	if (ioctl(watch.fd, UFFDIO_REGISTER, &reg) < 0 || !(reg.ioctls & (uint64_t)1 << _UFFDIO_WRITEPROTECT) ||
		!all_is_read())
		return zerr_set(err, -EOPNOTSUPP,
			"userfaultfd of this kernel does not tell whether memory is changing");
	return 0;
}

static int start_thread(struct zerr *err)
{
	pthread_attr_t attr;
	sigset_t all, old;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are for the application's threads */
	int rc = -pthread_create(&watch.thread, &attr, run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return rc == 0 ? 0 : zerr_set(err, rc, "cannot watch memory: %s", strerror(-rc));
}

static void close_fds(void)
{
	if (watch.fd >= 0)
		close(atomic_exchange(&watch.fd, -1));
	if (watch.stop_fd >= 0)
		close(watch.stop_fd);
	watch.stop_fd = -1;
}

/* After the descriptor, so that nobody is told of it. */
static void drop_page(void)
{
	if (watch.page != MAP_FAILED)
		munmap(watch.page, watch.page_bytes);
	watch.page = MAP_FAILED;
}

/* A child that kept the descriptor would keep the registrations beyond our end, and munmap would wait for a reader that
 * does not exist. */
static void forget_in_child(void)
{
	close_fds();
}

int vwatch_open(struct zerr *err)
{
	static bool told;
	if (watch.users++ > 0)
		return 0;
	if (!told)
		told = pthread_atfork(NULL, NULL, forget_in_child) == 0;
	atomic_store(&watch.turn, 0);
	atomic_store(&watch.blind, false);
	int rc = open_fd(err);
	watch.fd = rc;
	if (rc >= 0)
		rc = make_page(err);
	if (rc >= 0) {
		watch.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		rc = watch.stop_fd < 0 ? zerr_set(err, -errno, "cannot watch memory: %s", strerror(errno))
				       : start_thread(err);
	}
	if (rc >= 0)
		return 0;
	close_fds();
	drop_page();
	watch.users = 0;
	return rc;
}

void vwatch_close(void)
{
	if (--watch.users > 0)
		return;
	eventfd_write(watch.stop_fd, 1);
	pthread_join(watch.thread, NULL);
	close_fds();
	drop_page();
	memset(&watch.range, 0, sizeof(watch.range));
}

/* --- ranges --- */

/* Registers one mapping, if it is of the right kind. */
static int watch_mapping(uintptr_t start, uintptr_t end, const char *perms, unsigned long inode, const char *name)
{
	struct uffdio_register reg = {.range = {.start = start, .len = end - start}, .mode = UFFDIO_REGISTER_MODE_WP};
	if (strncmp(perms, "rw", 2) != 0 || perms[3] != 'p' || inode != 0 ||
		(name[0] && strcmp(name, "[heap]") != 0 && strncmp(name, "[anon", 5) != 0))
		return -EOPNOTSUPP;
	return ioctl(watch.fd, UFFDIO_REGISTER, &reg) < 0 ? -EOPNOTSUPP : 0;
}

/* Registers all mappings that the range lies in. */
static int watch_mappings(uintptr_t start, uintptr_t end)
{
	char line[MAPS_LINE];
	FILE *maps = fopen("/proc/self/maps", "re");
	int rc = -EOPNOTSUPP;
	if (!maps)
		return rc;
	while (start < end && fgets(line, sizeof(line), maps)) {
		char perms[5] = "", name[128] = "";
		unsigned long low, high, inode;
		if (sscanf(line, "%lx-%lx %4s %*s %*s %lu %127s", &low, &high, perms, &inode, name) < 4 ||
			high <= start)
			continue;
		rc = low <= start ? watch_mapping(low, high, perms, inode, name) : -EOPNOTSUPP;
		if (rc != 0)
			break;
		start = high;
	}
	fclose(maps);
	return start < end ? -EOPNOTSUPP : 0;
}

int vwatch_add(const void *base, size_t len)
{
	uintptr_t start = (uintptr_t)base;
	int i = 0;
	while (i < VWATCH_RANGES && atomic_load_explicit(&watch.range[i].end, memory_order_relaxed) != 0)
		i++;
	if (i == VWATCH_RANGES)
		return -ENOSPC;
	/* First the range, then the registration, so that no event is missed in between. */
	atomic_store(&watch.range[i].stale, false);
	atomic_store(&watch.range[i].start, start);
	atomic_store(&watch.range[i].end, start + len);
	int rc = watch_mappings(start, start + len);
	if (rc == 0)
		return i;
	vwatch_del(i);
	return rc;
}

void vwatch_del(int range)
{
	atomic_store(&watch.range[range].end, 0);
}

bool vwatch_is_known_stale(int range)
{
	return atomic_load(&watch.range[range].stale) || atomic_load(&watch.blind);
}

bool vwatch_is_stale(int range)
{
	if (vwatch_is_known_stale(range) || !all_is_read())
		return true;
	/* All events are read. A range that is not marked yet is being marked: a few instructions, if that thread has a
	 * core. */
	while ((atomic_load(&watch.turn) & 1) && !atomic_load(&watch.blind))
		sched_yield();
	return vwatch_is_known_stale(range);
}

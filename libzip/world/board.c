/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that the members of a communicator share. See board.h. One file without a name (memfd) holds all boards of
 * the part. The part's first rank makes it and the others open it through /proc. Pages come with their first use.
 */
#include "libzip/world/board.h"

#include <fcntl.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libzip/shim/shim.h"
#include "libzip/world/world.h"

#define BOARDS 64	/* communicators with a board at a time */
#define MEMBERS_MAX 256 /* more members are better served by trees */
#define LINE 64		/* bytes of a cache line */
/* A segment of the pipelines (128 KiB by default) fits for up to eight members: 2+2 ranks on two cores, 12 to 48 KiB in
 * half the time of native messages, 96 KiB in three quarters, 1 MiB in segments in 0.7 to 1.0. */
#define SLOT_MAX (132 << 10)
#define DATA_BYTES (5 << 20)

struct member { /* written by its member alone */
	/* Of each slot: operation + 1. One number for all slots would not do: operations under way at the same time
	 * are published out of order where the first one's slot was not yet free and a later one's is. */
	alignas(LINE) atomic_uint_fast64_t published[ZBOARD_DEPTH];
	atomic_uint_fast64_t done; /* number of finished operations */
};

struct shared {
	alignas(LINE) uint64_t token; /* key of the file, in the first board */
	atomic_int users;	      /* 0: free */
	struct member member[MEMBERS_MAX];
	alignas(LINE) char data[DATA_BYTES];
};

struct zboard {
	struct shared *shared;
	int members, me;
	size_t bytes;
	uint64_t next, done;
	uint64_t all_done; /* at least so many operations are finished by all */
};

static struct shared *region; /* [BOARDS] */
static struct zboard boards[BOARDS];

struct invitation { /* the place of the file, and its first bytes: /proc of another rank may be another one */
	int pid, fd;
	uint64_t token;
};

static int make_file(void)
{
	struct rlimit most; /* an access beyond the end is a signal, not an error */
	if (getrlimit(RLIMIT_FSIZE, &most) != 0 || most.rlim_cur < BOARDS * sizeof(struct shared))
		return -1;
	int fd = memfd_create("zipper-boards", MFD_CLOEXEC);
	if (fd >= 0 && ftruncate(fd, (off_t)(BOARDS * sizeof(struct shared))) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int open_file(const struct invitation *first)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", first->pid, first->fd);
	return first->fd >= 0 ? open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK) : -1;
}

static bool map_file(int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size != (off_t)(BOARDS * sizeof(struct shared)))
		return false;
	void *p = mmap(NULL, BOARDS * sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	region = p == MAP_FAILED ? NULL : p;
	return region != NULL;
}

static uint64_t make_token(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Every rank takes part in every step, whatever has failed before. */
int zboard_init(bool wanted)
{
	struct invitation first = {.pid = getpid(), .fd = -1};
	int rank = 0, number = -1, fd, members = zworld.part_size[zworld.part];
	int good = wanted && members > 1 && members <= MEMBERS_MAX;
	zn.Comm_rank(zworld.base, &rank);
	if (rank == 0 && good) {
		first.fd = make_file();
		first.token = make_token();
	}
	zn.Bcast(&first, sizeof(first), MPI_BYTE, 0, zworld.base);
	fd = rank == 0 ? first.fd : open_file(&first);
	good = good && fd >= 0 && map_file(fd);
	if (good && rank == 0)
		region->token = first.token;
	zn.Barrier(zworld.base);
	good = good && region->token == first.token;
	zn.Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, zworld.base);
	if (fd >= 0)
		close(fd);
	if (!good)
		zboard_fini();
	else if (rank == 0)
		number = zboard_claim(members);
	zn.Bcast(&number, 1, MPI_INT, 0, zworld.base);
	return number;
}

void zboard_fini(void)
{
	if (region)
		munmap(region, BOARDS * sizeof(struct shared));
	region = NULL;
}

bool zboard_are_there(void)
{
	return region != NULL;
}

size_t zboard_room(int members)
{
	if (!region || members < 2 || members > MEMBERS_MAX)
		return 0;
	size_t bytes = DATA_BYTES / ZBOARD_DEPTH / (size_t)members / LINE * LINE;
	return bytes < SLOT_MAX ? bytes : SLOT_MAX;
}

int zboard_claim(int members)
{
	if (zboard_room(members) == 0)
		return -1;
	for (int b = 0; region && b < BOARDS; b++) {
		struct shared *s = &region[b];
		int nobody = 0;
		if (!atomic_compare_exchange_strong(&s->users, &nobody, members))
			continue;
		for (int m = 0; m < members; m++) {
			for (int d = 0; d < ZBOARD_DEPTH; d++)
				atomic_store(&s->member[m].published[d], 0);
			atomic_store(&s->member[m].done, 0);
		}
		return b;
	}
	return -1;
}

struct zboard *zboard_join(int number, int members, int me)
{
	if (number < 0)
		return NULL;
	boards[number] =
		(struct zboard){.shared = &region[number], .members = members, .me = me, .bytes = zboard_room(members)};
	return &boards[number];
}

void zboard_leave(struct zboard *b)
{
	if (b && region)
		atomic_fetch_sub(&b->shared->users, 1);
}

int zboard_number(const struct zboard *b)
{
	return (int)(b - boards);
}

size_t zboard_bytes(const struct zboard *b)
{
	return b->bytes;
}

uint64_t zboard_next(struct zboard *b)
{
	return b->next++;
}

static char *slot(const struct zboard *b, uint64_t operation, int member)
{
	size_t number = (size_t)(operation % ZBOARD_DEPTH) * (size_t)b->members + (size_t)member;
	return b->shared->data + number * b->bytes;
}

/* Have all members finished so many operations? */
static bool has_passed(struct zboard *b, uint64_t operations)
{
	uint64_t least = b->done;
	if (b->all_done >= operations)
		return true;
	for (int m = 0; m < b->members; m++) {
		uint64_t done = atomic_load_explicit(&b->shared->member[m].done, memory_order_acquire);
		least = done < least ? done : least;
	}
	b->all_done = least;
	return least >= operations;
}

void *zboard_mine(struct zboard *b, uint64_t operation)
{
	if (operation >= ZBOARD_DEPTH && !has_passed(b, operation + 1 - ZBOARD_DEPTH))
		return NULL;
	return slot(b, operation, b->me);
}

void zboard_publish(struct zboard *b, uint64_t operation)
{
	atomic_store_explicit(&b->shared->member[b->me].published[operation % ZBOARD_DEPTH], operation + 1,
		memory_order_release);
}

const void *zboard_look(const struct zboard *b, uint64_t operation, int member)
{
	if (atomic_load_explicit(&b->shared->member[member].published[operation % ZBOARD_DEPTH],
		    memory_order_acquire) <= operation)
		return NULL;
	return slot(b, operation, member);
}

bool zboard_is_turn(const struct zboard *b, uint64_t operation)
{
	return b->done == operation;
}

void zboard_finish(struct zboard *b, uint64_t operation)
{
	b->done = operation + 1;
	atomic_store_explicit(&b->shared->member[b->me].done, b->done, memory_order_release);
}

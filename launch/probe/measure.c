/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the bridge as a program sees it, see measure.h. The MPI library is found when it runs, as the probe must
 * start on hosts without one. */
#include "launch/probe/measure.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "launch/probe/say.h"

#define ROUNDS 200
#define PING_NS INT64_C(250000000)
#define BLOCK_BYTES (1 << 20)
#define ENOUGH 65536		   /* blocks at most */
#define BULK_NS INT64_C(500000000) /* wanted; half of it is enough */

/* Of MPICH's ABI (MPICH ABI Compatibility Initiative). */
#define COMM_WORLD 0x44000000
#define BYTE 0x4c00010d
#define STATUS_IGNORE ((void *)1)

static struct {
	int (*init)(int *, char ***);
	int (*finalize)(void);
	int (*rank)(int comm, int *);
	int (*size)(int comm, int *);
	int (*send)(const void *, int count, int type, int dest, int tag, int comm);
	int (*recv)(void *, int count, int type, int source, int tag, int comm, void *status);
} mpi;

static const struct {
	const char *name;
	size_t offset;
} names[] = {
	{"MPI_Init", offsetof(__typeof__(mpi), init)},
	{"MPI_Finalize", offsetof(__typeof__(mpi), finalize)},
	{"MPI_Comm_rank", offsetof(__typeof__(mpi), rank)},
	{"MPI_Comm_size", offsetof(__typeof__(mpi), size)},
	{"MPI_Send", offsetof(__typeof__(mpi), send)},
	{"MPI_Recv", offsetof(__typeof__(mpi), recv)},
};

static bool load(void)
{
	static const char *const libraries[] = {"libmpich.so.12", "libmpi.so.12"};
	void *library = NULL;
	for (size_t i = 0; !library && i < sizeof(libraries) / sizeof(libraries[0]); i++)
		library = dlopen(libraries[i], RTLD_NOW | RTLD_GLOBAL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		void *function = library ? dlsym(library, names[i].name) : NULL;
		if (!function)
			return false;
		memcpy((char *)&mpi + names[i].offset, &function, sizeof(function));
	}
	return true;
}

static void send(int peer, const void *data, int len)
{
	mpi.send(data, len, BYTE, peer, 0, COMM_WORLD);
}

static void take(int peer, void *data, int len)
{
	mpi.recv(data, len, BYTE, peer, 0, COMM_WORLD, STATUS_IGNORE);
}

/* The shortest round trip of many, or of those in a short time. Rank 0 says which one is the last. */
static int64_t ping(int peer, bool first)
{
	const int64_t end = zclock_ns() + PING_NS;
	int64_t best = INT64_MAX;
	char last = 0, answer = 0;
	for (int i = 1; !last; i++) {
		const int64_t begin = zclock_ns();
		if (first) {
			last = i == ROUNDS || begin >= end;
			send(peer, &last, 1);
			take(peer, &answer, 1);
		} else {
			take(peer, &last, 1);
			send(peer, &answer, 1);
		}
		const int64_t ns = zclock_ns() - begin;
		best = ns < best ? ns : best;
	}
	return best;
}

/* Moves so many blocks one way, and an answer back. Returns the time. */
static int64_t move(int peer, bool sends, char *block, int count)
{
	const int64_t begin = zclock_ns();
	char c = 0;
	for (int i = 0; i < count; i++)
		if (sends)
			send(peer, block, BLOCK_BYTES);
		else
			take(peer, block, BLOCK_BYTES);
	if (sends)
		take(peer, &c, 1);
	else
		send(peer, &c, 1);
	return zclock_ns() - begin;
}

/* How many blocks should follow on so many, which took that long? 0: that was long enough. The first ones also pay the
 * round trip, so they may take much longer than the next ones each. */
static int find_next(int count, int64_t ns)
{
	if (ns >= BULK_NS / 2 || count >= ENOUGH)
		return 0;
	const int64_t wanted = ns > 0 ? BULK_NS * count / ns : ENOUGH;
	return wanted < 2 * count ? 2 * count : wanted > ENOUGH ? ENOUGH : (int)wanted;
}

/* Bytes per second one way. Rank 0 finds how many blocks it takes; over a slow network one is enough. */
static double bulk(int peer, bool first, bool sends, char *block)
{
	int64_t ns = 1;
	int count = 0;
	for (int next = 1; next > 0;) {
		count = next;
		ns = move(peer, sends, block, count);
		if (first) {
			next = find_next(count, ns);
			send(peer, &next, sizeof(next));
		} else {
			take(peer, &next, sizeof(next));
		}
	}
	return (double)count * BLOCK_BYTES * 1e9 / (double)(ns > 0 ? ns : 1);
}

static void measure(int rank, int size, char *block)
{
	const bool first = rank == 0;
	for (int other = 1; other < size; other++) {
		if (!first && rank != other)
			continue;
		const int peer = first ? other : 0;
		const int64_t ns = ping(peer, first);
		const double there = bulk(peer, first, first, block), back = bulk(peer, first, !first, block);
		if (first)
			zsay("leg", "%d %" PRId64 " %.0f %.0f", other, ns, there, back);
	}
}

int zmeasure_run(void)
{
	char *block = calloc(1, BLOCK_BYTES);
	int rank, size;
	if (!block || !load() || mpi.init(NULL, NULL) != 0) {
		fputs("zipprobe: no MPI library to measure with\n", stderr);
		free(block);
		return 1;
	}
	mpi.rank(COMM_WORLD, &rank);
	mpi.size(COMM_WORLD, &size);
	measure(rank, size, block);
	mpi.finalize();
	free(block);
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failover of whole worlds, simulated: several copies of libzip in one process, each a rank, and the zippers between
 * them. Which one takes its next turn, what the ranks send, and what is lost when follows from a number, the seed.
 *
 * Simulated: up to 5 ranks in up to 3 parts with up to 4 rails, which carry between all parts or some; messages of all
 * sizes in all modes, to one and to several, persistent, freed early; receives before and after, cancelled; links that
 * are full, and bring messages in halves; acknowledgements that come late, behind grants; ranks that compute for a
 * while, and others that begin much right after a loss; refusals by zippers; one-sided moves, and memory that cannot be
 * exposed; zippers that die and ranks that are cut off one, at any moment, also while ranks leave, which others notice
 * later, each at another time; zippers that are started again soon, while ranks compute for longer than a zipper may be
 * away.
 *
 * Checked: each message comes once, in order, with its bytes, length and status, and no byte behind it is touched;
 * nobody writes to or reads from memory that was taken back; no rank finds what comes an error, or gives a zipper what
 * it does not carry, or a key to one that it has no link to; and nobody waits for ever: all is done, and all have left,
 * within a number of steps, which is no measure of time; and no rank ends the job.
 *
 * Not simulated: the loss of the last rail between two parts, which is the end of the job; ranks that die; direct
 * links; native messages, and so MPI_ANY_SOURCE, matched probes, datatypes and collectives; strands; who sleeps;
 * sessions (their messages, PING), zipperd's own code and memory, transports. Threads: libzip is under one lock.
 *
 * One seed again, with all that happens (the first case is 0): unit/libzip/failover_sim CASE SEED. With ZIP_LONG set:
 * more seeds.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "test/unit/libzip/failover_sim_parts.h"

#define MODULE ".libs/failover_sim_rank.so" /* beside this program */
#define CPU_SECONDS 120			    /* a loop without end inside libzip is no step; usual is some hundredths */
#define FAILURES_MAX 3
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOWER 6 /* so many times fewer seeds */
#else
#define SLOWER 1
#endif

static const struct sim_case cases[] = {
	{"2 parts, 2 rails", 2, 0, 2, -1, {.sends = 5, .to_several = 1, .recvs = 3, .cancels = 1}, 300, 5000},
	{"3 parts, 4 rails", 3, 5, 4, -1, {.sends = 4, .to_several = 2, .recvs = 3, .cancels = 1}, 300, 5000},
	{"messages to several", 0, 5, 0, 0, {.sends = 2, .to_several = 5, .recvs = 3}, 300, 5000},
	{"one-sided moves", 0, 0, 0, 1, {.sends = 4, .to_several = 3, .recvs = 3, .cancels = 1}, 300, 5000},
	{"persistent sends", 0, 0, 0, -1, {.sends = 2, .persistent = 2, .to_several = 2, .recvs = 3, .cancels = 1}, 300,
		5000},
	{"short messages", 0, 0, 0, -1, {.sends = 6, .to_several = 1, .recvs = 2, .cancels = 1, .is_short = true}, 300,
		5000},
	{"hops", 3, 5, 4, -1, {.sends = 4, .to_several = 3, .recvs = 3, .cancels = 1, .hops = true}, 300, 5000},
	{"a single rail that comes back", 0, 0, 1, -1,
		{.sends = 4, .persistent = 1, .to_several = 2, .recvs = 3, .cancels = 1, .returns = true}, 120, 5000},
	{"rails that come back", 0, 0, 0, -1, {.sends = 4, .to_several = 2, .recvs = 3, .cancels = 1, .returns = true},
		300, 5000},
	{"short messages, rails that come back", 0, 0, 0, -1,
		{.sends = 6, .to_several = 1, .recvs = 2, .is_short = true, .returns = true}, 120, 5000},
	{"hops, rails that come back", 0, 0, 4, -1,
		{.sends = 4, .to_several = 3, .recvs = 3, .hops = true, .returns = true}, 120, 5000},
	{"hops, any number of rails", 0, 0, 0, -1, {.sends = 4, .to_several = 2, .recvs = 3, .hops = true}, 300, 5000},
};
#define NCASES ((int)(sizeof(cases) / sizeof(cases[0])))

/* --- the copies of libzip --- */

/* The dynamic linker takes a file that it has for the same library: so each rank's is another file. It stays open:
 * sanitizers read symbols there. -1: errno says why. */
static int copy_file(const char *path)
{
	struct stat st;
	int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("failover_sim_rank", MFD_CLOEXEC);

	if (from < 0 || to < 0 || fstat(from, &st) != 0)
		return -1;
	for (off_t done = 0; done < st.st_size;) {
		ssize_t n = sendfile(to, from, NULL, (size_t)(st.st_size - done));
		if (n <= 0)
			return -1;
		done += n;
	}
	close(from);
	return to;
}

static void module_path(char *path, size_t cap)
{
	ssize_t n = readlink("/proc/self/exe", path, cap - sizeof(MODULE));
	char *slash = NULL;

	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash ? slash + 1 : path, MODULE);
}

/* NULL, or why not. */
static const char *load_copies(void)
{
	char path[4096];

	module_path(path, sizeof(path));
	for (int v = 0; v < SIM_RANKS; v++) {
		char name[64];
		int fd = copy_file(path);
		if (fd < 0)
			return strerror(errno);
		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		sim.rank[v] = lib ? dlsym(lib, "sim_rank") : NULL;
		if (!sim.rank[v])
			return dlerror();
	}
	return NULL;
}

/* --- seeds --- */

/* In a process of its own, as libzip begins only once. Returns whether it has ended well. */
static bool run_apart(const struct sim_case *c, int seed)
{
	const struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS + 1};
	int status;

	fflush(stdout);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CPU, &cpu);
		/* else most of the time goes into getting and giving back pages */
		mallopt(M_MMAP_THRESHOLD, 64 << 20);
		mallopt(M_TRIM_THRESHOLD, 64 << 20);
		sim_run(c, (uint64_t)seed);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 0)
		return true;
	if (WIFSIGNALED(status))
		printf("# signal %d%s\n", WTERMSIG(status), WTERMSIG(status) == SIGXCPU ? ": a loop without end?" : "");
	printf("# that was seed %d; again, with all that happens: unit/libzip/failover_sim %d %d\n", seed,
		(int)(c - cases), seed);
	return false;
}

static void test_case(void **state)
{
	const struct sim_case *c = *state;
	int seeds = getenv("ZIP_LONG") ? c->long_seeds : c->seeds, failed = 0;

	for (int seed = 0; seed < seeds / SLOWER && failed < FAILURES_MAX; seed++)
		failed += !run_apart(c, seed);
	assert_int_equal(failed, 0);
}

static int repeat(int which, uint64_t seed)
{
	if (which < 0 || which >= NCASES)
		return 2;
	sim_verbose = true;
	sim_run(&cases[which], seed);
	fflush(stdout);
	_exit(0); /* as the others: what is left in libzip at the end is no leak */
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[NCASES];
	const char *why = load_copies();

	if (why) {
		fprintf(stderr, "copies of libzip cannot be loaded: %s\n", why);
		return 1;
	}
	if (argc == 3)
		return repeat(atoi(argv[1]), strtoull(argv[2], NULL, 0));
	for (int i = 0; i < NCASES; i++)
		tests[i] = (struct CMUnitTest){cases[i].name, test_case, NULL, NULL, (void *)(uintptr_t)&cases[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

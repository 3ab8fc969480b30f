/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verbs transport, unchanged, on the fake of libibverbs (fakeverbs/fabric.h), with random links. A number, the
 * seed, decides everything: the devices, the settings, what the ends do, and what fails when.
 *
 * Up to 5 links at a time over up to two devices. Their accepted ends belong to two endpoints, as workers are, and pass
 * messages on to one or two of each other. There are messages of all lengths, refused and placed ones; memory that the
 * peer reads and writes, taken back early, and given up; ends that close at any moment, and are opened anew.
 * Completions are late or at once. These fail: completions with each status, calls, ports, devices, queues, addresses,
 * acknowledgements, memory that cannot be registered.
 *
 * Checked: each message comes once, in order, with its bytes, and a good end only after all of them. A link that fails
 * says so, goes on saying so, and only where there is a reason. Memory is not written once it was taken back. Each
 * operation is reported once, with the bytes in place. A sleeping half is woken: everything is done within a number of
 * steps, which is no measure of time (random_clock.c). No object is left, and no buffer is missing.
 *
 * Not here: several threads, several processes. The kernel decides when bytes over TCP arrive, so a seed decides nearly
 * everything.
 *
 * To run one seed again, with all that happens: unit/verbs/random SEED. With ZIP_LONG set: more seeds.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/unit/verbs/random_parts.h"
#include "common/transport/transports.h"

#define SEEDS 120
#define LONG_SEEDS 1000
#define STEPS 1500
#define IDLE_STEPS 40000 /* some thousands are the rule, as operations of a lost device are given up a second later */
#define CPU_SECONDS 60	 /* a loop without end is no step */
#define FAILURES_MAX 3
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOWER 4 /* so many times fewer seeds */
#else
#define SLOWER 1
#endif

struct world world;
bool random_verbose;
static uint64_t drawn;

/* --- helpers of all files --- */

uint32_t draw(uint32_t n)
{
	drawn ^= drawn << 13; /* xorshift64: Marsaglia, "Xorshift RNGs", 2003 */
	drawn ^= drawn >> 7;
	drawn ^= drawn << 17;
	return (uint32_t)(drawn >> 11) % n;
}

void trace(const char *format, ...)
{
	va_list args;
	if (!random_verbose)
		return;
	va_start(args, format);
	printf("# %ld: ", world.step);
	vprintf(format, args);
	printf("\n");
	va_end(args);
}

void random_fail(const char *format, ...)
{
	va_list args;
	printf("# %s, step %ld: ", getenv("FAKEVERBS"), world.step);
	va_start(args, format);
	vprintf(format, args);
	printf("\n");
	va_end(args);
	for (int p = 0; p < world.pairs; p++)
		for (int s = 0; s < 2; s++) {
			const struct end *e = &world.end[p][s];
			printf("# %d.%d: stage %d why %d, posted %llu flushed %llu taken %llu, asleep %d %d, wants %d "
			       "%d, "
			       "drains %d, gone %d\n",
				p, s, (int)e->stage, e->why, (unsigned long long)e->posted,
				(unsigned long long)e->flushed, (unsigned long long)e->taken, e->asleep[0],
				e->asleep[1], e->wants, e->wants_flush, e->drains, e->gone);
			const struct vlink *l = (const struct vlink *)(void *)e->link;
			if (l)
				printf("#     sends: mode %d failing %d limit %u sent %u rest %zu armed %d quiet %d "
				       "awaits "
				       "%d; receives: mode %d broken %d sender %d limit %u consumed %u armed %d awaits "
				       "%d\n",
					(int)l->tx.mode, l->tx.failing, l->tx.limit, l->tx.sent,
					l->tx.rest_len - l->tx.rest_at, l->tx.armed, l->tx.quiet, (int)l->tx.awaits,
					(int)l->rx.mode, l->rx.broken, l->rx.sender, l->rx.limit, l->rx.consumed,
					l->rx.armed, (int)l->rx.awaits);
		}
	for (uint32_t i = 0; i < fake_fabric()->nqps; i++) {
		const struct fake_qp *q = &fake_fabric()->qp[i];
		if (q->used)
			printf("# queue pair %u to %u: state %d, waits %d, to carry out %u, gone %d, own receives %d\n",
				q->number, q->peer, (int)q->state, q->waits, q->tail - q->next, q->gone, q->own_rq);
	}
	fflush(stdout);
	_exit(1);
}

/* --- one world --- */

static const char *one_of(const char *const *texts, uint32_t n)
{
	return texts[draw(n)];
}
#define ONE_OF(...)                                                                                                    \
	one_of((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void choose_device(char *text, size_t cap, const char *name)
{
	snprintf(text + strlen(text), cap - strlen(text), "%s%s%s%s%s%s%s%s", text[0] ? "," : "", name,
		ONE_OF("", "/ib", "/ib/pkey=0x8005/grh", "/v1"), ONE_OF("", "/mw"), ONE_OF("", "/tds=16", "/tds=2"),
		ONE_OF("", "", "/inline=60", "/inline=0"), ONE_OF("", "", "/lag=3", "/lag=40"),
		ONE_OF("", "", "/silent"));
	if (strcmp(name, "fkb") == 0)
		strcat(text, "/ip=127.0.0.2");
}

static void choose_settings(void)
{
	char devices[200] = "";
	world.devices = 1 + (int)draw(2);
	choose_device(devices, sizeof(devices), "fka");
	if (world.devices == 2)
		choose_device(devices, sizeof(devices), "fkb");
	setenv("FAKEVERBS", devices, 1);
	unsetenv("FAKEVERBS_FABRIC");
	setenv("ZIP_TEST_VERBS", "fka:1@127.0.0.1", 1);
	setenv("ZIPPER_VERBS_WINDOW", ONE_OF("4", "5", "16", "64", "64"), 1);
	setenv("ZIPPER_VERBS_BUFFERS", ONE_OF("16", "20", "64", "256"), 1);
	setenv("ZIPPER_VERBS_BUFFER_BYTES", ONE_OF("1024", "4096", "16640", "16640"), 1);
	setenv("ZIPPER_VERBS_SIGNAL", ONE_OF("1", "4", "16", "32"), 1);
	setenv("ZIPPER_VERBS_POST_LIST", ONE_OF("1", "4", "16", "32"), 1);
	setenv("ZIPPER_VERBS_CACHE_BYTES", ONE_OF("0", "300000", "1G"), 1);
	setenv("ZIPPER_VERBS_PORT_GRACE", ONE_OF("0", "1ms", "5s"), 1);
	setenv("ZIPPER_ENDPOINTS",
		ONE_OF("mpi-everywhere", "2xdynamic", "dynamic", "shared-dynamic", "static", "mpi+threads"), 1);
}

static void listen_at(int device)
{
	struct zerr err = {""};
	struct zaddr addr;
	assert_int_equal(zaddr_parse(&addr, device ? "fkb:1@127.0.0.1:0" : "fka:1@127.0.0.1:0", &err), 0);
	if (world.ops->listen(&world.listener[device], &addr, &err) < 0)
		random_fail("listen: %s", err.text);
	world.ops->listener_addr(world.listener[device], &world.addr[device]);
}

static void begin(uint64_t seed)
{
	struct zerr err = {""};
	drawn = (seed + 1) * 0x9e3779b97f4a7c15u;
	for (int i = 0; i < 10; i++)
		draw(1);
	choose_settings();
	if (!link_kind_works(&link_kinds[link_kind_count - 1]))
		random_fail("the module does not load");
	world.ops = ztransports_find(ZADDR_VERBS, &err);
	world.pairs = 1 + (int)draw(RANDOM_PAIRS);
	world.faulty = draw(3) != 0;
	world.one_sided = draw(2);
	world.closes = draw(2);
	world.sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	trace("%s, %d pairs%s%s%s", getenv("FAKEVERBS"), world.pairs, world.faulty ? ", faults" : "",
		world.one_sided ? ", one-sided" : "", world.closes ? ", closes" : "");
	clock_begin();
	for (int d = 0; d < world.devices; d++)
		listen_at(d);
	for (int w = 0; w < RANDOM_WORKERS; w++)
		assert_int_equal(world.ops->endpoint_open(&world.worker[w], &err), 0);
}

static struct end *some_end(void)
{
	return &world.end[draw((uint32_t)world.pairs)][draw(2)];
}

static void go_on(void)
{
	world.step++;
	clock_pass(draw(40) ? draw(20000) : draw(20000000));
	end_step(some_end());
	if (world.one_sided)
		transfer_step();
}

static void traffic(void)
{
	const uint32_t rate = 40 + draw(400);
	for (int i = 0; i < STEPS; i++) {
		const int pair = (int)draw((uint32_t)world.pairs);
		go_on();
		if (!world.end[pair][0].link && !world.end[pair][1].link && draw(4) == 0)
			end_open(pair);
		if (world.faulty && draw(rate) == 0)
			fault_step();
	}
}

/* --- its end --- */

/* Both ends of every link have nothing to do any more, or the link has gone. */
static bool is_done(void)
{
	for (int p = 0; p < world.pairs; p++)
		if (!end_is_done(&world.end[p][0]) || !end_is_done(&world.end[p][1]))
			return false;
	return transfers_are_done();
}

static void settle_all(void)
{
	world.quiet = true;
	faults_end();
	for (int i = 0; i < IDLE_STEPS; i++) {
		if (is_done())
			return;
		go_on();
		if (i % 200 == 199)
			clock_pass(100000000);
		if (i > IDLE_STEPS / 2 && i % 20 == 0)
			sched_yield(); /* the kernel may not have delivered bytes over TCP yet */
	}
	random_fail("somebody waits for ever");
}

/* In any order; an end that has not been told that the other end has closed closes, too. */
static void close_all(void)
{
	for (bool left = true; left;) {
		left = false;
		for (int p = 0; p < world.pairs; p++)
			left |= world.end[p][0].link || world.end[p][1].link;
		struct end *e = some_end();
		world.step++;
		clock_pass(draw(1000000));
		if (e->link)
			end_close(e);
	}
}

static void check_fabric(void)
{
	struct fake_fabric *f = fake_fabric();
	unsigned qps = 0, keys = 0, contexts = 0;
	for (int i = 0; i < FAKE_QPS; i++)
		qps += f->qp[i].used;
	for (int i = 0; i < FAKE_KEYS; i++)
		keys += f->key[i].used;
	for (int i = 0; i < FAKE_CONTEXTS; i++)
		contexts += f->context[i].pid != 0;
	if (qps || keys || contexts)
		random_fail("left: %u queue pairs, %u registrations, %u contexts", qps, keys, contexts);
	if (f->complaints)
		random_fail("%u complaints", f->complaints);
}

static void run(uint64_t seed)
{
	begin(seed);
	traffic();
	settle_all();
	transfers_end();
	close_all();
	for (int w = 0; w < RANDOM_WORKERS; w++) {
		if (!world.gone)
			pools_check(world.worker[w]);
		world.ops->endpoint_close(world.worker[w]);
	}
	if (world.own && !world.gone)
		pools_check(world.own);
	if (world.own)
		world.ops->endpoint_close(world.own);
	for (int d = 0; d < world.devices; d++)
		world.ops->unlisten(world.listener[d]);
	check_fabric();
	fflush(stdout);
	_exit(0);
}

/* --- seeds --- */

static bool run_apart(int seed)
{
	const struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS + 1};
	int status;
	fflush(stdout);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		setrlimit(RLIMIT_CPU, &cpu);
		run((uint64_t)seed);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status == 0)
		return true;
	if (WIFSIGNALED(status))
		printf("# signal %d%s\n", WTERMSIG(status), WTERMSIG(status) == SIGXCPU ? ": a loop without end?" : "");
	printf("# that was seed %d; again, with all that happens: unit/verbs/random %d\n", seed, seed);
	return false;
}

static void random_links(void **state)
{
	const int seeds = getenv("ZIP_LONG") ? LONG_SEEDS : SEEDS;
	int failed = 0;
	(void)state;
	for (int seed = 0; seed < seeds / SLOWER && failed < FAILURES_MAX; seed++)
		failed += !run_apart(seed);
	assert_int_equal(failed, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_links)};
	if (argc == 2) {
		random_verbose = true;
		run(strtoull(argv[1], NULL, 0));
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

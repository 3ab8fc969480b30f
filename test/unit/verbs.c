/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The verbs transport on the fake of libibverbs (fakeverbs/fabric.h), which is part of this program: what a device is
 * asked for, and what becomes of its faults. With the argument "conformance" it is the conformance list of transports
 * instead. verbs-fake.t runs it for several kinds of devices, FAKEVERBS.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fakeverbs/fabric.h"
#include "link_fixture.h"
#include "verbs/endpoint.h"
#include "verbs/link.h"
#include "verbs/pool.h"

#define SIZE ((size_t)100000)
#define LINKS 16 /* as many as buffers are made for at a time */
#define AROUND ((size_t)8192)

static const struct link_kind *warm(void)
{
	for (size_t i = 0; i < link_kind_count; i++)
		if (strcmp(link_kinds[i].name, "warmverbs") == 0)
			return &link_kinds[i];
	return NULL;
}

/* Options are environment variables of a rank (and `endpoints`); NULL: the default. */
static void option(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
	assert_true(link_kind_works(warm()));
}

static int setup(void **state)
{
	memset(fake_fabric()->fault, 0, sizeof(fake_fabric()->fault));
	for (uint32_t d = 0; d < fake_fabric()->ndevices; d++)
		for (int p = 0; p < fake_fabric()->device[d].ports; p++)
			fake_fabric()->device[d].port[p].state = IBV_PORT_ACTIVE;
	fake_fabric()->complaints = 0;
	link_warnings = 0;
	*state = (void *)warm();
	return fixture_setup(state);
}

static int teardown(void **state)
{
	unsigned qps = 0, keys = 0, contexts = 0;
	int rc = fixture_teardown(state);
	for (int i = 0; i < FAKE_QPS; i++)
		qps += fake_fabric()->qp[i].used;
	for (int i = 0; i < FAKE_KEYS; i++)
		keys += fake_fabric()->key[i].used;
	for (int i = 0; i < FAKE_CONTEXTS; i++)
		contexts += fake_fabric()->context[i].pid != 0;
	if (qps || keys || contexts)
		print_error("left: %u queue pairs, %u registrations, %u contexts\n", qps, keys, contexts);
	if (fake_fabric()->complaints)
		print_error("%u complaints\n", fake_fabric()->complaints);
	return rc || qps || keys || contexts || fake_fabric()->complaints;
}

static void fault(enum fake_point point, int value, uint32_t after)
{
	fake_lock(fake_fabric());
	fake_fabric()->fault[point] = (struct fake_fault){.value = value, .after = after, .times = 1};
	fake_unlock(fake_fabric());
}

static bool is_pending(enum fake_point point)
{
	return fake_fabric()->fault[point].value != 0;
}

/* --- addresses --- */

static struct fake_device *device(void)
{
	return &fake_fabric()->device[0];
}

static void queue_pairs_have_the_address(void **state)
{
	option("ZIPPER_VERBS_SERVICE_LEVEL", "5");
	option("ZIPPER_VERBS_PARTITION", device()->ib ? "5" : NULL);
	struct pair p = fixture_pair(*state);
	unsigned seen = 0;
	for (uint32_t i = 0; i < FAKE_QPS; i++) {
		const struct fake_qp *q = &fake_fabric()->qp[i];
		if (!q->used)
			continue;
		seen++;
		assert_int_equal(q->state, IBV_QPS_RTS);
		assert_int_equal(q->sl, 5);
		assert_int_equal(q->port, 1);
		assert_int_equal(q->global, !device()->ib);
		if (device()->ib) {
			assert_int_equal(q->dlid, device()->port[0].lid);
			assert_int_equal(device()->port[0].pkey[q->pkey_index], 0x8005);
		} else {
			assert_memory_equal(q->dgid, device()->port[0].gid, 16);
		}
	}
	assert_int_equal(seen, 4); /* one for each direction at either end */
	pair_close(&p);
	option("ZIPPER_VERBS_SERVICE_LEVEL", NULL);
	option("ZIPPER_VERBS_PARTITION", NULL);
}

/* A port that wants a global address of InfiniBand, too: the other end learns it. */
static void whoever_needs_a_global_address(void **state)
{
	struct fixture *f = *state;
	if (!device()->ib)
		skip();
	for (int connecting = 0; connecting < 2; connecting++) {
		struct inbox in;
		struct pair p;
		inbox_init(&in);
		device()->grh = connecting;
		p.a = fixture_connect(f);
		p.b = fixture_accept(f);
		device()->grh = !connecting;
		fixture_settle(f, p.b);
		for (uint64_t k = 0; k < 10; k++) {
			assert_int_equal(post_message(p.a, k, 10), 0);
			assert_int_equal(p.a->ops->flush(p.a), 0);
			receive_until(p.b, &in, k + 1);
			struct inbox none;
			inbox_init(&none);
			struct zsink sink = inbox_sink(&none);
			assert_int_equal(p.a->ops->poll(p.a, &sink, 1), 0);
			inbox_fini(&none);
		}
		unsigned seen = 0;
		for (uint32_t i = 0; i < FAKE_QPS; i++) {
			const struct fake_qp *q = &fake_fabric()->qp[i];
			if (!q->used)
				continue;
			seen++;
			assert_true(q->global && q->dlid == device()->port[0].lid);
			assert_memory_equal(q->dgid, device()->port[0].gid, 16);
		}
		assert_int_equal(seen, 4);
		inbox_fini(&in);
		pair_close(&p);
	}
	device()->grh = false;
}

/* What the connecting end has offered is taken, and refused. */
static void settle_fails(struct fixture *f, struct zlink *link, int expected, const char *text)
{
	struct zerr err = {""};
	struct inbox in;
	uint32_t events;
	struct pollfd p = {.fd = f->ops->fd(link, ZLINK_RX, &events), .events = POLLIN};
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	assert_int_equal(f->ops->poll(link, &sink, 1), 0);
	inbox_fini(&in);
	assert_true(f->endpoint || f->ops->endpoint_open(&f->endpoint, &err) == 0);
	assert_int_equal(f->ops->settle(link, f->endpoint, f->endpoint, &err), expected);
	if (!strstr(err.text, text))
		fail_msg("%s", err.text);
}

/* A rank's host may have both, and the connection for set-up may start from the wrong one. */
static void links_are_of_one_kind(void **state)
{
	struct fixture *f = *state;
	const bool ib = device()->ib;
	struct zlink *a = fixture_connect(f), *b = fixture_accept(f);
	char text[160];
	device()->ib = !ib;
	snprintf(text, sizeof(text), "fka:1 is on %s and %s on %s: if its host has another port, ZIPPER_DEVICE",
		ib ? "RoCE" : "InfiniBand", b->peer, ib ? "InfiniBand" : "RoCE");
	settle_fails(f, b, -EPROTONOSUPPORT, text);
	device()->ib = ib;
	f->ops->close(a);
	f->ops->close(b);
}

static void subnets_are_not_crossed(void **state)
{
	struct fixture *f = *state;
	if (!device()->ib)
		skip();
	struct zlink *a = fixture_connect(f), *b = fixture_accept(f);
	device()->port[0].gid[7] = 7;
	settle_fails(f, b, -EHOSTUNREACH, "fka:1 is in the InfiniBand subnet fe80000000000007 and 127.0.0.1");
	device()->port[0].gid[7] = 0;
	f->ops->close(a);
	f->ops->close(b);
}

/* A daemon listens all the same, and the port is needed when a link is to be used. */
static void a_port_that_is_not_active_yet(void **state)
{
	struct fixture *f = *state;
	struct zlistener *listener;
	struct zaddr addr;
	struct zerr err = {""};
	fixture_address(f, f->kind->address, &addr);
	device()->port[0].state = IBV_PORT_INIT;
	link_patient(false);
	assert_int_equal(f->ops->listen(&listener, &addr, &err), -ENETDOWN);
	assert_non_null(strstr(err.text, "fka:1 is not active (init)"));
	link_patient(true);
	assert_int_equal(f->ops->listen(&listener, &addr, &err), 0);
	assert_int_equal(link_warnings, 1);
	assert_string_equal(link_warning, "fka:1 is not active (init): connections over it are refused until it is");
	f->ops->unlisten(listener);
	link_patient(false);
	device()->port[0].state = IBV_PORT_ACTIVE;
	struct zlink *a = fixture_connect(f), *b = fixture_accept(f);
	device()->port[0].state = IBV_PORT_INIT;
	settle_fails(f, b, -ENETDOWN, "fka:1 is not active (init)");
	device()->port[0].state = IBV_PORT_ACTIVE;
	f->ops->close(a);
	f->ops->close(b);
	struct pair p = fixture_pair(f);
	pair_close(&p);
}

static void a_partition_that_the_port_is_not_in(void **state)
{
	struct fixture *f = *state;
	struct zlink *link;
	struct zerr err;
	if (!device()->ib)
		skip();
	option("ZIPPER_VERBS_PARTITION", "6");
	assert_int_equal(f->ops->connect(&link, &f->addr, PATIENCE_MS, &err), -ENOENT);
	assert_non_null(strstr(err.text, "fka:1 is not in partition 0x0006"));
	option("ZIPPER_VERBS_PARTITION", NULL);
	/* who waits in the listener's queue */
	link = fixture_accept(f);
	f->ops->close(link);
}

/* As the only one that there is; else none of the tests uses one. */
static void limited_membership_is_the_last_choice(void **state)
{
	struct fixture *f = *state;
	struct zlistener *listener;
	struct zaddr addr;
	struct zerr err = {""};
	if (!device()->ib)
		skip();
	option("ZIPPER_VERBS_PARTITION", "5");
	device()->port[0].pkey[FAKE_PKEYS - 1] = 0;
	fixture_address(f, f->kind->address, &addr);
	assert_int_equal(f->ops->listen(&listener, &addr, &err), 0);
	assert_int_equal(link_warnings, 1);
	assert_non_null(strstr(link_warning, "fka:1 is a limited member of partition 0x0005"));
	for (int i = 0; i < 2; i++) { /* connecting ends are told once, too */
		struct zlink *a = fixture_connect(f), *b = fixture_accept(f), *second = fixture_connect(f);
		assert_int_equal(link_warnings, 2 + i);
		f->ops->close(second);
		f->ops->close(fixture_accept(f));
		f->ops->close(a);
		f->ops->close(b);
	}
	f->ops->unlisten(listener);
	device()->port[0].pkey[FAKE_PKEYS - 1] = 0x8005;
	option("ZIPPER_VERBS_PARTITION", NULL);
}

/* --- endpoint categories --- */

static void categories_ask_for_what_they_are(void **state)
{
	const bool domains = device()->tds > 0;
	for (int c = 0; c < ZEP_CATEGORIES; c++) {
		option("ZIPPER_ENDPOINTS", zep_category_names[c]);
		struct fixture *f = *state;
		struct pair p = fixture_pair(f);
		unsigned in_domain = 0, single = 0;
		uint32_t contexts = 0;
		bool seen[FAKE_CONTEXTS] = {false};
		for (uint32_t i = 0; i < FAKE_QPS; i++) {
			const struct fake_qp *q = &fake_fabric()->qp[i];
			in_domain += q->used && q->domain;
			single += q->used && q->single;
			if (q->used && !seen[q->context]) {
				seen[q->context] = true;
				contexts++;
			}
		}
		const bool dynamic = c == ZEP_2XDYNAMIC || c == ZEP_DYNAMIC || c == ZEP_SHARED_DYNAMIC;
		assert_int_equal(in_domain, dynamic && domains ? 4 : 0);
		assert_int_equal(single, !domains ? 0 : dynamic ? 4 : c == ZEP_MPI_EVERYWHERE ? 2 : 0);
		assert_int_equal(contexts, c == ZEP_MPI_EVERYWHERE ? 2 : 1);
		pair_close(&p);
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* Those of one share it: it is one thread's. */
static void each_endpoint_has_another_vector(void **state)
{
	static const char *const categories[] = {"static", "2xdynamic", "mpi-everywhere"};
	for (size_t c = 0; c < 3; c++) {
		option("ZIPPER_ENDPOINTS", categories[c]);
		struct fixture *f = *state;
		struct pair p = fixture_pair(f), other = fixture_pair(f);
		unsigned queues[FAKE_VECTORS] = {0}, used = 0;
		for (uint32_t i = 0; i < FAKE_QPS; i++)
			if (fake_fabric()->qp[i].used)
				queues[((struct fake_cq *)fake_ptr(fake_fabric(), fake_fabric()->qp[i].send_cq))
						->vector]++;
		for (int v = 0; v < FAKE_VECTORS; v++) {
			assert_true(queues[v] == 0 || queues[v] == 4);
			used += queues[v] > 0;
		}
		assert_int_equal(used, 2); /* who connects, who accepts */
		pair_close(&p);
		pair_close(&other);
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* A device's provider is told by its environment variable, and not told to do what it does anyway. */
static void blueflame_can_be_switched_off(void **state)
{
	static const char *const values[] = {"yes", "no"};
	unsetenv("MLX5_SHUT_UP_BF");
	for (int i = 0; i < 2; i++) {
		option("ZIPPER_VERBS_BLUEFLAME", values[i]);
		struct pair p = fixture_pair(*state);
		pair_close(&p);
		const char *set = getenv("MLX5_SHUT_UP_BF");
		assert_true(i == 0 ? !set : set && strcmp(set, "1") == 0);
		struct fixture *f = *state;
		f->ops->endpoint_close(f->endpoint); /* and with it the device */
		f->endpoint = NULL;
	}
	option("ZIPPER_VERBS_BLUEFLAME", NULL);
	unsetenv("MLX5_SHUT_UP_BF");
}

/* --- windows and registrations --- */

struct ends {
	struct pair pair;
	const struct zrma *rma;
	uint8_t *memory, *staging;
	struct zregion *region;
	struct zrma_exposure exposure;
};

static void open_ends(struct ends *e, struct fixture *f)
{
	struct zerr err;
	*e = (struct ends){.pair = fixture_pair(f),
		.rma = f->ops->rma,
		.memory = malloc(SIZE + 2 * AROUND),
		.staging = calloc(1, SIZE)};
	assert_true(e->memory && e->staging);
	memset(e->memory, 0xa5, SIZE + 2 * AROUND);
	if (e->rma->reg(e->pair.b, ZLINK_RX, e->staging, SIZE, &e->region, &err) != 0)
		fail_msg("%s", err.text);
}

static void close_ends(struct ends *e)
{
	pair_close(&e->pair);
	e->rma->unreg(e->region);
	free(e->memory);
	free(e->staging);
}

/* Do registrations stay? */
static bool keeps(void)
{
	return device()->windows && !fake_fabric()->old_fork;
}

/* Its result; or of the half, where that is at its end. */
static int operate(struct ends *e, enum zlink_half half, int64_t offset, size_t len)
{
	struct zrma_done done;
	const struct zrma_op op = {.key = e->exposure.key,
		.offset = (uint64_t)offset,
		.local = e->staging,
		.len = len,
		.region = e->region,
		.cookie = e};
	int rc = half == ZLINK_RX ? e->rma->read(e->pair.b, &op) : e->rma->write(e->pair.b, &op);
	for (int turns = 0; rc == 0 && turns < 1000000; turns++) {
		int n = e->rma->reap(e->pair.b, half, &done, 1);
		if (n != 0)
			return n < 0 ? n : done.rc;
		sched_yield();
	}
	return rc;
}

static void nothing_around_is_reached(void **state)
{
	static const struct {
		int64_t offset;
		size_t len;
	} outside[] = {{SIZE, 1}, {-1, 1}, {SIZE - 1, 2}, {-1, SIZE}, {-4096, 1}, {SIZE + 4095, 1}, {1, SIZE}};
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		for (int half = ZLINK_RX; half <= ZLINK_TX; half++) {
			struct ends e;
			open_ends(&e, *state);
			assert_int_equal(e.rma->expose(e.pair.a, half == ZLINK_RX ? ZLINK_TX : ZLINK_RX,
						 e.memory + AROUND, SIZE, &e.exposure),
				0);
			assert_int_equal(operate(&e, half, 0, SIZE), 0);
			assert_int_equal(operate(&e, half, outside[i].offset, outside[i].len), -EACCES);
			e.rma->conceal(e.pair.a, &e.exposure);
			for (size_t k = 0; k < AROUND; k++)
				assert_true(e.memory[k] == 0xa5 && e.memory[AROUND + SIZE + k] == 0xa5);
			close_ends(&e);
		}
}

/* For reading only or writing only, and not after conceal. */
static void nothing_else_is_allowed(void **state)
{
	for (int half = ZLINK_RX; half <= ZLINK_TX; half++)
		for (int after = 0; after < 2; after++) {
			struct ends e;
			enum zlink_half other = half == ZLINK_RX ? ZLINK_TX : ZLINK_RX;
			open_ends(&e, *state);
			assert_int_equal(e.rma->expose(e.pair.a, other, e.memory, SIZE, &e.exposure), 0);
			if (after)
				e.rma->conceal(e.pair.a, &e.exposure);
			assert_int_equal(operate(&e, after ? (enum zlink_half)half : other, 0, 10), -EACCES);
			if (!after)
				e.rma->conceal(e.pair.a, &e.exposure);
			close_ends(&e);
		}
}

/* Another connection's key is none. */
static void keys_are_for_one_link(void **state)
{
	struct ends e;
	struct fixture *f = *state;
	if (!keeps())
		skip();
	open_ends(&e, f);
	struct pair other = fixture_pair(f), mine = e.pair;
	assert_int_equal(e.rma->expose(mine.a, ZLINK_TX, e.memory, SIZE, &e.exposure), 0);
	e.pair = other;
	assert_int_equal(operate(&e, ZLINK_RX, 0, 10), -EACCES);
	e.pair = mine;
	assert_int_equal(operate(&e, ZLINK_RX, 0, 10), 0);
	e.rma->conceal(mine.a, &e.exposure);
	pair_close(&other);
	close_ends(&e);
}

/* More than a window can have. Nobody touches most of it. */
static void what_is_too_large_for_a_window(void **state)
{
	static const size_t most = (size_t)1 << 31;
	uint8_t *large =
		mmap(NULL, most + AROUND, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (large == MAP_FAILED)
		skip(); /* not even room for it */
	option("ZIPPER_VERBS_CACHE_BYTES", "8G");
	for (int more = 0; more < 2; more++)
		for (int half = ZLINK_RX; half <= ZLINK_TX; half++) {
			const size_t len = most + (size_t)more;
			const int64_t end = (int64_t)len;
			struct ends e;
			open_ends(&e, *state);
			e.staging[9] = large[len - 1] = 7;
			assert_int_equal(e.rma->expose(e.pair.a, half == ZLINK_RX ? ZLINK_TX : ZLINK_RX, large, len,
						 &e.exposure),
				0);
			assert_int_equal(operate(&e, half, end - 10, 10), 0);
			assert_int_equal(half == ZLINK_RX ? e.staging[9] : large[len - 1], 7);
			assert_int_equal(operate(&e, half, end - 10, 11), -EACCES);
			e.rma->conceal(e.pair.a, &e.exposure);
			close_ends(&e);
		}
	munmap(large, most + AROUND);
	option("ZIPPER_VERBS_CACHE_BYTES", NULL);
}

/* The limit of locked memory is reached: other registrations are given up, or it is said. */
static void registering_fails(void **state)
{
	struct ends e;
	struct zerr err;
	struct zregion *region;
	struct zrma_exposure first;
	open_ends(&e, *state);
	fault(FAKE_REG, ENOMEM, 0);
	assert_int_equal(e.rma->reg(e.pair.b, ZLINK_RX, e.memory, SIZE, &region, &err), -ENOMEM);
	assert_non_null(strstr(err.text, "ulimit -l"));
	fault(FAKE_REG, ENOMEM, 0);
	assert_int_equal(e.rma->expose(e.pair.a, ZLINK_TX, e.memory, SIZE, &e.exposure), -ENOMEM);
	/* one that is kept and not in use makes room */
	assert_int_equal(e.rma->expose(e.pair.a, ZLINK_TX, e.memory, 10, &first), 0);
	e.rma->conceal(e.pair.a, &first);
	fault(FAKE_REG, ENOMEM, 0);
	int rc = e.rma->expose(e.pair.a, ZLINK_TX, e.memory + AROUND, SIZE, &e.exposure);
	assert_int_equal(rc, keeps() ? 0 : -ENOMEM);
	if (rc != 0)
		assert_int_equal(e.rma->expose(e.pair.a, ZLINK_TX, e.memory + AROUND, SIZE, &e.exposure), 0);
	assert_int_equal(operate(&e, ZLINK_RX, 0, SIZE), 0);
	e.rma->conceal(e.pair.a, &e.exposure);
	close_ends(&e);
}

/* --- children --- */

static int setup_other_fork(void **state)
{
	fake_fabric()->old_fork ^= true;
	return setup(state);
}

static int teardown_other_fork(void **state)
{
	int rc = teardown(state);
	fake_fabric()->old_fork ^= true;
	return rc;
}

static unsigned registrations_of(const void *at)
{
	unsigned n = 0;
	for (int i = 0; i < FAKE_KEYS; i++) {
		const struct fake_key *k = &fake_fabric()->key[i];
		n += k->used && !k->window && (uintptr_t)at - k->start < k->len;
	}
	return n;
}

/* What a child finds at an address: its first byte, or -1, a crash. */
static int read_by_child(const volatile uint8_t *at)
{
	int status;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL); /* and not a sanitizer's report */
		_exit(*at);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What is being transferred is no child's where the kernel does not copy it; what was transferred is. */
static void what_children_have(void **state)
{
	const bool old = fake_fabric()->old_fork;
	struct ends e;
	open_ends(&e, *state);
	uint8_t *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	memory[0] = 0xa5;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(e.rma->expose(e.pair.a, ZLINK_TX, memory, SIZE, &e.exposure), 0);
		assert_int_equal(registrations_of(memory), 1);
		assert_int_equal(read_by_child(memory), old ? -1 : 0xa5);
		assert_int_equal(operate(&e, ZLINK_RX, 0, SIZE), 0);
		e.rma->conceal(e.pair.a, &e.exposure);
		assert_int_equal(registrations_of(memory), keeps());
		assert_int_equal(read_by_child(memory), 0xa5);
	}
	close_ends(&e);
	munmap(memory, SIZE);
}

/* --- set-up that fails --- */

/* What is asked for fails one after the other, until nothing does. How many failed. */
static unsigned fail_each(struct fixture *f, enum fake_point point, int code)
{
	unsigned failed = 0;
	for (uint32_t after = 0;; after++) {
		struct zerr err = {""};
		struct zlink *a = NULL, *b = NULL;
		fault(point, code, after);
		int rc = f->ops->connect(&a, &f->addr, PATIENCE_MS, &err);
		b = fixture_accept(f);
		if (rc == 0) {
			uint32_t events;
			struct pollfd p = {.fd = f->ops->fd(b, ZLINK_RX, &events), .events = POLLIN};
			struct inbox in;
			inbox_init(&in);
			struct zsink sink = inbox_sink(&in);
			assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
			assert_int_equal(f->ops->poll(b, &sink, 1), 0);
			inbox_fini(&in);
			assert_true(f->endpoint || f->ops->endpoint_open(&f->endpoint, &err) == 0);
			rc = f->ops->settle(b, f->endpoint, f->endpoint, &err);
		}
		const bool hit = !is_pending(point);
		if (rc != 0 && (strlen(err.text) < 10 || !hit))
			fail_msg("%s %u: %s", fake_point_names[point], after, err.text);
		failed += rc != 0;
		if (a)
			f->ops->close(a);
		f->ops->close(b);
		if (f->endpoint)
			f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
		fault(point, 0, 0);
		if (!hit)
			return failed;
	}
}

static void what_cannot_be_made_is_said(void **state)
{
	static const struct {
		enum fake_point point;
		int code; /* not of memory: then it is tried with less */
		unsigned least;
	} points[] = {
		{FAKE_OPEN, EMFILE, 1},
		{FAKE_PD, ENOMEM, 1},
		{FAKE_REG, EPERM, 4},
		{FAKE_CHANNEL, EMFILE, 4},
		{FAKE_CQ, EPERM, 0},
		{FAKE_SRQ, EPERM, 2},
		{FAKE_QP, EPERM, 4},
		{FAKE_MODIFY, EINVAL, 8},
		{FAKE_POST_RECV, ENOMEM, 2},
		{FAKE_TD, ENOMEM, 0},
	};
	static const char *const categories[] = {"static", "2xdynamic", "mpi-everywhere"};
	for (size_t c = 0; c < 3; c++) {
		option("ZIPPER_ENDPOINTS", categories[c]);
		for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
			unsigned failed = fail_each(*state, points[i].point, points[i].code);
			if (failed < points[i].least)
				fail_msg("%s, %s: %u", categories[c], fake_point_names[points[i].point], failed);
		}
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* --- faults under way --- */

/* Both ways until both ends have said why they are broken. Nobody polls for ever: who has nothing to do sleeps. */
static void break_up(struct pair *p, int why[2])
{
	struct zlink *link[2] = {p->a, p->b};
	struct inbox in[2];
	uint64_t next[2] = {0, 0};
	why[0] = why[1] = 0;
	for (int i = 0; i < 2; i++)
		inbox_init(&in[i]);
	/* Not turns: what a failed port is to blame for takes a second (link.c), which a quick machine fills with any
	 * number. */
	const time_t end = time(NULL) + PATIENCE_MS / 1000;
	while (!why[0] || !why[1]) {
		assert_true(time(NULL) < end);
		for (int i = 0; i < 2; i++) {
			struct zsink sink = inbox_sink(&in[i]);
			uint8_t raw[ZWIRE_ENV_BYTES];
			size_t len = next[i] % 3 * 20000;
			if (why[i])
				continue;
			message_env(raw, next[i], len);
			int rc = link[i]->ops->post(link[i], raw, len ? payload_of(next[i], len) : NULL, len);
			next[i] += rc == 0;
			rc = rc == 0 || rc == -EAGAIN ? link[i]->ops->flush(link[i]) : rc;
			int n = link[i]->ops->poll(link[i], &sink, 4);
			if (in[i].wrong)
				fail_msg("end %d: %s", i, in[i].wrong);
			if (n < 0 && n != -EAGAIN) { /* and so it stays */
				why[i] = n;
				assert_true(link[i]->ops->poll(link[i], &sink, 1) < 0);
				assert_int_equal(link[i]->ops->arm(link[i], ZLINK_RX), 1);
			} else if (rc < 0 && rc != -EAGAIN) {
				why[i] = rc;
				assert_true(link[i]->ops->flush(link[i]) < 0);
			} else if (n == 0 && rc < 0) {
				sleep_on(link[i], ZLINK_TX, 1);
			}
			if (why[i]) {
				if (i == 0)
					p->a = NULL;
				else
					p->b = NULL;
				link[i]->ops->close(link[i]);
			}
		}
	}
	for (int i = 0; i < 2; i++)
		inbox_fini(&in[i]);
}

static void every_failed_completion_ends_the_link(void **state)
{
	static const enum fake_point points[] = {FAKE_SEND, FAKE_RECV};
	for (size_t i = 0; i < 2; i++)
		for (int status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_GENERAL_ERR; status++)
			for (uint32_t after = 0; after < 3; after++) {
				struct pair p;
				int why[2];
				if (status == IBV_WC_LOC_QP_OP_ERR && after)
					continue; /* takes its time */
				p = fixture_pair(*state);
				fault(points[i], status, after * 7);
				break_up(&p, why);
				assert_false(is_pending(points[i]));
			}
}

/* Everything that there is to send has been sent, after the queue was full (blocked), or not. Message k is the next. */
static void go_idle(struct pair *p, struct inbox *in, bool blocked, uint64_t *k)
{
	while (blocked && post_message(p->a, *k, 5000) == 0)
		++*k;
	while (blocked && !p->a->ops->arm(p->a, ZLINK_TX) && in->next < *k) /* asleep, and woken up again */
		receive_until(p->b, in, in->next + 1);
	while (p->a->ops->flush(p->a) == -EAGAIN || (blocked && post_message(p->a, *k, 10) == -EAGAIN))
		receive_until(p->b, in, in->next + 1);
	*k += blocked; /* the one that was refused */
	assert_int_equal(p->a->ops->flush(p->a), 0);
	receive_until(p->b, in, *k);
}

/* A message is lost, and nobody has anything else to do: the sender's sleeping receive half learns it. down: so has the
 * port gone, which is the better reason, whether its event has come or not. */
static void lose_message(struct pair *p, int status, bool blocked, bool down)
{
	struct inbox in, none;
	uint64_t k = 0;
	inbox_init(&in);
	inbox_init(&none);
	struct zsink sink = inbox_sink(&none);
	for (int i = 0; i < 20; i++, k++) { /* the peer's direction may stay with TCP */
		assert_int_equal(post_message(p->a, k, 10), 0);
		assert_int_equal(p->a->ops->flush(p->a), 0);
		receive_until(p->b, &in, k + 1);
		assert_int_equal(p->a->ops->poll(p->a, &sink, 1), 0);
	}
	go_idle(p, &in, blocked, &k);
	while (p->a->ops->poll(p->a, &sink, 1) == 0 && p->a->ops->arm(p->a, ZLINK_RX))
		;
	fault(FAKE_SEND, status, 0);
	assert_int_equal(post_message(p->a, k, 10), 0);
	if (down)
		device()->port[0].state = IBV_PORT_DOWN;
	assert_int_equal(p->a->ops->flush(p->a), 0);
	assert_false(is_pending(FAKE_SEND));
	assert_int_equal(receive_to_end(p->a, &none), down ? -ENETDOWN : -ENOLINK);
	device()->port[0].state = IBV_PORT_ACTIVE;
	inbox_fini(&in);
	inbox_fini(&none);
	pair_close(p);
}

static void a_lost_message_wakes_its_sender(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct pair p = fixture_pair(*state);
		lose_message(&p, i & 1 ? IBV_WC_RETRY_EXC_ERR : IBV_WC_LOC_QP_OP_ERR, i & 1, i & 2);
	}
}

/* Also one to whom nothing has come by a queue pair. */
static void a_lost_message_wakes_who_only_sends(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 4; i++) {
		struct pair p = {.a = fixture_connect(f)};
		p.b = fixture_accept(f);
		fixture_settle(f, p.b);
		lose_message(&p, IBV_WC_RETRY_EXC_ERR, i & 1, i & 2);
	}
}

static void every_refused_call_ends_the_link(void **state)
{
	static const struct {
		enum fake_point point;
		int code;
	} points[] = {{FAKE_POST, ENOMEM}, {FAKE_POST, EINVAL}, {FAKE_POLL, 1}, {FAKE_NOTIFY, EIO}};
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		for (uint32_t after = 0; after < 20; after++) {
			struct pair p = fixture_pair(*state);
			int why[2];
			fault(points[i].point, points[i].code, after);
			if (points[i].point == FAKE_NOTIFY) { /* then it does not sleep, and that is all */
				for (int k = 0; k < 40; k++)
					p.a->ops->arm(p.a, k % 2 ? ZLINK_RX : ZLINK_TX);
				pair_close(&p);
			} else {
				break_up(&p, why);
			}
			fault(points[i].point, 0, 0);
		}
}

/* Of each end's one-sided operations, with what was exposed taken back as far as it goes. */
static void failed_operations_are_reported(void **state)
{
	static const enum fake_point points[] = {FAKE_READ, FAKE_WRITE};
	for (size_t i = 0; i < 2; i++)
		for (int status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_GENERAL_ERR; status++) {
			struct ends e;
			const enum zlink_half half = points[i] == FAKE_READ ? ZLINK_RX : ZLINK_TX;
			open_ends(&e, *state);
			assert_int_equal(e.rma->expose(e.pair.a, half == ZLINK_RX ? ZLINK_TX : ZLINK_RX, e.memory, SIZE,
						 &e.exposure),
				0);
			fault(points[i], status, 0);
			assert_true(operate(&e, half, 0, 100) < 0);
			assert_true(operate(&e, half, 0, 100) < 0);
			pair_close(&(struct pair){.b = e.pair.b});
			e.pair.b = NULL;
			e.rma->conceal(e.pair.a, &e.exposure);
			close_ends(&e);
		}
}

/* The device does not even take the request; or a list of them, of which the first one seemed to be under way. */
static void refused_operations_are_reported(void **state)
{
	for (int more = 0; more < 2; more++)
		for (int half = ZLINK_RX; half <= ZLINK_TX; half++) {
			struct ends e;
			open_ends(&e, *state);
			assert_int_equal(e.rma->expose(e.pair.a, half == ZLINK_RX ? ZLINK_TX : ZLINK_RX, e.memory, SIZE,
						 &e.exposure),
				0);
			const struct zrma_op first = {.key = e.exposure.key,
				.local = e.staging,
				.len = 10,
				.region = e.region,
				.cookie = e.staging,
				.more = true};
			if (more && half == ZLINK_TX)
				assert_int_equal(e.rma->write(e.pair.b, &first), 0);
			fault(FAKE_POST, ENOMEM, 0);
			assert_true(operate(&e, (enum zlink_half)half, 0, 100) < 0);
			assert_false(is_pending(FAKE_POST));
			if (more && half == ZLINK_TX)
				assert_true(operate(&e, ZLINK_TX, 0, 100) < 0); /* the second of the two */
			e.rma->conceal(e.pair.a, &e.exposure);
			close_ends(&e);
		}
}

static void windows_that_cannot_be_bound(void **state)
{
	if (!keeps())
		skip();
	for (int status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_GENERAL_ERR; status++)
		for (int half = ZLINK_RX; half <= ZLINK_TX; half++)
			for (uint32_t after = 0; after < 2; after++) {
				struct ends e;
				int why[2];
				open_ends(&e, *state);
				fault(FAKE_LOCAL, status, after);
				int rc = e.rma->expose(e.pair.a, (enum zlink_half)half, e.memory, SIZE, &e.exposure);
				assert_int_equal(rc == 0, after == 1);
				if (rc == 0)
					e.rma->conceal(e.pair.a, &e.exposure);
				break_up(&e.pair, why);
				close_ends(&e);
			}
}

/* --- little memory may be locked --- */

static unsigned queue_pairs(void)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < FAKE_QPS; i++)
		n += fake_fabric()->qp[i].used;
	return n;
}

static void some_links_with(struct fixture *f, uint32_t memlock_kib, unsigned *qps)
{
	struct pair p[LINKS];
	struct inbox in;
	device()->memlock_kib = memlock_kib;
	f->may_be_plain = true;
	link_warnings = 0;
	for (int i = 0; i < LINKS; i++)
		p[i] = fixture_pair(f);
	*qps = queue_pairs();
	for (int i = 0; i < LINKS; i++) {
		inbox_init(&in);
		for (uint64_t k = 0; k < 100; k++) {
			while (post_message(p[i].a, k, (size_t)k * 1000) == -EAGAIN)
				receive_until(p[i].b, &in, in.next + 1);
			while (p[i].a->ops->flush(p[i].a) == -EAGAIN)
				receive_until(p[i].b, &in, in.next + 1);
			receive_until(p[i].b, &in, k + 1);
		}
		inbox_fini(&in);
		pair_close(&p[i]);
	}
	f->ops->endpoint_close(f->endpoint);
	f->endpoint = NULL;
	device()->memlock_kib = 0;
}

/* Then there are fewer shared buffers, and at last only TCP; either is said once. */
static void little_memory_may_be_locked(void **state)
{
	const struct {
		uint32_t kib;
		unsigned least, most; /* queue pairs: of 64 with all */
		const char *text[2];  /* both are in the warning; NULL: there is none */
	} cases[] = {
		{24 << 10, 64, 64, {NULL}},
		{8 << 10, 64, 64, {"cannot register", " shared buffers instead of 256, for which 10384 KiB of locked"}},
		{8 << 10, 64, 64, {NULL}},
		{1200, 2, 40,
			{"cannot register", "messages go by TCP; 2584 KiB of locked memory are needed, better 10384"}},
		{512, 0, 0, {NULL}},
	};
	option("ZIPPER_VERBS_BUFFERS", NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned qps;
		some_links_with(*state, cases[i].kib, &qps);
		if (qps < cases[i].least || qps > cases[i].most)
			fail_msg("%u KiB: %u queue pairs", cases[i].kib, qps);
		for (int k = 0; k < 2 && cases[i].text[k]; k++)
			if (!strstr(link_warning, cases[i].text[k]))
				fail_msg("%u KiB: \"%s\"", cases[i].kib, link_warning);
		assert_int_equal(link_warnings, cases[i].text[0] != NULL);
	}
}

/* An error, where nobody would be told. */
static void too_little_memory_is_not_silent(void **state)
{
	struct fixture *f = *state;
	struct zlink *link;
	struct zerr err = {""};
	link_unwarned = true;
	option("ZIPPER_VERBS_BUFFERS", NULL);
	device()->memlock_kib = 512;
	assert_int_equal(f->ops->connect(&link, &f->addr, PATIENCE_MS, &err), -ENOMEM);
	assert_non_null(strstr(err.text, "2584 KiB of locked memory are needed"));
	device()->memlock_kib = 0;
	link_unwarned = false;
	option("ZIPPER_VERBS_BUFFERS", NULL);
	f->ops->close(fixture_accept(f));
}

/* --- credit --- */

/* Each sends as much as it may, and each keeps the first message that has come. */
static void send_to_those_who_refuse(struct fixture *f)
{
	static struct pair p[LINKS];
	static struct inbox in[LINKS];
	uint64_t sent[LINKS] = {0};
	for (int i = 0; i < LINKS; i++) {
		p[i] = fixture_pair(f);
		inbox_init(&in[i]);
		in[i].fail_with = -EAGAIN;
	}
	for (int round = 0; round < 50; round++)
		for (int i = 0; i < LINKS; i++) {
			struct zsink sink = inbox_sink(&in[i]);
			in[i].fail_with = round % 10 == 9 ? 0 : -EAGAIN; /* now and then it can */
			while (post_message(p[i].a, sent[i], 40) == 0)
				sent[i]++;
			p[i].a->ops->flush(p[i].a);
			int n = p[i].b->ops->poll(p[i].b, &sink, 1);
			assert_true(n >= 0 || n == -EAGAIN);
		}
	for (int i = 0; i < LINKS; i++) {
		in[i].fail_with = 0;
		while (p[i].a->ops->flush(p[i].a) == -EAGAIN)
			receive_until(p[i].b, &in[i], in[i].next + 1);
		receive_until(p[i].b, &in[i], sent[i]);
		inbox_fini(&in[i]);
		pair_close(&p[i]);
	}
	f->ops->endpoint_close(f->endpoint);
	f->endpoint = NULL;
}

/* That no send waits for a receive is the fake's to complain of. */
static void credit_is_for_receives_that_are_there(void **state)
{
	const uint32_t most = device()->srq_max; /* receives of a shared queue */
	option("ZIPPER_VERBS_BUFFERS", "16");
	send_to_those_who_refuse(*state);
	option("ZIPPER_VERBS_BUFFERS", "16384"); /* more than the device takes */
	device()->srq_max = 4 * LINKS;
	send_to_those_who_refuse(*state);
	device()->srq_max = most;
	option("ZIPPER_VERBS_BUFFERS", NULL);
}

/* --- events --- */

/* Receives that lie in shared queues, all together. */
static uint32_t shared_receives(const struct pair *p)
{
	struct fake_fabric *f = fake_fabric();
	uint32_t n = 0;
	fake_at seen[8] = {0};
	size_t nseen = 0;
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	assert_int_equal(p->a->ops->poll(p->a, &sink, 1), 0); /* what others gave back is posted */
	assert_int_equal(p->b->ops->poll(p->b, &sink, 1), 0);
	inbox_fini(&in);
	for (uint32_t i = 0; i < f->nqps; i++) {
		const struct fake_qp *q = &f->qp[i];
		bool again = !q->used || q->own_rq;
		for (size_t k = 0; k < nseen && !again; k++)
			again = seen[k] == q->rq;
		if (again)
			continue;
		assert_true(nseen < 8);
		seen[nseen++] = q->rq;
		const struct fake_rq *rq = fake_ptr(f, q->rq);
		n += rq->tail - rq->head;
	}
	return n;
}

/* Messages are there that nobody has looked at when their receiver closes: their buffers are found again. */
static void no_buffer_goes_with_a_link(void **state)
{
	static const char *const categories[] = {"static", "mpi-everywhere"};
	for (size_t c = 0; c < 2; c++) {
		option("ZIPPER_ENDPOINTS", categories[c]);
		struct pair stays = fixture_pair(*state);
		uint32_t before = shared_receives(&stays);
		for (int round = 0; round < 20; round++) {
			struct pair p = fixture_pair(*state);
			for (uint64_t k = 0; k < 10 && post_message(p.a, k, 1000) == 0; k++)
				assert_int_equal(p.a->ops->flush(p.a), 0);
			p.b->ops->close(p.b);
			p.b = NULL;
			pair_close(&p);
		}
		assert_int_equal(shared_receives(&stays), before);
		pair_close(&stays);
		struct fixture *f = *state;
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* The thread that closes is not the one that the pool of buffers belongs to. */
static void closing_leaves_the_pool_alone(void **state)
{
	struct pair stays = fixture_pair(*state), p = fixture_pair(*state);
	const struct vtx *tx = &((struct vlink *)(void *)p.a)->tx;
	const struct vpool *pool = tx->pool;
	assert_ptr_equal(pool, ((struct vlink *)(void *)stays.a)->tx.pool);
	for (uint64_t k = 0; k < 4; k++) {
		assert_int_equal(post_message(p.a, k, 1000), 0);
		if (k < 3)
			assert_int_equal(p.a->ops->flush(p.a), 0);
	}
	stays.a->ops->arm(stays.a, ZLINK_TX); /* the pool's thread: takes in what others gave back */
	const uint32_t before = pool->nfree, held = tx->held;
	const int32_t shared = pool->shared;
	assert_true(held > VPOOL_OWN);
	p.a->ops->close(p.a);
	p.a = NULL;
	assert_int_equal(pool->nfree, before);
	assert_int_equal(pool->shared, shared);
	stays.a->ops->arm(stays.a, ZLINK_TX);
	assert_int_equal(pool->nfree, before + held);
	assert_int_equal(pool->shared, shared + (int32_t)held - VPOOL_OWN);
	pair_close(&p);
	pair_close(&stays);
}

/* The last words, an empty write that is waited for, are for a peer that is there. */
static void nobody_waits_for_a_dead_peer(void **state)
{
	const uint64_t *writes = &fake_fabric()->operations[FAKE_WRITE];
	for (int dead = 0; dead < 2; dead++) {
		struct pair p = fixture_pair(*state);
		assert_int_equal(post_message(p.a, 0, 1000), 0);
		assert_int_equal(p.a->ops->flush(p.a), 0);
		if (dead)
			assert_int_equal(shutdown(((struct vlink *)(void *)p.b)->life.sock, SHUT_RDWR), 0);
		const uint64_t before = *writes;
		p.a->ops->close(p.a);
		p.a = NULL;
		assert_int_equal(*writes - before, !dead);
		pair_close(&p);
	}
}

static void sleeping_ends_wake(void **state, int expected, void (*event)(int sock))
{
	struct pair p = fixture_pair(*state);
	struct zlink *link[2] = {p.a, p.b};
	int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	for (int i = 0; i < 2; i++)
		while (link[i]->ops->poll(link[i], &sink, 1) == 0 && link[i]->ops->arm(link[i], ZLINK_RX))
			;
	fake_lock(fake_fabric());
	event(sock);
	fake_unlock(fake_fabric());
	close(sock);
	for (int i = 0; i < 2; i++)
		assert_int_equal(receive_to_end(link[i], &in), expected);
	inbox_fini(&in);
	pair_close(&p);
}

/* Both ends sleep, and look when they are woken, for some milliseconds: nothing ends. */
static void idle(const struct pair *p, const struct zsink *sink, int ms)
{
	struct zlink *link[2] = {p->a, p->b};
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	const int64_t end = t.tv_sec * 1000 + t.tv_nsec / 1000000 + ms;
	for (int64_t now = end - ms; now < end; now = t.tv_sec * 1000 + t.tv_nsec / 1000000) {
		struct pollfd fds[2];
		bool again = false;
		for (int i = 0; i < 2; i++) {
			uint32_t events;
			assert_int_equal(link[i]->ops->poll(link[i], sink, 1), 0);
			fds[i] = (struct pollfd){.fd = link[i]->ops->fd(link[i], ZLINK_RX, &events), .events = POLLIN};
			again |= link[i]->ops->arm(link[i], ZLINK_RX);
		}
		if (!again)
			poll(fds, 2, (int)(end - now));
		clock_gettime(CLOCK_MONOTONIC, &t);
	}
}

static void port_down(int sock)
{
	fake_port_set(fake_fabric(), sock, 0, 1, false);
}

static void device_gone(int sock)
{
	fake_device_gone(fake_fabric(), sock, 0);
}

static void a_port_that_goes_down_ends_its_links(void **state)
{
	struct fixture *f = *state;
	struct zlink *link;
	struct zerr err;
	option("ZIPPER_VERBS_PORT_GRACE", "0");
	sleeping_ends_wake(state, -ENETDOWN, port_down);
	option("ZIPPER_VERBS_PORT_GRACE", NULL);
	assert_int_equal(f->ops->connect(&link, &f->addr, PATIENCE_MS, &err), -ENODEV);
	assert_non_null(strstr(err.text, "active port"));
	link = fixture_accept(f);
	f->ops->close(link);
}

/* For so long, and not longer. With a failed completion it is over at once: a_lost_message_wakes_its_sender. */
static void a_port_may_be_down_for_a_while(void **state)
{
	static const char *const categories[] = {"static", "mpi-everywhere"};
	struct fixture *f = *state;
	struct timespec before, after;
	option("ZIPPER_VERBS_PORT_GRACE", "300ms");
	clock_gettime(CLOCK_MONOTONIC, &before);
	sleeping_ends_wake(state, -ENETDOWN, port_down);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 >= 300);
	device()->port[0].state = IBV_PORT_ACTIVE;
	f->ops->endpoint_close(f->endpoint);
	f->endpoint = NULL;
	option("ZIPPER_VERBS_PORT_GRACE", "2s");
	for (int i = 0; i < 4; i++) { /* the event that it is back may come late, or not at all */
		option("ZIPPER_ENDPOINTS", categories[i & 1]);
		struct pair p = fixture_pair(f);
		struct inbox in;
		int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
		inbox_init(&in);
		struct zsink sink = inbox_sink(&in);
		fake_lock(fake_fabric());
		fake_port_set(fake_fabric(), sock, 0, 1, false);
		fake_unlock(fake_fabric());
		idle(&p, &sink, 100);
		fake_lock(fake_fabric());
		if (i & 2)
			device()->port[0].state = IBV_PORT_ACTIVE;
		else
			fake_port_set(fake_fabric(), sock, 0, 1, true);
		fake_unlock(fake_fabric());
		idle(&p, &sink, 2000);
		close(sock);
		for (uint64_t k = 0; k < 10; k++) {
			assert_int_equal(post_message(p.a, k, 100), 0);
			assert_int_equal(p.a->ops->flush(p.a), 0);
			receive_until(p.b, &in, k + 1);
		}
		inbox_fini(&in);
		pair_close(&p);
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_VERBS_PORT_GRACE", NULL);
	option("ZIPPER_ENDPOINTS", NULL);
}

static void a_device_that_goes_away_ends_its_links(void **state)
{
	sleeping_ends_wake(state, -ENODEV, device_gone);
}

/* Both ends are looked at by the thread that they wake, until both have ended. */
static void end_both(const struct pair *p, int why[2])
{
	struct zlink *link[2] = {p->a, p->b};
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	why[0] = why[1] = 0;
	while (!why[0] || !why[1]) {
		struct pollfd fds[2] = {{.fd = -1}, {.fd = -1}};
		bool again = false;
		for (int i = 0; i < 2; i++) {
			uint32_t events;
			int n = why[i] ? 0 : link[i]->ops->poll(link[i], &sink, 1);
			assert_true(n <= 0);
			why[i] = n == 0 || n == -EAGAIN ? why[i] : n;
			if (why[i])
				continue;
			fds[i] = (struct pollfd){.fd = link[i]->ops->fd(link[i], ZLINK_RX, &events), .events = POLLIN};
			again |= link[i]->ops->arm(link[i], ZLINK_RX);
		}
		if (!again && (!why[0] || !why[1]))
			assert_true(poll(fds, 2, PATIENCE_MS) > 0);
	}
	inbox_fini(&in);
}

/* Of the k-th queue pair that there is. */
static bool queue_event(unsigned k, enum ibv_event_type type)
{
	struct fake_fabric *f = fake_fabric();
	int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	bool fits = false;
	fake_lock(f);
	for (uint32_t i = 0; i < FAKE_QPS; i++) {
		if (!f->qp[i].used || k-- > 0)
			continue;
		fits = type != IBV_EVENT_SRQ_ERR || !f->qp[i].own_rq;
		if (fits)
			fake_qp_event(f, sock, &f->qp[i], type);
		break;
	}
	fake_unlock(f);
	close(sock);
	return fits;
}

/* Nothing else says so: no completion fails. */
static void a_queue_that_fails_ends_its_link(void **state)
{
	static const struct {
		enum ibv_event_type type;
		int why;
	} events[] = {{IBV_EVENT_CQ_ERR, -EIO}, {IBV_EVENT_QP_FATAL, -EIO}, {IBV_EVENT_QP_REQ_ERR, -EREMOTEIO},
		{IBV_EVENT_QP_ACCESS_ERR, -EACCES}, {IBV_EVENT_SRQ_ERR, -EIO}};
	static const char *const categories[] = {"static", "mpi-everywhere"};
	struct fixture *f = *state;
	for (size_t c = 0; c < 2; c++) {
		option("ZIPPER_ENDPOINTS", categories[c]);
		for (size_t e = 0; e < sizeof(events) / sizeof(events[0]); e++)
			for (unsigned k = 0; k < 4; k++) {
				struct pair p = fixture_pair(f);
				int why[2];
				link_warnings = 0;
				if (queue_event(k, events[e].type)) {
					end_both(&p, why);
					assert_true(why[0] == events[e].why || why[1] == events[e].why);
					assert_true(why[0] == -ECONNRESET || why[1] == -ECONNRESET);
					assert_int_equal(link_warnings, 1);
					assert_non_null(strstr(link_warning, "fka: "));
				}
				pair_close(&p);
			}
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

static unsigned lost_contexts(void)
{
	unsigned n = 0;
	for (int i = 0; i < FAKE_CONTEXTS; i++)
		n += fake_fabric()->context[i].pid && fake_fabric()->context[i].lost;
	return n;
}

/* Its links end; those that come, with the same endpoint, find it anew, while some of the others are still there. */
static void a_device_that_comes_back_is_used(void **state)
{
	static const char *const categories[] = {"static", "2xdynamic", "mpi-everywhere"};
	struct fixture *f = *state;
	for (size_t c = 0; c < 3; c++) {
		option("ZIPPER_ENDPOINTS", categories[c]);
		struct ends e;
		struct pair second;
		int why[2], sock = socket(AF_UNIX, SOCK_DGRAM, 0);
		open_ends(&e, f);
		assert_false(e.rma->is_lost(e.region));
		fake_lock(fake_fabric());
		fake_device_gone(fake_fabric(), sock, 0);
		fake_unlock(fake_fabric());
		end_both(&e.pair, why);
		assert_true(why[0] == -ENODEV && why[1] == -ENODEV);
		assert_true(e.rma->is_lost(e.region) && lost_contexts() > 0);
		/* the connecting end's endpoint stays until its links have gone */
		second = fixture_pair(f);
		close_ends(&e);
		assert_int_equal(post_message(second.a, 0, 1000), 0);
		pair_close(&second);
		assert_int_equal(lost_contexts(), 0);
		/* nobody is there to hear it */
		fake_lock(fake_fabric());
		fake_device_gone(fake_fabric(), sock, 0);
		fake_unlock(fake_fabric());
		second = fixture_pair(f);
		assert_int_equal(lost_contexts(), 0);
		pair_close(&second);
		close(sock);
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* The other port of the device is none of theirs. */
static void other_ports_are_left_alone(void **state)
{
	struct pair p = fixture_pair(*state);
	struct inbox in;
	int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
	inbox_init(&in);
	fake_lock(fake_fabric());
	fake_event(fake_fabric(), sock, 0, 0, IBV_EVENT_PORT_ERR, 2);
	fake_event(fake_fabric(), sock, 0, 0, IBV_EVENT_PORT_ACTIVE, 1);
	fake_event(fake_fabric(), sock, 0, 0, IBV_EVENT_SM_CHANGE, 1);
	fake_unlock(fake_fabric());
	close(sock);
	for (uint64_t k = 0; k < 10; k++) {
		assert_int_equal(post_message(p.a, k, 100), 0);
		assert_int_equal(p.a->ops->flush(p.a), 0);
		receive_until(p.b, &in, k + 1);
	}
	inbox_fini(&in);
	pair_close(&p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(queue_pairs_have_the_address),
		TEST(whoever_needs_a_global_address),
		TEST(links_are_of_one_kind),
		TEST(subnets_are_not_crossed),
		TEST(a_port_that_is_not_active_yet),
		TEST(a_partition_that_the_port_is_not_in),
		TEST(limited_membership_is_the_last_choice),
		TEST(categories_ask_for_what_they_are),
		TEST(each_endpoint_has_another_vector),
		TEST(blueflame_can_be_switched_off),
		TEST(nothing_around_is_reached),
		TEST(nothing_else_is_allowed),
		TEST(keys_are_for_one_link),
		TEST(what_is_too_large_for_a_window),
		TEST(registering_fails),
		TEST(what_children_have),
		cmocka_unit_test_setup_teardown(what_children_have, setup_other_fork, teardown_other_fork),
		TEST(what_cannot_be_made_is_said),
		TEST(every_failed_completion_ends_the_link),
		TEST(a_lost_message_wakes_its_sender),
		TEST(a_lost_message_wakes_who_only_sends),
		TEST(every_refused_call_ends_the_link),
		TEST(failed_operations_are_reported),
		TEST(refused_operations_are_reported),
		TEST(windows_that_cannot_be_bound),
		TEST(a_port_that_goes_down_ends_its_links),
		TEST(a_port_may_be_down_for_a_while),
		TEST(a_device_that_goes_away_ends_its_links),
		TEST(a_device_that_comes_back_is_used),
		TEST(a_queue_that_fails_ends_its_link),
		TEST(other_ports_are_left_alone),
		TEST(no_buffer_goes_with_a_link),
		TEST(closing_leaves_the_pool_alone),
		TEST(nobody_waits_for_a_dead_peer),
		TEST(little_memory_may_be_locked),
		TEST(too_little_memory_is_not_silent),
		TEST(credit_is_for_receives_that_are_there),
	};
	setenv("FAKEVERBS", "fka/ib/pkey=0x8005/mw/tds=64", 0);
	setenv("ZIP_TEST_VERBS", "fka:1@127.0.0.1", 0);
	setenv("ZIP_TEST_LINKS", " verbs warmverbs ", 0);
	if (argc > 1 && strcmp(argv[1], "conformance") == 0)
		return transport_main(argc - 1, argv + 1) != 0 || fake_fabric()->complaints != 0;
	if (!fake_fabric() || !link_kind_works(warm()))
		return 1;
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("verbs", tests, NULL, NULL);
}

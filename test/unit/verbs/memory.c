/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the peer may reach: windows and registrations; and the children of fork. */
#include "test/unit/verbs/parts.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- windows and registrations --- */

void open_ends(struct ends *e, struct fixture *f)
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

void close_ends(struct ends *e)
{
	pair_close(&e->pair);
	e->rma->unreg(e->region);
	free(e->memory);
	free(e->staging);
}

/* Do registrations stay? */
bool keeps(void)
{
	return device()->windows && !fake_fabric()->old_fork;
}

/* The result of the operation; or of the half, where that has ended. */
int operate(struct ends *e, enum zlink_half half, int64_t offset, size_t len)
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

void nothing_around_is_reached(void **state)
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
void nothing_else_is_allowed(void **state)
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

/* A key of another connection is no key. */
void keys_are_for_one_link(void **state)
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
void what_is_too_large_for_a_window(void **state)
{
	static const size_t most = (size_t)1 << 31;
	uint8_t *large =
		mmap(NULL, most + AROUND, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (large == MAP_FAILED)
		skip(); /* there is not even room for it */
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

/* The limit of locked memory is reached: other registrations are given up, or the lack is told. */
void registering_fails(void **state)
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
	/* a kept registration that is not in use makes room */
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

/* It may be given back when the link is closed, and that was the last link that this process has made. */
void memory_stays_pinned_behind_the_last_link(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 2; i++) {
		struct pair pair = fixture_pair(f);
		struct zregion *region = NULL;
		uint8_t *memory = malloc(SIZE);
		assert_non_null(memory);
		assert_int_equal(f->ops->rma->pin(pair.a, ZLINK_RX, memory, SIZE, &region), 0);
		pair_close(&pair);
		f->ops->rma->unpin(region);
		free(memory);
	}
	/* the next last one takes everything along */
	struct pair pair = fixture_pair(f);
	pair_close(&pair);
}

/* --- children --- */

int setup_other_fork(void **state)
{
	fake_fabric()->old_fork ^= true;
	return setup(state);
}

int teardown_other_fork(void **state)
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

/* The first byte that a child finds at an address; -1: a crash. */
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

/* A child lacks memory that is being transferred where the kernel does not copy it; it has memory whose transfer is
 * over. */
void what_children_have(void **state)
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

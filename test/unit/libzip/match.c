/* SPDX-License-Identifier: BSD-3-Clause */
/* The matching engine against a list that is searched from its head, with random traffic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "libzip/stream/match.h"

#define CONTEXTS 3
#define SOURCES 5
#define TAGS 4
#define ROUNDS 200000

struct recv { /* a posted receive, in a list in order */
	struct zmatch_posted posted;
	struct recv *next;
	uint64_t context;
	uint32_t source;
	int32_t tag;
	uint32_t any;
};

struct message {
	struct zmatch_unexpected unexpected;
	struct message *next;
	uint64_t context;
	uint32_t source;
	int32_t tag;
};

static uint64_t rng = 88172645463325252u;

static uint32_t random_below(uint32_t n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 33) % n;
}

static int fits(const struct recv *r, const struct message *m)
{
	return r->context == m->context && (r->any & ZMATCH_ANY_SOURCE || r->source == m->source) &&
	       (r->any & ZMATCH_ANY_TAG || r->tag == m->tag);
}

static struct zmatch_key key_of(const struct recv *r)
{
	return zmatch_key_make(r->context, r->source, r->tag, r->any);
}

static struct recv *recvs;
static struct message *messages;

static void append_recv(struct recv *r)
{
	struct recv **end = &recvs;

	while (*end)
		end = &(*end)->next;
	r->next = NULL;
	*end = r;
}

static void append_message(struct message *m)
{
	struct message **end = &messages;

	while (*end)
		end = &(*end)->next;
	m->next = NULL;
	*end = m;
}

static void post_random(struct zmatch *z)
{
	struct recv *r = calloc(1, sizeof(*r));

	r->context = random_below(CONTEXTS) * 4;
	r->source = random_below(SOURCES);
	r->tag = (int32_t)random_below(TAGS) - 1; /* a message's tag may have any value */
	r->any = random_below(3) == 0 ? random_below(4) : 0;
	struct message **m = &messages;
	while (*m && !fits(r, *m))
		m = &(*m)->next;
	struct zmatch_key k = key_of(r);
	struct zmatch_unexpected *u = zmatch_find_unexpected(z, &k);
	assert_ptr_equal(u, *m ? &(*m)->unexpected : NULL);
	if (u) {
		struct message *found = *m;
		zmatch_del_unexpected(z, u);
		*m = found->next;
		free(found);
		free(r);
		return;
	}
	append_recv(r);
	zmatch_post(z, &r->posted, &k);
}

static void arrive_random(struct zmatch *z)
{
	struct message *m = calloc(1, sizeof(*m));

	m->context = random_below(CONTEXTS) * 4;
	m->source = random_below(SOURCES);
	m->tag = (int32_t)random_below(TAGS) - 1;
	struct recv **r = &recvs;
	while (*r && !fits(*r, m))
		r = &(*r)->next;
	struct zmatch_posted *p = zmatch_find_posted(z, m->context, m->source, m->tag);
	assert_ptr_equal(p, *r ? &(*r)->posted : NULL);
	if (p) {
		struct recv *found = *r;
		zmatch_withdraw(z, p);
		*r = found->next;
		free(found);
		free(m);
		return;
	}
	append_message(m);
	zmatch_add_unexpected(z, &m->unexpected, m->context, m->source, m->tag);
}

static void cancel_random(struct zmatch *z)
{
	uint32_t n = 0;

	for (struct recv *r = recvs; r; r = r->next)
		n++;
	if (n == 0)
		return;
	struct recv **r = &recvs;
	for (uint32_t i = random_below(n); i > 0; i--)
		r = &(*r)->next;
	struct recv *gone = *r;
	zmatch_withdraw(z, &gone->posted);
	*r = gone->next;
	free(gone);
}

static void count_unexpected(struct zmatch_unexpected *u, void *ctx)
{
	struct message *m = messages;

	while (m && &m->unexpected != u)
		m = m->next;
	assert_non_null(m);
	++*(int *)ctx;
}

/* Each message that waits is visited once. */
static void check_each(const struct zmatch *z)
{
	int waiting = 0, visited = 0;

	for (const struct message *m = messages; m; m = m->next)
		waiting++;
	zmatch_each_unexpected(z, count_unexpected, &visited);
	assert_int_equal(visited, waiting);
}

static void test_random(void **state)
{
	struct zmatch z;

	(void)state;
	assert_int_equal(zmatch_init(&z), 0);
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t what = random_below(100);
		/* long phases of more receives, then of more messages */
		uint32_t posts = i / 500 % 2 ? 60 : 38;
		if (what < posts)
			post_random(&z);
		else if (what < 98)
			arrive_random(&z);
		else
			cancel_random(&z);
		if (i % 500 == 0)
			check_each(&z);
	}
	while (recvs)
		cancel_random(&z);
	while (messages) {
		struct message *m = messages;
		messages = m->next;
		zmatch_del_unexpected(&z, &m->unexpected);
		free(m);
	}
	assert_int_equal(z.posted.keys, 0);
	assert_int_equal(z.unexpected.keys, 0);
	zmatch_fini(&z);
}

/* MPI-4.0 section 3.5: of two receives that could have the message, the one posted first gets it. */
static void test_posting_order(void **state)
{
	struct zmatch z;
	struct zmatch_posted p[4];
	struct zmatch_key any = zmatch_key_make(8, 0, 0, ZMATCH_ANY_SOURCE | ZMATCH_ANY_TAG);
	struct zmatch_key exact = zmatch_key_make(8, 1, 7, 0);
	struct zmatch_key tag = zmatch_key_make(8, 1, 0, ZMATCH_ANY_TAG);

	(void)state;
	assert_int_equal(zmatch_init(&z), 0);
	zmatch_post(&z, &p[0], &exact);
	zmatch_post(&z, &p[1], &any);
	zmatch_post(&z, &p[2], &exact);
	zmatch_post(&z, &p[3], &tag);
	for (int i = 0; i < 4; i++) {
		assert_ptr_equal(zmatch_find_posted(&z, 8, 1, 7), &p[i]);
		zmatch_withdraw(&z, &p[i]);
	}
	assert_null(zmatch_find_posted(&z, 8, 1, 7));
	zmatch_fini(&z);
}

/* Of this thread alone: what others take of the core is not counted. */
static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* Withdrawing in reverse order of posting among n different tags; returns the time for one message. */
static double time_depth(uint32_t n)
{
	struct zmatch z;
	struct zmatch_posted *p = calloc(n, sizeof(*p));
	double start;

	assert_int_equal(zmatch_init(&z), 0);
	for (uint32_t i = 0; i < n; i++) {
		struct zmatch_key k = zmatch_key_make(4, 1, (int32_t)i, 0);
		zmatch_post(&z, &p[i], &k);
	}
	start = seconds();
	for (uint32_t i = n; i > 0; i--) {
		struct zmatch_posted *found = zmatch_find_posted(&z, 4, 1, (int32_t)i - 1);
		assert_ptr_equal(found, &p[i - 1]);
		zmatch_withdraw(&z, found);
	}
	double each = (seconds() - start) / n;
	zmatch_fini(&z);
	free(p);
	return each;
}

/* A list would be 1000 times slower at the larger depth; memory that no longer fits the caches is allowed 50 times. */
static void test_depth(void **state)
{
	double shallow, deep;

	(void)state;
	time_depth(1000);
	shallow = time_depth(1000);
	deep = time_depth(200000);
	print_message("# %.0f ns at depth 1000, %.0f ns at depth 200000\n", 1e9 * shallow, 1e9 * deep);
	assert_true(deep < 50 * shallow + 1e-6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_posting_order),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What sources of refused messages are told, in a worker without its thread, whose opposite worker is slow to read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "zipperd/lane/refusal.h"
#include "zipperd/lane/worker.h"

#define SOURCES 4u
#define SHARE 4096u
#define SEQ 10u

/* Stations 0 to 3 are the sources; station 4 is the destination. */
static const struct place places[SOURCES + 1] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}};
static const uint32_t stations_of_1[1] = {SOURCES};

struct bench {
	struct budget budget;
	struct worker w, opposite;
	struct worker_ports *ports; /* of the opposite worker */
	struct lane *lane;
	struct dest *d;
};

static void start(struct bench *b)
{
	memset(b, 0, sizeof(*b));
	b->budget.limit = 1 << 20;
	assert_int_equal(pool_init(&b->w.pool, &b->budget, 4096, 65536), 0);
	list_init(&b->w.due);
	b->ports = aligned_alloc(alignof(struct worker_ports), sizeof(*b->ports));
	assert_non_null(b->ports);
	memset(b->ports, 0, sizeof(*b->ports));
	b->opposite.ports = b->ports;
	b->w.opposite = &b->opposite;
	b->lane = lane_create(1, 2);
	assert_non_null(b->lane);
	b->lane->to = 1;
	b->lane->nstations = SOURCES + 1;
	b->lane->place = places;
	b->lane->station_of = stations_of_1;
	b->lane->limits = (struct lane_limits){.dest_share = SHARE};
	b->lane->worker = &b->w;
	b->d = lane_dest(b->lane, 0);
	b->d->sequenced_bytes = SHARE; /* the queue is full */
}

static void halt(struct bench *b)
{
	struct refusal *r;
	for (uint32_t i = 0; i < SOURCES; i++)
		while ((r = refusal_find(b->lane, i, b->d)))
			refusal_del(&b->w.pool, r);
	assert_int_equal(b->d->nrefused, 0);
	assert_int_equal(b->d->nresumed, 0);
	lane_destroy(b->lane);
	pool_fini(&b->w.pool);
	assert_int_equal(b->budget.used, 0);
	free(b->ports);
}

static void refuse(struct bench *b, uint32_t src)
{
	struct buf *spare = NULL;
	assert_int_equal(refusal_note(&b->w, b->d, src, SEQ + src, REFUSAL_NAK_DUE, &spare), 0);
}

/* The opposite worker has no room for notes: unlike those of the test, these are of kind 0. */
static void stuff(struct bench *b)
{
	while (ports_note(&b->w, &(struct note){.kind = 0}))
		;
}

/* The next note that is not stuffing. false: there is none. */
static bool next_note(struct bench *b, struct note *out)
{
	struct note *n;
	while ((n = note_ring_peek(&b->ports->notes))) {
		*out = *n;
		note_ring_drop(&b->ports->notes);
		if (out->kind != 0)
			return true;
	}
	return false;
}

static void expect(struct bench *b, uint8_t kind, uint32_t src)
{
	struct note n;
	assert_true(next_note(b, &n));
	assert_int_equal(n.kind, kind);
	assert_int_equal(n.dst, src);
	assert_int_equal(n.src, SOURCES);
	assert_int_equal(n.seq, SEQ + src);
}

static void expect_silence(struct bench *b)
{
	struct note n;
	assert_false(next_note(b, &n));
}

/* NAK at once; RESUME when the queue is down to half its share, and not before. */
static void resumed_at_half(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	refuse(&b, 2);
	refusal_send_due(&b.w);
	expect(&b, ZWIRE_NAK, 2);
	b.d->sequenced_bytes = SHARE / 2;
	refusal_resume(&b.w, b.d);
	refusal_send_due(&b.w);
	expect_silence(&b);
	b.d->sequenced_bytes = SHARE / 2 - 1;
	refusal_resume(&b.w, b.d);
	refusal_send_due(&b.w);
	expect(&b, ZWIRE_RESUME, 2);
	expect_silence(&b);
	halt(&b);
}

/* The queue drains before NAK has left. Nobody asks for RESUME later, so that it must follow NAK by itself. */
static void drained_before_the_nak(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	stuff(&b);
	refuse(&b, 1);
	refusal_send_due(&b.w);
	b.d->sequenced_bytes = 0;
	refusal_resume(&b.w, b.d);
	expect_silence(&b);
	refusal_send_due(&b.w);
	expect(&b, ZWIRE_NAK, 1);
	expect(&b, ZWIRE_RESUME, 1);
	expect_silence(&b);
	halt(&b);
}

/* Two sources at a time are told to go on; the others when one of these has been heard again. */
static void two_at_a_time(void **state)
{
	struct bench b;
	(void)state;
	start(&b);
	for (uint32_t i = 0; i < SOURCES; i++)
		refuse(&b, i);
	refusal_send_due(&b.w);
	for (uint32_t i = 0; i < SOURCES; i++)
		expect(&b, ZWIRE_NAK, i);
	b.d->sequenced_bytes = 0;
	refusal_resume(&b.w, b.d);
	refusal_send_due(&b.w);
	expect(&b, ZWIRE_RESUME, 0);
	expect(&b, ZWIRE_RESUME, 1);
	expect_silence(&b);
	refusal_del(&b.w.pool, refusal_find(b.lane, 0, b.d));
	refusal_resume(&b.w, b.d);
	refusal_send_due(&b.w);
	expect(&b, ZWIRE_RESUME, 2);
	expect_silence(&b);
	halt(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(resumed_at_half),
		cmocka_unit_test(drained_before_the_nak),
		cmocka_unit_test(two_at_a_time),
	};
	return cmocka_run_group_tests_name("refusals", tests, NULL, NULL);
}

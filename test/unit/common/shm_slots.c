/* SPDX-License-Identifier: BSD-3-Clause */
/* Large payloads of the shm transport: forwarded without a copy in between, slow receivers, and peers that refer to
 * slots of others. */
#define _GNU_SOURCE
#include "test/unit/common/link_fixture.h"
#include "test/unit/within.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/transport/shm/shm_link.h"
#include "common/transport/shm/shm_memory.h"
#include "common/transport/shm/shm_socket.h"

#define LARGE SHM_SLOT_BYTES
/* The bytes of a reference and its envelope in a ring. */
#define REFERENCE (SHM_RING_ALIGN + ZWIRE_ENV_BYTES)

static int setup(void **state)
{
	static const struct link_kind shm = {.name = "shm", .address = "shm:%s/sock"};
	*state = (void *)&shm;
	return fixture_setup(state);
}

static struct shm_link *shm(struct zlink *link)
{
	return (struct shm_link *)link;
}

/* Bytes that have gone through the ring so far. */
static uint64_t posted(struct zlink *link)
{
	return shm(link)->tx.ring.tail;
}

static unsigned users(const struct shm_slots *s)
{
	unsigned free = 0;
	struct shm_slots mine = *s;
	int taken[SHM_SLOTS];
	while ((taken[free] = shm_slots_take(&mine)) >= 0 && ++free < SHM_SLOTS)
		;
	for (unsigned i = 0; i < free; i++)
		shm_slots_drop(&mine, (uint32_t)taken[i]);
	return SHM_SLOTS - free;
}

/* Two connections: messages that come on the accepted end of the first go on over the second. */
struct relay {
	struct pair from, to, also;
	bool both; /* over that of a third one, too */
	unsigned refuse;
};

static struct relay relay_open(struct fixture *f)
{
	return (struct relay){.from = fixture_pair(f), .to = fixture_pair(f), .also = fixture_pair(f)};
}

static void relay_close(struct relay *r)
{
	pair_close(&r->from);
	pair_close(&r->to);
	pair_close(&r->also);
}

static int forward(void *ctx, const struct zwire_env *env, const uint8_t *raw, const void *payload)
{
	struct relay *r = ctx;
	if (r->refuse && r->refuse--)
		return -EAGAIN;
	int rc = r->to.b->ops->post(r->to.b, raw, payload, env->len);
	if (rc == 0 && r->both)
		rc = r->also.b->ops->post(r->also.b, raw, payload, env->len);
	return rc;
}

/* Forwards the messages that are there, and returns their number. */
static int relay_turn(struct relay *r)
{
	const struct zsink sink = {.take = forward, .ctx = r};
	int n = r->from.b->ops->poll(r->from.b, &sink, 64);
	assert_int_equal(r->to.b->ops->flush(r->to.b), 0);
	assert_int_equal(r->also.b->ops->flush(r->also.b), 0);
	return n;
}

static void send_all(struct relay *r, uint64_t first, uint64_t count, size_t len)
{
	for (uint64_t k = first; k < first + count; k++)
		assert_int_equal(post_message(r->from.a, k, len), 0);
	assert_int_equal(r->from.a->ops->flush(r->from.a), 0);
}

static void what_is_forwarded_is_not_copied(void **state)
{
	struct relay r = relay_open(*state);
	struct inbox in;
	inbox_init(&in);
	in.place_one_in = 3;
	for (uint64_t k = 0; k < 100; k++) {
		uint64_t before = posted(r.to.b);
		send_all(&r, k, 1, LARGE - k);
		assert_int_equal(relay_turn(&r), 1);
		assert_int_equal(posted(r.to.b) - before, REFERENCE);
		assert_int_equal(users(&shm(r.from.a)->tx.slots), 1);
		receive_until(r.to.a, &in, k + 1);
		assert_int_equal(users(&shm(r.from.a)->tx.slots), 0);
	}
	assert_int_equal(posted(r.from.a), 100 * REFERENCE);
	assert_int_equal(shm(r.to.a)->rx.nsenders, 1);
	inbox_fini(&in);
	relay_close(&r);
}

static void small_and_oversized_payloads_go_through_the_ring(void **state)
{
	const size_t lens[] = {0, 1, SHM_SLOT_MIN_BYTES - 1, SHM_SLOT_BYTES + 1, ZWIRE_MAX_PAYLOAD};
	struct relay r = relay_open(*state);
	struct inbox in;
	inbox_init(&in);
	for (uint64_t k = 0; k < 5; k++) {
		uint64_t before = posted(r.from.a);
		send_all(&r, k, 1, lens[k]);
		assert_true(posted(r.from.a) - before >= ZWIRE_ENV_BYTES + lens[k]);
		assert_int_equal(relay_turn(&r), 1);
		receive_until(r.to.a, &in, k + 1);
	}
	inbox_fini(&in);
	relay_close(&r);
}

/* The slot is free again when the last receiver has read it, whichever that is. */
static void several_receivers_share_a_slot(void **state)
{
	struct relay r = relay_open(*state);
	struct inbox in[2];
	inbox_init(&in[0]);
	inbox_init(&in[1]);
	r.both = true;
	for (uint64_t k = 0; k < 40; k++) {
		struct zlink *first = k % 2 ? r.to.a : r.also.a, *last = k % 2 ? r.also.a : r.to.a;
		send_all(&r, k, 1, LARGE);
		assert_int_equal(relay_turn(&r), 1);
		receive_until(first, &in[k % 2], k + 1);
		assert_int_equal(users(&shm(r.from.a)->tx.slots), 1);
		receive_until(last, &in[!(k % 2)], k + 1);
		assert_int_equal(users(&shm(r.from.a)->tx.slots), 0);
	}
	inbox_fini(&in[0]);
	inbox_fini(&in[1]);
	relay_close(&r);
}

/* A receiver that does not read has the slots. Payloads for others go through the ring meanwhile, and nothing is lost.
 */
static void a_slow_receiver_does_not_hold_up_others(void **state)
{
	struct relay r = relay_open(*state);
	struct inbox in, other;
	inbox_init(&in);
	inbox_init(&other);
	send_all(&r, 0, SHM_SLOTS, LARGE);
	assert_int_equal(relay_turn(&r), SHM_SLOTS);
	assert_int_equal(users(&shm(r.from.a)->tx.slots), SHM_SLOTS);
	struct pair slow = r.to;
	r.to = r.also;
	for (uint64_t k = 0; k < 50; k++) {
		send_all(&r, k, 1, LARGE);
		assert_int_equal(relay_turn(&r), 1);
		receive_until(r.to.a, &other, k + 1);
	}
	r.to = slow;
	receive_until(r.to.a, &in, SHM_SLOTS);
	assert_int_equal(users(&shm(r.from.a)->tx.slots), 0);
	inbox_fini(&in);
	inbox_fini(&other);
	relay_close(&r);
}

static void what_take_refuses_stays_where_it_is(void **state)
{
	struct relay r = relay_open(*state);
	struct inbox in;
	inbox_init(&in);
	send_all(&r, 0, 3, LARGE);
	r.refuse = 2;
	assert_int_equal(relay_turn(&r), -EAGAIN);
	assert_int_equal(relay_turn(&r), -EAGAIN);
	assert_int_equal(relay_turn(&r), 3);
	receive_until(r.to.a, &in, 3);
	assert_int_equal(users(&shm(r.from.a)->tx.slots), 0);
	inbox_fini(&in);
	relay_close(&r);
}

/* A payload is copied that is not at the place, or not at the time, of its delivery. */
static void other_payloads_are_copied(void **state)
{
	struct relay r = relay_open(*state);
	struct inbox in;
	inbox_init(&in);
	send_all(&r, 0, 1, LARGE);
	assert_int_equal(relay_turn(&r), 1);
	receive_until(r.to.a, &in, 1);
	uint8_t raw[ZWIRE_ENV_BYTES];
	message_env(raw, 1, LARGE);
	uint8_t *slot = shm_slots_at(&shm(r.from.b)->rx.slots, 0);
	memcpy(slot, payload_of(1, LARGE), LARGE);
	uint64_t before = posted(r.to.b);
	assert_int_equal(r.to.b->ops->post(r.to.b, raw, slot, LARGE), 0);
	assert_true(posted(r.to.b) - before > LARGE);
	memset(slot, 0, LARGE);
	receive_until(r.to.a, &in, 2);
	inbox_fini(&in);
	relay_close(&r);
}

static void a_slot_rests_while_others_have_their_turn(void **state)
{
	struct fixture *f = *state;
	struct pair p = fixture_pair(f);
	struct shm_slots *slots = &shm(p.a)->tx.slots;
	bool seen[SHM_SLOTS] = {false};
	for (unsigned i = 0; i < SHM_SLOTS; i++) {
		int slot = shm_slots_take(slots);
		assert_within(slot, 0, SHM_SLOTS - 1);
		assert_false(seen[slot]);
		seen[slot] = true;
		shm_slots_drop(slots, (uint32_t)slot);
	}
	pair_close(&p);
}

/* The sender has gone: its messages are still read. */
static void slots_outlive_their_sender(void **state)
{
	struct relay r = relay_open(*state);
	struct inbox in;
	inbox_init(&in);
	send_all(&r, 0, 5, LARGE);
	assert_int_equal(relay_turn(&r), 5);
	pair_close(&r.from);
	receive_until(r.to.a, &in, 5);
	inbox_fini(&in);
	pair_close(&r.to);
	pair_close(&r.also);
}

/* --- peers that break the protocol --- */

static struct pair joined_pair(struct fixture *f)
{
	struct pair p = fixture_pair(f);
	const struct zsink none = {.take = NULL};
	assert_int_equal(p.b->ops->poll(p.b, &none, 0), 0); /* it takes the offer */
	return p;
}

/* Writes a reference and the envelope of message 0 into the ring of `link`, whose peer then tells its result. */
static void bad_reference(struct pair *p, bool from_connected, struct shm_ref ref, size_t len)
{
	struct zlink *link = from_connected ? p->a : p->b, *peer = from_connected ? p->b : p->a;
	struct inbox in;
	uint8_t *at;
	inbox_init(&in);
	in.place_one_in = 1;
	assert_int_equal(shm_producer_reserve(&shm(link)->tx.ring, REFERENCE, &at), 1);
	memcpy(at, &ref, sizeof(ref));
	message_env(at + SHM_RING_ALIGN, 0, len);
	shm_producer_commit(&shm(link)->tx.ring, REFERENCE);
	assert_int_equal(link->ops->flush(link), 0);
	assert_int_equal(receive_to_end(peer, &in), -EPROTO);
	assert_int_equal(in.placements, 0);
	inbox_fini(&in);
}

static void references_to_nothing_are_refused(void **state)
{
	for (int i = 0; i < 6; i++) {
		struct pair p = joined_pair(*state);
		struct shm_ref ref = {.mark = SHM_REF_MARK, .sender = SHM_REF_MINE};
		size_t len = LARGE;
		if (i == 0)
			ref.slot = SHM_SLOTS;
		else if (i == 1)
			ref.slot = UINT32_MAX;
		else if (i == 2)
			len = LARGE + 1;
		else if (i == 3 ||
			 i == 4) /* nobody's: a connecting end passes nothing on, and nothing was passed on to it */
			ref.sender = 0;
		/* otherwise the accepting side has none itself */
		bad_reference(&p, i < 4, ref, len);
		pair_close(&p);
	}
}

/* Descriptors that are passed on and are not such memory. */
static void descriptors_of_other_things_are_not_used(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct pair p = joined_pair(*state);
		int fd = i ? memfd_create("test", 0) : shm_memory_create("test", 4096, NULL);
		assert_true(fd >= 0);
		assert_int_equal(shm_socket_send_fd(shm(p.b)->tx.sock, fd), 0);
		close(fd);
		bad_reference(&p, false, (struct shm_ref){.mark = SHM_REF_MARK}, LARGE);
		pair_close(&p);
	}
}

/* More descriptors than anybody needs, to either side: none is kept (the fixture counts them), and the link lives. */
static void superfluous_descriptors_are_closed(void **state)
{
	struct relay r = relay_open(*state);
	struct inbox in;
	inbox_init(&in);
	send_all(&r, 0, 1, LARGE);
	assert_int_equal(relay_turn(&r), 1);
	receive_until(r.to.a, &in, 1);
	for (int i = 0; i < 40; i++) {
		assert_int_equal(shm_socket_send_fd(shm(r.from.a)->tx.sock, STDIN_FILENO), 0);
		shm_pass_look(shm(r.from.b));
	}
	send_all(&r, 1, 1, LARGE);
	assert_int_equal(relay_turn(&r), 1);
	receive_until(r.to.a, &in, 2);
	inbox_fini(&in);
	relay_close(&r);
}

/* A receiver that may have no more descriptors loses the connection, as it could not tell later slots apart. */
static void a_lost_descriptor_ends_the_link(void **state)
{
	struct relay r = relay_open(*state);
	struct inbox in;
	struct rlimit before, few;
	inbox_init(&in);
	send_all(&r, 0, 1, LARGE);
	assert_int_equal(relay_turn(&r), 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 3;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(receive_to_end(r.to.a, &in), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(in.next, 0);
	inbox_fini(&in);
	relay_close(&r);
}

#define TEST(run) cmocka_unit_test_setup_teardown(run, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_forwarded_is_not_copied),
		TEST(small_and_oversized_payloads_go_through_the_ring),
		TEST(several_receivers_share_a_slot),
		TEST(a_slow_receiver_does_not_hold_up_others),
		TEST(what_take_refuses_stays_where_it_is),
		TEST(other_payloads_are_copied),
		TEST(a_slot_rests_while_others_have_their_turn),
		TEST(slots_outlive_their_sender),
		TEST(references_to_nothing_are_refused),
		TEST(descriptors_of_other_things_are_not_used),
		TEST(superfluous_descriptors_are_closed),
		TEST(a_lost_descriptor_ends_the_link),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

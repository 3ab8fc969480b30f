/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that never arrive, from the first one on: a filtered UDP port, the GID of another network. */
#include "test/unit/verbs/parts.h"

#include <errno.h>
#include <string.h>

static struct vlink *verbs_of(struct zlink *l)
{
	return (struct vlink *)(void *)l;
}

static void lose_packets(bool lose)
{
	static const enum fake_point points[] = {FAKE_SEND, FAKE_WRITE, FAKE_READ};
	fake_lock(fake_fabric());
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		fake_fabric()->fault[points[i]] =
			(struct fake_fault){.value = lose ? IBV_WC_RETRY_EXC_ERR : 0, .times = UINT32_MAX};
	fake_unlock(fake_fabric());
}

/* The memory that both ends would open to each other. */
static int expose_all(struct pair *p)
{
	static uint8_t memory[SIZE];
	struct zlink *ends[] = {p->a, p->b};
	int first = 0;
	for (int i = 0; i < 4; i++) {
		struct zlink *l = ends[i / 2];
		struct zrma_exposure e;
		const int rc = l->ops->rma->expose(l, (enum zlink_half)(i % 2), memory, SIZE, &e);
		if (rc == 0)
			l->ops->rma->conceal(l, &e);
		first = i == 0 ? rc : first;
		assert_int_equal(rc, first);
	}
	return first;
}

static void talk(struct pair *p, struct inbox in[2], uint64_t from, uint64_t to)
{
	for (uint64_t k = from; k < to; k++)
		for (int i = 0; i < 2; i++) {
			struct zlink *sender = i ? p->b : p->a;
			assert_int_equal(post_message(sender, k, k % 3 * 20000), 0);
			while (sender->ops->flush(sender) == -EAGAIN)
				;
			receive_until(i ? p->a : p->b, &in[i], k + 1);
		}
}

static bool may_reach(const struct pair *p)
{
	struct zrma_limits a, b;
	p->a->ops->rma->limits(p->a, &a);
	p->b->ops->rma->limits(p->b, &b);
	return a.reads || a.writes || b.reads || b.writes;
}

/* Nor can they read memory that the other end, which may not have heard, has opened: it is not waited for. */
static void read_in_vain(struct zlink *l)
{
	static const uint8_t key[ZRMA_KEY_BYTES];
	static uint8_t memory[64];
	struct zregion *region;
	struct zerr err;
	assert_int_equal(l->ops->rma->reg(l, ZLINK_RX, memory, sizeof(memory), &region, &err), 0);
	const struct zrma_op op = {.key = key, .local = memory, .len = sizeof(memory), .region = region};
	assert_int_equal(l->ops->rma->read(l, &op), -ETIMEDOUT);
	l->ops->rma->unreg(region);
}

static void check_warning(void)
{
	const char *texts[] = {"fka:1: 127.0.0.1",
		" acknowledges no packet, messages go by TCP: ", device()->ib ? "partition" : "UDP port 4791"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!strstr(link_warning, texts[i]))
			fail_msg("\"%s\"", link_warning);
}

/* The device tells at once, or while both ends are asleep. Each end warns for itself, and opens no memory from then on.
 */
void a_path_that_does_not_work_is_left_for_tcp(void **state)
{
	for (int late = 0; late < 2; late++) {
		struct inbox in[2], none;
		inbox_init(&none);
		struct zsink sink = inbox_sink(&none);
		link_warnings = 0;
		silence(late);
		lose_packets(true);
		struct pair p = fixture_pair(*state);
		for (int i = 0; i < 2; i++)
			inbox_init(&in[i]);
		talk(&p, in, 0, 20);
		assert_int_equal(link_warnings, late ? 0 : 2);
		for (int i = 0; i < 2 && late; i++)
			assert_false(sleep_on(i ? p.b : p.a, ZLINK_RX, 20));
		silence(false);
		for (int i = 0; i < 2 && late; i++) {
			struct zlink *l = i ? p.b : p.a;
			assert_true(sleep_on(l, ZLINK_RX, 1000));
			assert_int_equal(l->ops->poll(l, &sink, 1), 0);
			assert_false(sleep_on(l, ZLINK_RX, 20));
		}
		check_warning();
		talk(&p, in, 20, 200);
		assert_int_equal(link_warnings, 2);
		assert_int_equal(expose_all(&p), -EOPNOTSUPP);
		assert_false(may_reach(&p));
		for (int i = 0; i < 2; i++) {
			read_in_vain(i ? p.b : p.a);
			assert_int_equal(verbs_of(i ? p.b : p.a)->rx.mode, VMODE_STREAM);
			assert_int_equal(verbs_of(i ? p.b : p.a)->tx.mode, VMODE_STREAM);
			inbox_fini(&in[i]);
		}
		inbox_fini(&none);
		pair_close(&p);
		lose_packets(false);
	}
}

/* RoCE: the step to RTR tells it, at either end. With the accepting end the peer hears of no queue pair. */
void a_gid_that_is_out_of_reach(void **state)
{
	static const int codes[] = {ETIMEDOUT, EINVAL, EHOSTUNREACH, ENETUNREACH};
	struct fixture *f = *state;
	if (device()->ib)
		skip();
	for (uint32_t i = 0; i < 8; i++) {
		struct inbox in[2];
		const bool connecting = i & 1;
		link_warnings = 0;
		fault(FAKE_ROUTE, codes[i / 2], connecting ? 2 : i / 2 % 2);
		struct pair p = {.a = fixture_connect(f), .b = fixture_accept(f)};
		fixture_settle(f, p.b);
		for (int k = 0; k < 2; k++)
			inbox_init(&in[k]);
		talk(&p, in, 0, 50);
		assert_int_equal(link_warnings, 1);
		if (!strstr(link_warning,
			    "fka:1: there is no way from our GID ::ffff:127.0.0.1 to ::ffff:127.0.0.1 of ") ||
			!strstr(link_warning, strerror(codes[i / 2])) || !strstr(link_warning, "messages go by TCP") ||
			!strstr(link_warning, "ZIPPER_VERBS_GID_INDEX"))
			fail_msg("\"%s\"", link_warning);
		assert_int_equal(vlink_is_ready(verbs_of(p.b)), connecting);
		assert_false(vlink_is_ready(verbs_of(p.a)));
		if (!connecting)
			assert_int_equal(expose_all(&p), -EOPNOTSUPP);
		for (int k = 0; k < 2; k++)
			inbox_fini(&in[k]);
		pair_close(&p);
		assert_false(is_pending(FAKE_ROUTE));
	}
}

/* The death of a peer does not concern the path. */
void a_path_to_who_has_died(void **state)
{
	struct fixture *f = *state;
	struct inbox in;
	inbox_init(&in);
	link_warnings = 0;
	silence(true);
	lose_packets(true);
	struct pair p = {.a = fixture_connect(f)};
	p.b = fixture_accept(f);
	fixture_settle(f, p.b);
	struct zsink sink = inbox_sink(&in);
	assert_int_equal(p.a->ops->poll(p.a, &sink, 1), 0);
	p.b->ops->close(p.b);
	p.b = NULL;
	silence(false);
	assert_int_equal(receive_to_end(p.a, &in), -ESHUTDOWN);
	assert_int_equal(link_warnings, 0);
	inbox_fini(&in);
	pair_close(&p);
	lose_packets(false);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are posted to another link while they are shown: the buffers that they leave from, and the owners of
 * buffers. */
#include "test/unit/verbs/parts.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define COUNT 600u

static struct vlink *impl(struct zlink *link)
{
	return (struct vlink *)(void *)link;
}

/* A forwarder: messages that come from `in` go to `out`. Its ends are in.b and out.b, of one endpoint; two: on two
 * devices. */
struct relay {
	struct fixture *f, other; /* other: listens at the second device */
	struct pair in, out;
	bool two;
	int (*also)(struct relay *, const struct zwire_env *, const void *payload); /* once it was posted */
	uint64_t posted, refused, passed_bytes;
	bool wrong;
};

static struct fake_device *second_device(void)
{
	return &fake_fabric()->device[1];
}

static void open_out(struct relay *r)
{
	r->other.endpoint = r->f->endpoint;
	if (r->two)
		device()->port[0].state =
			IBV_PORT_DOWN; /* so that the connecting end takes the other device; nobody is told */
	r->out = fixture_pair(r->two ? &r->other : r->f);
	device()->port[0].state = IBV_PORT_ACTIVE;
	r->f->endpoint = r->two ? r->other.endpoint : r->f->endpoint;
	if (r->two)
		assert_string_equal(impl(r->out.b)->dev->name, "fkb");
}

static void open_in(struct relay *r)
{
	second_device()->port[0].state = IBV_PORT_DOWN;
	r->in = fixture_pair(r->f);
	second_device()->port[0].state = IBV_PORT_ACTIVE;
	assert_string_equal(impl(r->in.a)->dev->name, "fka");
}

static void open_relay(struct relay *r, struct fixture *f, bool two)
{
	char text[160], *name;
	struct zaddr addr;
	struct zerr err = {""};
	*r = (struct relay){.f = f, .two = two};
	if (two) {
		*second_device() = *device();
		strcpy(second_device()->name, "fkb");
		fake_fabric()->ndevices = 2;
		snprintf(text, sizeof(text), "%s", f->kind->address);
		name = strstr(text, "fka");
		assert_non_null(name);
		name[2] = 'b';
		r->other = *f;
		fixture_address(f, text, &addr);
		if (f->ops->listen(&r->other.listener, &addr, &err) < 0)
			fail_msg("%s", err.text);
		f->ops->listener_addr(r->other.listener, &r->other.addr);
	}
	open_in(r);
	open_out(r);
}

/* Each free buffer belongs to the pool, and is there once. */
static void check_pool(const struct vpool *p)
{
	uint32_t n = 0;
	for (const struct vbuf *b = p->free; b && n <= p->nfree; b = b->next) {
		assert_ptr_equal(atomic_load(&b->pool), p);
		n++;
	}
	assert_int_equal(n, p->nfree);
	assert_true(n <= p->buffers + p->owned * VPOOL_OWN);
}

static void close_relay(struct relay *r)
{
	check_pool(impl(r->in.b)->rx.pool);
	check_pool(impl(r->out.b)->tx.pool);
	pair_close(&r->in);
	pair_close(&r->out);
	if (r->two)
		r->f->ops->unlisten(r->other.listener);
	r->f->ops->endpoint_close(r->f->endpoint);
	r->f->endpoint = NULL;
	fake_fabric()->ndevices = 1;
	assert_false(r->wrong);
}

static int hand_on(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct relay *r = ctx;
	if (env->len && memcmp(payload, payload_of(env->seq, env->len), env->len) != 0)
		r->wrong = true;
	if (r->posted == env->seq) {
		int rc = r->out.b->ops->post(r->out.b, raw, payload, env->len);
		if (rc != 0)
			return rc;
		r->posted++;
	}
	return r->also ? r->also(r, env, payload) : 0;
}

/* One step of the forwarder; false: there was nothing to do. */
static bool step(struct relay *r)
{
	const struct zsink sink = {.take = hand_on, .ctx = r};
	const int n = r->in.b->ops->poll(r->in.b, &sink, 4);
	assert_true(n >= 0 || n == -EAGAIN);
	const int rc = r->out.b->ops->flush(r->out.b);
	assert_true(rc == 0 || rc == -EAGAIN);
	return n != 0;
}

/* Messages of these lengths in turn, as many under way as there may be. */
static void stream_through(struct relay *r, const size_t *len, unsigned nlens, uint64_t count)
{
	struct inbox in;
	struct zsink sink = inbox_sink(&in);
	inbox_init(&in);
	r->posted = 0;
	for (uint64_t sent = 0; in.next < count;) {
		while (sent < count && post_message(r->in.a, sent, len[sent % nlens]) == 0)
			sent++;
		const int rc = r->in.a->ops->flush(r->in.a);
		assert_true(rc == 0 || rc == -EAGAIN);
		for (int i = 0; i < 3; i++)
			step(r);
		assert_true(r->out.a->ops->poll(r->out.a, &sink, 3) >= 0);
	}
	assert_null(in.wrong);
	inbox_fini(&in);
}

static uint64_t copied(const struct relay *r)
{
	const struct ztransport *t = r->f->ops;
	return t->copied(r->in.b, ZLINK_RX) + t->copied(r->out.b, ZLINK_TX);
}

static const size_t medium[] = {1000, 16384, 300, 4096, 2000};

/* A message that lies in one buffer is not copied, within one device or between two. */
void a_message_leaves_from_where_it_came(void **state)
{
	for (int two = 0; two < 2; two++) {
		struct relay r;
		open_relay(&r, *state, two);
		const uint64_t before = copied(&r);
		stream_through(&r, medium, 5, scaled(COUNT));
		assert_int_equal(copied(&r) - before, 0);
		/* messages of several buffers, by value, and empty */
		const size_t others[] = {0, 40000, 8, 1000, 100000, 64};
		stream_through(&r, others, 6, scaled(COUNT));
		assert_true(copied(&r) > before);
		close_relay(&r);
	}
}

/* With few buffers, of which none is lost or belongs to two. */
void few_buffers_are_exchanged(void **state)
{
	option("ZIPPER_VERBS_BUFFERS", "16");
	for (int two = 0; two < 2; two++) {
		struct relay r;
		open_relay(&r, *state, two);
		const uint64_t before = copied(&r);
		stream_through(&r, medium, 5, scaled(4 * COUNT));
		assert_int_equal(copied(&r) - before, 0);
		close_relay(&r);
	}
	option("ZIPPER_VERBS_BUFFERS", NULL);
}

/* Each message is refused once after it was posted, and shown again. */
static int refuse_once(struct relay *r, const struct zwire_env *env, const void *payload)
{
	(void)payload;
	if (r->refused > env->seq)
		return 0;
	r->refused++;
	r->passed_bytes += env->len;
	return -EAGAIN;
}

void one_that_has_left_is_shown_again(void **state)
{
	for (int two = 0; two < 2; two++) {
		struct relay r;
		open_relay(&r, *state, two);
		const uint64_t before = copied(&r);
		r.also = refuse_once;
		stream_through(&r, medium, 5, scaled(COUNT));
		assert_int_equal(copied(&r) - before, r.passed_bytes);
		close_relay(&r);
	}
}

/* The send is complete, and others need buffers, while the message is still shown: of every second one. */
static int use_others(struct relay *r, const struct zwire_env *env, const void *payload)
{
	static const uint8_t junk[2000];
	uint8_t raw[ZWIRE_ENV_BYTES];
	struct zlink *back = r->in.b;
	if (env->seq % 2)
		return 0;
	message_env(raw, env->seq, sizeof(junk));
	r->out.b->ops->flush(r->out.b);
	if (device()->lag_us)
		poll(NULL, 0, 1);
	r->out.b->ops->arm(r->out.b, ZLINK_TX);
	for (int i = 0; i < 3; i++)
		back->ops->post(back, raw, junk, sizeof(junk));
	back->ops->flush(back);
	if (memcmp(payload, payload_of(env->seq, env->len), env->len) != 0)
		r->wrong = true;
	return 0;
}

static int drop(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	(void)ctx, (void)env, (void)raw, (void)payload;
	return 0;
}

void it_can_be_read_while_it_is_shown(void **state)
{
	const struct zsink nowhere = {.take = drop};
	option("ZIPPER_VERBS_SIGNAL", "1");
	struct relay r;
	struct inbox in;
	struct zsink sink = inbox_sink(&in);
	inbox_init(&in);
	open_relay(&r, *state, false);
	r.also = use_others;
	for (uint64_t k = 0; k < scaled(200);) {
		if (post_message(r.in.a, k, medium[k % 5]) == 0)
			k++;
		r.in.a->ops->flush(r.in.a);
		step(&r);
		while (r.in.a->ops->poll(r.in.a, &nowhere, 100) > 0)
			;
		assert_true(r.out.a->ops->poll(r.out.a, &sink, 100) >= 0);
	}
	assert_true(in.next > scaled(200) / 2);
	assert_null(in.wrong);
	inbox_fini(&in);
	close_relay(&r);
	option("ZIPPER_VERBS_SIGNAL", NULL);
}

/* Memory that may not be registered twice: messages to the other device are copied, which is told once. */
void memory_for_one_device_alone(void **state)
{
	struct relay r;
	for (int i = 0; i < 2; i++) {
		open_relay(&r, *state, true);
		assert_int_equal(link_warnings, i);
		pair_close(&r.out);
		pair_close(&r.in);
		r.f->ops->endpoint_close(r.f->endpoint);
		r.other.endpoint = r.f->endpoint = NULL;
		open_in(&r);
		fake_lock(fake_fabric()); /* either end has two pools, and each of those has these buffers and those of
					     links in two pieces */
		fake_fabric()->fault[FAKE_REG] = (struct fake_fault){.value = ENOMEM, .after = 8, .times = UINT32_MAX};
		fake_unlock(fake_fabric());
		open_out(&r);
		fault(FAKE_REG, 0, 0);
		const uint64_t before = copied(&r);
		stream_through(&r, medium, 5, scaled(COUNT));
		assert_true(copied(&r) > before);
		assert_int_equal(link_warnings, 1);
		assert_non_null(strstr(link_warning, ": messages between devices are copied"));
		close_relay(&r);
	}
}

/* The buffers of a link that has gone belong to others now; a new link takes what is left. */
void a_device_is_lost_and_its_buffers_are_not(void **state)
{
	struct relay r;
	open_relay(&r, *state, true);
	for (int i = 0; i < 3; i++) {
		const uint64_t before = copied(&r);
		stream_through(&r, medium, 5, scaled(COUNT));
		assert_int_equal(copied(&r) - before, 0);
		int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
		fake_lock(fake_fabric());
		fake_device_gone(fake_fabric(), sock, 1, 0);
		fake_unlock(fake_fabric());
		close(sock);
		struct inbox in;
		inbox_init(&in);
		assert_true(receive_to_end(r.out.a, &in) < 0);
		assert_true(receive_to_end(r.out.b, &in) < 0);
		inbox_fini(&in);
		pair_close(&r.out);
		open_out(&r);
	}
	close_relay(&r);
}

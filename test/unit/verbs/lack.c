/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects that cannot be made, too little memory, and credit where receives run out. Peers that do not obey credit:
 * greedy.c. */
#include "test/unit/verbs/parts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* --- set-up that fails --- */

static unsigned queue_pairs(void)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < FAKE_QPS; i++)
		n += fake_fabric()->qp[i].used;
	return n;
}

/* The calls of a set-up fail one after the other, until none does. Returns how many failed. */
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
			rc = take_offer(f, b, &err);
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

void what_cannot_be_made_is_said(void **state)
{
	static const struct {
		enum fake_point point;
		int code; /* not for memory: then less is tried */
		unsigned least;
	} points[] = {
		{FAKE_OPEN, EMFILE, 1},
		{FAKE_PD, ENOMEM, 1},
		{FAKE_REG, EPERM, 4},
		{FAKE_CHANNEL, EMFILE, 4},
		{FAKE_CQ, EPERM, 0},
		{FAKE_SRQ, EPERM, 2},
		{FAKE_QP, EPERM, 4},
		{FAKE_MODIFY, EPERM, 8}, /* not for a GID: then it is TCP */
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

/* The device refuses, and an older errno is not the reason: neither lack of memory, for which messages would go by TCP,
 * nor success. */
void what_is_refused_without_a_word(void **state)
{
	static const enum fake_point points[] = {FAKE_CHANNEL, FAKE_CQ, FAKE_SRQ, FAKE_QP};
	static const int before[] = {EAGAIN, ENOMEM, 0};
	struct fixture *f = *state;
	device()->mute = true;
	for (size_t i = 0; i < 12; i++) {
		struct zerr err = {""};
		struct zlink *a;
		fake_fabric()->fault[points[i / 3]] = (struct fake_fault){.value = EPERM, .times = UINT32_MAX};
		errno = before[i % 3];
		assert_int_equal(f->ops->connect(&a, &f->addr, PATIENCE_MS, &err), -EINVAL);
		fault(points[i / 3], 0, 0);
		f->ops->close(fixture_accept(f));
	}
	device()->mute = false;
}

/* With as much inline data as the device takes: a small message is sent inline where it can be. */
void less_inline_data_than_wanted(void **state)
{
	static const struct {
		uint32_t has, used;
	} devices[] = {{FAKE_INLINE_MAX, 220}, {219, 192}, {96, 96}, {95, ZWIRE_ENV_BYTES + 8}, {71, ZWIRE_ENV_BYTES},
		{60, 32}, {0, 0}};
	const uint32_t most = device()->inline_bytes;
	for (size_t i = 0; i < 2 * sizeof(devices) / sizeof(devices[0]); i++) {
		device()->mute = i & 1;
		device()->inline_bytes = devices[i / 2].has;
		errno = EAGAIN;
		struct pair p = fixture_pair(*state);
		assert_int_equal(queue_pairs(), 4);
		assert_int_equal(((struct vlink *)(void *)p.a)->tx.inline_bytes, devices[i / 2].used);
		assert_int_equal(((struct vlink *)(void *)p.b)->tx.inline_bytes, devices[i / 2].used);
		pair_close(&p);
	}
	device()->inline_bytes = most;
	device()->mute = false;
}

/* --- little memory may be locked --- */

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
			struct zsink sink = inbox_sink(&in);
			while (post_message(p[i].a, k, (size_t)k * 1000) == -EAGAIN) /* credit is on its way */
				assert_true(p[i].b->ops->poll(p[i].b, &sink, 1) >= 0);
			while (p[i].a->ops->flush(p[i].a) == -EAGAIN) /* it needs more than there is */
				assert_true(p[i].b->ops->poll(p[i].b, &sink, 1) >= 0);
			receive_until(p[i].b, &in, k + 1);
		}
		inbox_fini(&in);
		pair_close(&p[i]);
	}
	f->ops->endpoint_close(f->endpoint);
	f->endpoint = NULL;
	device()->memlock_kib = 0;
}

/* Then there are fewer shared buffers, and at last only TCP; either is told once. */
void little_memory_may_be_locked(void **state)
{
	const struct {
		uint32_t kib;
		unsigned least, most; /* queue pairs: of 64 with all */
		const char *text[2];  /* both are in the warning; NULL: there is none */
	} cases[] = {
		{24 << 10, 64, 64, {NULL}},
		{18 << 10, 64, 64,
			{"cannot register", " shared buffers instead of 256, for which 10384 KiB of locked"}},
		{18 << 10, 64, 64, {NULL}},
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

static void fault_times(enum fake_point point, uint32_t times)
{
	fake_lock(fake_fabric());
	fake_fabric()->fault[point] = (struct fake_fault){.value = times ? ENOMEM : 0, .times = times};
	fake_unlock(fake_fabric());
}

/* There may be memory for less, but the memory that may be locked does not lack. */
void no_memory_for_queues(void **state)
{
	static const struct {
		enum fake_point point;
		uint32_t times;
		const char *text[2];
	} cases[] = {{FAKE_CQ, 2, {"cannot make a completion queue", ": 128 shared buffers instead of 256"}},
		{FAKE_QP, 1000, {"cannot make a queue pair", ": messages go by TCP"}}};
	struct fixture *f = *state;
	option("ZIPPER_VERBS_BUFFERS", NULL);
	f->may_be_plain = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		link_warnings = 0;
		fault_times(cases[i].point, cases[i].times);
		struct pair p = fixture_pair(f);
		fault_times(cases[i].point, 0);
		assert_int_equal(link_warnings, 1);
		for (int k = 0; k < 2; k++)
			if (!strstr(link_warning, cases[i].text[k]) || strstr(link_warning, "KiB"))
				fail_msg("\"%s\"", link_warning);
		pair_close(&p);
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
}

/* Some adapters have none. */
void no_shared_receive_queues(void **state)
{
	struct fixture *f = *state;
	const uint32_t most = device()->srq_max;
	struct zlink *link;
	struct zerr err = {""};
	device()->srq_max = 0;
	f->may_be_plain = true;
	link_warnings = 0;
	for (int i = 0; i < 2; i++) { /* pairs have carried messages */
		struct pair p = fixture_pair(f);
		assert_int_equal(queue_pairs(), 0);
		assert_int_equal(link_warnings, 1);
		assert_string_equal(link_warning, "fka has no shared receive queues: messages go by TCP");
		pair_close(&p);
	}
	link_unwarned = true;
	option("ZIPPER_VERBS_BUFFERS", NULL);
	assert_int_equal(f->ops->connect(&link, &f->addr, PATIENCE_MS, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.text, "fka has no shared receive queues"));
	f->ops->close(fixture_accept(f));
	link_unwarned = false;
	option("ZIPPER_VERBS_BUFFERS", NULL);
	device()->srq_max = most;
}

/* An error, where nobody would be told. */
void too_little_memory_is_not_silent(void **state)
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
	f->ops->close(fixture_accept(f));
	fault_times(FAKE_QP, 1000);
	assert_int_equal(f->ops->connect(&link, &f->addr, PATIENCE_MS, &err), -ENOMEM);
	assert_true(strstr(err.text, "cannot make a queue pair") && !strstr(err.text, "KiB"));
	fault_times(FAKE_QP, 0);
	f->ops->close(fixture_accept(f));
	link_unwarned = false;
	option("ZIPPER_VERBS_BUFFERS", NULL);
}

/* --- credit --- */

/* Each link sends as much as it may, and each keeps the first message that has come. */
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

/* Credit is given for receives that nobody can post: all links of the pool end, also sleeping ones, and new ones have
 * another queue. */
void receives_that_cannot_be_posted(void **state)
{
	static const char *const categories[] = {"static", "mpi-everywhere"};
	struct fixture *f = *state;
	for (size_t c = 0; c < 2; c++) {
		option("ZIPPER_ENDPOINTS", categories[c]);
		struct pair busy = fixture_pair(f), asleep = fixture_pair(f);
		struct inbox in, none;
		inbox_init(&in);
		inbox_init(&none);
		struct zsink sink = inbox_sink(&none);
		while (asleep.b->ops->poll(asleep.b, &sink, 1) == 0 && asleep.b->ops->arm(asleep.b, ZLINK_RX))
			;
		assert_int_equal(post_message(busy.a, 0, 1000), 0);
		assert_int_equal(busy.a->ops->flush(busy.a), 0);
		link_warnings = 0;
		fault_times(FAKE_POST_RECV, 1);
		assert_int_equal(receive_to_end(busy.b, &in), -EIO);
		assert_int_equal(in.next, 1); /* messages that have come are delivered */
		assert_true(sleep_on(asleep.b, ZLINK_RX, PATIENCE_MS));
		assert_int_equal(receive_to_end(asleep.b, &none), -EIO);
		assert_int_equal(link_warnings, 1);
		assert_non_null(
			strstr(link_warning, "fka: a shared receive queue takes no receives (Cannot allocate memory)"));
		struct pair next = fixture_pair(f);
		pair_close(&busy);
		pair_close(&asleep);
		assert_int_equal(post_message(next.a, 0, 1000), 0);
		assert_int_equal(next.a->ops->flush(next.a), 0);
		inbox_fini(&in);
		inbox_init(&in);
		receive_until(next.b, &in, 1);
		pair_close(&next);
		inbox_fini(&in);
		inbox_fini(&none);
		f->ops->endpoint_close(f->endpoint);
		f->endpoint = NULL;
	}
	option("ZIPPER_ENDPOINTS", NULL);
}

/* The fake complains if a send waits for a receive. */
void credit_is_for_receives_that_are_there(void **state)
{
	const uint32_t most = device()->srq_max; /* receives of a shared queue */
	option("ZIPPER_VERBS_BUFFERS", "16");
	send_to_those_who_refuse(*state);
	option("ZIPPER_VERBS_BUFFERS", "16384"); /* more than the device takes */
	device()->srq_max = 8 * LINKS;
	send_to_those_who_refuse(*state);
	device()->srq_max = most;
	option("ZIPPER_VERBS_BUFFERS", NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Conformance of every transport: connecting, listening, and clients that misbehave. */
#include "test/unit/common/link_fixture.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static void names_the_peer(void **state)
{
	struct fixture *f = *state;
	char expected[32];
	struct pair p = fixture_pair(f);
	snprintf(expected, sizeof(expected), f->kind->peer, (int)getpid());
	assert_int_equal(strncmp(p.a->peer, expected, strlen(expected)), 0);
	assert_int_equal(strncmp(p.b->peer, expected, strlen(expected)), 0);
	assert_true(strlen(p.a->peer) > strlen(expected));
	pair_close(&p);
}

static void connecting_to_nobody_says_where(void **state)
{
	struct fixture *f = *state;
	struct zlink *link = NULL;
	struct zaddr addr;
	struct zerr err = {""};
	char text[300];
	fixture_address(f, f->kind->nobody, &addr);
	zaddr_format(&addr, text, sizeof(text));
	assert_int_equal(f->ops->connect(&link, &addr, 1000, &err), f->kind->nobody_error);
	assert_null(link);
	assert_non_null(strstr(err.text, text));
	assert_non_null(strstr(err.text, strerror(-f->kind->nobody_error)));
	assert_int_equal(f->ops->connect(&link, &addr, 1000, NULL), f->kind->nobody_error);
}

static void an_address_has_one_listener(void **state)
{
	struct fixture *f = *state;
	struct zlistener *second = NULL;
	struct zerr err = {""};
	char text[300], expected[400];
	zaddr_format(&f->addr, text, sizeof(text));
	assert_int_equal(f->ops->listen(&second, &f->addr, &err), -EADDRINUSE);
	assert_null(second);
	snprintf(expected, sizeof(expected), "cannot listen on %s: %s", text, strerror(EADDRINUSE));
	assert_string_equal(err.text, expected);
	/* The attempt has not harmed the first listener. */
	struct zlink *link;
	while (f->ops->accept(f->listener, &link, &err) == 0) /* the attempt may have connected */
		link->ops->close(link);
	struct pair p = fixture_pair(f);
	assert_int_equal(post_message(p.a, 0, 100), 0);
	assert_int_equal(p.a->ops->flush(p.a), 0);
	struct inbox in;
	inbox_init(&in);
	receive_until(p.b, &in, 1);
	inbox_fini(&in);
	pair_close(&p);
}

static void nobody_waits_for_accept(void **state)
{
	struct fixture *f = *state;
	struct zlink *link = NULL;
	struct zerr err;
	assert_int_equal(f->ops->accept(f->listener, &link, &err), -EAGAIN);
	assert_null(link);
}

static void listener_survives_bad_clients(void **state)
{
	struct fixture *f = *state;
	char noise[3000];
	memset(noise, 0xa5, sizeof(noise));
	for (int i = 0; i < 20; i++) {
		int fd = f->kind->connect_raw(&f->addr);
		if (i % 2)
			assert_true(send(fd, noise, sizeof(noise), MSG_NOSIGNAL) > 0);
		close(fd);
	}
	struct zlink *link, *good = fixture_connect(f);
	struct inbox in;
	inbox_init(&in);
	assert_int_equal(post_message(good, 0, 10), 0);
	assert_int_equal(good->ops->flush(good), 0);
	for (int i = 0; i < 20; i++) {
		struct zerr err;
		int rc = f->ops->accept(f->listener, &link, &err);
		if (rc < 0) /* a connection that has gone may show itself that way */
			continue;
		rc = receive_to_end(link, &in);
		if (i % 2)
			assert_true(rc == -EPROTO || rc == -ECONNRESET);
		else
			assert_true(rc == -ESHUTDOWN || rc == -ECONNRESET);
		link->ops->close(link);
	}
	link = fixture_accept(f);
	receive_until(link, &in, 1);
	link->ops->close(link);
	good->ops->close(good);
	inbox_fini(&in);
}

static void running_out_of_descriptors_is_survived(void **state)
{
	struct fixture *f = *state;
	struct zlink *link = NULL;
	struct zerr err = {""};
	struct rlimit before, none;
	struct zlink *a = fixture_connect(f);
	struct pollfd p = {.fd = f->ops->listener_fd(f->listener), .events = POLLIN};
	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0; /* no new descriptor; open ones stay */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	int rc = f->ops->accept(f->listener, &link, &err);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(rc, -EMFILE);
	assert_true(err.text[0]);
	a->ops->close(a);
	/* Later clients are served. */
	while (f->ops->accept(f->listener, &link, &err) == 0)
		link->ops->close(link);
	struct pair good = fixture_pair(f);
	pair_close(&good);
}

static void those_who_find_no_descriptor_are_sent_away(void **state)
{
	struct fixture *f = *state;
	struct zlink *link = NULL;
	struct zerr err = {""};
	struct rlimit before, few;
	struct inbox in;
	inbox_init(&in);
	struct zlink *a = fixture_connect(f);
	struct pollfd p = {.fd = f->ops->listener_fd(f->listener), .events = POLLIN};
	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 64;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	int held[64], n = 0;
	while (n < 64 && (held[n] = dup(0)) >= 0)
		n++;
	int rc = f->ops->accept(f->listener, &link, &err);
	int ready = poll(&p, 1, 0);
	int end = receive_to_end(a, &in);
	while (n > 0)
		close(held[--n]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(rc, -EMFILE);
	assert_int_equal(ready, 0); /* otherwise the owner's loop would turn for ever */
	assert_true(end == -ESHUTDOWN || end == -ECONNRESET);
	a->ops->close(a);
	struct pair good = fixture_pair(f);
	pair_close(&good);
	inbox_fini(&in);
}

static void silent_client_blocks_nobody(void **state)
{
	struct fixture *f = *state;
	struct inbox in;
	inbox_init(&in);
	struct zsink sink = inbox_sink(&in);
	int fd = f->kind->connect_raw(&f->addr);
	struct zlink *link = fixture_accept(f);
	for (int i = 0; i < 300; i++)
		assert_int_equal(link->ops->poll(link, &sink, 1), 0);
	assert_false(sleep_on(link, ZLINK_RX, 20));
	post_message(link, 0, 10); /* taken or -EAGAIN, but it returns */
	close(fd);
	int rc = receive_to_end(link, &in);
	assert_true(rc == -ESHUTDOWN || rc == -ECONNRESET);
	link->ops->close(link);
	inbox_fini(&in);
}

/* Posts, and takes messages on the other end while there is no room, as links may share that. */
static void post_and_flush(struct zlink *from, struct zlink *to, struct inbox *in, uint64_t k, size_t len)
{
	struct zsink sink = inbox_sink(in);
	while (post_message(from, k, len) == -EAGAIN)
		assert_true(to->ops->poll(to, &sink, 4) >= 0);
	while (from->ops->flush(from) == -EAGAIN)
		assert_true(to->ops->poll(to, &sink, 4) >= 0);
}

static void many_links(void **state)
{
	enum { LINKS = 60, WARM_LINKS = 10 };
	struct fixture *f = *state;
	const int links = f->kind->warm ? WARM_LINKS : LINKS;
	struct pair p[LINKS];
	struct inbox at_a[LINKS], at_b[LINKS];
	for (int i = 0; i < links; i++) {
		p[i] = fixture_pair(f);
		inbox_init(&at_a[i]);
		inbox_init(&at_b[i]);
	}
	for (uint64_t k = 0; k < 5; k++)
		for (int i = 0; i < links; i++) {
			post_and_flush(p[i].a, p[i].b, &at_b[i], k, 1000);
			post_and_flush(p[i].b, p[i].a, &at_a[i], k, 999);
		}
	for (int i = links; i-- > 0;) {
		receive_until(p[i].b, &at_b[i], 5);
		receive_until(p[i].a, &at_a[i], 5);
		pair_close(&p[i]);
		inbox_fini(&at_a[i]);
		inbox_fini(&at_b[i]);
	}
}

const struct link_test transport_connect_tests[] = {
	LINK_TEST(names_the_peer),
	LINK_TEST(connecting_to_nobody_says_where),
	LINK_TEST(an_address_has_one_listener),
	LINK_TEST(nobody_waits_for_accept),
	LINK_TEST(listener_survives_bad_clients),
	LINK_TEST(running_out_of_descriptors_is_survived),
	LINK_TEST(those_who_find_no_descriptor_are_sent_away),
	LINK_TEST(silent_client_blocks_nobody),
	LINK_TEST(many_links),
	{NULL, NULL},
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Sealed links with somebody in the middle, who reads, changes, repeats, leaves out, moves and cuts what they send. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/control/auth.h"
#include "common/transport/base/transport.h"

#define TEXT "what nobody else shall read"
#define RECORD_MAX 4096
#define WAIT_MS 60000
#define AROUND_BYTES 21 /* of each record */

static enum zseal_level level_of(void **state)
{
	return *(const enum zseal_level *)*state;
}

struct middle {
	struct zlistener *listener;
	struct zlink *a, *b; /* a sends */
	int from_a, to_b;
};
struct record {
	uint8_t bytes[RECORD_MAX];
	size_t len;
};
struct taken {
	int n;
	char last[64];
};

static void seal_with(struct zlink *l, enum zseal_level level, enum zauth_side own, uint8_t which)
{
	static const uint8_t key[ZAUTH_KEY_BYTES] = {5};
	uint8_t salt[ZCTL_MAC_BYTES] = {which};
	struct zseal with;
	struct zerr err;
	zauth_module.seal(&with, level, key, own, salt);
	assert_int_equal(l->ops->seal(l, &with, &err), 0);
}

static int connect_raw(uint16_t port)
{
	const struct sockaddr_in at = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static void begin(struct middle *m, enum zseal_level level, uint8_t which)
{
	struct zaddr addr;
	struct zerr err;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int own = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(own, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(own, 1), 0);
	assert_int_equal(getsockname(own, (struct sockaddr *)&at, &len), 0);
	assert_int_equal(zaddr_parse(&addr, "tcp:127.0.0.1:0", &err), 0);
	assert_int_equal(ztransport_tcp.listen(&m->listener, &addr, &err), 0);
	ztransport_tcp.listener_addr(m->listener, &addr);
	m->to_b = connect_raw(addr.port);
	struct pollfd p = {.fd = ztransport_tcp.listener_fd(m->listener), .events = POLLIN};
	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	assert_int_equal(ztransport_tcp.accept(m->listener, &m->b, &err), 0);
	addr.port = ntohs(at.sin_port);
	assert_int_equal(ztransport_tcp.connect(&m->a, &addr, WAIT_MS, &err), 0);
	m->from_a = accept(own, NULL, NULL);
	assert_true(m->from_a >= 0);
	close(own);
	seal_with(m->a, level, ZAUTH_ASKS, which);
	seal_with(m->b, level, ZAUTH_ANSWERS, which);
}

static void end(struct middle *m)
{
	if (m->a)
		m->a->ops->close(m->a);
	m->b->ops->close(m->b);
	ztransport_tcp.unlisten(m->listener);
	close(m->from_a);
	close(m->to_b);
}

static void send_text(struct zlink *l, const char *text)
{
	const struct zwire_env env = {.kind = ZWIRE_EAGER, .len = (uint32_t)strlen(text)};
	uint8_t raw[ZWIRE_ENV_BYTES];
	zwire_encode(raw, &env);
	assert_int_equal(l->ops->post(l, raw, text, env.len), 0);
	assert_int_equal(l->ops->flush(l), 0);
}

static void read_all(int fd, uint8_t *to, size_t len)
{
	assert_int_equal(recv(fd, to, len, MSG_WAITALL), (ssize_t)len);
}

static void read_record(const struct middle *m, struct record *r)
{
	read_all(m->from_a, r->bytes, 4);
	size_t len = (size_t)r->bytes[0] | (size_t)r->bytes[1] << 8;
	r->len = len + AROUND_BYTES;
	assert_true(r->len <= sizeof(r->bytes));
	read_all(m->from_a, r->bytes + 4, r->len - 4);
}

static void pass(const struct middle *m, const void *bytes, size_t len)
{
	assert_int_equal(send(m->to_b, bytes, len, MSG_NOSIGNAL), (ssize_t)len);
}

static void pass_record(const struct middle *m, const struct record *r)
{
	pass(m, r->bytes, r->len);
}

static void pass_header(const struct middle *m)
{
	uint8_t header[ZSEAL_HEADER_BYTES];
	read_all(m->from_a, header, sizeof(header));
	pass(m, header, sizeof(header));
}

static int take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct taken *t = ctx;
	(void)raw;
	assert_true(env->len < sizeof(t->last));
	memcpy(t->last, payload, env->len);
	t->last[env->len] = '\0';
	t->n++;
	return 0;
}

/* Polls b until it has taken so many messages, or the link breaks: returns the error then. */
static int receive(struct zlink *l, struct taken *t, int n)
{
	const struct zsink sink = {.take = take, .ctx = t};
	uint32_t events;
	int rc = 0;
	while (t->n < n && (rc = l->ops->poll(l, &sink, 16)) >= 0) {
		struct pollfd p = {.fd = l->ops->fd(l, ZLINK_RX, &events), .events = POLLIN};
		if (rc == 0 && l->ops->arm(l, ZLINK_RX) == 0)
			assert_int_equal(poll(&p, 1, WAIT_MS), 1);
	}
	return rc < 0 ? rc : 0;
}

/* How b ends, when the middle says nothing more. It is to take nothing more. */
static int rest(const struct middle *m, struct taken *t)
{
	const int before = t->n;
	shutdown(m->to_b, SHUT_WR);
	int rc = receive(m->b, t, 1000);
	assert_int_equal(t->n, before);
	return rc;
}

static void shows_what_is_not_encrypted(void **state)
{
	struct middle m;
	struct record r;
	struct taken t = {0};
	begin(&m, level_of(state), 0);
	send_text(m.a, TEXT);
	pass_header(&m);
	read_record(&m, &r);
	assert_int_equal(memmem(r.bytes, r.len, TEXT, strlen(TEXT)) != NULL, level_of(state) == ZSEAL_INTEGRITY);
	pass_record(&m, &r);
	assert_int_equal(receive(m.b, &t, 1), 0);
	assert_string_equal(t.last, TEXT);
	end(&m);
}

static void no_bit_can_be_changed(void **state)
{
	size_t len = 1;
	for (size_t at = 0; at < len; at++) {
		struct middle m;
		struct record r;
		struct taken t = {0};
		begin(&m, level_of(state), 0);
		send_text(m.a, TEXT);
		pass_header(&m);
		read_record(&m, &r);
		len = r.len;
		r.bytes[at] ^= (uint8_t)(1u << at % 8);
		pass_record(&m, &r);
		/* another length may leave bytes that have not come */
		int rc = rest(&m, &t);
		assert_true(rc == -EBADMSG || (at < 4 && rc == -ECONNRESET));
		end(&m);
	}
	assert_int_equal(len, AROUND_BYTES + ZWIRE_ENV_BYTES + strlen(TEXT));
}

static void the_header_cannot_be_changed(void **state)
{
	struct middle m;
	struct record r;
	struct taken t = {0};
	uint8_t header[ZSEAL_HEADER_BYTES];
	begin(&m, level_of(state), 0);
	send_text(m.a, TEXT);
	read_all(m.from_a, header, sizeof(header));
	header[7] ^= 1;
	pass(&m, header, sizeof(header));
	read_record(&m, &r);
	pass_record(&m, &r);
	assert_int_equal(rest(&m, &t), -EBADMSG);
	assert_non_null(strstr(zlink_why(-EBADMSG), "changed on the way"));
	end(&m);
}

static void no_record_comes_twice(void **state)
{
	struct middle m;
	struct record r;
	struct taken t = {0};
	begin(&m, level_of(state), 0);
	send_text(m.a, TEXT);
	pass_header(&m);
	read_record(&m, &r);
	pass_record(&m, &r);
	assert_int_equal(receive(m.b, &t, 1), 0);
	pass_record(&m, &r);
	assert_int_equal(rest(&m, &t), -EBADMSG);
	end(&m);
}

static void none_is_left_out_or_moved(void **state)
{
	for (int moved = 0; moved < 2; moved++) {
		struct middle m;
		struct record first, second;
		struct taken t = {0};
		begin(&m, level_of(state), 0);
		send_text(m.a, TEXT);
		send_text(m.a, "second");
		pass_header(&m);
		read_record(&m, &first);
		read_record(&m, &second);
		pass_record(&m, &second);
		if (moved)
			pass_record(&m, &first);
		assert_int_equal(rest(&m, &t), -EBADMSG);
		end(&m);
	}
}

static void a_cut_shows(void **state)
{
	for (int cut = 0; cut < 3; cut++) {
		struct middle m;
		struct record r, last;
		struct taken t = {0};
		begin(&m, level_of(state), 0);
		send_text(m.a, TEXT);
		m.a->ops->close(m.a);
		m.a = NULL;
		pass_header(&m);
		read_record(&m, &r);
		read_record(&m, &last);
		pass_record(&m, &r);
		assert_int_equal(receive(m.b, &t, 1), 0);
		if (cut < 2)
			pass(&m, last.bytes, last.len - (size_t)cut);
		assert_int_equal(rest(&m, &t), cut == 0 ? -ESHUTDOWN : -ECONNRESET);
		end(&m);
	}
}

static void nothing_follows_the_last_record(void **state)
{
	struct middle m;
	struct record r, last;
	struct taken t = {0};
	begin(&m, level_of(state), 0);
	send_text(m.a, TEXT);
	m.a->ops->close(m.a);
	m.a = NULL;
	pass_header(&m);
	read_record(&m, &r);
	read_record(&m, &last);
	pass_record(&m, &r);
	pass_record(&m, &last);
	pass_record(&m, &r);
	assert_int_equal(receive(m.b, &t, 1), 0);
	assert_int_equal(rest(&m, &t), -EBADMSG);
	end(&m);
}

/* The stream of another connection of the same session, and the stream of the other direction. */
static void streams_are_not_interchanged(void **state)
{
	struct middle m, other;
	struct record r;
	struct taken t = {0};
	begin(&m, level_of(state), 0);
	begin(&other, level_of(state), 1);
	send_text(m.a, TEXT);
	pass_header(&(struct middle){.from_a = m.from_a, .to_b = other.to_b});
	read_record(&m, &r);
	pass_record(&other, &r);
	assert_int_equal(rest(&other, &t), -EBADMSG);
	end(&other);
	begin(&other, level_of(state), 0);
	send_text(other.a, TEXT);
	pass_header(&(struct middle){.from_a = other.from_a, .to_b = other.from_a});
	read_record(&other, &r);
	pass_record(&(struct middle){.to_b = other.from_a}, &r);
	assert_int_equal(receive(other.a, &t, 1), -EBADMSG);
	end(&other);
	end(&m);
}

/* A clear message is none, whatever it says. */
static void a_clear_message_is_none(void **state)
{
	struct middle m;
	struct taken t = {0};
	uint8_t raw[ZWIRE_ENV_BYTES];
	const struct zwire_env env = {.kind = ZWIRE_BYE};
	begin(&m, level_of(state), 0);
	zwire_encode(raw, &env);
	pass(&m, raw, sizeof(raw));
	assert_int_equal(rest(&m, &t), -EBADMSG);
	end(&m);
}

static enum zseal_level integrity = ZSEAL_INTEGRITY, encrypt = ZSEAL_ENCRYPT;

#define BOTH(f)                                                                                                        \
	{#f " (integrity)", f, NULL, NULL, &integrity},                                                                \
	{                                                                                                              \
#f " (encrypt)", f, NULL, NULL, &encrypt                                                               \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(shows_what_is_not_encrypted),
		BOTH(no_bit_can_be_changed),
		BOTH(the_header_cannot_be_changed),
		BOTH(no_record_comes_twice),
		BOTH(none_is_left_out_or_moved),
		BOTH(a_cut_shows),
		BOTH(nothing_follows_the_last_record),
		BOTH(streams_are_not_interchanged),
		BOTH(a_clear_message_is_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

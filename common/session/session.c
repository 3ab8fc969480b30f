/* SPDX-License-Identifier: BSD-3-Clause */
/* The peers' side of the control protocol, see session.h. Blocking calls sleep on the link's descriptor; a message that
 * comes while another one is waited for is kept for zsession_poll. */
#include "common/session/session_parts.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/transport/transports.h"

#define SEND_BYTES 2048	     /* most messages fit: JOIN with 511 bytes of part names */
#define QUIT_MS 50	     /* for the last word to a zipperd that may be gone: it also sees us go */
#define CLOSE_LINGER_MS 1000 /* how long close waits for zipperd to have read the BYE */
#define ASK_SHARE 4	     /* zipperd is asked when this part of the limit has passed without a word */
#define AWAY_MS 5000	     /* who has not watched for so long may not have seen the answer yet */

/* deadline < 0: none. Returns 0 (look again) or -ETIMEDOUT. */
static int sleep_half(struct zlink *link, enum zlink_half half, int64_t deadline)
{
	int64_t left = -1;
	if (deadline >= 0) {
		left = deadline - zclock_ms();
		if (left <= 0)
			return -ETIMEDOUT;
	}
	int rc = link->ops->arm(link, half);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	uint32_t events = 0;
	struct pollfd pfd = {.fd = link->ops->fd(link, half, &events)};
	pfd.events = (short)events; /* EPOLLIN and EPOLLOUT have the values of POLLIN and POLLOUT */
	poll(&pfd, 1, (int)left);
	return 0;
}

static int send_env(struct zlink *link, const struct zwire_env *env, const void *payload, int64_t deadline)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	zwire_encode(raw, env);
	bool posted = false;
	for (;;) {
		int rc = 0;
		if (!posted)
			rc = link->ops->post(link, raw, payload, env->len);
		if (rc == 0) {
			posted = true;
			rc = link->ops->flush(link);
		}
		if (rc != -EAGAIN)
			return rc;
		rc = sleep_half(link, ZLINK_TX, deadline);
		if (rc != 0)
			return rc;
	}
}

int zsession_send(struct zlink *link, const struct zctl_msg *msg, int64_t deadline)
{
	struct zwire_env env = {.kind = ZWIRE_CTRL, .src = ZWIRE_NOBODY, .dst = ZWIRE_NOBODY};
	uint8_t small[SEND_BYTES], *buf = small;
	int rc = zctl_encode(small, sizeof(small), msg);
	if (rc == -EMSGSIZE) { /* CREATE with a map */
		buf = malloc(ZWIRE_MAX_PAYLOAD);
		rc = buf ? zctl_encode(buf, ZWIRE_MAX_PAYLOAD, msg) : -ENOMEM;
	}
	if (rc >= 0) {
		env.len = (uint32_t)rc;
		rc = send_env(link, &env, buf, deadline);
	}
	if (buf != small)
		free(buf);
	return rc;
}

static int take(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct zsession *s = ctx;
	(void)raw;
	if (env->kind == ZWIRE_BYE)
		return 0;
	if (env->kind != ZWIRE_CTRL)
		return zerr_set(&s->bad, -EPROTO, "it sent %s where control messages belong",
			zwire_kind_name(env->kind));
	struct zsession_inbox *in = calloc(1, sizeof(*in));
	if (!in)
		return zerr_set(&s->bad, -ENOMEM, "out of memory");
	int rc = zctl_decode(&in->msg, payload, env->len, &s->bad);
	if (rc != 0) {
		free(in);
		return rc;
	}
	s->heard_ms = zclock_ms();
	s->asked_ms = 0;
	if (in->msg.type == ZCTL_PING) {
		free(in);
		return 0;
	}
	*s->tail = in;
	s->tail = &in->next;
	return 0;
}

/* 1: a message is in the inbox; 0: none; negative: the link is broken and the inbox empty. */
static int fill(struct zsession *s)
{
	struct zsink sink = {.take = take, .ctx = s};
	int rc = s->head ? 1 : s->link->ops->poll(s->link, &sink, 16);
	if (s->head)
		return 1;
	return rc < 0 && rc != -EAGAIN ? rc : 0;
}

int zsession_broken(struct zsession *s, int rc, struct zerr *err)
{
	if (s->bad.text[0])
		return zerr_set(err, rc, "%s: %s", s->where, s->bad.text);
	if (rc == -ESHUTDOWN)
		return zerr_set(err, rc, "%s closed the connection", s->where);
	if (rc == -ETIMEDOUT)
		return zerr_set(err, rc, "%s does not answer", s->where);
	return zerr_set(err, rc, "connection to %s is broken: %s", s->where, strerror(-rc));
}

static void pop(struct zsession *s, struct zsession_inbox **at, struct zctl_msg *msg)
{
	struct zsession_inbox *in = *at;
	*at = in->next;
	if (!in->next)
		s->tail = at;
	*msg = in->msg;
	free(in);
}

void zsession_drop_inbox(struct zsession *s)
{
	struct zctl_msg msg;
	while (s->head) {
		pop(s, &s->head, &msg);
		zctl_free(&msg);
	}
}

/* Waits for a message of this type, which the caller frees. What zipperd says of its own accord stays in the inbox;
 * ERROR and, for a rank that waits for its world, DEAD are the answer too. */
static int expect(struct zsession *s, uint16_t type, struct zctl_msg *msg, int64_t deadline, struct zerr *err)
{
	struct zsink sink = {.take = take, .ctx = s};
	for (struct zsession_inbox **at = &s->head;;) {
		if (!*at) {
			/* One at a time: behind the last answer may come what is not for the session. */
			int rc = s->link->ops->poll(s->link, &sink, 1);
			if (*at)
				continue;
			if (rc == 0 || rc == -EAGAIN)
				rc = sleep_half(s->link, ZLINK_RX, deadline);
			if (rc < 0)
				return zsession_broken(s, rc, err);
			continue;
		}
		uint16_t got = (*at)->msg.type;
		if (got == type) {
			pop(s, at, msg);
			return 0;
		}
		if (got == ZCTL_ERROR) {
			pop(s, at, msg);
			int code = msg->u.error.code > 0 ? -msg->u.error.code : -EPROTO;
			return zerr_set(err, code, "%s", msg->u.error.text);
		}
		if (got == ZCTL_DEAD && type == ZCTL_WORLD) {
			pop(s, at, msg);
			return zerr_set(err, -ECANCELED, "%s", msg->u.dead.text);
		}
		if (got != ZCTL_EVENT && got != ZCTL_OPEN && got != ZCTL_DEAD)
			return zerr_set(err, -EPROTO, "%s: unexpected control message (type %u instead of %u)",
				s->where, got, type);
		at = &(*at)->next;
	}
}

int zsession_request(struct zsession *s, const struct zctl_msg *out, uint16_t type, struct zctl_msg *in, bool forever,
	struct zerr *err)
{
	int64_t deadline = zclock_ms() + s->timeout_ms;
	int rc = zsession_send(s->link, out, deadline);
	/* A broken pipe may be the end of a connection that zipperd closed with a reason: read that first. */
	if (rc != 0 && rc != -EPIPE && rc != -ECONNRESET)
		return zsession_broken(s, rc, err);
	return expect(s, type, in, forever ? -1 : deadline, err);
}

static int greet(struct zsession *s, const struct zsession_params *p, enum zctl_service service, struct zerr *err)
{
	struct zctl_msg hello = {.type = ZCTL_HELLO}, proof = {.type = ZCTL_PROOF}, in;
	hello.u.hello.service = (uint8_t)service;
	memcpy(hello.u.hello.user, p->user, sizeof(p->user));
	memcpy(hello.u.hello.job, p->job, sizeof(p->job));
	p->auth->random(hello.u.hello.nonce, sizeof(hello.u.hello.nonce));
	int rc = zsession_request(s, &hello, ZCTL_CHALLENGE, &in, false, err);
	if (rc != 0)
		return rc;
	struct zctl_challenge challenge = in.u.challenge;
	p->auth->prove(proof.u.proof.mac, p->key, ZAUTH_ASKS, &hello.u.hello, &challenge);
	rc = zsession_request(s, &proof, ZCTL_PROOF, &in, false, err);
	if (rc != 0)
		return rc;
	if (p->auth->check(in.u.proof.mac, p->key, ZAUTH_ANSWERS, &hello.u.hello, &challenge) != 0)
		return zerr_set(err, -EACCES, "%s does not know the key of user %s", s->where, p->user);
	return 0;
}

/* "zipperd at tcp:10.1.0.1:7474" */
void zsession_name(char *where, size_t cap, const char *who, const struct zaddr *zipper)
{
	size_t used = (size_t)snprintf(where, cap, "%.40s at ", who ? who : "zipperd");
	zaddr_format(zipper, where + used, cap - used);
}

void zsession_fill_reach(struct zctl_reach *r, const struct zhop *hop, const struct zaddr *addr)
{
	memcpy(r->from, hop->from, sizeof(r->from));
	memcpy(r->to, hop->to, sizeof(r->to));
	zaddr_format(addr, r->address, sizeof(r->address));
}

int zsession_connect(struct zlink **link, const struct zaddr *zipper, const char *who, bool settled_later,
	int timeout_ms, char *where, size_t cap, struct zerr *err)
{
	zsession_name(where, cap, who, zipper);
	const struct ztransport *t = ztransports_find(zipper->kind, err);
	if (!t)
		return -EPROTONOSUPPORT;
	int rc = settled_later && t->connect_plain ? t->connect_plain(link, zipper, timeout_ms, err)
						   : t->connect(link, zipper, timeout_ms, err);
	return rc == 0 ? 0 : zerr_prefix(err, rc, "%.40s", who ? who : "zipperd"); /* the reason says where */
}

/* The zipperd at the end of the link connects us to the next one: from then on it is that one which is there. */
static int reach(struct zsession *s, const struct zhop *hop, uint8_t pass[ZCTL_TOKEN_BYTES], const struct zaddr *addr,
	struct zerr *err)
{
	struct zctl_msg out = {.type = ZCTL_REACH}, in;
	zsession_fill_reach(&out.u.reach, hop, addr);
	int rc = zsession_request(s, &out, ZCTL_REACHED, &in, false, err);
	if (rc != 0)
		return rc;
	memcpy(pass, in.u.reached.pass, ZCTL_TOKEN_BYTES);
	zsession_name(s->where, sizeof(s->where), NULL, addr);
	return 0;
}

/* Control needs no queue pairs. */
static void plain_address(struct zaddr *out, const struct zaddr *addr)
{
	if (!zaddr_tcp(addr, out))
		*out = *addr;
}

static int pass_hops(struct zsession *s, const struct zsession_params *p, struct zerr *err)
{
	int rc = 0;
	for (int i = 0; rc == 0 && i < p->nhops; i++) {
		struct zaddr addr;
		uint8_t pass[ZCTL_TOKEN_BYTES];
		plain_address(&addr, &p->hops[i].addr);
		rc = greet(s, p, ZCTL_SERVICE_CIRCUIT, err);
		if (rc == 0)
			rc = reach(s, &p->hops[i], p->passes ? p->passes[i] : pass, &addr, err);
	}
	return rc;
}

int zsession_open(struct zsession **out, const struct zsession_params *p, enum zctl_service service, struct zerr *err)
{
	*out = NULL;
	struct zsession *s = calloc(1, sizeof(*s));
	if (!s)
		return zerr_set(err, -ENOMEM, "out of memory");
	s->tail = &s->head;
	s->timeout_ms = p->timeout_ms;
	struct zaddr zipper = p->zipper;
	if (!p->settled_later)
		plain_address(&zipper, &p->zipper);
	int rc = zsession_connect(&s->link, &zipper, p->who, p->settled_later, p->timeout_ms, s->where,
		sizeof(s->where), err);
	if (rc != 0)
		goto err_free;
	if (service == ZCTL_SERVICE_RANK && s->link->ops->guard)
		s->link->ops->guard(s->link);
	rc = pass_hops(s, p, err);
	if (rc == 0)
		rc = greet(s, p, service, err);
	if (rc != 0)
		goto err_close;
	*out = s;
	return 0;

err_close:
	s->link->ops->close(s->link);
err_free:
	zsession_drop_inbox(s);
	free(s);
	return rc;
}

int zsession_join(struct zsession *s, const struct zctl_join *join, struct zctl_world *world, struct zerr *err)
{
	struct zctl_msg out = {.type = ZCTL_JOIN}, in;
	out.u.join = *join;
	int rc = zsession_request(s, &out, ZCTL_WORLD, &in, true, err);
	if (rc == 0)
		*world = in.u.world; /* its lists change hands */
	return rc;
}

int zsession_create(struct zsession *s, const struct zctl_create *create, struct zerr *err)
{
	struct zctl_msg out = {.type = ZCTL_CREATE}, in;
	out.u.create = *create;
	return zsession_request(s, &out, ZCTL_CREATED, &in, false, err);
}

int zsession_stats(struct zsession *s, struct zctl_stats_reply *stats, struct zerr *err)
{
	struct zctl_msg out = {.type = ZCTL_STATS}, in;
	int rc = zsession_request(s, &out, ZCTL_STATS_REPLY, &in, false, err);
	if (rc == 0)
		*stats = in.u.stats;
	return rc;
}

/* ABORT or QUIT. */
static int say_end(struct zsession *s, uint16_t type, uint32_t code, const char *text, int timeout_ms)
{
	struct zctl_msg out = {.type = type};
	out.u.dead.code = code;
	out.u.dead.part = ZWIRE_NOBODY; /* zipperd knows who we are */
	strncpy(out.u.dead.text, text, ZCTL_TEXT_MAX);
	return zsession_send(s->link, &out, zclock_ms() + timeout_ms);
}

int zsession_abort(struct zsession *s, uint32_t code, const char *text)
{
	return say_end(s, ZCTL_ABORT, code, text, s->timeout_ms);
}

void zsession_quit(struct zsession *s, const char *why)
{
	if (!s)
		return;
	say_end(s, ZCTL_QUIT, 1, why, QUIT_MS);
	zsession_drop_inbox(s);
	s->link->ops->close(s->link);
	free(s);
}

int zsession_watch(struct zsession *s, int64_t limit_ms, struct zerr *err)
{
	const struct zctl_msg ping = {.type = ZCTL_PING};
	int64_t now = zclock_ms();
	bool away = now - s->watched_ms > AWAY_MS;

	s->watched_ms = now;
	if (limit_ms == 0)
		return 0;
	if (s->asked_ms == 0 && now - s->heard_ms >= limit_ms / ASK_SHARE) {
		s->asked_ms = now;
		/* A full link is no answer either, and a broken one shows when it is polled. */
		zsession_send(s->link, &ping, now + QUIT_MS);
	} else if (s->asked_ms != 0 && away) {
		s->asked_ms = now;
	}
	if (s->asked_ms == 0 || now - s->asked_ms < limit_ms)
		return 0;
	return zerr_set(err, -ETIMEDOUT, "%s has not answered for %lld s", s->where,
		(long long)(now - s->asked_ms) / 1000);
}

int zsession_direct(struct zsession *s, enum zctl_direct_what what, uint32_t vrank, uint32_t endpoint)
{
	struct zctl_msg out = {.type = ZCTL_DIRECT};
	out.u.direct.what = (uint8_t)what;
	out.u.direct.vrank = vrank;
	out.u.direct.endpoint = endpoint;
	return zsession_send(s->link, &out, zclock_ms() + s->timeout_ms);
}

int zsession_traffic(struct zsession *s, const struct zctl_traffic *traffic)
{
	struct zctl_msg out = {.type = ZCTL_TRAFFIC};
	out.u.traffic = *traffic;
	return zsession_send(s->link, &out, zclock_ms() + s->timeout_ms);
}

int zsession_meet(struct zsession *s, const struct zctl_meet *meet, struct zerr *err)
{
	struct zctl_msg out = {.type = ZCTL_MEET};
	out.u.meet = *meet;
	int rc = zsession_send(s->link, &out, zclock_ms() + s->timeout_ms);
	return rc == 0 ? 0 : zsession_broken(s, rc, err);
}

int zsession_poll(struct zsession *s, struct zctl_msg *msg, struct zerr *err)
{
	int rc = fill(s);
	if (rc < 0)
		return zsession_broken(s, rc, err);
	if (rc > 0)
		pop(s, &s->head, msg);
	return rc;
}

int zsession_fd(const struct zsession *s, uint32_t *events)
{
	return s->link->ops->fd(s->link, ZLINK_RX, events);
}

int zsession_arm(struct zsession *s)
{
	return s->head ? 1 : s->link->ops->arm(s->link, ZLINK_RX);
}

struct zlink *zsession_release(struct zsession *s)
{
	struct zlink *link = s->link;
	zsession_drop_inbox(s);
	free(s);
	return link;
}

void zsession_close(struct zsession *s)
{
	if (!s)
		return;
	/* Closing with something unread would reset a TCP connection and could take the BYE with it, which would
	 * look like our death. So zipperd closes first, and whatever comes before that is dropped. */
	struct zwire_env bye = {.kind = ZWIRE_BYE, .src = ZWIRE_NOBODY, .dst = ZWIRE_NOBODY};
	int64_t deadline = zclock_ms() + CLOSE_LINGER_MS;
	int rc = send_env(s->link, &bye, NULL, deadline);
	while (rc >= 0) {
		zsession_drop_inbox(s);
		rc = fill(s);
		if (rc == 0)
			rc = sleep_half(s->link, ZLINK_RX, deadline);
	}
	s->link->ops->close(s->link);
	free(s);
}

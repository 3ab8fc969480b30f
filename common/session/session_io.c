/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a session on its link, see session_io.h. */
#include "common/session/session_io.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/transport/transports.h"

#define SEND_BYTES 2048 /* most messages fit: JOIN with 511 bytes of part names */

int zsession_io_seal(struct zlink *link, struct zseal *with, const struct zauth_ops *auth, struct zerr *err)
{
	int rc = link->ops->seal ? link->ops->seal(link, with, err)
				 : zerr_set(err, -EOPNOTSUPP, "a connection over %s cannot be sealed", link->ops->name);
	auth->wipe(with, sizeof(*with));
	return rc;
}

/* deadline < 0: none. Returns 0 (look again) or -ETIMEDOUT. */
int zsession_io_sleep(struct zlink *link, enum zlink_half half, int64_t deadline)
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

int zsession_io_send_env(struct zlink *link, const struct zwire_env *env, const void *payload, int64_t deadline)
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
		rc = zsession_io_sleep(link, ZLINK_TX, deadline);
		if (rc != 0)
			return rc;
	}
}

static int send_as(struct zlink *link, uint32_t protocol, const struct zctl_msg *msg, int64_t deadline)
{
	struct zwire_env env = {.kind = ZWIRE_CTRL, .src = ZWIRE_NOBODY, .dst = ZWIRE_NOBODY};
	uint8_t small[SEND_BYTES], *buf = small;
	int rc = zctl_encode_as(small, sizeof(small), protocol, msg);
	if (rc == -EMSGSIZE) { /* CREATE with a map is longer */
		buf = malloc(ZWIRE_MAX_PAYLOAD);
		rc = buf ? zctl_encode_as(buf, ZWIRE_MAX_PAYLOAD, protocol, msg) : -ENOMEM;
	}
	if (rc >= 0) {
		env.len = (uint32_t)rc;
		rc = zsession_io_send_env(link, &env, buf, deadline);
	}
	if (buf != small)
		free(buf);
	return rc;
}

int zsession_io_send(struct zlink *link, const struct zctl_msg *msg, int64_t deadline)
{
	return send_as(link, 0, msg, deadline);
}

int zsession_io_say(struct zsession *s, const struct zctl_msg *msg, int64_t deadline)
{
	return send_as(s->link, s->protocol, msg, deadline);
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
	int rc = zctl_decode_as(&in->msg, payload, env->len, s->protocol, &s->bad);
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

/* Returns 1: a message is in the inbox; 0: there is none; negative: the link is broken and the inbox empty. */
int zsession_io_fill(struct zsession *s)
{
	struct zsink sink = {.take = take, .ctx = s};
	int rc = s->head ? 1 : s->link->ops->poll(s->link, &sink, 16);
	if (s->head)
		return 1;
	return rc < 0 && rc != -EAGAIN ? rc : 0;
}

int zsession_io_broken(struct zsession *s, int rc, struct zerr *err)
{
	if (s->bad.text[0])
		return zerr_set(err, rc, "%s: %s", s->where, s->bad.text);
	if (rc == -ESHUTDOWN)
		return zerr_set(err, rc, "%s closed the connection", s->where);
	if (rc == -ETIMEDOUT)
		return zerr_set(err, rc, "%s does not answer", s->where);
	return zerr_set(err, rc, "connection to %s is broken: %s", s->where, zlink_why(rc));
}

void zsession_io_pop(struct zsession *s, struct zsession_inbox **at, struct zctl_msg *msg)
{
	struct zsession_inbox *in = *at;
	*at = in->next;
	if (!in->next)
		s->tail = at;
	*msg = in->msg;
	free(in);
}

void zsession_io_drop(struct zsession *s)
{
	struct zctl_msg msg;
	while (s->head) {
		zsession_io_pop(s, &s->head, &msg);
		zctl_free(&msg);
	}
}

/* Waits for a message of this type, which the caller frees. Messages that zipperd sends of its own accord stay in the
 * inbox. ERROR is also an answer, and so is DEAD for a rank that waits for its world. */
static int expect(struct zsession *s, uint16_t type, struct zctl_msg *msg, int64_t deadline, struct zerr *err)
{
	/* Before it has proved who it is, a peer may say nothing else. */
	const bool greeting = type == ZCTL_CHALLENGE || type == ZCTL_PROOF || type == ZCTL_REACHED;
	struct zsink sink = {.take = take, .ctx = s};
	for (struct zsession_inbox **at = &s->head;;) {
		if (!*at) {
			if (deadline >= 0 && zclock_ms() >= deadline) /* a peer that says much may answer nothing */
				return zsession_io_broken(s, -ETIMEDOUT, err);
			/* One at a time: bytes behind the last answer may not be for the session. */
			int rc = s->link->ops->poll(s->link, &sink, 1);
			if (*at)
				continue;
			if (rc == 0 || rc == -EAGAIN)
				rc = zsession_io_sleep(s->link, ZLINK_RX, deadline);
			if (rc < 0)
				return zsession_io_broken(s, rc, err);
			continue;
		}
		uint16_t got = (*at)->msg.type;
		if (got == type) {
			zsession_io_pop(s, at, msg);
			return 0;
		}
		if (got == ZCTL_ERROR) {
			zsession_io_pop(s, at, msg);
			int code = msg->u.error.code > 0 ? -msg->u.error.code : -EPROTO;
			return zerr_set(err, code, "%s", msg->u.error.text);
		}
		if (got == ZCTL_DEAD && type == ZCTL_WORLD) {
			zsession_io_pop(s, at, msg);
			return zerr_set(err, -ECANCELED, "%s", msg->u.dead.text);
		}
		if (greeting || (got != ZCTL_EVENT && got != ZCTL_OPEN && got != ZCTL_DEAD))
			return zerr_set(err, -EPROTO, "%s: unexpected control message (type %u instead of %u)",
				s->where, got, type);
		at = &(*at)->next;
	}
}

int zsession_io_request(struct zsession *s, const struct zctl_msg *out, uint16_t type, struct zctl_msg *in,
	bool forever, struct zerr *err)
{
	int64_t deadline = zclock_ms() + s->timeout_ms;
	int rc = zsession_io_say(s, out, deadline);
	/* A broken pipe may be the end of a connection that zipperd closed with a reason. Read that first. */
	if (rc != 0 && rc != -EPIPE && rc != -ECONNRESET)
		return zsession_io_broken(s, rc, err);
	return expect(s, type, in, forever ? -1 : deadline, err);
}

/* "zipperd at tcp:10.1.0.1:7474" */
void zsession_io_name(char *where, size_t cap, const char *who, const struct zaddr *zipper)
{
	size_t used = (size_t)snprintf(where, cap, "%.40s at ", who ? who : "zipperd");
	zaddr_format(zipper, where + used, cap - used);
}

void zsession_io_fill_reach(struct zctl_reach *r, const struct zhop *hop, const struct zaddr *addr, uint32_t share)
{
	r->share = share;
	memcpy(r->from, hop->from, sizeof(r->from));
	memcpy(r->to, hop->to, sizeof(r->to));
	struct zaddr there = *addr;
	/* The TCP address of an RDMA device stands for the device, whose connections are not sealed. */
	if (zaddr_traits(&hop->addr)->by_device && !zaddr_traits(addr)->by_device)
		there.seal = 1 + ZSEAL_NONE;
	zaddr_format(&there, r->address, sizeof(r->address));
}

int zsession_io_connect(struct zlink **link, const struct zaddr *zipper, const char *who, bool settled_later,
	int timeout_ms, char *where, size_t cap, struct zerr *err)
{
	zsession_io_name(where, cap, who, zipper);
	const struct ztransport *t = ztransports_find(zipper->kind, err);
	if (!t)
		return -EPROTONOSUPPORT;
	int rc = settled_later && t->connect_plain ? t->connect_plain(link, zipper, timeout_ms, err)
						   : t->connect(link, zipper, timeout_ms, err);
	return rc == 0 ? 0 : zerr_prefix(err, rc, "%.40s", who ? who : "zipperd"); /* the reason names the place */
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Data channels and direct links, see session_attach.h. */
#include "common/session/session_attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/session/session_io.h"
#include "common/transport/transports.h"

/* Settles the link to the caller's endpoint before anything is said: our next message lets the other end settle its
 * side. Where the link can only be settled later it stays as it is. */
static int settle(struct zlink *link, struct zendpoint **own, struct zerr *err)
{
	int rc = 0;
	if (!own || !link->ops->settle)
		return 0;
	if (!*own)
		rc = link->ops->endpoint_open(own, err);
	if (rc == 0)
		rc = link->ops->settle(link, *own, *own, err);
	if (rc < 0)
		link->ops->close(link);
	return rc < 0 ? rc : 0;
}

static void fill_hello(struct zctl_msg *msg, const struct zsession_way *way, enum zctl_service service)
{
	*msg = (struct zctl_msg){.type = ZCTL_HELLO};
	msg->u.hello.protocol = way->protocol;
	msg->u.hello.service = (uint8_t)service;
	strncpy(msg->u.hello.user, way->user, ZCTL_NAME_MAX);
	strncpy(msg->u.hello.job, way->job, ZCTL_NAME_MAX);
}

/* Behind a message that zipperd takes: the link changes to sealed records. salt: of that message. */
static int seal(struct zlink *link, const struct zauth_ops *auth, uint8_t level, const uint8_t *key,
	const uint8_t salt[ZCTL_MAC_BYTES], const char *where, struct zerr *err)
{
	struct zseal with;
	auth->seal(&with, level, key, ZAUTH_ASKS, salt);
	int rc = zsession_io_seal(link, &with, auth, err);
	return rc == 0 ? 0 : zerr_prefix(err, rc, "%s", where);
}

/* Goes on to the next zipperd, as reach in session.c. A data channel proves that it has the pass. */
static int pass_on(struct zsession *s, const struct zsession_way *way, const struct zctl_attach *a, int i,
	struct zerr *err)
{
	struct zctl_msg hello, out = {.type = ZCTL_REACH}, in;
	fill_hello(&hello, way, ZCTL_SERVICE_WAY);
	/* The zipperd says no more and no less than to the control connection, which knows what is wanted. */
	hello.u.hello.seal = i > 0 ? ZSEAL_INSIDE : (uint8_t)zaddr_seal(way->zipper, ZSEAL_NONE);
	way->auth->random(hello.u.hello.nonce, sizeof(hello.u.hello.nonce));
	int rc = zsession_io_request(s, &hello, ZCTL_CHALLENGE, &in, false, err);
	if (rc != 0)
		return rc;
	const struct zctl_challenge challenge = in.u.challenge;
	if (i == 0 ? challenge.seal != way->seal : challenge.seal != ZSEAL_NONE)
		return zerr_set(err, -EPROTO, "%s protects this connection otherwise than the one before", s->where);
	const bool shares = i == way->nhops - 1 && zctl_protocol(&hello.u.hello) >= ZCTL_PROTOCOL_TRUNKS;
	zsession_io_fill_reach(&out.u.reach, &way->hops[i], &way->hops[i].addr,
		shares ? zctl_share(a->part, a->track) : 0);
	memcpy(out.u.reach.pass, way->passes[i].name, ZCTL_TOKEN_BYTES);
	way->auth->way(out.u.reach.mac, way->passes[i].key, &hello.u.hello, &challenge, &out.u.reach);
	rc = zsession_io_request(s, &out, ZCTL_REACHED, &in, false, err);
	if (rc == 0 && challenge.seal != ZSEAL_NONE)
		rc = seal(s->link, way->auth, challenge.seal, way->passes[i].key, out.u.reach.mac, s->where, err);
	if (rc == 0)
		zsession_io_name(s->where, sizeof(s->where), NULL, &way->hops[i].addr);
	return rc;
}

/* Passes all zipperds on the way, and attaches at the last one. The link stays the caller's, whatever happens. */
static int attach(struct zlink *link, const struct zsession_way *way, const struct zctl_attach *a, const char *where,
	int timeout_ms, struct zerr *err)
{
	struct zsession s = {.link = link, .timeout_ms = timeout_ms, .protocol = way->protocol};
	struct zctl_msg hello, msg = {.type = ZCTL_ATTACH};
	int rc = 0;
	s.tail = &s.head;
	snprintf(s.where, sizeof(s.where), "%s", where);
	for (int i = 0; rc == 0 && i < way->nhops; i++)
		rc = pass_on(&s, way, a, i, err);
	zsession_io_drop(&s);
	if (rc != 0)
		return rc;
	int64_t deadline = zclock_ms() + timeout_ms;
	fill_hello(&hello, way, ZCTL_SERVICE_DATA);
	msg.u.attach = *a;
	if (zctl_protocol(&hello.u.hello) >= 2)
		msg.u.attach.seal = way->nhops > 0 ? ZSEAL_INSIDE : (uint8_t)way->seal;
	way->auth->random(msg.u.attach.nonce, sizeof(msg.u.attach.nonce));
	way->auth->ticket(msg.u.attach.ticket, way->key, ZAUTH_CHANNEL, &msg.u.attach);
	rc = zsession_io_say(&s, &hello, deadline);
	if (rc == 0)
		rc = zsession_io_say(&s, &msg, deadline);
	if (rc != 0)
		return zerr_set(err, rc, "%s: cannot attach: %s", s.where, strerror(-rc));
	if (way->nhops > 0 || way->seal == ZSEAL_NONE)
		return 0;
	return seal(link, way->auth, way->seal, way->key, msg.u.attach.ticket, s.where, err);
}

int zsession_attach_to(struct zlink **out, const struct zsession_way *way, const struct zctl_attach *a,
	struct zendpoint **own, int timeout_ms, struct zerr *err)
{
	char where[320];
	int rc = zsession_io_connect(out, way->zipper, NULL, own != NULL, timeout_ms, where, sizeof(where), err);
	if (rc != 0)
		return rc;
	rc = settle(*out, own, err);
	if (rc != 0) {
		*out = NULL;
		return zerr_prefix(err, rc, "cannot connect to %s", where);
	}
	rc = attach(*out, way, a, where, timeout_ms, err);
	if (rc != 0) {
		(*out)->ops->close(*out);
		*out = NULL;
	}
	return rc;
}

int zsession_attach_direct(struct zlink **out, const struct zaddr *addr, uint32_t protocol,
	const struct zctl_attach *attach, struct zendpoint **own, int timeout_ms, struct zerr *err)
{
	struct zctl_msg msg = {.type = ZCTL_ATTACH};
	const struct ztransport *t = ztransports_find(addr->kind, err);
	if (!t)
		return -EPROTONOSUPPORT;
	int64_t deadline = zclock_ms() + timeout_ms;
	int rc = own && t->connect_plain ? t->connect_plain(out, addr, timeout_ms, err)
					 : t->connect(out, addr, timeout_ms, err);
	if (rc == 0 && (rc = settle(*out, own, err)) != 0)
		*out = NULL;
	if (rc != 0)
		return rc;
	msg.u.attach = *attach;
	struct zsession s = {.link = *out, .protocol = protocol};
	rc = zsession_io_say(&s, &msg, deadline);
	if (rc != 0) {
		zerr_set(err, rc, "cannot attach: %s", strerror(-rc));
		(*out)->ops->close(*out);
		*out = NULL;
	}
	return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The peers' side of the control protocol, see session.h. */
#include "common/session/session.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "common/session/session_io.h"

/* For the last word to a zipperd that may be gone: zipperd also notices the end of the connection. */
#define QUIT_MS 50
#define CLOSE_LINGER_MS 1000 /* how long close waits for zipperd to have read the BYE */
#define ASK_SHARE 4	     /* zipperd is asked when this part of the limit has passed without a message */
#define AGAIN_MS 50	     /* zipperd has closed the connection for newer ones: until the next try */
#define AGAIN_MAX_MS 1000
#define AWAY_MS 5000 /* a caller that has not watched for so long may not have seen the answer yet */

const char *const zsession_node_choices[] = {"auto", "no", "yes", NULL}; /* enum zsession_node */

/* The link changes to sealed records, as zipperd does behind the same message. */
static int seal(struct zsession *s, const struct zauth_ops *auth, enum zseal_level level, struct zerr *err)
{
	struct zseal with;
	auth->seal(&with, level, s->key, ZAUTH_ASKS, NULL);
	int rc = zsession_io_seal(s->link, &with, auth, err);
	s->seal = level;
	return rc == 0 ? 0 : zerr_prefix(err, rc, "%s", s->where);
}

/* Is the protection that zipperd says what we want at the least? Behind hops the network of the connection is another
 * one's, and only the zipperds on the way can seal it. */
static int check_seal(const struct zsession *s, uint8_t wanted, uint8_t said, struct zerr *err)
{
	if (wanted == ZSEAL_INSIDE ? said == ZSEAL_NONE : said >= wanted && said < ZSEAL_LEVELS)
		return 0;
	return zerr_set(err, -EPROTO, "%s does not protect the connection as the word %s behind its address asks",
		s->where, wanted == ZSEAL_ENCRYPT ? "encrypt=yes" : "integrity=yes");
}

/* Its key opens what was recorded of its connections. */
static void free_session(struct zsession *s)
{
	zsession_io_drop(s);
	explicit_bzero(s, sizeof(*s));
	free(s);
}

static int prove(struct zctl_proof *out, const struct zsession_params *p, const struct zctl_hello *hello,
	const struct zctl_challenge *challenge, struct zerr *err)
{
	uint8_t payload[ZMUNGE_PAYLOAD_BYTES];
	p->auth->prove(out->mac, p->key, ZAUTH_ASKS, hello, challenge);
	if (!p->munge)
		return 0;
	memcpy(payload, p->key, ZAUTH_KEY_BYTES);
	memcpy(payload + ZAUTH_KEY_BYTES, out->mac, ZCTL_MAC_BYTES);
	memset(out->mac, 0, ZCTL_MAC_BYTES);
	int rc = p->munge->ops->encode(out->munge, p->munge->socket, p->munge->reader, payload, err);
	p->auth->wipe(payload, sizeof(payload));
	return rc;
}

/* wanted: the protection of the connection. */
static int greet(struct zsession *s, const struct zsession_params *p, enum zctl_service service, uint8_t wanted,
	struct zerr *err)
{
	struct zctl_msg hello = {.type = ZCTL_HELLO}, proof = {.type = ZCTL_PROOF}, in;
	hello.u.hello.protocol = s->protocol;
	hello.u.hello.service = (uint8_t)service;
	memcpy(hello.u.hello.user, p->user, sizeof(p->user));
	memcpy(hello.u.hello.job, p->job, sizeof(p->job));
	hello.u.hello.expires_s = p->expires_s;
	hello.u.hello.seal = wanted;
	hello.u.hello.method = p->munge ? ZCTL_METHOD_MUNGE : ZCTL_METHOD_KEY;
	if (p->munge && s->protocol < 2)
		return zerr_set(err, -EACCES, "%s is of a release without MUNGE: it wants a key", s->where);
	if (wanted != ZSEAL_NONE && wanted != ZSEAL_INSIDE && s->protocol < 2)
		return zerr_set(err, -EPROTO,
			"%s is of a release that cannot protect connections: /encrypt=no behind its address does "
			"without",
			s->where);
	p->auth->random(hello.u.hello.nonce, sizeof(hello.u.hello.nonce));
	int rc = zsession_io_request(s, &hello, ZCTL_CHALLENGE, &in, false, err);
	if (rc != 0)
		return rc;
	struct zctl_challenge challenge = in.u.challenge;
	rc = check_seal(s, wanted, challenge.seal, err);
	if (rc == 0)
		rc = prove(&proof.u.proof, p, &hello.u.hello, &challenge, err);
	if (rc != 0)
		return rc;
	rc = zsession_io_request(s, &proof, ZCTL_PROOF, &in, false, err);
	if (rc != 0)
		return rc;
	if (p->auth->check(in.u.proof.mac, p->key, ZAUTH_ANSWERS, &hello.u.hello, &challenge) != 0)
		return zerr_set(err, -EACCES, "%s does not know the key of user %s", s->where, p->user);
	p->auth->session(s->key, p->key, &hello.u.hello, &challenge);
	return challenge.seal == ZSEAL_NONE ? 0 : seal(s, p->auth, challenge.seal, err);
}

/* Of the first zipperd, or one behind it. */
static uint8_t wanted_seal(const struct zsession_params *p, int hop)
{
	return hop > 0 ? ZSEAL_INSIDE : (uint8_t)zaddr_seal(&p->zipper, ZSEAL_NONE);
}

/* Asks the zipperd at the end of the link to connect us to the next one, which is at the end of the link from then on.
 */
static int reach(struct zsession *s, const struct zhop *hop, bool last, struct zsession_pass *pass,
	const struct zaddr *addr, struct zerr *err)
{
	const uint32_t share = last && s->protocol >= ZCTL_PROTOCOL_TRUNKS ? ZCTL_SHARE_SESSIONS : 0;
	struct zctl_msg out = {.type = ZCTL_REACH}, in;
	zsession_io_fill_reach(&out.u.reach, hop, addr, share);
	int rc = zsession_io_request(s, &out, ZCTL_REACHED, &in, false, err);
	if (rc != 0)
		return rc;
	memcpy(pass->name, in.u.reached.pass, sizeof(pass->name));
	memcpy(pass->key, s->key, sizeof(pass->key));
	zsession_io_name(s->where, sizeof(s->where), NULL, addr);
	return 0;
}

/* The address for a control connection, which needs no queue pairs. */
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
		struct zsession_pass pass;
		plain_address(&addr, &p->hops[i].addr);
		rc = greet(s, p, ZCTL_SERVICE_CIRCUIT, wanted_seal(p, i), err);
		if (rc == 0)
			rc = reach(s, &p->hops[i], i == p->nhops - 1, p->passes ? &p->passes[i] : &pass, &addr, err);
		explicit_bzero(&pass, sizeof(pass));
	}
	return rc;
}

static int open_once(struct zsession **out, const struct zsession_params *p, uint32_t protocol,
	enum zctl_service service, struct zerr *err)
{
	*out = NULL;
	struct zsession *s = calloc(1, sizeof(*s));
	if (!s)
		return zerr_set(err, -ENOMEM, "out of memory");
	s->tail = &s->head;
	s->timeout_ms = p->timeout_ms;
	s->protocol = protocol;
	struct zaddr zipper = p->zipper;
	if (!p->settled_later)
		plain_address(&zipper, &p->zipper);
	int rc = zsession_io_connect(&s->link, &zipper, p->who, p->settled_later, p->timeout_ms, s->where,
		sizeof(s->where), err);
	if (rc != 0)
		goto err_free;
	if (service == ZCTL_SERVICE_RANK && s->link->ops->guard)
		s->link->ops->guard(s->link);
	rc = pass_hops(s, p, err);
	if (rc == 0)
		rc = greet(s, p, service, wanted_seal(p, p->nhops), err);
	if (rc != 0)
		goto err_close;
	*out = s;
	return 0;

err_close:
	s->link->ops->close(s->link);
err_free:
	free_session(s);
	return rc;
}

/* Tries again with the protocol before where a zipperd on the way does not speak ours. Anybody on the way can say so in
 * its place: each protocol from ZCTL_PROTOCOL_OLDEST on must be as safe as a user may expect. */
static int open_lower(struct zsession **out, const struct zsession_params *p, enum zctl_service service,
	struct zerr *err)
{
	int rc = open_once(out, p, ZCTL_PROTOCOL, service, err);
	const uint32_t oldest = service == ZCTL_SERVICE_TRUNK ? ZCTL_PROTOCOL_TRUNKS : ZCTL_PROTOCOL_OLDEST;
	for (uint32_t lower = ZCTL_PROTOCOL - 1; rc == -EPROTONOSUPPORT && lower >= oldest; lower--) {
		struct zerr again; /* else the first answer is the one to tell */
		rc = open_once(out, p, lower, service, &again);
		if (rc < 0 && rc != -EPROTONOSUPPORT && err)
			*err = again;
	}
	return rc;
}

const uint8_t *zsession_key(const struct zsession *s)
{
	return s->key;
}

enum zseal_level zsession_seal(const struct zsession *s)
{
	return s->seal;
}

uint32_t zsession_protocol(const struct zsession *s)
{
	return s->protocol;
}

/* The ranks of a large job may come all at once, and by way of another zipper from one address. Each waits for some
 * other time. */
static void wait_for_room(const struct zsession_params *p, int64_t ms)
{
	uint8_t part;
	p->auth->random(&part, 1);
	ms += ms * part / 256;
	const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	nanosleep(&t, NULL);
}

int zsession_open(struct zsession **out, const struct zsession_params *p, enum zctl_service service, struct zerr *err)
{
	const int64_t deadline = zclock_ms() + p->timeout_ms;
	int64_t again = AGAIN_MS;
	int rc;
	while ((rc = open_lower(out, p, service, err)) == -EAGAIN && zclock_ms() + 2 * again < deadline) {
		wait_for_room(p, again);
		again = 2 * again < AGAIN_MAX_MS ? 2 * again : AGAIN_MAX_MS;
	}
	return rc;
}

int zsession_join(struct zsession *s, const struct zctl_join *join, struct zctl_world *world, struct zerr *err)
{
	struct zctl_msg out = {.type = ZCTL_JOIN}, in;
	out.u.join = *join;
	int rc = zsession_io_request(s, &out, ZCTL_WORLD, &in, true, err);
	if (rc == 0)
		*world = in.u.world; /* the caller owns its lists now */
	return rc;
}

int zsession_ask_join(struct zsession *s, const struct zctl_join *join, struct zerr *err)
{
	struct zctl_msg out = {.type = ZCTL_JOIN};
	out.u.join = *join;
	int rc = zsession_io_say(s, &out, zclock_ms() + s->timeout_ms);
	return rc == 0 ? 0 : zsession_io_broken(s, rc, err);
}

int zsession_open_trunk(struct zlink **out, const struct zsession_params *p, const struct zctl_trunk *trunk,
	struct zerr *err)
{
	struct zsession *s;
	struct zctl_msg msg = {.type = ZCTL_TRUNK}, in;
	int rc = zsession_open(&s, p, ZCTL_SERVICE_TRUNK, err);
	if (rc != 0)
		return rc;
	msg.u.trunk = *trunk;
	rc = zsession_io_request(s, &msg, ZCTL_TRUNKED, &in, false, err);
	struct zlink *link = zsession_release(s);
	if (rc == 0)
		*out = link;
	else
		link->ops->close(link);
	return rc;
}

int zsession_create(struct zsession *s, const struct zctl_create *create, struct zerr *err)
{
	struct zctl_msg out = {.type = ZCTL_CREATE}, in;
	out.u.create = *create;
	return zsession_io_request(s, &out, ZCTL_CREATED, &in, false, err);
}

int zsession_stats(struct zsession *s, struct zctl_stats_reply *stats, struct zerr *err)
{
	struct zctl_msg out = {.type = ZCTL_STATS}, in;
	int rc = zsession_io_request(s, &out, ZCTL_STATS_REPLY, &in, false, err);
	if (rc == 0)
		*stats = in.u.stats;
	return rc;
}

int zsession_ask_stats(struct zsession *s)
{
	const struct zctl_msg out = {.type = ZCTL_STATS};
	return zsession_io_say(s, &out, zclock_ms() + QUIT_MS);
}

/* Says ABORT or QUIT. */
static int say_end(struct zsession *s, uint16_t type, uint32_t code, const char *text, int timeout_ms)
{
	struct zctl_msg out = {.type = type};
	out.u.dead.code = code;
	out.u.dead.part = ZWIRE_NOBODY; /* zipperd knows the rank's part */
	strncpy(out.u.dead.text, text, ZCTL_TEXT_MAX);
	return zsession_io_say(s, &out, zclock_ms() + timeout_ms);
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
	s->link->ops->close(s->link);
	free_session(s);
}

int zsession_ping(struct zsession *s, int64_t *ns, struct zerr *err)
{
	const struct zctl_msg ping = {.type = ZCTL_PING};
	const int64_t begin = zclock_ns(), deadline = zclock_ms() + s->timeout_ms;
	int rc = zsession_io_say(s, &ping, deadline);
	s->asked_ms = zclock_ms();
	while (rc == 0 && s->asked_ms != 0) /* until a message has come, which is the answer */
		if ((rc = zsession_io_fill(s)) == 0 && s->asked_ms != 0)
			rc = zsession_io_sleep(s->link, ZLINK_RX, deadline);
	*ns = zclock_ns() - begin;
	return rc < 0 ? zsession_io_broken(s, rc, err) : 0;
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
		zsession_io_say(s, &ping, now + QUIT_MS);
	} else if (s->asked_ms != 0 && away) {
		s->asked_ms = now;
	}
	if (s->asked_ms == 0 || now - s->asked_ms < limit_ms - limit_ms / ASK_SHARE)
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
	return zsession_io_say(s, &out, zclock_ms() + s->timeout_ms);
}

int zsession_traffic(struct zsession *s, const struct zctl_traffic *traffic)
{
	struct zctl_msg out = {.type = ZCTL_TRAFFIC};
	out.u.traffic = *traffic;
	return zsession_io_say(s, &out, zclock_ms() + s->timeout_ms);
}

int zsession_naming(struct zsession *s, const struct zctl_naming *question)
{
	struct zctl_msg out = {.type = ZCTL_NAMING};
	out.u.naming = *question;
	return zsession_io_say(s, &out, zclock_ms() + s->timeout_ms);
}

int zsession_state(struct zsession *s, enum zctl_state_what what, uint32_t code)
{
	struct zctl_msg out = {.type = ZCTL_STATE};
	out.u.state.what = (uint8_t)what;
	out.u.state.code = code;
	return zsession_io_say(s, &out, zclock_ms() + s->timeout_ms);
}

int zsession_meet(struct zsession *s, const struct zctl_meet *meet, struct zerr *err)
{
	struct zctl_msg out = {.type = ZCTL_MEET};
	out.u.meet = *meet;
	int rc = zsession_io_say(s, &out, zclock_ms() + s->timeout_ms);
	return rc == 0 ? 0 : zsession_io_broken(s, rc, err);
}

int zsession_poll(struct zsession *s, struct zctl_msg *msg, struct zerr *err)
{
	int rc = zsession_io_fill(s);
	if (rc < 0)
		return zsession_io_broken(s, rc, err);
	if (rc > 0)
		zsession_io_pop(s, &s->head, msg);
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
	free_session(s);
	return link;
}

void zsession_close(struct zsession *s)
{
	if (!s)
		return;
	/* Closing a TCP connection with unread data would reset it and could take the BYE with it, which would look
	 * like our death. So zipperd closes first, and all that comes before that is dropped. */
	struct zwire_env bye = {.kind = ZWIRE_BYE, .src = ZWIRE_NOBODY, .dst = ZWIRE_NOBODY};
	int64_t deadline = zclock_ms() + CLOSE_LINGER_MS;
	int rc = zsession_io_send_env(s->link, &bye, NULL, deadline);
	while (rc >= 0) {
		zsession_io_drop(s);
		rc = zsession_io_fill(s);
		if (rc == 0)
			rc = zsession_io_sleep(s->link, ZLINK_RX, deadline);
	}
	s->link->ops->close(s->link);
	free_session(s);
}

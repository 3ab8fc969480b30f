/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of connections, see request.h. */
#include "zipperd/control/request.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/base/log.h"
#include "zipperd/conn/capacity.h"
#include "zipperd/conn/conn_send.h"
#include "zipperd/conn/listener.h"
#include "zipperd/conn/protect.h"
#include "zipperd/conn/munger.h"
#include "zipperd/conn/quota.h"
#include "zipperd/control/admin.h"
#include "zipperd/control/status.h"
#include "zipperd/job/attach.h"
#include "zipperd/job/circuit.h"
#include "zipperd/job/hop.h"
#include "zipperd/job/job_direct.h"
#include "zipperd/job/job_ends.h"
#include "zipperd/job/job_join.h"
#include "zipperd/job/job_names.h"
#include "zipperd/job/job_stats.h"
#include "zipperd/job/launcher.h"
#include "zipperd/job/trunk_accept.h"

static const char wrong_time[] = "a control message at the wrong time";

static void on_hello(struct conn *conn, const struct zctl_hello *hello)
{
	struct daemon *d = conn->daemon;
	struct zerr err;
	uint32_t dropped;
	conn->hello = *hello;
	if (zctl_is_foreign(hello, &err)) {
		if (limit_pass(&d->bad_conn, d->now_ms, &dropped))
			zlog(ZLOG_WARN, "%s: speaks protocol %u (%s), not %d to %d: refused", conn->zlink->peer,
				hello->protocol, hello->release, ZCTL_PROTOCOL_OLDEST, ZCTL_PROTOCOL);
		conn_refuse(conn, EPROTONOSUPPORT, "%s", err.text);
		return;
	}
	if (conn->inner && hello->service != ZCTL_SERVICE_DATA && hello->service != ZCTL_SERVICE_RANK) {
		conn_refuse(conn, EINVAL, "streams of a trunk are for ranks");
		return;
	}
	if (hello->service == ZCTL_SERVICE_DATA) {
		conn->state = CONN_ATTACH;
		address_note(&conn->stranger, true);
		return;
	}
	if (hello->service == ZCTL_SERVICE_CAST) {
		conn_refuse(conn, EINVAL, "this is zipperd, not a node of zipcast");
		return;
	}
	if (!hello->user[0] || (!hello->job[0] && hello->service != ZCTL_SERVICE_ADMIN)) {
		conn_refuse(conn, EINVAL, "a user and a job must be named");
		return;
	}
	if (hello->method == ZCTL_METHOD_MUNGE && (!d->munger || hello->expires_s != 0)) {
		conn_refuse(conn, EACCES,
			"zipperd at %s takes no credentials of MUNGE, but keys (munge in zipperd.conf)",
			conn->listener->text);
		return;
	}
	struct zctl_msg msg = {.type = ZCTL_CHALLENGE};
	if (!protect_agree(conn, hello->seal, &conn->challenge.seal))
		return;
	zauth_module.random(conn->challenge.nonce, sizeof(conn->challenge.nonce));
	msg.u.challenge = conn->challenge;
	conn->state = CONN_PROOF;
	address_note(&conn->stranger, true);
	conn_send(conn, &msg);
}

/* Finds the key that the connection proves, and the end of the user's key. false: there is no such user. An unknown
 * user costs the same work and gets the same answer, so that nobody can find out who has a key here. The ranks of a job
 * whose launcher had no key have a credential that was made of the job's. */
static bool find_key(const struct conn *conn, uint8_t key[ZAUTH_KEY_BYTES], uint64_t *until_s)
{
	static const uint8_t no_key[ZAUTH_KEY_BYTES];
	const struct zctl_hello *hello = &conn->hello;
	if (node_key_find(&conn->daemon->node, hello, key)) {
		*until_s = 0;
		return true;
	}
	const struct job *j = hello->expires_s ? job_find(conn->daemon, hello->user, hello->job) : NULL;
	const uint8_t *known = keys_find(conn->daemon->keys, hello->user, until_s);
	if (j && j->has_secret) {
		known = j->secret;
		*until_s = 0;
	}
	memcpy(key, known ? known : no_key, ZAUTH_KEY_BYTES);
	if (hello->expires_s != 0)
		zauth_module.derive(key, known ? known : no_key, hello->user, hello->job, hello->expires_s);
	return known != NULL;
}

static bool is_over(uint64_t end_s)
{
	return end_s != 0 && (uint64_t)time(NULL) >= end_s;
}

/* A job credential serves ranks of its job alone, for a time. NULL, or what is wrong. */
static const char *check_credential(const struct zctl_hello *hello, uint64_t until_s)
{
	if (is_over(until_s))
		return "the user's key has expired: ask for a new one";
	if (hello->expires_s == 0)
		return NULL;
	if (hello->service != ZCTL_SERVICE_RANK && hello->service != ZCTL_SERVICE_CIRCUIT &&
		hello->service != ZCTL_SERVICE_TRUNK)
		return "a job credential is for ranks: this needs the user's key";
	return is_over(hello->expires_s) ? "the job credential has expired" : NULL;
}

static uint64_t first_end(uint64_t a, uint64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

/* Another zipperd has made the connection, for a peer that says HELLO behind the proofs. */
static void begin_again(struct conn *conn, const struct zctl_msg *proof)
{
	memcpy(conn->hop_user, conn->hello.user, sizeof(conn->hop_user));
	conn_send(conn, proof);
	if (protect_begin(conn, conn->challenge.seal, conn->key, NULL))
		conn->state = CONN_HELLO;
}

static void warn_of_refusal(struct conn *conn, const char *what)
{
	struct daemon *d = conn->daemon;
	uint32_t dropped;
	if (limit_pass(&d->bad_conn, d->now_ms, &dropped))
		zlog(ZLOG_WARN, "%s: %s: refused", conn->zlink->peer, what);
}

/* It has proved that it has this key, which is good until then. */
static void admit(struct conn *conn, const uint8_t key[ZAUTH_KEY_BYTES], uint64_t until_s)
{
	struct daemon *d = conn->daemon;
	struct zctl_msg msg = {.type = ZCTL_PROOF};
	struct zerr err;
	const char *wrong = check_credential(&conn->hello, until_s);
	if (wrong) {
		conn_refuse(conn, EACCES, "zipperd at %s: %s", conn->listener->text, wrong);
		return;
	}
	zauth_module.prove(msg.u.proof.mac, key, ZAUTH_ANSWERS, &conn->hello, &conn->challenge);
	zauth_module.session(conn->key, key, &conn->hello, &conn->challenge);
	if (conn->hello.service == ZCTL_SERVICE_HOP) {
		begin_again(conn, &msg);
		return;
	}
	conn->good_until_s = first_end(until_s, conn->hello.expires_s);
	struct user *user = quota_user(d->quotas, conn->hello.user);
	if (!conn->inner && quota_take(user, QUOTA_CONNECTIONS, d->now_ms, &err) != 0) {
		conn_refuse(conn, EDQUOT, "%s", err.text);
		return;
	}
	conn->user = user;
	conn_greet(conn);
	if (d->node.set && conn->hello.service == ZCTL_SERVICE_RANK) { /* it is there, and wants nothing */
		conn_settle(conn);
		conn->visits = true;
		d->nvisitors++;
	}
	if (conn->hello.service == ZCTL_SERVICE_RANK && conn->zlink->ops->guard)
		conn->zlink->ops->guard(conn->zlink);
	conn_send(conn, &msg);
	protect_begin(conn, conn->challenge.seal, conn->key, NULL);
}

/* munged has decoded the credential: whose it is, the key, and the proof for this connection. */
static void on_decoded(void *owner, const struct munger_answer *a)
{
	struct conn *conn = owner;
	char what[ZCTL_TEXT_MAX + 1];
	conn->asks = NULL;
	if (a->rc != 0)
		snprintf(what, sizeof(what), "%.*s", ZCTL_TEXT_MAX, a->err.text);
	else if (zauth_module.check(a->payload + ZAUTH_KEY_BYTES, a->payload, ZAUTH_ASKS, &conn->hello,
			 &conn->challenge) != 0)
		snprintf(what, sizeof(what), "the credential of MUNGE was made for another connection");
	else if (strcmp(a->user, conn->hello.user) != 0)
		snprintf(what, sizeof(what), "MUNGE says that it is user %s, not %s (ZIPPER_USER)", a->user,
			conn->hello.user);
	else
		what[0] = '\0';
	if (what[0]) {
		warn_of_refusal(conn, what);
		conn_refuse(conn, EACCES, "zipperd at %s: %s", conn->listener->text, what);
		return;
	}
	memcpy(conn->secret, a->payload, sizeof(conn->secret));
	admit(conn, conn->secret, 0);
}

static void on_proof(struct conn *conn, const struct zctl_proof *proof)
{
	uint8_t key[ZAUTH_KEY_BYTES];
	uint64_t until_s;
	if (conn->hello.method == ZCTL_METHOD_MUNGE) {
		if (munger_ask(&conn->asks, conn->daemon, proof->munge, on_decoded, conn) != 0)
			conn_refuse(conn, ENOMEM, "zipperd at %s is out of memory", conn->listener->text);
		return;
	}
	bool known = find_key(conn, key, &until_s);
	int rc = zauth_module.check(proof->mac, key, ZAUTH_ASKS, &conn->hello, &conn->challenge);
	if (known && rc == 0) {
		admit(conn, key, until_s);
	} else {
		char what[ZCTL_NAME_MAX + 32];
		snprintf(what, sizeof(what), "wrong key for user %s", conn->hello.user);
		warn_of_refusal(conn, what);
		conn_refuse(conn, EACCES, "zipperd at %s refuses the key of user %s", conn->listener->text,
			conn->hello.user);
	}
	zauth_module.wipe(key, sizeof(key));
}

/* Refuses a connection that came when there was no room. JOIN looks itself, as that ends the job. */
static bool find_no_room(struct conn *conn, uint16_t type)
{
	struct zerr err;
	if (type == ZCTL_JOIN || type == ZCTL_PING || !capacity_lacks(conn, &err))
		return false;
	zlog(ZLOG_WARN, "job %s/%s: refused: %s", conn->hello.user[0] ? conn->hello.user : "?", conn->hello.job,
		err.text);
	conn_refuse(conn, EBUSY, "%s", err.text);
	return true;
}

/* Requests that begin something. A job that runs is not ended by the end of a key, nor by its removal. */
static bool begins(uint16_t type)
{
	return type == ZCTL_JOIN || type == ZCTL_CREATE || type == ZCTL_MEET || type == ZCTL_REACH ||
	       type == ZCTL_TRUNK;
}

/* Has the key that the connection proved been taken out, or been replaced, since then? */
static bool is_key_gone(const struct conn *conn)
{
	uint8_t key[ZAUTH_KEY_BYTES], session[ZAUTH_KEY_BYTES];
	uint64_t until_s;
	if (conn->hello.method == ZCTL_METHOD_MUNGE)
		return false;
	const bool known = find_key(conn, key, &until_s);
	zauth_module.session(session, key, &conn->hello, &conn->challenge);
	const bool gone = !known || memcmp(session, conn->key, sizeof(session)) != 0;
	zauth_module.wipe(key, sizeof(key));
	zauth_module.wipe(session, sizeof(session));
	return gone;
}

static const char *on_request(struct conn *conn, struct zctl_msg *msg)
{
	struct daemon *d = conn->daemon;
	uint8_t service = conn->hello.service;
	bool rank = service == ZCTL_SERVICE_RANK, launcher = service == ZCTL_SERVICE_LAUNCHER;
	if (find_no_room(conn, msg->type))
		return NULL;
	if (begins(msg->type) && is_over(conn->good_until_s)) {
		conn_refuse(conn, EACCES, "zipperd at %s: the key or the job credential has expired",
			conn->listener->text);
		return NULL;
	}
	if (begins(msg->type) && is_key_gone(conn)) {
		conn_refuse(conn, EACCES, "zipperd at %s does not know the key of user %s any more",
			conn->listener->text, conn->hello.user);
		return NULL;
	}
	if (msg->type == ZCTL_JOIN && rank && !conn->rank) {
		job_join(d, conn, &msg->u.join);
	} else if (msg->type == ZCTL_CREATE && launcher && !conn->launches) {
		launcher_create(d, conn, &msg->u.create);
	} else if (msg->type == ZCTL_MEET && service == ZCTL_SERVICE_CIRCUIT && !conn->circuit) {
		circuit_meet(d, conn, &msg->u.meet);
	} else if (msg->type == ZCTL_REACH && service == ZCTL_SERVICE_CIRCUIT && !conn->circuit) {
		hop_reach(d, conn, &msg->u.reach);
	} else if (msg->type == ZCTL_TRUNK && service == ZCTL_SERVICE_TRUNK && !conn->inner) {
		trunk_accept(conn, &msg->u.trunk);
	} else if (msg->type == ZCTL_STATS && (launcher || service == ZCTL_SERVICE_ADMIN)) {
		conn_settle(conn);
		job_stats_reply(conn);
	} else if (msg->type == ZCTL_STATUS && service == ZCTL_SERVICE_ADMIN) {
		conn_settle(conn);
		status_reply(conn, &msg->u.status);
	} else if (msg->type == ZCTL_CONTROL && service == ZCTL_SERVICE_ADMIN) {
		conn_settle(conn);
		admin_control(conn, &msg->u.control);
	} else if (msg->type == ZCTL_DIRECT && conn->rank && job_direct_request(conn->rank, &msg->u.direct)) {
		return NULL;
	} else if (msg->type == ZCTL_TRAFFIC && conn->rank && job_direct_traffic(conn->rank, &msg->u.traffic)) {
		return NULL;
	} else if (msg->type == ZCTL_NAMING && conn->rank && job_names_request(conn->rank, &msg->u.naming)) {
		return NULL;
	} else if (msg->type == ZCTL_STATE && conn->rank && job_ends_take(conn->rank, &msg->u.state)) {
		return NULL;
	} else if (msg->type == ZCTL_PING && (rank || launcher)) {
		conn_send(conn, msg);
	} else if (msg->type == ZCTL_ABORT && conn->rank) {
		rank_abort(conn->rank, &msg->u.dead);
	} else if (msg->type == ZCTL_QUIT && conn->rank) {
		rank_quit(conn->rank, &msg->u.dead);
	} else if (msg->type == ZCTL_ABORT && conn->launches) {
		launcher_abort(conn->launches, &msg->u.dead);
	} else {
		return wrong_time;
	}
	return NULL;
}

/* A data channel on its way to another zipperd. It has nothing more to say to this zipperd. The pass is its proof. */
static void on_way(struct conn *conn, const struct zctl_reach *reach)
{
	if (!find_no_room(conn, ZCTL_REACH))
		hop_reach(conn->daemon, conn, reach);
}

const char *request_answer(struct conn *conn, struct zctl_msg *msg)
{
	if (conn->state == CONN_HELLO && msg->type == ZCTL_HELLO)
		on_hello(conn, &msg->u.hello);
	else if (conn->state == CONN_PROOF && msg->type == ZCTL_PROOF && !conn->asks)
		on_proof(conn, &msg->u.proof);
	else if (conn->state == CONN_ATTACH && msg->type == ZCTL_ATTACH)
		attach_channel(conn->daemon, conn, &msg->u.attach);
	else if (conn->state == CONN_PROOF && msg->type == ZCTL_REACH && conn->hello.service == ZCTL_SERVICE_WAY)
		on_way(conn, &msg->u.reach);
	else if (conn->state == CONN_READY)
		return on_request(conn, msg);
	else
		return wrong_time;
	return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a peer says, by who it has shown to be: greeting, proof, and what it then wants. */
#include <errno.h>

#include "zipperd/control/channel.h"
#include "zipperd/control/circuit.h"
#include "zipperd/control/hop.h"
#include "zipperd/control/job.h"
#include "zipperd/control/listener.h"
#include "common/base/log.h"
#include "zipperd/control/peer.h"
#include "zipperd/control/capacity.h"

static void be_known(struct peer *p)
{
	peer_leave_strangers(p);
	p->state = PEER_READY;
	/* A rank greets all zippers and joins at one after the other: each answers when all ranks are there. */
	p->deadline_ms =
		p->hello.service == ZCTL_SERVICE_RANK ? 0 : p->daemon->now_ms + p->daemon->settings.hello_timeout_ms;
	list_del(&p->link);
	list_add(&p->daemon->greeted, &p->link);
}

void peer_settle(struct peer *p)
{
	p->deadline_ms = 0;
	p->daemon->nlate -= p->late;
	p->late = false;
	list_del(&p->link);
	list_add(&p->daemon->known, &p->link);
}

static void on_hello(struct peer *p, const struct zctl_hello *hello)
{
	p->hello = *hello;
	if (hello->service == ZCTL_SERVICE_DATA) {
		p->state = PEER_ATTACH;
		return;
	}
	if (hello->service == ZCTL_SERVICE_CAST) {
		peer_refuse(p, EINVAL, "this is zipperd, not a node of zipcast");
		return;
	}
	if (!hello->user[0] || (!hello->job[0] && hello->service != ZCTL_SERVICE_ADMIN)) {
		peer_refuse(p, EINVAL, "a user and a job must be named");
		return;
	}
	struct zctl_msg msg = {.type = ZCTL_CHALLENGE};
	zauth_module.random(p->challenge.nonce, sizeof(p->challenge.nonce));
	msg.u.challenge = p->challenge;
	p->state = PEER_PROOF;
	peer_send(p, &msg);
}

static void on_proof(struct peer *p, const struct zctl_proof *proof)
{
	struct daemon *d = p->daemon;
	const uint8_t *key = keys_find(d->keys, p->hello.user);
	/* The same work and the same answer for an unknown user: who has a key here is nobody's business. */
	static const uint8_t no_key[ZAUTH_KEY_BYTES];
	int rc = zauth_module.check(proof->mac, key ? key : no_key, ZAUTH_ASKS, &p->hello, &p->challenge);
	if (!key || rc != 0) {
		uint32_t dropped;
		if (limit_pass(&d->bad_peer, d->now_ms, &dropped))
			zlog(ZLOG_WARN, "%s: wrong key for user %s: refused", p->zlink->peer, p->hello.user);
		peer_refuse(p, EACCES, "zipperd at %s refuses the key of user %s", p->listener->text, p->hello.user);
		return;
	}
	struct zctl_msg msg = {.type = ZCTL_PROOF};
	zauth_module.prove(msg.u.proof.mac, key, ZAUTH_ANSWERS, &p->hello, &p->challenge);
	be_known(p);
	if (p->hello.service == ZCTL_SERVICE_RANK && p->zlink->ops->guard)
		p->zlink->ops->guard(p->zlink);
	peer_send(p, &msg);
}

/* JOIN is another matter, as it ends the job. */
static bool find_no_room(struct peer *p, uint16_t type)
{
	struct zerr err;
	if (type == ZCTL_JOIN || type == ZCTL_PING || !capacity_lacks(p, &err))
		return false;
	zlog(ZLOG_WARN, "job %s/%s: refused: %s", p->hello.user[0] ? p->hello.user : "?", p->hello.job, err.text);
	peer_refuse(p, EBUSY, "%s", err.text);
	return true;
}

static void on_request(struct peer *p, struct zctl_msg *msg)
{
	struct daemon *d = p->daemon;
	uint8_t service = p->hello.service;
	bool rank = service == ZCTL_SERVICE_RANK, launcher = service == ZCTL_SERVICE_LAUNCHER;
	if (find_no_room(p, msg->type))
		return;
	if (msg->type == ZCTL_JOIN && rank && !p->rank) {
		job_join(d, p, &msg->u.join);
	} else if (msg->type == ZCTL_CREATE && launcher && !p->launches) {
		job_launcher_create(d, p, &msg->u.create);
	} else if (msg->type == ZCTL_MEET && service == ZCTL_SERVICE_CIRCUIT && !p->circuit) {
		circuit_meet(d, p, &msg->u.meet);
	} else if (msg->type == ZCTL_REACH && service == ZCTL_SERVICE_CIRCUIT && !p->circuit) {
		hop_reach(d, p, &msg->u.reach);
	} else if (msg->type == ZCTL_STATS && (launcher || service == ZCTL_SERVICE_ADMIN)) {
		peer_settle(p);
		stats_reply(p);
	} else if (msg->type == ZCTL_DIRECT && p->rank && direct_request(p->rank, &msg->u.direct)) {
		return;
	} else if (msg->type == ZCTL_TRAFFIC && p->rank && direct_traffic(p->rank, &msg->u.traffic)) {
		return;
	} else if (msg->type == ZCTL_PING && (rank || launcher)) {
		peer_send(p, msg);
	} else if (msg->type == ZCTL_ABORT && p->rank) {
		job_rank_abort(p->rank, &msg->u.dead);
	} else if (msg->type == ZCTL_QUIT && p->rank && p->rank->job->state == JOB_RUNNING) {
		job_rank_quit(p->rank, &msg->u.dead);
	} else if (msg->type == ZCTL_ABORT && p->launches) {
		job_launcher_abort(p->launches, &msg->u.dead);
	} else {
		peer_breach(p, "a control message at the wrong time");
	}
}

/* A data channel on its way to another zipperd: it has nothing more to say to this one. */
static void on_way(struct peer *p, const struct zctl_reach *reach)
{
	be_known(p);
	if (!find_no_room(p, ZCTL_REACH))
		hop_reach(p->daemon, p, reach);
}

void peer_hear(struct peer *p, struct zctl_msg *msg)
{
	if (p->state == PEER_HELLO && msg->type == ZCTL_HELLO)
		on_hello(p, &msg->u.hello);
	else if (p->state == PEER_PROOF && msg->type == ZCTL_PROOF)
		on_proof(p, &msg->u.proof);
	else if (p->state == PEER_ATTACH && msg->type == ZCTL_ATTACH)
		channel_attach(p->daemon, p, &msg->u.attach);
	else if (p->state == PEER_ATTACH && msg->type == ZCTL_REACH)
		on_way(p, &msg->u.reach);
	else if (p->state == PEER_READY)
		on_request(p, msg);
	else
		peer_breach(p, "a control message at the wrong time");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes of a large job, as a zipperd sees them: each has one connection for the sessions of its ranks and one for
 * their data channels (ctl.h, "Trunks"). All ranks prove who they are, join, attach, send messages to a rank of the
 * other part, and leave. The nodes and ranks are this process; what they say is what a node's zipperd and its ranks
 * say.
 *
 * usage: nodes NODES RANKS MESSAGES ADDRESS ADDRESS   half of the nodes, with RANKS each, come to either address, of
 *                                                     fabrics a and b; ZIPPER_KEY is the key of user "me"
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clock.h"
#include "common/control/auth.h"
#include "common/control/ctl.h"
#include "common/session/session.h"
#include "common/transport/base/transport.h"

#define JOB "large"
#define PAYLOAD 8
#define ANSWER_BYTES (2 * ZWIRE_ENV_BYTES) /* to the last message of a stream: BYE */

struct window {			      /* of a stream (wire.h) */
	uint64_t sent, granted, size; /* bytes to zipperd; that it has told; its window for us */
	uint64_t taken, told;	      /* bytes from zipperd; that we have told */
};

struct rank {
	struct zctl_hello hello;
	struct zctl_challenge challenge;
	uint8_t key[ZAUTH_KEY_BYTES];
	uint32_t vrank, sent, got;
	struct window control, data; /* of its streams */
};

struct node {
	struct zlink *control, *data;
	uint32_t part, number;
	struct rank *rank;
};

static struct {
	struct node *node;
	uint32_t nodes, ranks, messages;
	uint8_t key[ZAUTH_KEY_BYTES];
	struct zaddr addr[2];
	uint32_t joined, done, closed;
	uint64_t arrived;
} all;

static void fail(const char *what, int rc, const char *text)
{
	fprintf(stderr, "nodes: %s: %s%s%s\n", what, strerror(rc < 0 ? -rc : rc), text ? ": " : "", text ? text : "");
	exit(1);
}

static bool turn_all(void);

static void post(struct zlink *z, const struct zwire_env *env, const void *payload)
{
	uint8_t raw[ZWIRE_ENV_BYTES];
	int rc;
	zwire_encode(raw, env);
	while ((rc = z->ops->post(z, raw, payload, env->len)) == -EAGAIN) {
		z->ops->flush(z);
		turn_all();
	}
	if (rc != 0)
		fail("post", rc, z->peer);
}

/* The rank's stream: of its session, or of its data channel. */
static struct window *window_of(struct node *n, const struct zlink *z, uint32_t stream)
{
	struct rank *r = &n->rank[stream - 1];
	return z == n->control ? &r->control : &r->data;
}

/* A message of a stream waits for its window, unless it is an answer: for these there is always room. */
static void post_in(struct node *n, struct zlink *z, const struct zwire_env *env, const void *payload)
{
	struct window *w = window_of(n, z, env->job);
	const uint64_t bytes = ZWIRE_ENV_BYTES + (uint64_t)env->len;
	const uint64_t size = w->size ? w->size : ZWIRE_STREAM_FIRST;
	while (w->sent - w->granted > size / 4 && w->sent - w->granted + bytes + ANSWER_BYTES > size && turn_all())
		;
	post(z, env, payload);
	w->sent += bytes;
}

/* true: it was about the window alone. */
static bool take_in(struct node *n, struct zlink *z, const struct zwire_env *env)
{
	struct window *w = window_of(n, z, env->job);
	if (env->kind == ZWIRE_CREDIT) {
		w->granted = env->offset;
		w->size = env->xfer;
		return true;
	}
	w->taken += env->kind != ZWIRE_CLOSE ? ZWIRE_ENV_BYTES + (uint64_t)env->len : 0;
	if (w->taken - w->told < ZWIRE_STREAM_FIRST / 4)
		return false;
	w->told = w->taken;
	post(z,
		&(struct zwire_env){.kind = ZWIRE_CREDIT,
			.job = env->job,
			.src = ZWIRE_NOBODY,
			.dst = ZWIRE_NOBODY,
			.xfer = ZWIRE_STREAM_FIRST,
			.offset = w->taken},
		NULL);
	return false;
}

static void say(struct node *n, struct zlink *z, uint32_t stream, const struct zctl_msg *msg)
{
	uint8_t buf[4096];
	const int len = zctl_encode(buf, sizeof(buf), msg);
	if (len < 0)
		fail("a message", len, NULL);
	post_in(n, z,
		&(struct zwire_env){.kind = ZWIRE_CTRL,
			.job = stream,
			.src = ZWIRE_NOBODY,
			.dst = ZWIRE_NOBODY,
			.len = (uint32_t)len},
		buf);
}

static void say_bye(struct node *n, struct zlink *z, uint32_t stream, uint32_t vrank)
{
	const struct zwire_env env = {.kind = ZWIRE_BYE, .job = stream, .src = vrank, .dst = ZWIRE_NOBODY};
	post_in(n, z, &env, NULL);
}

static void begin(struct node *n, uint32_t i)
{
	struct zctl_msg msg = {.type = ZCTL_HELLO,
		.u.hello = {.protocol = ZCTL_PROTOCOL,
			.service = ZCTL_SERVICE_RANK,
			.user = "me",
			.job = JOB,
			.seal = ZSEAL_INSIDE}};
	zauth_module.random(msg.u.hello.nonce, sizeof(msg.u.hello.nonce));
	n->rank[i].hello = msg.u.hello;
	say(n, n->control, i + 1, &msg);
}

static void join(struct node *n, uint32_t i)
{
	struct zctl_msg msg = {.type = ZCTL_JOIN};
	struct zctl_join *j = &msg.u.join;
	snprintf(j->part, sizeof(j->part), "%c", n->part ? 'b' : 'a');
	snprintf(j->parts, sizeof(j->parts), "a,b");
	snprintf(j->host, sizeof(j->host), "node%u", n->number);
	j->size = all.nodes / 2 * all.ranks;
	j->rank = n->number / 2 * all.ranks + i;
	j->abi = 1;
	j->vrank = ZCTL_VRANK_ANY;
	j->node = n->number + 1;
	j->endpoints = 1;
	j->nrails = 1;
	say(n, n->control, i + 1, &msg);
}

/* --- what comes on the connection for sessions --- */

static int take_control(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct node *n = ctx;
	struct zctl_msg msg;
	struct zerr err;
	(void)raw;
	all.closed += env->kind == ZWIRE_CLOSE;
	if (take_in(n, n->control, env) || env->kind != ZWIRE_CTRL)
		return 0;
	const uint32_t i = env->job - 1;
	struct rank *r = &n->rank[i];
	int rc = zctl_decode(&msg, payload, env->len, &err);
	if (rc != 0)
		fail("a message of zipperd", rc, err.text);
	if (msg.type == ZCTL_CHALLENGE) {
		struct zctl_msg proof = {.type = ZCTL_PROOF};
		r->challenge = msg.u.challenge;
		zauth_module.prove(proof.u.proof.mac, all.key, ZAUTH_ASKS, &r->hello, &r->challenge);
		zauth_module.session(r->key, all.key, &r->hello, &r->challenge);
		say(n, n->control, env->job, &proof);
	} else if (msg.type == ZCTL_PROOF) {
		join(n, i);
	} else if (msg.type == ZCTL_WORLD) {
		r->vrank = msg.u.world.vrank;
		all.joined++;
	} else if (msg.type == ZCTL_ERROR) {
		fail("refused", msg.u.error.code, msg.u.error.text);
	} else if (msg.type == ZCTL_DEAD) {
		fail("the job is over", ECONNRESET, msg.u.dead.text);
	}
	zctl_free(&msg);
	return 0;
}

/* --- what comes on the connection for data --- */

static void leave(struct node *n, uint32_t i)
{
	say_bye(n, n->data, i + 1, n->rank[i].vrank);
	say_bye(n, n->control, i + 1, n->rank[i].vrank);
	all.done++;
}

static int take_data(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct node *n = ctx;
	(void)raw;
	(void)payload;
	if (take_in(n, n->data, env) || env->kind != ZWIRE_EAGER)
		return 0;
	struct rank *r = &n->rank[env->job - 1];
	if (env->dst != r->vrank || env->seq != ++r->got || env->len != PAYLOAD)
		fail("a message that is not the next one", EPROTO, NULL);
	all.arrived++;
	if (r->got == all.messages)
		leave(n, env->job - 1);
	return 0;
}

static void attach(struct node *n, uint32_t i)
{
	struct rank *r = &n->rank[i];
	struct zctl_msg hello = {.type = ZCTL_HELLO,
		.u.hello = {.protocol = ZCTL_PROTOCOL, .service = ZCTL_SERVICE_DATA, .user = "me", .job = JOB}};
	struct zctl_msg msg = {.type = ZCTL_ATTACH,
		.u.attach = {.vrank = r->vrank, .part = !n->part, .seal = ZSEAL_INSIDE}};
	zauth_module.random(msg.u.attach.nonce, sizeof(msg.u.attach.nonce));
	zauth_module.ticket(msg.u.attach.ticket, r->key, ZAUTH_CHANNEL, &msg.u.attach);
	say(n, n->data, i + 1, &hello);
	say(n, n->data, i + 1, &msg);
}

static void send_one(struct node *n, uint32_t i)
{
	static const char payload[PAYLOAD];
	struct rank *r = &n->rank[i];
	const uint32_t half = all.nodes / 2 * all.ranks;
	const struct zwire_env env = {.kind = ZWIRE_EAGER,
		.job = i + 1,
		.src = r->vrank,
		.dst = (r->vrank + half) % (2 * half),
		.len = PAYLOAD,
		.offset = PAYLOAD,
		.seq = ++r->sent};
	post_in(n, n->data, &env, payload);
}

/* --- all of them --- */

static void turn(struct node *n, struct zlink *z,
	int (*take)(void *, const struct zwire_env *, const uint8_t *, const void *))
{
	const struct zsink sink = {.take = take, .ctx = n};
	if (!z)
		return;
	z->ops->flush(z);
	int rc = z->ops->poll(z, &sink, 64);
	if (rc < 0 && rc != -EAGAIN)
		fail("a connection", rc, z->peer);
}

/* false: a message is being answered. */
static bool turn_all(void)
{
	static bool inside;
	if (inside)
		return false;
	inside = true;
	for (uint32_t k = 0; k < all.nodes; k++) {
		turn(&all.node[k], all.node[k].control, take_control);
		turn(&all.node[k], all.node[k].data, take_data);
	}
	inside = false;
	return true;
}

static struct zlink *open_trunk(const struct node *n, uint32_t share)
{
	struct zsession_params p = {.zipper = all.addr[n->part],
		.user = "me",
		.job = JOB,
		.auth = &zauth_module,
		.timeout_ms = 60000};
	struct zctl_trunk trunk = {.share = share};
	struct zlink *z;
	struct zerr err;
	memcpy(p.key, all.key, sizeof(p.key));
	trunk.from[0] = n->part ? 'b' : 'a';
	int rc = zsession_open_trunk(&z, &p, &trunk, &err);
	if (rc != 0)
		fail("a trunk", rc, err.text);
	return z;
}

static void tell(const char *what, int64_t since_ns)
{
	printf("%-40s %8.2f s\n", what, (double)(zclock_ns() - since_ns) / 1e9);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct zerr err;
	if (argc != 6 || zauth_module.parse_key(all.key, getenv("ZIPPER_KEY") ? getenv("ZIPPER_KEY") : "", &err) != 0 ||
		zaddr_parse(&all.addr[0], argv[4], &err) != 0 || zaddr_parse(&all.addr[1], argv[5], &err) != 0) {
		fprintf(stderr, "usage: ZIPPER_KEY=KEY nodes NODES RANKS MESSAGES ADDRESS ADDRESS\n");
		return 2;
	}
	all.nodes = (uint32_t)atoi(argv[1]) & ~1u;
	all.ranks = (uint32_t)atoi(argv[2]);
	all.messages = (uint32_t)atoi(argv[3]);
	all.node = calloc(all.nodes, sizeof(*all.node));
	int64_t begun = zclock_ns();
	for (uint32_t k = 0; k < all.nodes; k++) {
		struct node *n = &all.node[k];
		n->number = k;
		n->part = k % 2;
		n->rank = calloc(all.ranks, sizeof(*n->rank));
		n->control = open_trunk(n, ZCTL_SHARE_SESSIONS);
	}
	tell("connections for sessions", begun);
	begun = zclock_ns();
	for (uint32_t k = 0; k < all.nodes; k++)
		for (uint32_t i = 0; i < all.ranks; i++)
			begin(&all.node[k], i);
	while (all.joined < all.nodes * all.ranks)
		turn_all();
	tell("all ranks have joined", begun);
	begun = zclock_ns();
	for (uint32_t k = 0; k < all.nodes; k++)
		all.node[k].data = open_trunk(&all.node[k], zctl_share(!all.node[k].part, 0));
	tell("connections for data", begun);
	begun = zclock_ns();
	for (uint32_t k = 0; k < all.nodes; k++) {
		for (uint32_t i = 0; i < all.ranks; i++)
			attach(&all.node[k], i);
		turn_all();
	}
	for (uint32_t m = 0; m < all.messages; m++)
		for (uint32_t k = 0; k < all.nodes; k++) {
			for (uint32_t i = 0; i < all.ranks; i++)
				send_one(&all.node[k], i);
			turn_all();
		}
	while (all.done < all.nodes * all.ranks)
		turn_all();
	while (all.closed < all.nodes * all.ranks)
		turn_all();
	printf("%llu messages\n", (unsigned long long)all.arrived);
	tell("they have arrived, and all ranks have left", begun);
	for (uint32_t k = 0; k < all.nodes; k++) {
		all.node[k].data->ops->flush(all.node[k].data);
		all.node[k].control->ops->flush(all.node[k].control);
		all.node[k].data->ops->close(all.node[k].data);
		all.node[k].control->ops->close(all.node[k].control);
	}
	return 0;
}

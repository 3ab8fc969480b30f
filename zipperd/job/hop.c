/* SPDX-License-Identifier: BSD-3-Clause */
/* Hops to other zipperds, see hop.h. */
#include "zipperd/job/hop.h"

#include <errno.h>
#include <string.h>

#include "common/base/log.h"
#include "zipperd/conn/crew.h"
#include "zipperd/conn/dial.h"
#include "zipperd/conn/listener.h"
#include "zipperd/conn/protect.h"
#include "zipperd/conn/quota.h"
#include "zipperd/job/circuit.h"
#include "zipperd/job/trunk_open.h"
#include "zipperd/lane/stream.h"

/* Has the connection proved that it belongs to the one which got the pass? */
static bool is_proved(const struct circuit *c, const struct conn *conn, const struct zctl_reach *r)
{
	uint8_t mac[ZCTL_MAC_BYTES];
	zauth_module.way(mac, c->key, &conn->hello, &conn->challenge, r);
	return zauth_module.same(mac, r->mac);
}

/* The standing hop that gave the pass to the user of the connection. */
static const struct circuit *find_pass(const struct daemon *d, const struct conn *conn, const struct zctl_reach *r)
{
	for (const struct list *node = d->circuits.next; node != &d->circuits; node = node->next) {
		const struct circuit *c = list_entry(node, struct circuit, link);
		if (c->gives_pass && !c->waiting && !c->over && memcmp(c->pass, r->pass, sizeof(c->pass)) == 0 &&
			strcmp(c->user, conn->hello.user) == 0 && strcmp(c->job, conn->hello.job) == 0)
			return is_proved(c, conn, r) ? c : NULL;
	}
	return NULL;
}

/* Does the hop lead to that address? A hop is a session. Over Verbs a session needs no queue pairs, and so it has the
 * TCP address of the port. */
static bool leads_to(const struct circuit *c, const struct zaddr *addr)
{
	struct zaddr tcp;
	return zaddr_same(&c->there, addr) || (zaddr_tcp(addr, &tcp) && zaddr_same(&c->there, &tcp));
}

/* The fabrics and the address, where a hop may lead there. false: it may not, and the connection is refused. */
static bool check(struct daemon *d, struct conn *conn, const struct zctl_reach *r, int fabric[2], struct zaddr *addr)
{
	struct zerr err = {.text = ""};
	fabric[0] = settings_find_fabric(&d->settings, r->from);
	fabric[1] = settings_find_fabric(&d->settings, r->to);
	if (d->stopping)
		conn_refuse(conn, ESHUTDOWN, "zipperd is shutting down");
	else if (conn->inner)
		conn_refuse(conn, EINVAL, "the zipperd at %.80s leads streams of a trunk no further",
			conn->listener->text);
	else if (fabric[0] < 0 || fabric[1] < 0)
		conn_refuse(conn, ENOENT, "the zipperd at %.80s serves no fabric '%s'", conn->listener->text,
			fabric[0] < 0 ? r->from : r->to);
	else if (!listener_serves(conn->listener, fabric[0]))
		conn_refuse(conn, EINVAL, "%.80s does not serve fabric %s", conn->listener->text, r->from);
	else if (zaddr_parse(addr, r->address, &err) != 0)
		conn_refuse(conn, EINVAL, "%s", err.text);
	else if (!settings_may_reach(&d->settings, fabric[1], addr))
		conn_refuse(conn, EACCES,
			"the zipperd at %.80s may not connect to %.80s on fabric %s (next in zipperd.conf)",
			conn->listener->text, r->address, r->to);
	else if (d->nconnections >= d->settings.max_connections)
		conn_refuse(conn, EBUSY, "the zipperd at %.80s has %d connections already (max_connections)",
			conn->listener->text, d->nconnections);
	else
		return true;
	return false;
}

/* Messages are to go over the port on that fabric. The connection may have been made over another network. */
static void use_port_of(const struct daemon *d, struct zlink *z, int fabric)
{
	for (int i = 0; z->ops->use_port && i < d->nlisteners; i++)
		if (listener_serves(&d->listeners[i], fabric))
			z->ops->use_port(z, &d->listeners[i].where.addr);
}

/* The other zipperd's link comes first: if it fails, the asking end is to hear why, and not REACHED. */
static int join(struct circuit *c, struct conn *conn, struct zlink *z, struct zerr *err)
{
	struct zctl_msg reached = {.type = ZCTL_REACHED};
	int rc = circuit_make_lanes(c, err);
	use_port_of(c->daemon, z, c->fabric[1]);
	if (rc == 0)
		rc = channel_settle(z, c->lane[1]->worker, c->lane[0]->worker, err);
	if (rc < 0)
		return rc;
	memcpy(reached.u.reached.pass, c->pass, sizeof(c->pass));
	rc = circuit_greet(c, 0, conn, &reached, err);
	/* The connection of a pass is sealed since its proofs. */
	if (rc < 0 || c->gives_pass || protect_begin(conn, conn->challenge.seal, c->key, c->salt))
		return rc;
	return zerr_set(err, -EPIPE, "its connection cannot be sealed");
}

static void guard(struct zlink *z)
{
	if (z->ops->guard)
		z->ops->guard(z);
}

/* own: the other end would have been a connection of its own, which counts. */
static void end_in_vain(struct circuit *c, struct conn *conn, bool own, int code, const struct zerr *err)
{
	uint32_t dropped;
	if (own) {
		c->daemon->nconnections--;
		quota_give(c->account, QUOTA_CONNECTIONS);
	}
	if (limit_pass(&c->daemon->no_way, c->daemon->now_ms, &dropped))
		zlog(ZLOG_WARN, "job %s/%s: no way to %s: %s", c->user, c->job, c->name, err->text);
	conn_refuse(conn, code, "the zipperd at %.60s cannot reach the next: %.150s", conn->listener->text, err->text);
	circuit_destroy(c);
}

static void connected(void *owner, struct zlink *z, const struct zerr *why)
{
	struct circuit *c = owner;
	struct conn *conn = c->waiting;
	struct zerr err = *why;
	const bool own = !stream_of(z);
	c->dial = NULL;
	c->waiting = NULL;
	conn->circuit = NULL;
	if (z && own && c->gives_pass) /* a session: without it neither end would notice that the network in between is
					  gone */
		guard(z);
	if (z && join(c, conn, z, &err) >= 0) {
		struct zlink *first = conn_release(conn);
		circuit_begin(c, first, z);
		return;
	}
	if (z)
		z->ops->close(z);
	end_in_vain(c, conn, own, z ? ENOMEM : EHOSTUNREACH, &err);
}

static int dial_alone(struct circuit *, struct zerr *);

static void trunk_connected(struct circuit *c, struct zlink *z, int rc, const struct zerr *why)
{
	struct conn *conn = c->waiting;
	struct zerr err = *why;
	if (z) {
		connected(c, z, why);
		return;
	}
	if ((rc == -EPROTONOSUPPORT || rc == -EACCES) && dial_alone(c, &err) == 0)
		return;
	c->waiting = NULL;
	conn->circuit = NULL;
	end_in_vain(c, conn, false, EHOSTUNREACH, &err);
}

/* The pass is for the data channels of this peer: nobody else has the session key. */
static void make_pass(struct circuit *c, const struct conn *conn)
{
	c->gives_pass = true;
	memcpy(c->key, conn->key, sizeof(c->key));
	zauth_module.random(c->pass, sizeof(c->pass));
}

/* The user's account counts the connection of a data channel, which is nobody's until now. */
static bool take_first(struct conn *conn, const struct circuit *own, struct zerr *err)
{
	if (own && quota_take(own->account, QUOTA_CONNECTIONS, conn->daemon->now_ms, err) != 0)
		return false;
	if (own)
		conn->user = own->account;
	return true;
}

/* The other zipperd has the user's key, too: so it knows that the connection is the user's. */
static int dial(struct circuit *c, const struct zaddr *addr, int fabric, struct zerr *err)
{
	struct dial_seal seal = {.level = settings_seal(&c->daemon->settings, fabric, addr), .job = c->job};
	uint64_t until_s;
	if (seal.level != ZSEAL_NONE && !(seal.key = keys_find(c->daemon->keys, c->user, &until_s)))
		return zerr_set(err, -EACCES,
			"user %s has no key here (MUNGE?): a connection to the next zipperd cannot be protected; "
			"/encrypt=no "
			"behind its address does without",
			c->user);
	return dial_start(&c->dial, c->daemon, addr, c->user, &seal, connected, c, err);
}

/* The hop has a connection of its own. */
static int dial_alone(struct circuit *c, struct zerr *err)
{
	int rc = quota_take(c->account, QUOTA_CONNECTIONS, c->daemon->now_ms, err);
	if (rc != 0)
		return rc;
	rc = dial(c, &c->there, c->fabric[1], err);
	if (rc == 0)
		c->daemon->nconnections++; /* the connection that is being made */
	else
		quota_give(c->account, QUOTA_CONNECTIONS);
	return rc;
}

void hop_reach(struct daemon *d, struct conn *conn, const struct zctl_reach *r)
{
	struct zerr err = {.text = ""};
	struct zaddr addr;
	int fabric[2];
	bool data = conn->hello.service == ZCTL_SERVICE_WAY;
	const struct circuit *own = data ? find_pass(d, conn, r) : NULL;
	if (data && (!own || strcmp(d->settings.fabric[own->fabric[0]], r->from) != 0 ||
			    strcmp(d->settings.fabric[own->fabric[1]], r->to) != 0)) {
		conn_refuse(conn, EACCES, "no way of that pass leads from here");
		return;
	}
	if (!check(d, conn, r, fabric, &addr))
		return;
	if (own && !leads_to(own, &addr)) {
		conn_refuse(conn, EACCES, "no way of that pass leads to %.80s", r->address);
		return;
	}
	if (!take_first(conn, own, &err)) {
		conn_refuse(conn, EDQUOT, "%s", err.text);
		return;
	}
	if (data)
		conn_greet(conn); /* the pass was its proof */
	struct circuit *c = circuit_create(d, conn, fabric[0], fabric[1], r->address);
	if (!c) {
		conn_refuse(conn, ENOMEM, "out of memory");
		return;
	}
	c->hop = true;
	c->there = addr;
	if (data) {
		memcpy(c->key, own->key, sizeof(c->key));
		memcpy(c->salt, r->mac, sizeof(c->salt));
	}
	if (!data) {
		make_pass(c, conn);
		guard(conn->zlink);
	}
	int rc = trunk_open_may(c, r->share) ? trunk_open(c, r->share, trunk_connected, &err) : dial_alone(c, &err);
	if (rc == 0)
		return;
	circuit_forget(c);
	conn_refuse(conn, rc == -EDQUOT ? EDQUOT : -rc, "%s", err.text);
}

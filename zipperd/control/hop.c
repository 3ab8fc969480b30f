/* SPDX-License-Identifier: BSD-3-Clause */
/* Hops to other zipperds, see hop.h. */
#include "zipperd/control/hop.h"

#include <errno.h>
#include <string.h>

#include "zipperd/control/circuit_parts.h"
#include "zipperd/control/crew.h"
#include "zipperd/control/dial.h"
#include "zipperd/control/listener.h"
#include "common/base/log.h"

/* The hop of the peer's own that stands, and gave it this pass. */
static const struct circuit *find_pass(const struct daemon *d, const struct peer *p, const uint8_t *pass)
{
	for (const struct list *node = d->circuits.next; node != &d->circuits; node = node->next) {
		const struct circuit *c = list_entry(node, struct circuit, link);
		if (c->gives_pass && !c->waiting && !c->over && strcmp(c->job, p->hello.job) == 0 &&
			channel_same_token(c->pass, pass))
			return c;
	}
	return NULL;
}

/* Is it there that the hop leads? It is a session, which over Verbs needs no queue pairs: and so has another address.
 */
static bool leads_to(const struct circuit *c, const struct zaddr *addr)
{
	struct zaddr via;
	if (addr->kind == ZADDR_VERBS && c->there.kind == ZADDR_TCP)
		zaddr_via(addr, &via);
	else
		via = *addr;
	return zaddr_same(&c->there, &via);
}

/* Where it may lead. false: the peer has been told that it may not. */
static bool check(struct daemon *d, struct peer *p, const struct zctl_reach *r, int fabric[2], struct zaddr *addr)
{
	struct zerr err = {.text = ""};
	fabric[0] = settings_find_fabric(&d->settings, r->from);
	fabric[1] = settings_find_fabric(&d->settings, r->to);
	if (d->stopping)
		peer_refuse(p, ESHUTDOWN, "zipperd is shutting down");
	else if (fabric[0] < 0 || fabric[1] < 0)
		peer_refuse(p, ENOENT, "the zipperd at %.80s serves no fabric '%s'", p->listener->text,
			fabric[0] < 0 ? r->from : r->to);
	else if (!listener_serves(p->listener, fabric[0]))
		peer_refuse(p, EINVAL, "%.80s does not serve fabric %s", p->listener->text, r->from);
	else if (zaddr_parse(addr, r->address, &err) != 0)
		peer_refuse(p, EINVAL, "%s", err.text);
	else if (!settings_may_reach(&d->settings, fabric[1], addr))
		peer_refuse(p, EACCES,
			"the zipperd at %.80s may not connect to %.80s on fabric %s (next in zipperd.conf)",
			p->listener->text, r->address, r->to);
	else if (d->nconnections >= d->settings.max_connections)
		peer_refuse(p, EBUSY, "the zipperd at %.80s has %d connections already (max_connections)",
			p->listener->text, d->nconnections);
	else
		return true;
	return false;
}

/* Over the port on that fabric; where the connection was made may be another network. */
static void use_port_of(const struct daemon *d, struct zlink *z, int fabric)
{
	for (int i = 0; z->ops->use_port && i < d->nlisteners; i++)
		if (listener_serves(&d->listeners[i], fabric))
			z->ops->use_port(z, &d->listeners[i].where.addr);
}

/* The other zipperd's link first: where that cannot be, the peer is to hear why, and not that it is there. */
static int join(struct circuit *c, struct peer *p, struct zlink *z, struct zerr *err)
{
	struct zctl_msg reached = {.type = ZCTL_REACHED};
	int rc = circuit_make_parts(c, err);
	use_port_of(c->daemon, z, c->fabric[1]);
	if (rc == 0)
		rc = channel_settle(z, c->lane[1]->worker, c->lane[0]->worker, err);
	if (rc < 0)
		return rc;
	memcpy(reached.u.reached.pass, c->pass, sizeof(c->pass));
	return circuit_greet(c, 0, p, &reached, err);
}

static void guard(struct zlink *z)
{
	if (z->ops->guard)
		z->ops->guard(z);
}

static void connected(void *owner, struct zlink *z, const struct zerr *why)
{
	struct circuit *c = owner;
	struct peer *p = c->waiting;
	struct zerr err = *why;
	c->dial = NULL;
	c->waiting = NULL;
	p->circuit = NULL;
	if (z && c->gives_pass) /* a session: neither end would notice that the network between us is gone */
		guard(z);
	if (z && join(c, p, z, &err) >= 0) {
		struct zlink *first = peer_release(p);
		circuit_begin(c, first, z);
		return;
	}
	if (z)
		z->ops->close(z);
	c->daemon->nconnections--;
	uint32_t dropped;
	if (limit_pass(&c->daemon->no_way, c->daemon->now_ms, &dropped))
		zlog(ZLOG_WARN, "job %s/%s: no way to %s: %s", c->user, c->job, c->name, err.text);
	peer_refuse(p, z ? ENOMEM : EHOSTUNREACH, "the zipperd at %.60s cannot reach the next: %.150s",
		p->listener->text, err.text);
	circuit_destroy(c);
}

/* Others than this peer's: nobody else knows a pass. */
static void make_pass(struct circuit *c)
{
	c->gives_pass = true;
	zauth_module.random(c->pass, sizeof(c->pass));
}

void hop_reach(struct daemon *d, struct peer *p, const struct zctl_reach *r)
{
	struct zerr err = {.text = ""};
	struct zaddr addr;
	int fabric[2];
	bool data = p->hello.service == ZCTL_SERVICE_DATA;
	const struct circuit *own = data ? find_pass(d, p, r->pass) : NULL;
	if (data && (!own || strcmp(d->settings.fabric[own->fabric[0]], r->from) != 0 ||
			    strcmp(d->settings.fabric[own->fabric[1]], r->to) != 0)) {
		peer_refuse(p, EACCES, "no way of that pass leads from here");
		return;
	}
	if (!check(d, p, r, fabric, &addr))
		return;
	if (own && !leads_to(own, &addr)) {
		peer_refuse(p, EACCES, "no way of that pass leads to %.80s", r->address);
		return;
	}
	if (own)
		memcpy(p->hello.user, own->user, sizeof(p->hello.user));
	struct circuit *c = circuit_create(d, p, fabric[0], fabric[1], r->address);
	if (!c) {
		peer_refuse(p, ENOMEM, "out of memory");
		return;
	}
	c->hop = true;
	c->there = addr;
	if (!data) {
		make_pass(c);
		guard(p->zlink);
	}
	int rc = dial_start(&c->dial, d, &addr, c->user, connected, c, &err);
	if (rc == 0) {
		d->nconnections++; /* the one that it will be */
		return;
	}
	circuit_forget(c);
	peer_refuse(p, -rc, "%s", err.text);
}

void hop_forget(struct circuit *c)
{
	if (!c->dial)
		return;
	dial_drop(c->dial);
	c->dial = NULL;
	c->daemon->nconnections--;
}

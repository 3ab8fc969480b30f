/* SPDX-License-Identifier: BSD-3-Clause */
/* Direct links between ranks, see direct.h. */
#include "libzip/bridge/direct.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/hosts/ports.h"
#include "common/session/session.h"
#include "libzip/shim/station.h"
#include "libzip/stream/channel.h"
#include "libzip/stream/choice.h"
#include "libzip/stream/post.h"
#include "libzip/stream/remote.h"
#include "libzip/stream/stations.h"
#include "libzip/world/host.h"
#include "libzip/world/error.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"
#include "common/transport/transports.h"

/* A rank that listens is there, and the kernel answers for it: a rank that is silent for so long is behind a
 * fire-wall. */
#define CONNECT_TIMEOUT_MS 5000
#define STRANGERS_MAX 16	/* connections that have not said who they are; the oldest one makes room */
#define STRANGER_MS 30000	/* time for a stranger to say who it is */
#define STRANGER_MAX_BYTES 4096 /* size of a stranger's message */
#define ACCEPTS_MAX 16		/* accepted at a time */

struct stranger {
	struct zlink *link;
	int64_t until_ms;
};

static struct {
	struct zlistener *listener[ZCTL_PARTS_MAX + 1];
	int nlisteners;
	struct stranger stranger[STRANGERS_MAX];
	int nstrangers;
	_Atomic uint64_t unreachable; /* a bit each: parts whose ranks could not be connected to; told once */
} self;

/* --- listening --- */

/* A name in the abstract namespace that no other socket has; it goes with the process. */
static void local_address(struct zaddr *addr)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	memset(addr, 0, sizeof(*addr));
	addr->kind = ZADDR_SHM;
	snprintf(addr->host, sizeof(addr->host), "@zipper-%d-%llx%lx", (int)getpid(), (unsigned long long)t.tv_sec,
		(unsigned long)t.tv_nsec);
}

static int listen_at(struct zaddr *addr)
{
	struct zerr err = {{0}};
	const struct ztransport *t = ztransports_find(addr->kind, &err);
	struct zlistener *l = NULL;

	zaddr_listen_anywhere(addr);
	int rc = t ? t->listen(&l, addr, &err) : -EPROTONOSUPPORT;
	if (rc != 0) {
		zlog(ZLOG_WARN, "no direct links over this port: %s", err.text);
		return rc;
	}
	t->listener_addr(l, addr);
	self.listener[self.nlisteners++] = l;
	return 0;
}

int zdirect_listen(const struct zports *ports, struct zctl_join *join, struct zerr *err)
{
	static struct zports open; /* static because it is large; there is one rank per process */
	struct zaddr local;

	join->node = zhost_number();
	join->direct = 1;
	local_address(&local);
	if (ports->n == 0 || listen_at(&local) != 0)
		return 0;
	zaddr_format(&local, join->local, sizeof(join->local));
	open.n = 0;
	for (int i = 0; i < ports->n; i++) {
		open.port[open.n] = ports->port[i];
		/* One socket serves all fabrics that are this node's own memory. */
		if (zaddr_traits(&ports->port[i].addr)->this_host)
			open.port[open.n++].addr = local;
		else if (listen_at(&open.port[open.n].addr) == 0)
			open.n++;
	}
	if (zports_format(&open, join->ports, sizeof(join->ports)) != 0)
		return zerr_set(err, -E2BIG, "the addresses of %d ports are longer than %d characters", open.n,
			ZCTL_PORTS_MAX);
	zlog(ZLOG_INFO, "listens for direct links: %s", join->ports);
	return 0;
}

void zdirect_init(void)
{
	self.unreachable = 0;
}

static void drop_stranger(int i)
{
	struct zlink *l = self.stranger[i].link;

	self.nstrangers--;
	memmove(&self.stranger[i], &self.stranger[i + 1], (size_t)(self.nstrangers - i) * sizeof(self.stranger[0]));
	if (l)
		l->ops->close(l);
}

void zdirect_fini(void)
{
	while (self.nstrangers > 0)
		drop_stranger(0);
	while (self.nlisteners > 0) {
		struct zlistener *l = self.listener[--self.nlisteners];
		l->ops->unlisten(l);
	}
	zchoice_fini();
}

/* --- asking --- */

static void give_way_to_all(const struct zstation *s)
{
	for (int v = 0; v < zworld.nranks; v++) {
		struct zremote *r = zremote_find(s, (uint32_t)v);
		if (r && r->channel->waiting && !r->channel->link)
			zchoice_give_way(r);
	}
}

void zdirect_lose_zipper(void)
{
	zstation_for_each(0)
		give_way_to_all(zstations_here());
}

/* Messages to that rank go over the bridge, and it is told that no connection will come. */
static void decline(struct zremote *r, const char *why)
{
	uint64_t part = UINT64_C(1) << zworld.place[r->vrank].part;

	if (why && !(self.unreachable & part))
		zlog(ZLOG_WARN, "no direct link to rank %u of part %s, messages go over the bridge: %s", r->vrank,
			zworld.part_name[zworld.place[r->vrank].part], why);
	if (why)
		self.unreachable |= part;
	if (r->channel->waiting)
		zchoice_give_way(r);
	zchoice_say(r->station, ZCTL_DIRECT_NO, r->vrank);
}

void zdirect_fail(struct zchannel *ch)
{
	decline(zremote_find(ch->station, ch->peer), "it refused");
}

/* Is the link to be sealed behind its ATTACH? One within this node crosses no network. */
static bool wants_seal(const struct zlink *link, const struct zctl_attach *a)
{
	return a->seal != ZSEAL_NONE && link->ops->seal;
}

/* key: of the link; it is wiped. */
static int seal(struct zlink *link, const struct zctl_attach *a, uint8_t key[ZAUTH_KEY_BYTES], enum zauth_side side,
	struct zerr *err)
{
	struct zseal with;

	zrails.auth->seal(&with, a->seal, key, side, a->ticket);
	int rc = link->ops->seal(link, &with, err);
	zrails.auth->wipe(&with, sizeof(with));
	zrails.auth->wipe(key, ZAUTH_KEY_BYTES);
	return rc;
}

static int attach_to(struct zstation *s, struct zlink **link, const struct zaddr *addr,
	const struct zctl_attach *attach, const struct zctl_direct *d, struct zerr *err)
{
	uint8_t key[ZAUTH_KEY_BYTES];
	int rc = zchannel_link(s, link, addr, attach, CONNECT_TIMEOUT_MS, err);

	if (rc != 0 || !wants_seal(*link, attach))
		return rc;
	memcpy(key, d->masked_key, sizeof(key));
	zrails.auth->mask(key, zrails.rail[0].key, attach->ticket);
	rc = seal(*link, attach, key, ZAUTH_ASKS, err);
	if (rc != 0)
		(*link)->ops->close(*link);
	return rc;
}

/* Connects to the first of these addresses that answers. */
static int connect_to(struct zstation *s, struct zlink **link, const struct zctl_direct *d, struct zerr *err)
{
	struct zctl_attach attach = {.vrank = (uint32_t)zworld.vrank,
		.part = (uint32_t)zworld.part,
		.endpoint = (uint32_t)s->number,
		.seal = d->seal};
	char addresses[sizeof(d->addresses)], *rest;
	int rc = zerr_set(err, -EADDRNOTAVAIL, "it has no address that we could reach");

	memcpy(attach.nonce, d->nonce, sizeof(attach.nonce));
	memcpy(attach.ticket, d->masked, sizeof(attach.ticket));
	zrails.auth->mask(attach.ticket, zrails.rail[0].key, d->nonce);
	memcpy(addresses, d->addresses, sizeof(addresses));
	for (char *text = strtok_r(addresses, " ", &rest); rc != 0 && text; text = strtok_r(NULL, " ", &rest)) {
		struct zaddr addr;
		rc = zaddr_parse(&addr, text, err);
		if (rc == 0)
			rc = attach_to(s, link, &addr, &attach, d, err);
	}
	return rc;
}

static void connect_peer(struct zstation *s, const struct zctl_direct *d)
{
	struct zremote *r = zremote_get(s, d->vrank); /* may ask for a link, too: the answer then finds it connected */
	struct zerr err = {{0}};
	struct zlink *link;

	if (!r)
		zerror_fatal(1, "out of memory for the state of a rank");
	if (!r->channel->waiting) {
		if (r->channel->peer != d->vrank)
			decline(r, NULL); /* it is reached over the bridge already */
		return;
	}
	if (r->channel->link)
		return;
	/* After one failure the other ranks of the part would only take as long. */
	if (self.unreachable & UINT64_C(1) << zworld.place[d->vrank].part)
		decline(r, "as before");
	else if (connect_to(s, &link, d, &err) != 0)
		decline(r, err.text);
	else
		zchannel_set_link(r->channel, link);
}

void zdirect_take(const struct zctl_direct *d)
{
	if (d->vrank >= (uint32_t)zworld.nranks || zworld_is_local((int)d->vrank) ||
		d->endpoint >= (uint32_t)zstation_n)
		return;
	const int was = zstation_visit((int)d->endpoint);
	if (d->what == ZCTL_DIRECT_CONNECT) {
		connect_peer(zstations_here(), d);
	} else if (d->what == ZCTL_DIRECT_NO) {
		struct zremote *r = zremote_find(zstations_here(), d->vrank);
		if (r && r->channel->waiting)
			zchoice_give_way(r);
	}
	zstation_return(was);
}

/* --- being asked --- */

/* The first zipper arranges direct links, and makes tickets with the key of our session with it. */
static bool admits(const struct zctl_attach *a)
{
	uint8_t ticket[ZCTL_MAC_BYTES];

	zrails.auth->ticket(ticket, zrails.rail[0].key, ZAUTH_LINK, a);
	return zrails.auth->same(ticket, a->ticket);
}

/* Takes a stranger's first message. */
static int take_attach(void *ctx, const struct zwire_env *env, const uint8_t raw[ZWIRE_ENV_BYTES], const void *payload)
{
	struct zctl_attach *attach = ctx;
	struct zctl_msg msg;

	(void)raw;
	if (env->kind != ZWIRE_CTRL || zctl_decode_as(&msg, payload, env->len, zrails.rail[0].protocol, NULL) != 0)
		return -EPROTO;
	bool good = msg.type == ZCTL_ATTACH && admits(&msg.u.attach);
	if (good)
		*attach = msg.u.attach;
	zctl_free(&msg);
	return good ? 0 : -EACCES;
}

/* The link has come to stay: it gets the resources of its station. False: it cannot. */
static bool settle(struct zstation *s, struct zlink *link)
{
	struct zerr err;

	if (!link->ops->settle)
		return true;
	int rc = zchannel_settle(s, link, &err);
	if (rc < 0)
		zlog(ZLOG_WARN, "no direct link to %s: %s", link->peer, err.text);
	return rc >= 0;
}

static bool seal_own(struct zlink *link, const struct zctl_attach *a)
{
	uint8_t key[ZAUTH_KEY_BYTES];
	struct zerr err;

	if (!wants_seal(link, a))
		return true;
	zrails.auth->link_key(key, zrails.rail[0].key, a->ticket);
	int rc = seal(link, a, key, ZAUTH_ANSWERS, &err);
	if (rc != 0)
		zlog(ZLOG_WARN, "no direct link to %s: %s", link->peer, err.text);
	return rc == 0;
}

/* A rank of our job has connected: its link becomes that of its channel, unless the choice was another one. True: the
 * link has been taken. */
static bool welcome(struct zstation *s, struct zlink *link, const struct zctl_attach *a)
{
	struct zwire_env env = {.kind = ZWIRE_ACK};

	if (a->vrank >= (uint32_t)zworld.nranks || zworld_is_local((int)a->vrank) || !zchoice_is_possible(a->vrank))
		return false;
	struct zremote *r = zremote_get_direct(s, a->vrank);
	if (!r || !r->channel->waiting || r->channel->link || !settle(s, link) || !seal_own(link, a))
		return false;
	zchannel_set_link(r->channel, link);
	zchannel_set_up(r->channel);
	zpost_control(r, NULL, &env, NULL);
	zpost_flush(r->channel);
	return true;
}

static bool welcome_there(struct zlink *link, const struct zctl_attach *a)
{
	if (a->endpoint >= (uint32_t)zstation_n)
		return false;
	const int was = zstation_visit((int)a->endpoint);
	bool taken = welcome(zstations_here(), link, a);
	zstation_return(was);
	return taken;
}

/* True: it is no stranger any more, or gone. */
static bool poll_stranger(struct stranger *s)
{
	struct zctl_attach attach = {.vrank = 0};
	struct zsink sink = {.take = take_attach, .ctx = &attach, .max_len = STRANGER_MAX_BYTES};
	int rc = s->link->ops->poll(s->link, &sink, 1);

	if (rc == 0)
		return zclock_ms() >= s->until_ms;
	if (rc > 0 && welcome_there(s->link, &attach))
		s->link = NULL;
	else if (rc != -ESHUTDOWN)
		zlog(ZLOG_INFO, "refused a connection of %s", s->link->peer);
	return true;
}

static bool accept_all(struct zlistener *l)
{
	bool any = false;

	for (int i = 0; i < ACCEPTS_MAX; i++) {
		struct zerr err;
		struct zlink *link;
		int rc = l->ops->accept(l, &link, &err);
		if (rc == -EAGAIN)
			break;
		any = true;
		if (rc != 0) {
			zlog(ZLOG_WARN, "direct link: %s", err.text);
			break;
		}
		if (self.nstrangers == STRANGERS_MAX) /* they stand in the order of their coming */
			drop_stranger(0);
		self.stranger[self.nstrangers++] =
			(struct stranger){.link = link, .until_ms = zclock_ms() + STRANGER_MS};
	}
	return any;
}

bool zdirect_poll(void)
{
	bool any = false;

	for (int i = 0; i < self.nlisteners; i++)
		any |= accept_all(self.listener[i]);
	/* the oldest first: a later one may bring a ticket that it has overheard */
	for (int i = 0; i < self.nstrangers;)
		if (poll_stranger(&self.stranger[i])) {
			drop_stranger(i);
			any = true;
		} else {
			i++;
		}
	return any;
}

int zdirect_fds(void)
{
	return self.nlisteners + (self.nlisteners ? STRANGERS_MAX : 0);
}

int zdirect_arm(struct pollfd *fds)
{
	uint32_t events;
	int n = 0;

	for (int i = 0; i < self.nlisteners; i++)
		fds[n++] =
			(struct pollfd){.fd = self.listener[i]->ops->listener_fd(self.listener[i]), .events = POLLIN};
	for (int i = 0; i < self.nstrangers; i++) {
		struct zlink *l = self.stranger[i].link;
		if (l->ops->arm(l, ZLINK_RX) != 0)
			return -1;
		fds[n].fd = l->ops->fd(l, ZLINK_RX, &events);
		fds[n++].events = (short)(events & EPOLLIN ? POLLIN : POLLOUT);
	}
	return n;
}

void zdirect_woken(const struct pollfd *fds, int n)
{
	/* strangers may have come meanwhile: then the next listener is looked at for nothing */
	for (int i = 0; i < n && i < self.nlisteners + self.nstrangers; i++)
		if (fds[i].revents) {
			zdirect_poll();
			return;
		}
}

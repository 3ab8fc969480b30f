/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions for contexts: open, meet, close. See zipcast.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/control/ctl_name.h"
#include "common/transport/transports.h"
#include "zipcast/call.h"
#include "zipcast/command.h"
#include "zipcast/connect.h"
#include "zipcast/end.h"
#include "zipcast/guest.h"
#include "zipcast/base/modules.h"
#include "zipcast/poll.h"
#include "zipcast/remote.h"
#include "zipcast/thread.h"
#include "zipcast/used.h"

#define TIMEOUT_MS 30000

static int explain(char *why, const struct zerr *err, int rc)
{
	snprintf(why, ZIPCAST_WHY_BYTES, "%.*s", ZIPCAST_WHY_BYTES - 1, err->text[0] ? err->text : strerror(-rc));
	return rc;
}

/* With such an address every node would connect to itself. */
static bool is_wildcard(const struct zaddr *addr)
{
	struct in6_addr six;
	struct in_addr four;
	struct zaddr tcp;
	if (!zaddr_tcp(addr, &tcp))
		return false;
	return inet_aton(tcp.host, &four) ? four.s_addr == htonl(INADDR_ANY)
					  : inet_pton(AF_INET6, tcp.host, &six) == 1 && IN6_IS_ADDR_UNSPECIFIED(&six);
}

static int check_config(const struct zipcast_config *c, struct zaddr *addr, struct zerr *err)
{
	if (c->me >= ZIPCAST_NODES_MAX)
		return zerr_set(err, -EINVAL, "node number %u: they go up to %u", c->me, ZIPCAST_NODES_MAX - 1);
	if (!c->session || !zctl_name_ok(c->session))
		return zerr_set(err, -EINVAL, "a session must have a name of 1 to %d printable characters",
			ZCTL_NAME_MAX);
	if (!c->key || !c->listen)
		return zerr_set(err, -EINVAL, "a key and an address to listen on are needed");
	if (c->waiting != ZIPCAST_HYBRID && c->waiting != ZIPCAST_POLL && c->waiting != ZIPCAST_INTERRUPTS)
		return zerr_set(err, -EINVAL, "there is no way of waiting with number %d", (int)c->waiting);
	int rc = zaddr_parse(addr, c->listen, err);
	if (rc == 0 && is_wildcard(addr))
		return zerr_set(err, -EINVAL, "%.100s is no address that others can reach", c->listen);
	if (rc == 0 && addr->seal)
		return zerr_set(err, -EINVAL, "%.100s: nodes cannot protect their connections (integrity, encrypt)",
			c->listen);
	return rc;
}

static int start_thread(struct zipcast *zc)
{
	/* Connections that come before zipcast_meet wait, without waking the thread all the time. */
	struct epoll_event ev = {.events = EPOLLIN}, not_yet = {.events = 0};
	zc->epoll = epoll_create1(EPOLL_CLOEXEC);
	zc->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (zc->epoll < 0 || zc->wake < 0 || epoll_ctl(zc->epoll, EPOLL_CTL_ADD, zc->wake, &ev) != 0 ||
		epoll_ctl(zc->epoll, EPOLL_CTL_ADD, zc->listener->ops->listener_fd(zc->listener), &not_yet) != 0)
		return -errno;
	/* The application's signal handlers are for the application's threads. */
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int rc = pthread_create(&zc->thread, NULL, zthread_run, zc);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -rc;
}

static void free_nodes(struct zipcast *zc)
{
	for (uint32_t i = 0; i < zc->nnodes; i++) {
		free(zc->node[i].fabric ? zc->node[i].fabric : zc->node[i].address);
		free(zc->node[i].unreachable);
	}
	free(zc->node);
	free(zc->up);
	zc->node = NULL;
	zc->up = NULL;
	zc->nnodes = 0;
}

static void free_context(struct zipcast *zc)
{
	struct used *u, *after;
	HASH_ITER(hh, zc->used, u, after) {
		HASH_DEL(zc->used, u);
		zused_free(u);
	}
	free_nodes(zc);
	if (zc->endpoint)
		zc->settles->endpoint_close(zc->endpoint);
	if (zc->listener)
		zc->listener->ops->unlisten(zc->listener);
	if (zc->epoll >= 0)
		close(zc->epoll);
	if (zc->wake >= 0)
		close(zc->wake);
	zauth_module.wipe(zc->key, sizeof(zc->key));
	zauth_module.wipe(zc->zipper.key, sizeof(zc->zipper.key));
	pthread_cond_destroy(&zc->executed);
	pthread_mutex_destroy(&zc->lock);
	free(zc);
}

int zipcast_open(struct zipcast **out, const struct zipcast_config *c, char why[ZIPCAST_WHY_BYTES])
{
	struct zerr err = {.text = ""};
	struct zaddr addr;
	int rc = check_config(c, &addr, &err);
	*out = NULL;
	if (rc != 0)
		return explain(why, &err, rc);
	struct zipcast *zc = calloc(1, sizeof(*zc));
	if (!zc)
		return explain(why, &err, -ENOMEM);
	zc->me = c->me;
	zc->kind = addr.kind;
	zc->waiting = c->waiting;
	zc->timeout_ms = c->timeout_ms == 0 ? TIMEOUT_MS : c->timeout_ms < INT_MAX ? (int)c->timeout_ms : INT_MAX;
	zc->epoll = zc->wake = -1;
	zc->commands_tail = &zc->commands;
	snprintf(zc->session, sizeof(zc->session), "%s", c->session);
	memcpy(zc->key, c->key, sizeof(zc->key));
	list_init(&zc->runnable);
	list_init(&zc->guests);
	list_init(&zc->calls);
	list_init(&zc->ending);
	list_init(&zc->ended);
	zc->one_sided = ZMODULES_ONE_SIDED_NO;
	zwait_init(&zc->wait, true);
	pthread_mutex_init(&zc->lock, NULL);
	pthread_cond_init(&zc->executed, NULL);
	const struct ztransport *t = NULL;
	rc = zconnect_init(zc, c, &err);
	if (rc != 0) {
		free_context(zc);
		return explain(why, &err, rc);
	}
	if (!zaddr_traits(&addr)->in_module || zmodules_configure(&err) == 0)
		t = ztransports_find(addr.kind, &err);
	if (t && zaddr_traits(&addr)->in_module)
		zc->one_sided = zmodules_one_sided();
	rc = t ? t->listen(&zc->listener, &addr, &err) : -EPROTONOSUPPORT;
	if (rc == 0) {
		t->listener_addr(zc->listener, &addr);
		int named = zc->fabric[0] ? snprintf(zc->address, sizeof(zc->address), "%s=", zc->fabric) : 0;
		zaddr_format(&addr, zc->address + named, sizeof(zc->address) - (size_t)named);
		rc = start_thread(zc);
	}
	if (rc != 0) {
		free_context(zc);
		return explain(why, &err, rc);
	}
	*out = zc;
	return 0;
}

const char *zipcast_address(const struct zipcast *zc)
{
	return zc->address;
}

/* "ADDRESS", or "FABRIC=ADDRESS". */
static const char *split_address(const char *text, size_t *fabric_bytes)
{
	const char *equals = strchr(text, '=');
	*fabric_bytes = equals ? (size_t)(equals - text) : 0;
	return equals ? equals + 1 : text;
}

static int check_address(const struct zipcast *zc, const char *text, struct zerr *err)
{
	struct zaddr addr;
	size_t n;
	const char *at = split_address(text, &n);
	int rc = zaddr_parse(&addr, at, err);
	if (rc != 0)
		return rc;
	if ((n > 0) != (zc->fabric[0] != '\0'))
		return zerr_set(err, -EINVAL,
			n > 0 ? "%.100s names a fabric, and this node has none"
			      : "%.100s names no fabric, and this node has one",
			text);
	if (n > ZCTL_NAME_MAX)
		return zerr_set(err, -EINVAL, "%.100s: the name of a fabric has %d characters at most", text,
			ZCTL_NAME_MAX);
	const bool direct = n == 0 || (n == strlen(zc->fabric) && strncmp(text, zc->fabric, n) == 0);
	if (direct && addr.kind != zc->kind)
		return zerr_set(err, -EINVAL, "%.100s is another kind of address than this node's, %.100s", text,
			zc->address);
	return zaddr_traits(&addr)->in_module ? zmodules_configure(err) : 0;
}

static bool set_address(struct node *n, const char *text)
{
	size_t fabric_bytes;
	size_t at = (size_t)(split_address(text, &fabric_bytes) - text);
	char *copy = strdup(text);
	if (!copy)
		return false;
	n->address = copy + at;
	if (at > 0) {
		n->fabric = copy;
		n->fabric[fabric_bytes] = '\0';
		n->bridged = strcmp(n->fabric, n->zc->fabric) != 0;
	}
	return true; /* cppcheck-suppress memleak ; the node keeps the copy */
}

int zipcast_meet(struct zipcast *zc, const char *const *address, uint32_t nodes, char why[ZIPCAST_WHY_BYTES])
{
	struct zerr err = {.text = ""};
	if (zc->node)
		return explain(why, &err, -EALREADY);
	if (nodes <= zc->me || nodes > ZIPCAST_NODES_MAX)
		return explain(why, &err, zerr_set(&err, -EINVAL, "%u addresses, but this is node %u", nodes, zc->me));
	if (!address)
		return explain(why, &err, zerr_set(&err, -EINVAL, "no addresses were given"));
	for (uint32_t i = 0; i < nodes; i++) {
		int rc = address[i] ? check_address(zc, address[i], &err) : zerr_set(&err, -EINVAL, "has no address");
		if (rc != 0)
			return explain(why, &err, zerr_prefix(&err, -EINVAL, "node %u", i));
	}
	zc->node = calloc(nodes, sizeof(*zc->node));
	zc->up = calloc(nodes, sizeof(struct node *));
	bool ok = zc->node && zc->up;
	for (uint32_t i = 0; ok && i < nodes; i++) {
		struct node *n = &zc->node[i];
		n->zc = zc;
		n->number = i;
		n->words_tail = &n->words;
		list_init(&n->memberships);
		ok = set_address(n, address[i]);
		zc->nnodes = i + 1;
	}
	if (!ok) {
		free_nodes(zc); /* the caller may try again, and no group is made with half of the nodes */
		return explain(why, &err, -ENOMEM);
	}
	struct command c = {.kind = COMMAND_MEET, .waited = true};
	zcommand_hand_over(zc, &c);
	return 0;
}

/* All links begin to drain before the first is closed, so that their waits overlap. */
static void drain_links(struct zipcast *zc)
{
	for (uint32_t i = 0; i < zc->nup; i++) {
		struct zlink *z = zc->up[i]->link.zlink;
		zremote_before_close(zc->up[i]);
		if (z->ops->drain)
			z->ops->drain(z);
	}
}

void zipcast_close(struct zipcast *zc)
{
	struct command c = {.kind = COMMAND_STOP, .waited = true};
	if (!zc || zcontext_on_thread(zc))
		return;
	zcommand_hand_over(zc, &c);
	pthread_join(zc->thread, NULL);
	drain_links(zc);
	while (zc->nup)
		zpoll_lose(zc->up[0], NULL);
	zend_settle(zc); /* no memory is open to anyone any more */
	zcommand_drop_all(zc);
	zend_bury(zc);
	while (!list_empty(&zc->guests))
		zguest_close(zc, list_entry(zc->guests.next, struct guest, of_context));
	while (!list_empty(&zc->calls))
		zcall_close(zc, list_entry(zc->calls.next, struct call, of_context));
	free_context(zc);
}

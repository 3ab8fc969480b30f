/* SPDX-License-Identifier: BSD-3-Clause */
/* The action of each command, see execute.h. */
#include "zipcast/execute.h"

#include <stdlib.h>
#include <sys/epoll.h>

#include "common/base/clock.h"
#include "zipcast/barrier.h"
#include "zipcast/begin.h"
#include "zipcast/call.h"
#include "zipcast/command.h"
#include "zipcast/end.h"
#include "zipcast/handshake.h"

#define STOP_MS 2000 /* for telling the other nodes when closing: an overloaded node may not hear any more */

static void queue_message(struct zipcast_group *g, struct outgoing *out)
{
	if (atomic_load(&g->failed)) {
		free(out);
		return;
	}
	*g->queue_tail = out;
	g->queue_tail = &out->next;
	zgroup_set_runnable(g);
}

static void take_link(struct zipcast *zc, struct command *c)
{
	c->rc = zhandshake_settle(zc, c->zlink, c->why);
	if (c->rc == 0)
		c->rc = znode_up(c->node, c->zlink, c->why);
	else
		c->zlink->ops->close(c->zlink);
}

/* Ends all groups. The thread goes on until the other nodes have been told. */
static void stop(struct zipcast *zc)
{
	struct zipcast_group *g, *after;
	HASH_ITER(hh, zc->groups, g, after)
		zend_destroy(g);
	zc->stop = true;
	zc->stop_ms = zclock_ms() + STOP_MS;
}

/* False: the group waits until its messages are sent and nobody reaches its memory; then it ends the wait of its
 * destroyer. */
static bool destroy(struct command *c)
{
	struct zipcast_group *g = c->group;
	if (zend_has_unsent(g))
		zend_send_rest(g);
	else
		zend_destroy(g);
	if (!g->gone)
		g->destroyer = c;
	return g->gone;
}

/* Changes an event of the epoll set, which needs no memory. */
static void listen_from_now_on(struct zipcast *zc)
{
	struct epoll_event ev = {.events = EPOLLIN};
	epoll_ctl(zc->epoll, EPOLL_CTL_MOD, zc->listener->ops->listener_fd(zc->listener), &ev);
}

/* True: the command is done. */
static bool execute(struct zipcast *zc, struct command *c)
{
	switch (c->kind) {
	case COMMAND_LINK:
		take_link(zc, c);
		break;
	case COMMAND_CALL:
		c->rc = zcall_add(c->node, c->zlink, c->why);
		break;
	case COMMAND_GROUP:
		c->rc = zbegin_group(c->group);
		if (c->rc != 0)
			zend_abandon(c->group);
		break;
	case COMMAND_ABANDON:
		zbegin_group(c->group);
		zend_abandon(c->group);
		break;
	case COMMAND_SEND:
		queue_message(c->group, c->out);
		break;
	case COMMAND_BARRIER:
		zbarrier_enter(c->group, c->entry);
		break;
	case COMMAND_END:
		c->group->all_queued = true;
		zgroup_set_runnable(c->group);
		break;
	case COMMAND_ON_END:
		zend_on_end(c->group, c->on_end);
		break;
	case COMMAND_DESTROY:
		return destroy(c);
	case COMMAND_MEET:
		zc->met = true;
		listen_from_now_on(zc);
		break;
	case COMMAND_STOP:
		stop(zc);
		break;
	}
	return true;
}

bool zexecute_all(struct zipcast *zc)
{
	struct command *c = zcommand_take_all(zc);
	const bool any = c != NULL;
	while (c) {
		struct command *next = c->next;
		const bool waited = c->waited, done = execute(zc, c);
		if (!waited)
			free(c);
		else if (done)
			zcommand_done(zc, c);
		c = next;
	}
	return any;
}

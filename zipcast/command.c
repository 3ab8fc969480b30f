/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of commands, see command.h. */
#include "zipcast/command.h"

#include <stdlib.h>
#include <unistd.h>

static void wake(struct zipcast *zc)
{
	uint64_t one = 1;
	(void)!write(zc->wake, &one, sizeof(one));
}

void zcommand_hand_over(struct zipcast *zc, struct command *c)
{
	c->next = NULL;
	c->done = false;
	pthread_mutex_lock(&zc->lock);
	*zc->commands_tail = c;
	zc->commands_tail = &c->next;
	atomic_store(&zc->pending, true);
	if (atomic_load(&zc->asleep))
		wake(zc);
	while (c->waited && !c->done)
		pthread_cond_wait(&zc->executed, &zc->lock);
	pthread_mutex_unlock(&zc->lock);
}

struct command *zcommand_take_all(struct zipcast *zc)
{
	if (!atomic_load_explicit(&zc->pending, memory_order_acquire))
		return NULL;
	pthread_mutex_lock(&zc->lock);
	struct command *c = zc->commands;
	zc->commands = NULL;
	zc->commands_tail = &zc->commands;
	atomic_store(&zc->pending, false);
	pthread_mutex_unlock(&zc->lock);
	return c;
}

void zcommand_done(struct zipcast *zc, struct command *c)
{
	pthread_mutex_lock(&zc->lock);
	c->done = true;
	pthread_cond_broadcast(&zc->executed);
	pthread_mutex_unlock(&zc->lock);
}

void zcommand_drop_all(struct zipcast *zc)
{
	while (zc->commands) {
		struct command *c = zc->commands;
		zc->commands = c->next;
		free(c->out);
		free(c->entry);
		free(c);
	}
	zc->commands_tail = &zc->commands;
}

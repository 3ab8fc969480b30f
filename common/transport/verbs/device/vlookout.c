/* SPDX-License-Identifier: BSD-3-Clause */
/* The links that are woken by events of devices, see vlookout.h. */
#include "common/transport/verbs/device/vlookout.h"

#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>

/* More than one, as the thread of a link may have no time at the moment: zipperd does not ask a link again before
 * somebody takes its message. */
#define FEW 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vlookout *all;

/* The bit of this descriptor; 0: the descriptor does not concern this link. */
static unsigned bit_of(const struct vlookout *o, int fd)
{
	for (int i = 0; i < o->n; i++)
		if (o->fd[i] == fd)
			return 1u << i;
	return 0;
}

static int watch(struct vlookout *o, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
	if (epoll_ctl(o->epoll, EPOLL_CTL_ADD, fd, &e) != 0)
		return -errno;
	o->on |= bit_of(o, fd);
	return 0;
}

static void unwatch(struct vlookout *o, int fd)
{
	if (!(o->on & bit_of(o, fd)))
		return;
	epoll_ctl(o->epoll, EPOLL_CTL_DEL, fd, NULL);
	o->on &= ~bit_of(o, fd);
}

static int watchers(int fd)
{
	int n = 0;
	for (const struct vlookout *o = all; o && n < FEW; o = o->next)
		n += (o->on & bit_of(o, fd)) != 0;
	return n;
}

/* Lets other links watch the descriptor. Events that came meanwhile wake them at once. */
static void hand_over(int fd)
{
	for (struct vlookout *o = all; o && watchers(fd) < FEW; o = o->next)
		if (bit_of(o, fd) & ~o->on)
			watch(o, fd);
}

int vlookout_add(struct vlookout *o)
{
	int rc = 0;
	pthread_mutex_lock(&lock);
	o->on = 0;
	for (int i = 0; i < o->n && rc == 0; i++)
		if (watchers(o->fd[i]) < FEW)
			rc = watch(o, o->fd[i]);
	for (int i = 0; i < o->n && rc != 0; i++)
		unwatch(o, o->fd[i]);
	if (rc == 0) {
		o->listed = true;
		o->next = all;
		all = o;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

void vlookout_del(struct vlookout *o)
{
	pthread_mutex_lock(&lock);
	for (struct vlookout **at = &all; o->listed && *at; at = &(*at)->next)
		if (*at == o) {
			*at = o->next;
			break;
		}
	for (int i = 0; i < o->n && o->listed; i++) {
		unwatch(o, o->fd[i]);
		hand_over(o->fd[i]);
	}
	o->listed = false;
	pthread_mutex_unlock(&lock);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that asks munged, see munger.h. It takes questions from a queue and gives them back through a pipe. */
#define _GNU_SOURCE /* pthread_timedjoin_np */
#include "zipperd/conn/munger.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "common/base/log.h"
#include "zipperd/conn/watch.h"

#define END_S 2 /* for a munged that does not answer, at the end */

struct munger_question {
	struct list link; /* in munger.waiting, until the thread takes it */
	struct munger *munger;
	munger_done *done;
	void *owner; /* the control thread's; NULL: nobody wants the answer any more */
	char credential[ZCTL_MUNGE_MAX + 1];
	struct munger_answer answer; /* the thread's, until it has given the question back */
};

struct munger {
	struct watch watch;
	const struct zmunge_ops *ops;
	const char *socket;
	pthread_t thread;
	pthread_mutex_t lock; /* of the next two */
	struct list waiting;
	bool ends;
	pthread_cond_t more;
	int fd[2]; /* pipe, for questions with answers */
};

static void answer(const struct munger *m, struct munger_question *q)
{
	struct munger_answer *a = &q->answer;
	uint32_t uid;
	a->rc = m->ops->decode(a->payload, &uid, m->socket, q->credential, &a->err);
	if (a->rc == 0)
		a->rc = zmunge_user_name(a->user, uid, &a->err);
}

static void *run(void *arg)
{
	struct munger *m = arg;
	for (;;) {
		struct munger_question *q = NULL;
		pthread_mutex_lock(&m->lock);
		while (!m->ends && list_empty(&m->waiting))
			pthread_cond_wait(&m->more, &m->lock);
		if (!m->ends) {
			q = list_entry(m->waiting.next, struct munger_question, link);
			list_del(&q->link);
		}
		pthread_mutex_unlock(&m->lock);
		if (!q)
			return NULL;
		answer(m, q);
		/* A pipe does not split a pointer. */
		while (write(m->fd[1], &q, sizeof(struct munger_question *)) < 0 && errno == EINTR)
			;
	}
}

static void release(struct munger_question *q)
{
	zauth_module.wipe(q, sizeof(*q));
	free(q);
}

static void ready(struct watch *watch)
{
	struct munger *m = (struct munger *)(void *)watch;
	struct munger_question *q;
	while (read(m->fd[0], &q, sizeof(struct munger_question *)) == sizeof(struct munger_question *)) {
		if (q->owner)
			q->done(q->owner, &q->answer);
		release(q);
	}
}

static int start(struct daemon *d, struct munger *m, struct zerr *err)
{
	if (pipe2(m->fd, O_CLOEXEC) != 0)
		return zerr_set(err, -errno, "pipe: %s", strerror(errno));
	fcntl(m->fd[0], F_SETFL, O_NONBLOCK);
	int rc = watch_add(d, m->fd[0], EPOLLIN, &m->watch);
	if (rc == 0)
		rc = -pthread_create(&m->thread, NULL, run, m);
	if (rc == 0)
		return 0;
	watch_remove(d, m->fd[0]);
	close(m->fd[0]);
	close(m->fd[1]);
	return zerr_set(err, rc, "no thread to ask munged with: %s", strerror(-rc));
}

int munger_init(struct daemon *d, struct zerr *err)
{
	const struct zmunge_ops *ops;
	if (!d->settings.munge)
		return 0;
	int rc = zmunge_load(&ops, d->settings.module_dir, err);
	if (rc != 0)
		return zerr_prefix(err, rc, "munge");
	struct munger *m = calloc(1, sizeof(*m));
	if (!m)
		return zerr_set(err, -ENOMEM, "out of memory");
	m->watch.ready = ready;
	m->ops = ops;
	m->socket = d->settings.munge_socket;
	list_init(&m->waiting);
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->more, NULL);
	rc = start(d, m, err);
	if (rc != 0) {
		free(m);
		return rc;
	}
	if (!ops->is_there(m->socket))
		zlog(ZLOG_WARN, "munge: munged has no socket %s: is it running?", m->socket);
	d->munger = m;
	return 0;
}

void munger_fini(struct daemon *d)
{
	struct munger *m = d->munger;
	struct munger_question *q;
	struct list *node, *after;
	struct timespec end;
	if (!m)
		return;
	d->munger = NULL;
	pthread_mutex_lock(&m->lock);
	m->ends = true;
	list_for_each(node, after, &m->waiting) {
		list_del(node);
		release(list_entry(node, struct munger_question, link));
	}
	pthread_cond_signal(&m->more);
	pthread_mutex_unlock(&m->lock);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += END_S;
	watch_remove(d, m->fd[0]);
	if (pthread_timedjoin_np(m->thread, NULL, &end) != 0)
		return; /* munged does not answer: the thread ends with the process, and keeps what it uses */
	while (read(m->fd[0], &q, sizeof(struct munger_question *)) == sizeof(struct munger_question *))
		release(q);
	close(m->fd[0]);
	close(m->fd[1]);
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->more);
	free(m);
}

int munger_ask(struct munger_question **out, struct daemon *d, const char *credential, munger_done *done, void *owner)
{
	struct munger *m = d->munger;
	struct munger_question *q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	q->munger = m;
	q->done = done;
	q->owner = owner;
	strncpy(q->credential, credential, ZCTL_MUNGE_MAX);
	pthread_mutex_lock(&m->lock);
	list_add(&m->waiting, &q->link);
	pthread_cond_signal(&m->more);
	pthread_mutex_unlock(&m->lock);
	*out = q;
	return 0;
}

/* Peers that come and go must not fill the queue. */
void munger_drop(struct munger_question *q)
{
	pthread_mutex_lock(&q->munger->lock);
	const bool waits = list_linked(&q->link);
	list_del(&q->link);
	pthread_mutex_unlock(&q->munger->lock);
	q->owner = NULL;
	if (waits)
		release(q);
}

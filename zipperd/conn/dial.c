/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections that zipperd makes or settles, see dial.h. A thread touches its own dial and nothing else, and gives it
 * back through a pipe. */
#include "zipperd/conn/dial.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/session/session.h"
#include "common/transport/transports.h"
#include "zipperd/conn/watch.h"

#define DIAL_MS 5000	    /* for one dial; the asking end waits longer */
#define DIALS_MAX 32	    /* at a time */
#define DIALS_ADDRESS 4	    /* to one address */
#define STACK_BYTES 0x80000 /* resolvers need that much */

struct dial {
	struct list link; /* in dialer.waiting or dialer.running */
	struct daemon *daemon;
	const struct ztransport *ops;
	struct zaddr addr;
	char user[ZCTL_NAME_MAX + 1], job[ZCTL_NAME_MAX + 1];
	enum zseal_level level;
	uint8_t key[ZAUTH_KEY_BYTES]; /* the user's; of a sealed connection */
	dial_done *done;
	void *owner; /* NULL: nobody wants the link any more */
	pthread_t thread;
	bool settles; /* it settles an accepted link, which has no address here */
	bool begun;
	bool is_trunk;
	struct zctl_trunk trunk;
	uint64_t expires_s;
	int rc; /* the thread's, as zlink and err */
	/* the thread's, until it has given the dial back */
	struct zlink *zlink;
	struct zerr err;
};

struct dialer {
	struct watch watch;
	struct daemon *daemon;
	struct list waiting, running;
	int fd[2]; /* pipe, for dials that are done */
};

static void connect_to(struct dial *l)
{
	int rc = l->ops->connect_plain ? l->ops->connect_plain(&l->zlink, &l->addr, DIAL_MS, &l->err)
				       : l->ops->connect(&l->zlink, &l->addr, DIAL_MS, &l->err);
	l->rc = rc;
	if (rc != 0)
		l->zlink = NULL;
}

/* Says HELLO with service HOP, see ctl.h. */
static void connect_sealed(struct dial *l)
{
	struct zsession_params p = {.zipper = l->addr, .auth = &zauth_module, .timeout_ms = DIAL_MS};
	struct zsession *s;
	p.expires_s = l->expires_s;
	p.settled_later = l->is_trunk && zaddr_traits(&l->addr)->by_device;
	memcpy(p.user, l->user, sizeof(p.user));
	memcpy(p.job, l->job, sizeof(p.job));
	memcpy(p.key, l->key, sizeof(p.key));
	p.zipper.seal = (uint8_t)(1 + l->level);
	if (l->is_trunk)
		l->rc = zsession_open_trunk(&l->zlink, &p, &l->trunk, &l->err);
	else if ((l->rc = zsession_open(&s, &p, ZCTL_SERVICE_HOP, &l->err)) == 0)
		l->zlink = zsession_release(s);
	zauth_module.wipe(p.key, sizeof(p.key));
}

static void *run(void *arg)
{
	struct dial *l = arg;
	if (l->settles)
		l->ops->settle_wait(l->zlink, &l->err);
	else if (l->level != ZSEAL_NONE || l->is_trunk)
		connect_sealed(l);
	else
		connect_to(l);
	/* A pipe does not split a pointer. */
	while (write(l->daemon->dialer->fd[1], &l, sizeof(struct dial *)) < 0 && errno == EINTR)
		;
	return NULL;
}

static int start_thread(struct dial *l)
{
	pthread_attr_t attr;
	int rc = pthread_attr_init(&attr);
	if (rc == 0)
		rc = pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (rc == 0)
		rc = pthread_create(&l->thread, &attr, run, l);
	pthread_attr_destroy(&attr);
	return rc;
}

static void free_dial(struct dial *l)
{
	zauth_module.wipe(l->key, sizeof(l->key));
	free(l);
}

static void finish(struct dial *l)
{
	if (l->owner)
		l->done(l->owner, l->zlink, &l->err);
	else if (l->zlink)
		l->zlink->ops->close(l->zlink);
	free_dial(l);
}

/* May one more dial run? Dials to addresses that do not answer must not hold up all others. */
static bool may_start(const struct dialer *m, const struct dial *l)
{
	int all = 0, of_user = 0, there = 0;
	for (const struct list *node = m->running.next; node != &m->running; node = node->next) {
		const struct dial *other = list_entry(node, struct dial, link);
		if (other->settles != l->settles)
			continue;
		all++;
		of_user += strcmp(other->user, l->user) == 0;
		there += !l->settles && zaddr_same(&other->addr, &l->addr);
	}
	return all < DIALS_MAX && of_user < m->daemon->settings.user_dials && there < DIALS_ADDRESS;
}

/* 0 or a positive errno. */
static int start(struct dialer *m, struct dial *l)
{
	int rc = start_thread(l);
	if (rc != 0)
		return rc;
	l->begun = true;
	list_add(&m->running, &l->link);
	return 0;
}

static void start_waiting(struct dialer *m)
{
	struct list *node, *after;
	list_for_each(node, after, &m->waiting) {
		struct dial *l = list_entry(node, struct dial, link);
		if (l->owner && !may_start(m, l))
			continue;
		list_del(&l->link);
		int rc = l->owner ? start(m, l) : ECANCELED;
		if (rc == 0)
			continue;
		l->rc = zerr_set(&l->err, -rc, "no thread to connect with: %s", strerror(rc));
		finish(l);
	}
}

/* Dials to an address that cannot be reached. The other zipperd may have refused one user alone. */
static void fail_waiting(struct dialer *m, const struct dial *failed)
{
	struct list *node, *after;
	list_for_each(node, after, &m->waiting) {
		struct dial *l = list_entry(node, struct dial, link);
		/* A trunk may have been refused for its job alone. */
		if (!zaddr_same(&l->addr, &failed->addr) || l->level != failed->level || l->is_trunk ||
			failed->is_trunk || (l->level != ZSEAL_NONE && strcmp(l->user, failed->user) != 0))
			continue;
		list_del(&l->link);
		l->err = failed->err;
		l->rc = failed->rc;
		finish(l);
	}
}

static void ready(struct watch *watch)
{
	struct dialer *m = (struct dialer *)(void *)watch;
	struct dial *l;
	while (read(m->fd[0], &l, sizeof(struct dial *)) == sizeof(struct dial *)) {
		pthread_join(l->thread, NULL);
		list_del(&l->link);
		if (!l->zlink)
			fail_waiting(m, l);
		finish(l);
	}
	start_waiting(m);
}

int dial_init(struct daemon *d, struct zerr *err)
{
	struct dialer *m = calloc(1, sizeof(*m));
	if (!m)
		return zerr_set(err, -ENOMEM, "out of memory");
	m->watch.ready = ready;
	m->daemon = d;
	list_init(&m->waiting);
	list_init(&m->running);
	if (pipe(m->fd) != 0) {
		int rc = -errno;
		free(m);
		return zerr_set(err, rc, "pipe: %s", strerror(-rc));
	}
	for (int i = 0; i < 2; i++)
		fcntl(m->fd[i], F_SETFD, FD_CLOEXEC);
	fcntl(m->fd[0], F_SETFL, O_NONBLOCK);
	d->dialer = m;
	int rc = watch_add(d, m->fd[0], EPOLLIN, &m->watch);
	return rc == 0 ? 0 : zerr_set(err, rc, "epoll: %s", strerror(-rc));
}

void dial_fini(struct daemon *d)
{
	struct dialer *m = d->dialer;
	struct list *node, *after;
	if (!m)
		return;
	list_for_each(node, after, &m->waiting) {
		struct dial *l = list_entry(node, struct dial, link);
		l->owner = NULL;
		finish(l);
	}
	list_for_each(node, after, &m->running) {
		struct dial *l = list_entry(node, struct dial, link);
		pthread_join(l->thread, NULL);
		l->owner = NULL;
		finish(l);
	}
	watch_remove(d, m->fd[0]);
	close(m->fd[0]);
	close(m->fd[1]);
	free(m);
	d->dialer = NULL;
}

static struct dial *make(struct daemon *d, const struct ztransport *ops, const char *user, dial_done *done, void *owner)
{
	struct dial *l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->daemon = d;
	l->ops = ops;
	l->done = done;
	l->owner = owner;
	snprintf(l->user, sizeof(l->user), "%s", user);
	return l;
}

/* 0 or a negative errno with text: then the dial is freed, and the link still the caller's. */
static int start_or_wait(struct dial **out, struct dial *l, struct zerr *err)
{
	struct dialer *m = l->daemon->dialer;
	int rc = 0;
	if (may_start(m, l))
		rc = start(m, l);
	else
		list_add(&m->waiting, &l->link);
	if (rc != 0) {
		free_dial(l);
		return zerr_set(err, -rc, "no thread to connect with: %s", strerror(rc));
	}
	*out = l;
	return 0;
}

int dial_settle(struct dial **out, struct daemon *d, struct zlink *z, const char *user, dial_done *done, void *owner,
	struct zerr *err)
{
	struct dial *l = make(d, z->ops, user, done, owner);
	if (!l)
		return zerr_set(err, -ENOMEM, "out of memory");
	l->settles = true;
	l->zlink = z;
	return start_or_wait(out, l, err);
}

int dial_start(struct dial **out, struct daemon *d, const struct zaddr *addr, const char *user,
	const struct dial_seal *seal, dial_done *done, void *owner, struct zerr *err)
{
	const struct ztransport *ops =
		ztransports_find(addr->kind, err); /* here and not in a thread, as it may load a module */
	if (!ops)
		return -EPROTONOSUPPORT;
	struct dial *l = make(d, ops, user, done, owner);
	if (!l)
		return zerr_set(err, -ENOMEM, "out of memory");
	l->addr = *addr;
	l->level = ops->seal ? seal->level : ZSEAL_NONE;
	snprintf(l->job, sizeof(l->job), "%s", seal->job);
	if (seal->trunk) {
		l->is_trunk = true;
		l->trunk = *seal->trunk;
		l->expires_s = seal->expires_s;
	}
	if (l->level != ZSEAL_NONE || l->is_trunk)
		memcpy(l->key, seal->key, sizeof(l->key));
	return start_or_wait(out, l, err);
}

int dial_code(const struct dial *l)
{
	return l->rc;
}

void dial_drop(struct dial *l)
{
	l->owner = NULL;
}

bool dial_take_back(struct dial *l)
{
	if (l->begun)
		return false;
	l->owner = NULL; /* start_waiting frees it, which may be running now */
	l->zlink = NULL;
	return true;
}

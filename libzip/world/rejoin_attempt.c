/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread that comes back to one zipper, see rejoin_attempt.h. */
#include "libzip/world/rejoin_attempt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/clock.h"
#include "libzip/world/rails.h"

#define MOST_MS 5000	 /* where the job has another zipper */
#define STRANDED_MS 1000 /* where it waits for this one */
#define SILENT_MS 14000	 /* while the others are awaited */
#define LOOK_MS 200	 /* between looks whether the rank has left */
#define HURRY_MS 50	 /* meanwhile, instead of both */

/* A rank that does not take part says so: its BYE would make the others believe that it has left the job. */
void zrejoin_attempt_destroy(struct zrejoin_attempt *a, const char *why)
{
	zsession_quit(a->session, why);
	zctl_world_free(&a->world);
	a->params.auth->wipe(a->params.key, sizeof(a->params.key));
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static bool is_abandoned(struct zrejoin_attempt *a)
{
	return atomic_load(&a->state) == ZREJOIN_ABANDONED;
}

/* The job may come to wait for this zipper meanwhile, or the rank may end the job. */
static int64_t shorten(struct zrejoin_attempt *a, int64_t ms)
{
	if (atomic_load(&a->aborts))
		return HURRY_MS;
	return atomic_load(&a->stranded) && ms > 2 * STRANDED_MS ? STRANDED_MS : ms;
}

static void rest(struct zrejoin_attempt *a, int64_t ms)
{
	const int64_t begin = zclock_ms();
	int64_t left;

	while ((left = begin + shorten(a, ms) - zclock_ms()) > 0 && !is_abandoned(a)) {
		left = left < LOOK_MS ? left : LOOK_MS;
		nanosleep(&(struct timespec){.tv_nsec = (long)left * 1000000}, NULL);
	}
}

/* Sleeps until something may have come. */
static void await(struct zsession *s)
{
	uint32_t events;
	struct pollfd p = {.fd = zsession_fd(s, &events)};

	p.events = (short)events; /* EPOLLIN and EPOLLOUT have the values of POLLIN and POLLOUT */
	if (zsession_arm(s) == 0)
		poll(&p, 1, LOOK_MS);
}

/* True: the rank ends the job, and the zipper has been told. */
static bool say_abort(struct zrejoin_attempt *a)
{
	if (!atomic_load(&a->aborts))
		return false;
	if (zsession_abort(a->session, a->abort.code, a->abort.text) == 0)
		atomic_store(&a->has_aborted, true);
	return true;
}

static void say_finalize(struct zrejoin_attempt *a, bool *said)
{
	if (*said || !atomic_load(&a->finalizes) || zsession_protocol(a->session) < ZCTL_PROTOCOL_WAITS)
		return;
	*said = true;
	zsession_state(a->session, ZCTL_STATE_FINALIZES, 0);
}

/* Notes the zipper's word that this job does not come back. */
static void note_over(struct zrejoin_attempt *a, const struct zctl_dead *dead)
{
	pthread_mutex_lock(&a->lock);
	a->dead = *dead;
	a->over = true;
	pthread_mutex_unlock(&a->lock);
}

/* Waits until all ranks have joined. 0, -ECANCELED: the rank has left, or another negative errno with text: -EPROTO is
 * the zipper's own. */
static int await_world(struct zrejoin_attempt *a, struct zerr *err)
{
	bool said = false;

	while (!is_abandoned(a)) {
		struct zctl_msg msg;
		say_finalize(a, &said);
		if (say_abort(a))
			return -ECANCELED;
		int rc = zsession_poll(a->session, &msg, err);
		if (rc == 0)
			rc = zsession_watch(a->session, SILENT_MS, err);
		if (rc < 0)
			return rc;
		if (rc == 0) {
			await(a->session);
			continue;
		}
		if (msg.type == ZCTL_WORLD) {
			a->world = msg.u.world; /* its lists are ours now */
			return 0;
		}
		if (msg.type == ZCTL_ERROR)
			rc = zerr_set(err, -EPROTO, "%s", msg.u.error.text);
		if (msg.type == ZCTL_DEAD) {
			const bool leaves = msg.u.dead.part == ZCTL_PART_ZIPPER;
			rc = zerr_set(err, leaves ? -ESHUTDOWN : -EPROTO, "%s", msg.u.dead.text);
			if (!leaves)
				note_over(a, &msg.u.dead);
		}
		zctl_free(&msg);
		if (rc < 0)
			return rc;
	}
	return -ECANCELED;
}

/* The same. Meanwhile the zipper is not away, however long the others compute. One that is lost then is away anew. One
 * that refuses, or ends this attempt, has been away all the time. */
static int await_others(struct zrejoin_attempt *a, struct zerr *err)
{
	const int64_t gone_ms = atomic_load(&a->gone_ms), from_ms = zclock_ms();

	atomic_store(&a->gone_ms, 0);
	const int rc = await_world(a, err);
	if (rc < 0)
		atomic_store(&a->gone_ms,
			rc == -EPROTO || rc == -ESHUTDOWN ? gone_ms + (zclock_ms() - from_ms) : zclock_ms());
	return rc;
}

static int try_once(struct zrejoin_attempt *a, struct zerr *err)
{
	int rc = zsession_open(&a->session, &a->params, ZCTL_SERVICE_RANK, err);

	if (rc != 0)
		return rc;
	if (zsession_protocol(a->session) < ZCTL_PROTOCOL_RETURNS)
		return zerr_set(err, -EPROTONOSUPPORT, "its zipperd is too old to have ranks come back");
	a->join.incarnation = atomic_load(&a->least);
	a->join.age_ms = zrails_age_ms();
	a->join.waits = atomic_load(&a->stranded);
	rc = zsession_ask_join(a->session, &a->join, err);
	return rc == 0 ? await_others(a, err) : rc;
}

/* Ranks do not all come at the same moment. */
static int64_t vary(const struct zrejoin_attempt *a, int64_t ms)
{
	uint8_t part;

	a->params.auth->random(&part, 1);
	return ms + ms * part / 512;
}

static void *run(void *arg)
{
	struct zrejoin_attempt *a = arg;
	int64_t again = ZREJOIN_AGAIN_MS;
	int expected = ZREJOIN_TRIES;

	rest(a, vary(a, a->first_ms));
	while (!is_abandoned(a)) {
		struct zerr err = {.text = ""};
		if (try_once(a, &err) == 0)
			break;
		/* zipperd sees a connection that ends, not a rank that leaves: this job has not begun. */
		zsession_quit(a->session, err.text);
		a->session = NULL;
		pthread_mutex_lock(&a->lock);
		a->err = err;
		pthread_mutex_unlock(&a->lock);
		if (atomic_load(&a->has_aborted))
			break;
		rest(a, vary(a, atomic_load(&a->stranded) && again > STRANDED_MS ? STRANDED_MS : again));
		again = 2 * again < MOST_MS ? 2 * again : MOST_MS;
	}
	if (atomic_load(&a->has_aborted))
		return NULL; /* the process ends, and nobody wants the attempt any more */
	if (!atomic_compare_exchange_strong(&a->state, &expected, ZREJOIN_JOINED))
		zrejoin_attempt_destroy(a, "it leaves the job");
	return NULL;
}

int zrejoin_attempt_start(struct zrejoin_attempt *a)
{
	pthread_attr_t detached;
	sigset_t all, before;
	pthread_t thread;

	/* The application's signal handlers are for the application's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	const int rc = pthread_create(&thread, &detached, run, a);
	pthread_attr_destroy(&detached);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

void zrejoin_attempt_abandon(struct zrejoin_attempt *a)
{
	if (atomic_exchange(&a->state, ZREJOIN_ABANDONED) != ZREJOIN_JOINED)
		return;
	zsession_close(a->session); /* as other sessions */
	a->session = NULL;
	zrejoin_attempt_destroy(a, "");
}

bool zrejoin_attempt_has_aborted(struct zrejoin_attempt *a)
{
	if (atomic_load(&a->state) == ZREJOIN_JOINED && !atomic_load(&a->has_aborted))
		say_abort(a);
	return atomic_load(&a->has_aborted);
}

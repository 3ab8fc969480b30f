/* SPDX-License-Identifier: BSD-3-Clause */
/* Coming back to a zipper, see rejoin.h. */
#include "libzip/world/rejoin.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "libzip/world/rails.h"
#include "libzip/world/world.h"

#define FIRST_MS 200	      /* until the first try: a zipper that tells of a dead rank comes before that */
#define AGAIN_MS 500	      /* between tries, growing to MOST_MS */
#define MOST_MS 5000	      /* where the job has another zipper */
#define STRANDED_MS 1000      /* where it waits for this one */
#define SHORT_LIVED_MS 60000  /* an incarnation that is lost sooner lets the next one wait for so long */
#define ANSWER_MS 10000	      /* for connecting and for each answer */
#define SILENT_MS 14000	      /* while the others are awaited */
#define LOOK_MS 200	      /* between looks whether the rank has left */
#define ABORT_MS 1500	      /* to tell a zipper that the rank ends the job */
#define HURRY_MS 50	      /* meanwhile, instead of both */
#define CREDENTIAL_S 31536000 /* a year: jobs are shorter */

enum state { TRIES, JOINED, ABANDONED };

/* One try after the other. The thread and the rank share it; the one that changes the state last frees it. */
struct attempt {
	atomic_int state;
	atomic_uint least; /* the incarnation that is proposed */
	atomic_bool stranded;
	atomic_bool finalizes;
	atomic_bool aborts, has_aborted; /* with abort; and its zipper has been told */
	struct zctl_dead abort;
	atomic_llong gone_ms; /* since when the zipper has been away; 0: it is there */
	int64_t first_ms;
	struct zsession_params params;
	struct zhops way;
	struct zctl_join join;
	pthread_mutex_t lock; /* of these three */
	struct zerr err;
	struct zctl_dead dead; /* the last word of a zipper, if over */
	bool over;
	/* with JOINED: */
	struct zsession *session;
	struct zsession_pass passes[ZCTL_HOPS_MAX];
	struct zctl_world world;
};

static struct {
	bool on;
	struct zsession_params params;
	struct zctl_join join;
	char entries[ZCTL_RAILS_MAX][ZCTL_ENTRIES_MAX];
	struct attempt *attempt[ZCTL_RAILS_MAX];
	bool barred[ZCTL_RAILS_MAX], finalizes;
	int64_t gone_ms[ZCTL_RAILS_MAX];      /* where there is no attempt, as there; 0: it is not away */
	int64_t no_thread_ms[ZCTL_RAILS_MAX]; /* when no thread could be made, at last */
	int64_t joined_ms[ZCTL_RAILS_MAX];    /* of the present incarnation; 0: the first one */
	struct zerr why[ZCTL_RAILS_MAX];
} self;

/* --- the thread --- */

/* A rank that does not take part says so: its BYE would make the others believe that it has left the job. */
static void destroy(struct attempt *a, const char *why)
{
	zsession_quit(a->session, why);
	zctl_world_free(&a->world);
	a->params.auth->wipe(a->params.key, sizeof(a->params.key));
	pthread_mutex_destroy(&a->lock);
	free(a);
}

static bool is_abandoned(struct attempt *a)
{
	return atomic_load(&a->state) == ABANDONED;
}

/* The job may come to wait for this zipper meanwhile, or the rank may end the job. */
static int64_t shorten(struct attempt *a, int64_t ms)
{
	if (atomic_load(&a->aborts))
		return HURRY_MS;
	return atomic_load(&a->stranded) && ms > 2 * STRANDED_MS ? STRANDED_MS : ms;
}

static void rest(struct attempt *a, int64_t ms)
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
static bool say_abort(struct attempt *a)
{
	if (!atomic_load(&a->aborts))
		return false;
	if (zsession_abort(a->session, a->abort.code, a->abort.text) == 0)
		atomic_store(&a->has_aborted, true);
	return true;
}

static void say_finalize(struct attempt *a, bool *said)
{
	if (*said || !atomic_load(&a->finalizes) || zsession_protocol(a->session) < ZCTL_PROTOCOL_WAITS)
		return;
	*said = true;
	zsession_state(a->session, ZCTL_STATE_FINALIZES, 0);
}

/* Notes the zipper's word that this job does not come back. */
static void note_over(struct attempt *a, const struct zctl_dead *dead)
{
	pthread_mutex_lock(&a->lock);
	a->dead = *dead;
	a->over = true;
	pthread_mutex_unlock(&a->lock);
}

/* Waits until all ranks have joined. 0, -ECANCELED: the rank has left, or another negative errno with text: -EPROTO is
 * the zipper's own. */
static int await_world(struct attempt *a, struct zerr *err)
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
static int await_others(struct attempt *a, struct zerr *err)
{
	const int64_t gone_ms = atomic_load(&a->gone_ms), from_ms = zclock_ms();

	atomic_store(&a->gone_ms, 0);
	const int rc = await_world(a, err);
	if (rc < 0)
		atomic_store(&a->gone_ms, rc == -EPROTO || rc == -ESHUTDOWN ? gone_ms + (zclock_ms() - from_ms) : zclock_ms());
	return rc;
}

static int try_once(struct attempt *a, struct zerr *err)
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
static int64_t vary(const struct attempt *a, int64_t ms)
{
	uint8_t part;

	a->params.auth->random(&part, 1);
	return ms + ms * part / 512;
}

static void *run(void *arg)
{
	struct attempt *a = arg;
	int64_t again = AGAIN_MS;
	int expected = TRIES;

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
	if (!atomic_compare_exchange_strong(&a->state, &expected, JOINED))
		destroy(a, "it leaves the job");
	return NULL;
}

/* --- the rank's side --- */

void zrejoin_init(const struct zsession_params *params, const struct zctl_join *join,
	const char (*entries)[ZCTL_ENTRIES_MAX])
{
	memset(&self, 0, sizeof(self));
	self.on = zrails.reconnect_ms > 0;
	if (!self.on)
		return;
	self.params = *params;
	if (params->expires_s == 0 && !params->munge) { /* the user's key does not stay in memory */
		self.params.expires_s = (uint64_t)time(NULL) + CREDENTIAL_S;
		params->auth->derive(self.params.key, params->key, params->user, params->job, self.params.expires_s);
	}
	self.params.timeout_ms = ANSWER_MS;
	self.join = *join;
	/* As to rails other than the first one: direct links are arranged only once. */
	self.join.direct = 0;
	self.join.ports[0] = self.join.local[0] = '\0';
	self.join.vrank = (uint32_t)zworld.vrank;
	self.join.nrails = (uint32_t)zrails.n;
	memcpy(self.entries, entries, (size_t)zrails.n * sizeof(self.entries[0]));
}

static void abandon(int rail)
{
	struct attempt *a = self.attempt[rail];

	self.attempt[rail] = NULL;
	if (!a || atomic_exchange(&a->state, ABANDONED) != JOINED)
		return;
	zsession_close(a->session); /* as other sessions */
	a->session = NULL;
	destroy(a, "");
}

void zrejoin_fini(void)
{
	for (int i = 0; i < ZCTL_RAILS_MAX; i++)
		abandon(i);
	if (self.on)
		self.params.auth->wipe(self.params.key, sizeof(self.params.key));
	self.on = false;
}

static struct attempt *create(int rail)
{
	const struct zrail *r = &zrails.rail[rail];
	struct attempt *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	const bool short_lived = self.joined_ms[rail] && zclock_ms() - self.joined_ms[rail] < SHORT_LIVED_MS;
	a->first_ms = short_lived && !zrails_is_stranded() ? SHORT_LIVED_MS : FIRST_MS;
	a->way = r->way;
	a->params = self.params;
	a->params.zipper = a->way.first;
	a->params.hops = a->way.hop;
	a->params.nhops = a->way.n;
	a->params.passes = a->passes;
	a->join = self.join;
	a->join.rail = (uint32_t)rail;
	a->join.run = r->run;
	strcpy(a->join.entries, self.entries[rail]);
	atomic_store(&a->gone_ms, self.gone_ms[rail]);
	atomic_store(&a->stranded, zrails_is_stranded());
	pthread_mutex_init(&a->lock, NULL);
	return a;
}

/* A rank that ends the job may not have acted on the loss of the rail. */
static uint32_t find_least(int rail)
{
	const struct zrail *r = &zrails.rail[rail];

	return r->least > r->incarnation ? r->least : r->incarnation + 1;
}

static void begin(int rail)
{
	if (self.gone_ms[rail] == 0)
		self.gone_ms[rail] = zclock_ms();
	if (self.no_thread_ms[rail] && zclock_ms() - self.no_thread_ms[rail] < AGAIN_MS)
		return;
	struct attempt *a = create(rail);
	pthread_attr_t detached;
	sigset_t all, before;
	pthread_t thread;

	if (!a)
		return; /* perhaps there is memory later */
	atomic_store(&a->least, find_least(rail));
	/* The application's signal handlers are for the application's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	const int rc = pthread_create(&thread, &detached, run, a);
	pthread_attr_destroy(&detached);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	self.no_thread_ms[rail] = rc == 0 ? 0 : zclock_ms();
	if (rc == 0)
		self.attempt[rail] = a;
	else
		destroy(a, "");
}

static bool has_our_places(const struct zctl_world *w)
{
	for (uint32_t i = 0; i < w->nruns; i++)
		for (uint32_t k = 0; k < w->runs[i].count; k++) {
			const uint32_t v = w->runs[i].vrank + k;
			if (v >= (uint32_t)zworld.nranks || zworld.place[v].part != w->runs[i].part ||
				zworld.place[v].lrank != w->runs[i].lrank + k)
				return false;
		}
	return true;
}

/* NULL, or what is wrong with the new world. Its window may be smaller: that only counts from now on. */
static const char *find_fault(const struct zctl_world *w, uint64_t run)
{
	bool same = w->vrank == (uint32_t)zworld.vrank && (int)w->nparts == zworld.nparts && has_our_places(w);

	for (uint32_t i = 0; same && i < w->nparts; i++)
		same = strcmp(w->parts[i].name, zworld.part_name[i]) == 0 &&
		       (int)w->parts[i].size == zworld.part_size[i];
	if (!same)
		return "it has another world than before";
	if (run != 0 && w->run != 0 && w->run != run)
		return "it has another run of the job";
	if ((w->external32 != 0) != zworld.external32)
		return "it has another representation of data than before";
	if (w->eager_bytes < zworld.eager_bytes)
		return "its eager_bytes are fewer than before";
	if (w->frag_bytes != 0 && (zworld.frag_bytes == 0 || w->frag_bytes < zworld.frag_bytes))
		return "its frag_bytes are fewer than before";
	return NULL;
}

static void bar(int rail, const char *fault)
{
	char address[512];

	zaddr_format(zhops_last(&zrails.rail[rail].way), address, sizeof(address));
	zerr_set(&self.why[rail], -EPROTO, "%s", fault);
	self.barred[rail] = true;
	if (zworld.vrank == 0 && !zrails_is_stranded()) /* else the job ends with that line */
		zerr_print("libzipper: rank 0 of %s (%s): the zipper at %s is back, but not used: %s\n", zworld_job(),
			zworld.part_name[zworld.part], address, fault);
}

/* Takes over what the thread has made. False: it is of no use. */
static bool take(int rail, struct attempt *a)
{
	struct zrail *r = &zrails.rail[rail];
	const char *fault = find_fault(&a->world, r->run);

	self.gone_ms[rail] = 0;
	if (fault || a->world.incarnation < r->least) {
		if (fault)
			bar(rail, fault);
		destroy(a, fault ? fault : "it was lost meanwhile");
		return false;
	}
	r->session = a->session;
	r->protocol = zsession_protocol(a->session);
	r->seal = zsession_seal(a->session);
	r->incarnation = r->least = a->world.incarnation;
	r->run = a->world.run;
	memcpy(r->passes, a->passes, sizeof(r->passes));
	memcpy(r->key, zsession_key(a->session), sizeof(r->key));
	if (a->world.rdv_window < zworld.rdv_window)
		zworld.rdv_window = a->world.rdv_window;
	self.joined_ms[rail] = zclock_ms();
	a->session = NULL;
	destroy(a, "");
	return true;
}

/* A zipper's word that the job is over does not count where the job has another. */
static void note_why(int rail, struct attempt *a)
{
	pthread_mutex_lock(&a->lock);
	a->over &= zrails_is_stranded();
	if (a->err.text[0])
		self.why[rail] = a->err;
	pthread_mutex_unlock(&a->lock);
}

bool zrejoin_turn(int rail)
{
	struct attempt *a = self.attempt[rail];

	if (!self.on || self.barred[rail])
		return false;
	if (zrails.rail[rail].least > ZCTL_INCARNATIONS_MAX) {
		bar(rail, "it was lost too often");
		abandon(rail);
		return false;
	}
	if (!a) {
		begin(rail);
		return false;
	}
	atomic_store(&a->stranded, zrails_is_stranded());
	atomic_store(&a->finalizes, self.finalizes);
	atomic_store(&a->least, zrails.rail[rail].least);
	note_why(rail, a);
	if (atomic_load(&a->state) != JOINED)
		return false;
	self.attempt[rail] = NULL;
	return take(rail, a);
}

int64_t zrejoin_away_ms(int rail)
{
	const struct attempt *a = self.attempt[rail];
	const int64_t gone_ms = a ? atomic_load(&a->gone_ms) : self.gone_ms[rail];

	if (self.barred[rail])
		return INT64_MAX;
	return gone_ms ? zclock_ms() - gone_ms : 0;
}

bool zrejoin_is_over(int rail, struct zctl_dead *dead)
{
	struct attempt *a = self.attempt[rail];

	if (!a)
		return false;
	pthread_mutex_lock(&a->lock);
	const bool over = a->over;
	*dead = a->dead;
	pthread_mutex_unlock(&a->lock);
	return over;
}

void zrejoin_finalize(void)
{
	self.finalizes = true;
}

static void begin_abort(int rail, int code, const char *text)
{
	if (!self.attempt[rail])
		begin(rail);
	struct attempt *a = self.attempt[rail];
	if (!a)
		return;
	a->abort.code = (uint32_t)code;
	snprintf(a->abort.text, sizeof(a->abort.text), "%s", text);
	atomic_store(&a->aborts, true);
}

/* Has the zipper been told? WORLD may have come, and nobody has taken the session: then its thread has ended. */
static bool has_aborted(struct attempt *a)
{
	if (atomic_load(&a->state) == JOINED && !atomic_load(&a->has_aborted))
		say_abort(a);
	return atomic_load(&a->has_aborted);
}

void zrejoin_abort(int code, const char *text)
{
	const int64_t end = zclock_ms() + ABORT_MS;
	bool waits = false, said = false;

	for (int i = 0; self.on && i < zrails.n; i++)
		if (!self.barred[i]) {
			begin_abort(i, code, text);
			waits |= self.attempt[i] != NULL;
		}
	while (waits && !said && zclock_ms() < end) {
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
		for (int i = 0; i < zrails.n; i++)
			said |= self.attempt[i] && has_aborted(self.attempt[i]);
	}
}

const char *zrejoin_why(int rail, char *buf, size_t cap)
{
	snprintf(buf, cap, "%s", self.why[rail].text);
	return buf;
}

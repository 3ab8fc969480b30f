/* SPDX-License-Identifier: BSD-3-Clause */
/* Coming back to a zipper, see rejoin.h: the rank's side. */
#include "libzip/world/rejoin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/clock.h"
#include "libzip/world/rails.h"
#include "libzip/world/rejoin_attempt.h"
#include "libzip/world/world.h"

#define FIRST_MS 200	      /* until the first try: a zipper that tells of a dead rank comes before that */
#define SHORT_LIVED_MS 60000  /* an incarnation that is lost sooner lets the next one wait for so long */
#define ANSWER_MS 10000	      /* for connecting and for each answer */
#define ABORT_MS 1500	      /* to tell a zipper that the rank ends the job */
#define CREDENTIAL_S 31536000 /* a year: jobs are shorter */

static struct {
	bool on;
	struct zsession_params params;
	struct zctl_join join;
	char entries[ZCTL_RAILS_MAX][ZCTL_ENTRIES_MAX];
	struct zrejoin_attempt *attempt[ZCTL_RAILS_MAX];
	bool barred[ZCTL_RAILS_MAX], finalizes;
	int64_t gone_ms[ZCTL_RAILS_MAX];      /* where there is no attempt, as there; 0: it is not away */
	int64_t no_thread_ms[ZCTL_RAILS_MAX]; /* when no thread could be made, at last */
	int64_t joined_ms[ZCTL_RAILS_MAX];    /* of the present incarnation; 0: the first one */
	struct zerr why[ZCTL_RAILS_MAX];
} self;

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
	self.join.tracks = (uint32_t)zrails.tracks;
	memcpy(self.entries, entries, (size_t)zrails.n * sizeof(self.entries[0]));
}

static void abandon(int rail)
{
	struct zrejoin_attempt *a = self.attempt[rail];

	self.attempt[rail] = NULL;
	if (a)
		zrejoin_attempt_abandon(a);
}

void zrejoin_fini(void)
{
	for (int i = 0; i < ZCTL_RAILS_MAX; i++)
		abandon(i);
	if (self.on)
		self.params.auth->wipe(self.params.key, sizeof(self.params.key));
	self.on = false;
}

static struct zrejoin_attempt *create(int rail)
{
	const struct zrail *r = &zrails.rail[rail];
	struct zrejoin_attempt *a = calloc(1, sizeof(*a));

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
	if (self.no_thread_ms[rail] && zclock_ms() - self.no_thread_ms[rail] < ZREJOIN_AGAIN_MS)
		return;
	struct zrejoin_attempt *a = create(rail);

	if (!a)
		return; /* perhaps there is memory later */
	atomic_store(&a->least, find_least(rail));
	const int rc = zrejoin_attempt_start(a);
	self.no_thread_ms[rail] = rc == 0 ? 0 : zclock_ms();
	if (rc == 0)
		self.attempt[rail] = a;
	else
		zrejoin_attempt_destroy(a, "");
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
	if ((int)w->tracks < zrails.tracks && zrails.tracks > 1)
		return "its workers are fewer than before";
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
static bool take(int rail, struct zrejoin_attempt *a)
{
	struct zrail *r = &zrails.rail[rail];
	const char *fault = find_fault(&a->world, r->run);

	self.gone_ms[rail] = 0;
	if (fault || a->world.incarnation < r->least) {
		if (fault)
			bar(rail, fault);
		zrejoin_attempt_destroy(a, fault ? fault : "it was lost meanwhile");
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
	zrejoin_attempt_destroy(a, "");
	return true;
}

/* A zipper's word that the job is over does not count where the job has another. */
static void note_why(int rail, struct zrejoin_attempt *a)
{
	pthread_mutex_lock(&a->lock);
	a->over &= zrails_is_stranded();
	if (a->err.text[0])
		self.why[rail] = a->err;
	pthread_mutex_unlock(&a->lock);
}

bool zrejoin_turn(int rail)
{
	struct zrejoin_attempt *a = self.attempt[rail];

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
	if (atomic_load(&a->state) != ZREJOIN_JOINED)
		return false;
	self.attempt[rail] = NULL;
	return take(rail, a);
}

int64_t zrejoin_away_ms(int rail)
{
	const struct zrejoin_attempt *a = self.attempt[rail];
	const int64_t gone_ms = a ? atomic_load(&a->gone_ms) : self.gone_ms[rail];

	if (self.barred[rail])
		return INT64_MAX;
	return gone_ms ? zclock_ms() - gone_ms : 0;
}

bool zrejoin_is_over(int rail, struct zctl_dead *dead)
{
	struct zrejoin_attempt *a = self.attempt[rail];

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
	struct zrejoin_attempt *a = self.attempt[rail];
	if (!a)
		return;
	a->abort.code = (uint32_t)code;
	snprintf(a->abort.text, sizeof(a->abort.text), "%s", text);
	atomic_store(&a->aborts, true);
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
			said |= self.attempt[i] && zrejoin_attempt_has_aborted(self.attempt[i]);
	}
}

const char *zrejoin_why(int rail, char *buf, size_t cap)
{
	snprintf(buf, cap, "%s", self.why[rail].text);
	return buf;
}
